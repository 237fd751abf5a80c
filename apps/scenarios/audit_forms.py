"""What people send about the audit."""

from typing import Any

from django import forms

from apps.projects.fields import is_blank
from apps.scenarios.services.audit import Scope


class LimitForm(forms.Form):
    """What a release may reach in one figure, in per cent; a waiver lets it pass the limit."""

    most = forms.FloatField(
        label="Limit in %", required=False, min_value=0, max_value=100,
        help_text="Empty: the usual limit.",
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value"), "A limit is between 0 and 100."
        ),
    )  # fmt: skip
    waiver = forms.CharField(
        label="Waived, because", required=False, max_length=500,
        error_messages={"max_length": "A waiver has at most 500 characters."},
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )  # fmt: skip

    def clean_most(self) -> float | None:
        most: Any = self.cleaned_data["most"]
        return None if most is None else most / 100

    def clean_waiver(self) -> str:
        waiver = str(self.cleaned_data["waiver"])
        if waiver and is_blank(waiver):
            raise forms.ValidationError("Say in words why it may pass the limit.")
        return waiver


class ScopeForm(forms.Form):
    """A part of the project; what makes no sense is all of it."""

    tree = forms.CharField(required=False, max_length=40)
    worker = forms.CharField(required=False, max_length=150, strip=False)
    batch = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)

    @property
    def scope(self) -> Scope:
        if not self.is_valid():
            return Scope()
        chosen = self.cleaned_data
        return Scope(chosen["tree"], chosen["worker"], chosen["batch"] or 0)
