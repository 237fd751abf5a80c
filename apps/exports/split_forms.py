"""What an admin asks of splits, and looks for among the documents in them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Q

from apps.exports.domain.splits import DEFAULT_RATIOS, SPLITS, RatiosError, check_ratios
from apps.projects.models import Split
from apps.snippets.models import DocumentQuerySet

NO_SPLIT = "none"


def _share(initial: float, **options: Any) -> forms.FloatField:
    field = forms.FloatField(min_value=0, max_value=100, initial=round(initial * 100), **options)
    field.widget.attrs["step"] = "any"
    return field


class SplitsForm(forms.Form):
    """Shares in per cent of the trees of each domain."""

    train = _share(DEFAULT_RATIOS[0], label="Train, %")
    dev = _share(DEFAULT_RATIOS[1], label="Dev, %")
    test = _share(DEFAULT_RATIOS[2], label="Test, %")
    seed = forms.IntegerField(
        min_value=0, max_value=2**31, initial=0, required=False,
        help_text="Decides between splits that are equally good.",
    )  # fmt: skip
    anew = forms.BooleanField(
        label="Draw everything anew", required=False,
        help_text="Without it, only documents in no split are placed. Pinned ones stay in any "
        "case.",
    )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        shares = [self.cleaned_data.get(name) for name in SPLITS]
        if None not in shares:
            try:
                check_ratios(self.ratios)
            except RatiosError as error:
                raise forms.ValidationError(
                    "The shares of train, dev and test must make 100 %."
                ) from error
        return self.cleaned_data

    @property
    def ratios(self) -> tuple[float, ...]:
        return tuple(self.cleaned_data[name] / 100 for name in SPLITS)

    @property
    def seed_or_zero(self) -> int:
        return self.cleaned_data["seed"] or 0


class MakeForm(SplitsForm):
    """With the state of the project that the person has seen."""

    seen = forms.CharField(max_length=40)


class PinForm(forms.Form):
    """A split to stay in; empty: free to move."""

    split = forms.ChoiceField(choices=[("", "Not pinned"), *Split.choices], required=False)
    back = forms.CharField(max_length=500, required=False)


class SplitFilter(forms.Form):
    q = forms.CharField(
        label="Search", required=False, max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "dir": "auto", "placeholder": "Title or source URL"}
        ),
    )  # fmt: skip
    split = forms.ChoiceField(
        choices=[("", "Any"), *Split.choices, (NO_SPLIT, "In none yet")], required=False
    )
    pinned = forms.ChoiceField(
        choices=[("", "Any"), ("yes", "Pinned"), ("no", "Free")], required=False
    )

    @property
    def is_used(self) -> bool:
        return any(self.cleaned_data.values())

    def filtered(self, documents: DocumentQuerySet) -> DocumentQuerySet:
        """A value that makes no sense says so and filters nothing."""
        self.is_valid()
        chosen = self.cleaned_data.get
        if text := chosen("q"):
            documents = documents.filter(Q(title__icontains=text) | Q(source_url__icontains=text))
        if split := chosen("split"):
            documents = documents.filter(split="" if split == NO_SPLIT else split)
        if pinned := chosen("pinned"):
            documents = documents.filter(is_split_pinned=pinned == "yes")
        return documents
