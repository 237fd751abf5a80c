"""Addresses of what experts look at and settle."""

from django.urls import path

from apps.trees import review_edit_views, review_look_views, review_queue_views

_QUEUE = "p/<slug:slug>/trees/to-settle/"  # no tree has this id
_TREE = "p/<slug:slug>/trees/<slug:tree_id>/"
_NODE = f"{_TREE}nodes/<int:node_id>/"

urlpatterns = [
    path(_QUEUE, review_queue_views.to_settle, name="to_settle"),
    path(f"{_QUEUE}<int:flag_id>/", review_queue_views.decide, name="decide"),
    path(f"{_QUEUE}prune-all/", review_queue_views.prune_all, name="prune_all"),
    path(f"{_TREE}history/", review_look_views.history, name="history"),
    path(f"{_TREE}compare/", review_look_views.compare, name="compare"),
    path(f"{_TREE}give/", review_edit_views.give, name="give"),
    path(f"{_TREE}comment/", review_edit_views.comment, name="comment"),
    path(f"{_TREE}cuts/<int:cut_id>/restore/", review_edit_views.restore, name="restore"),
    path(f"{_NODE}wording/", review_edit_views.wording, name="wording"),
    path(f"{_NODE}answer/", review_edit_views.answer, name="answer"),
    path(f"{_NODE}take-out/", review_edit_views.remove, name="take_out"),
]
