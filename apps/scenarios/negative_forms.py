"""What people send about negatives, and what they look for among them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import F, Q

from apps.projects.models import Project
from apps.scenarios.models import NegativeQuerySet, NegativeQuestion, NegativeScenario
from apps.scenarios.services.negatives import Wish
from apps.snippets.domain.folding import fold

KINDS: dict[str, type[NegativeQuestion] | type[NegativeScenario]] = {
    "questions": NegativeQuestion,
    "scenarios": NegativeScenario,
}
"""As they stand in addresses."""

TITLES = {"questions": "Irrelevant questions", "scenarios": "Irrelevant scenarios"}


class NegativeFilter(forms.Form):
    """Every field may be left out; one that makes no sense filters nothing."""

    q = forms.CharField(
        label="Search",
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "dir": "auto", "placeholder": "Text, or document it is from"}
        ),
    )
    kind = forms.ChoiceField(choices=list(TITLES.items()), required=False)
    state = forms.ChoiceField(
        choices=[("", "In force"), ("dropped", "Dropped"), ("all", "All")], required=False
    )
    order = forms.ChoiceField(
        choices=[
            ("", "Newest first"),
            ("hard", "Hardest first"),
            ("easy", "Easiest first"),
            ("like", "Most alike first"),
        ],
        required=False,
    )

    ORDERS = {
        "hard": F("hardness").desc(nulls_last=True),
        "easy": F("hardness").asc(nulls_last=True),
        "like": F("cosine").desc(nulls_last=True),
    }
    DOCUMENTS = {
        "questions": "source__snippet__document",
        "scenarios": "source__tree__question__snippet__document",
    }

    @property
    def chosen_kind(self) -> str:
        self.is_valid()
        return str(self.cleaned_data.get("kind") or "questions")

    def filtered(self, negatives: NegativeQuerySet) -> NegativeQuerySet:
        """Of the chosen kind; in order."""
        kind, chosen = self.chosen_kind, self.cleaned_data.get
        if text := chosen("q"):
            document = self.DOCUMENTS[kind]
            negatives = negatives.filter(
                Q(text__icontains=text)
                | Q(**{f"{document}__title__icontains": text})
                | Q(**{f"{document}__source_url__icontains": text})
            )
        if chosen("state") == "dropped":
            negatives = negatives.filter(dropped_at__isnull=False)
        elif chosen("state") != "all":
            negatives = negatives.in_force()
        order: Any = self.ORDERS.get(chosen("order") or "")
        return negatives.order_by(*([order] if order else []), "-pk")

    @property
    def is_used(self) -> bool:
        self.is_valid()
        return any(self.cleaned_data.get(name) for name in ("q", "state"))


class MiningForm(forms.Form):
    """How many, how alike, and how they are drawn. What a project has set stands there."""

    questions_per_tree = forms.IntegerField(
        label="Irrelevant questions for each tree", min_value=0, max_value=100
    )
    scenarios_per_tree = forms.IntegerField(
        label="Irrelevant scenarios for each tree", min_value=0, max_value=100
    )
    threshold = forms.FloatField(
        label="Threshold",
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "0.01"}),
        help_text="A scenario comes only from a tree whose questions are less like this tree's.",
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        help_text="The same data and seed give the same negatives.",
    )
    hard = forms.BooleanField(
        label="Prefer hard ones",
        required=False,
        help_text="Of the same domain, with many words of the rule text, and under the threshold.",
    )
    attach = forms.BooleanField(
        label="Put a scenario or a history before irrelevant questions",
        required=False,
        help_text="So that nobody tells them by having none. ShARC has none.",
    )
    same_split = forms.BooleanField(
        label="Stay within a split",
        required=False,
        help_text="Else a model that learns from train may read scenarios of dev and test there.",
    )
    anew = forms.BooleanField(
        label="Start over",
        required=False,
        help_text="First takes away what was drawn before. What an expert has verified, what was "
        "imported and what was dropped stays.",
    )

    def __init__(self, data: Any = None, *, project: Project) -> None:
        usual = Wish.of(project)
        super().__init__(data, initial={name: getattr(usual, name) for name in self.base_fields
                                        if hasattr(usual, name)})  # fmt: skip

    @property
    def wish(self) -> Wish:
        return Wish(**{name: self.cleaned_data[name] for name in Wish.__dataclass_fields__})


class DroppingForm(forms.Form):
    reason = forms.CharField(
        label="Why it is wrong here",
        max_length=500,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
        error_messages={"required": "Say why it is dropped."},
    )

    def clean_reason(self) -> str:
        reason = str(self.cleaned_data["reason"])
        if not fold(reason):
            raise forms.ValidationError("Say in words why it is dropped.")
        return reason


class ThresholdForm(forms.Form):
    threshold = forms.FloatField(
        min_value=0, max_value=1, widget=forms.NumberInput(attrs={"step": "0.01"})
    )
