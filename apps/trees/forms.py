"""What people may look for among trees."""

from typing import Any

from django import forms
from django.db.models import Case, QuerySet, Value, When
from django.utils.text import capfirst

from apps.projects.models import Project, Split
from apps.snippets.models import Document
from apps.trees.domain.logic.classes import LogicClass
from apps.trees.models import Flag, Tree, TreeQuerySet

NO_SPLIT = "none"
WAITING, DISPUTED = "to_settle", "disputed"
MARKS = [
    ("", "Any"),
    (WAITING, "Waits for an expert"),
    *Flag.Kind.choices,
    (DISPUTED, "A turn in dispute"),
]
LOGIC = [
    ("", "Any"),
    *((kind.name.lower(), capfirst(kind.value)) for kind in LogicClass),
]
SPLITS = [("", "Any"), *Split.choices, (NO_SPLIT, "In none yet")]


class TreeFilter(forms.Form):
    """Every field may be left out; one that makes no sense says so and filters nothing."""

    q = forms.CharField(
        label="Search",
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "dir": "auto", "placeholder": "Rule text or a question"}
        ),
    )
    state = forms.ChoiceField(choices=[("", "Any"), *Tree.State.choices], required=False)
    domain = forms.ChoiceField(required=False)
    split = forms.ChoiceField(choices=SPLITS, required=False)
    logic = forms.ChoiceField(choices=LOGIC, required=False)
    marked = forms.ChoiceField(label="Marked", choices=MARKS, required=False)

    def __init__(self, data: Any, *, project: Project) -> None:
        super().__init__(data)
        domains = Document.objects.filter(project=project).order_by("domain").values_list("domain")
        self.fields["domain"] = forms.ChoiceField(
            choices=[("", "Any"), *((name, name) for (name,) in domains.distinct())],
            required=False,
        )

    def filtered(self, trees: TreeQuerySet) -> TreeQuerySet:
        self.is_valid()
        chosen = self.cleaned_data.get
        if text := chosen("q"):
            trees = trees.saying(text)
        if state := chosen("state"):
            trees = trees.filter(state=state)
        if domain := chosen("domain"):
            trees = trees.filter(question__snippet__document__domain=domain)
        if split := chosen("split"):
            trees = trees.in_split("" if split == NO_SPLIT else split)
        if logic := chosen("logic"):
            trees = trees.filter(logic_class=logic)
        return _marked(trees, chosen("marked"))

    @property
    def is_used(self) -> bool:
        return any(self.cleaned_data.values())


def _marked(trees: TreeQuerySet, mark: str | None) -> TreeQuerySet:
    if not mark:
        return trees
    if mark == DISPUTED:
        return trees.disputed()
    return trees.flagged() if mark == WAITING else trees.flagged(mark)


class TreeChoice(forms.Form):
    """Another tree to compare with; those on the same rule text come first."""

    q = forms.CharField(
        label="Search",
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "dir": "auto", "placeholder": "Rule text or a question"}
        ),
    )

    def filtered(self, others: TreeQuerySet, tree: Tree) -> QuerySet[Tree]:
        self.is_valid()
        if text := self.cleaned_data.get("q"):
            others = others.saying(text)
        same = Case(
            When(question__snippet__text=tree.question.snippet.text, then=Value(0)),
            When(question__snippet__document=tree.question.snippet.document_id, then=Value(1)),
            default=Value(2),
        )
        return others.order_by(same, "pk")
