"""The shape of drafts, and what people may look for among leases."""

import json
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef
from django.http import QueryDict

from apps.accounts.models import User
from apps.projects.models import Project
from apps.workers.models import Assignment, AssignmentQuerySet, Kind

LARGEST_VERSION = 2**31 - 1
LARGEST_DRAFT = 200_000  # characters


class SecondsForm(forms.Form):
    """`seconds`: time on task since the lease, as active-time.js counts it. A page without scripts
    sends none; what is no number counts as none, and is no reason to refuse what people typed."""

    seconds = forms.CharField(required=False)

    def clean_seconds(self) -> int:
        told = self.cleaned_data["seconds"]
        return int(told) if told.isascii() and told.isdigit() and len(told) < 9 else 0


class DraftForm(SecondsForm):
    """What a work form held: texts by the names of its fields."""

    version = forms.IntegerField(min_value=1, max_value=LARGEST_VERSION)
    content = forms.CharField(max_length=LARGEST_DRAFT, strip=False)

    def clean_content(self) -> dict[str, str]:
        try:
            content = json.loads(self.cleaned_data["content"])
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError("This is no JSON, or nested too deep.") from error
        if not isinstance(content, dict) or not all(map(_is_text, content.values())):
            raise forms.ValidationError("A draft is an object of texts.")
        return {_storable(name): _storable(text) for name, text in content.items()}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _storable(text: str) -> str:
    # JSON can spell what no database takes: NUL, and halves of a surrogate pair.
    return text.replace("\0", "").encode("utf-8", "replace").decode()


class ReturnForm(forms.Form):
    reason = forms.CharField(
        label="Why? (may stay empty)",
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )


class LeaseFilter(forms.Form):
    """Every field may be left out; one that makes no sense says so and filters nothing.

    People are named, not chosen from a list: a crowd has thousands.
    """

    kind = forms.ChoiceField(choices=[("", "Any"), *Kind.choices], required=False)
    person = forms.CharField(
        label="User name",
        required=False,
        max_length=150,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
    )
    state = forms.ChoiceField(choices=Assignment.State.choices, required=False)

    def __init__(self, data: QueryDict, *, project: Project) -> None:
        super().__init__({"state": Assignment.State.LEASED.value, **data.dict()})
        self._project = project

    def clean_person(self) -> User | None:
        name = self.cleaned_data["person"]
        if not name:
            return None
        had_work = Exists(Assignment.objects.filter(project=self._project, worker=OuterRef("pk")))
        person = User.objects.filter(had_work, username=name).first()
        if person is None:
            raise forms.ValidationError(
                "Nobody with this user name has had work here. Look the name up under People."
            )
        return person

    def filtered(self, assignments: AssignmentQuerySet) -> AssignmentQuerySet:
        self.is_valid()
        chosen = {
            "kind": self.cleaned_data.get("kind"),
            "worker": self.cleaned_data.get("person"),
            "state": self.cleaned_data.get("state"),
        }
        return assignments.filter(**{name: value for name, value in chosen.items() if value})
