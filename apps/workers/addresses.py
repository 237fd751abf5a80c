"""Where each kind of work goes on: by the names of addresses, as its app stands above this one."""

from django.urls import NoReverseMatch, reverse

from apps.workers.models import Assignment, Kind

_PAGES = {
    Kind.SNIPPETS: ("snippets:bench", "work_id"),
    Kind.QUESTION: ("snippets:question_work", "pk"),
    Kind.QUESTION_CHECK: ("snippets:question_check", "pk"),
    Kind.PATH: ("trees:path", "pk"),
    Kind.NODE_CHECK: ("trees:node_check", "pk"),
    Kind.SCENARIO: ("scenarios:scenario", "pk"),
    Kind.SCENARIO_CHECK: ("scenarios:scenario_check", "pk"),
}
# Which keep what stands in the form, too.
_RETURNS = {Kind.PATH: "trees:path_return", Kind.SCENARIO: "scenarios:scenario_return"}


def page_of_work(assignment: Assignment) -> str:
    """Its address; empty for a kind of work that has no page yet."""
    name, key = _PAGES.get(Kind(assignment.kind), ("", "pk"))
    try:
        return reverse(name, args=[assignment.project.slug, getattr(assignment, key)])
    except NoReverseMatch:
        return ""


def address_to_return(assignment: Assignment) -> str:
    """Where its worker gives it back."""
    name = _RETURNS.get(Kind(assignment.kind), "workers:return")
    return reverse(name, args=[assignment.project.slug, assignment.pk])
