"""The shape of what people send about a project, and what they read when it is wrong."""

import hashlib
import unicodedata
from typing import Any, ClassVar

from django import forms
from django.core.validators import RegexValidator
from django.db.models import Exists, OuterRef
from django.http import QueryDict

from apps.accounts.models import User
from apps.projects.fields import LineField, show_limits
from apps.projects.models import Guideline, Membership, Project, Role
from apps.projects.services.projects import SETTINGS

language_tag = RegexValidator(
    r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*\Z", "Enter a language tag, such as en, ja or pt-BR."
)


TAKEN = "Another project has this short name, perhaps one that was deleted. Take another one."


class SettingsForm(forms.ModelForm[Project]):
    language = forms.CharField(
        max_length=35,
        initial="en",
        validators=[language_tag],
        help_text="Language tag of the rule texts, such as en, ja or ar.",
    )

    class Meta:
        model = Project
        fields = SETTINGS
        field_classes: ClassVar = {"name": LineField}
        widgets = {
            "negative_threshold": forms.NumberInput(attrs={"step": "0.01"}),
            "near_duplicate_threshold": forms.NumberInput(attrs={"step": "0.01"}),
            "near_question_threshold": forms.NumberInput(attrs={"step": "0.01"}),
        }
        labels = {
            "max_list_items": "List items in a snippet",
            "max_words": "Words in a snippet",
            "long_lists": "Longer lists",
            "near_duplicate_threshold": "Similarity of near-duplicates",
            "question_checks": "Check first questions",
            "max_depth": "Depth of a tree",
            "active_trees": "Growing trees",
            "spans_required": "Ask for the source of each question",
            "rejection_votes": "Rejections that take a turn out",
            "rejection_voters": "People who look at a rejected turn",
            "tell_rejections": "Tell authors why",
            "near_question_threshold": "Similarity of questions on one path",
            "most_leases": "Work in one person's hands",
            "scenarios_per_finished_tree": "Scenarios of a tree",
            "checks_per_scenario": "Checks of a scenario",
            "questions_per_tree": "Irrelevant questions",
            "scenarios_per_tree": "Irrelevant scenarios",
            "negative_threshold": "Similarity of irrelevant scenarios",
            "lease_minutes": "Time for a piece of work",
        }
        help_texts = {
            "name": "What people see. You can change it at any time.",
            "lease_minutes": "Minutes that a piece of work stays with the person who took it.",
            "max_depth": "Most follow-up questions on one path. Trees that have begun keep theirs.",
        }

    # The groups that the page shows, in this order.
    GROUPS = (
        ("Project", ("name", "slug", "language")),
        (
            "Snippets and questions",
            (
                "max_list_items",
                "max_words",
                "long_lists",
                "near_duplicate_threshold",
                "question_checks",
            ),
        ),
        (
            "Trees and work",
            (
                "max_depth",
                "active_trees",
                "spans_required",
                "rejection_votes",
                "rejection_voters",
                "tell_rejections",
                "near_question_threshold",
                "most_leases",
                "lease_minutes",
            ),
        ),
        ("Scenarios", ("scenarios_per_finished_tree", "checks_per_scenario")),
        ("Negatives", ("questions_per_tree", "scenarios_per_tree", "negative_threshold")),
    )

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        show_limits(self, Project)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        votes, voters = cleaned.get("rejection_votes"), cleaned.get("rejection_voters")
        if votes and voters and votes > voters:
            self.add_error(
                "rejection_voters",
                f"At least {votes} people must look, or {votes} rejections are never reached.",
            )
        return cleaned

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        return [
            (title, [self[name] for name in names if name in self.fields])
            for title, names in self.GROUPS
        ]


class NewProjectForm(SettingsForm):
    class Meta(SettingsForm.Meta):
        fields = ("slug", *SETTINGS)  # type: ignore[assignment]
        labels = {**SettingsForm.Meta.labels, "slug": "Short name"}
        error_messages = {"slug": {"unique": TAKEN}}
        help_texts = {
            **SettingsForm.Meta.help_texts,
            "slug": "Part of every address, and fixed from then on: letters, digits and hyphens.",
        }

    def clean_slug(self) -> str:
        return str(self.cleaned_data["slug"]).lower()


class GuidelineForm(forms.Form):
    text = forms.CharField(
        label="Guidelines",
        required=False,
        max_length=50_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 16, "dir": "auto"}),
        help_text="Markdown: # heading, * list item, **bold**. Saving shows how it will look.",
    )
    # Which text the writer began with, so that nobody's words are replaced unseen.
    seen = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None, *, guideline: Guideline) -> None:
        self.guideline = guideline
        initial = {"text": guideline.text, "seen": fingerprint(guideline.text)}
        super().__init__(data, initial=initial)

    def clean_text(self) -> str:
        return str(self.cleaned_data["text"]).replace("\r\n", "\n").strip()

    def clean(self) -> dict[str, Any]:
        current = fingerprint(self.guideline.text)
        if self.cleaned_data.get("seen") != current:
            # The next attempt counts as having seen the other text, which the page now shows.
            self.data = {**self.data, "text": self.cleaned_data.get("text", ""), "seen": current}
            raise forms.ValidationError(
                "Somebody else changed these guidelines while you were writing. Their text stands "
                "under “As people see it”; take over what you need, then save again."
            )
        return self.cleaned_data


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class DeleteForm(forms.Form):
    """The project's name, typed: nobody deletes a project by a slip of the hand."""

    name = forms.CharField(
        label="Name of the project",
        max_length=200,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
    )

    def __init__(self, data: QueryDict | None, *, project: Project) -> None:
        self.project = project
        super().__init__(data)

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if _folded(name) != _folded(self.project.name):
            raise forms.ValidationError("This is another name. Type it as it stands above.")
        return name


def _folded(name: str) -> str:
    """As two keyboards may write the same name; capital and small letters stay what they are."""
    return " ".join(unicodedata.normalize("NFC", name).split())


class AddMemberForm(forms.Form):
    username = forms.CharField(
        label="User name",
        max_length=150,
        widget=forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off"}),
    )
    role = forms.ChoiceField(choices=Role.choices, initial=Role.WORKER)

    prefix = "add"

    def __init__(self, data: QueryDict | None = None, *, project: Project) -> None:
        self.project = project
        super().__init__(data)

    def clean_username(self) -> User:
        username = self.cleaned_data["username"]
        person = User.objects.filter(username=username, is_active=True).first()
        if person is None:
            raise forms.ValidationError(
                "Nobody has this user name. Check its spelling, or create an account."
            )
        if Membership.objects.filter(project=self.project, user=person).exists():
            raise forms.ValidationError("This person is a member already; change the role below.")
        return person


class NewAccountForm(forms.ModelForm[User]):
    role = forms.ChoiceField(choices=Role.choices, initial=Role.WORKER)

    class Meta:
        model = User
        fields = ["username", "name"]
        labels = {"username": "User name"}
        help_texts = {"username": "What the person logs in with: letters, digits and @ . + - _"}
        widgets = {
            "username": forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off"}),
            "name": forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
        }

    prefix = "new"


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class LogFilterForm(forms.Form):
    """Filters of the log. A value that does not exist filters nothing and says so.

    People are named, not chosen from a list: a crowd has thousands.
    """

    person = forms.CharField(
        label="User name",
        required=False,
        max_length=150,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
    )
    action = forms.ChoiceField(required=False)

    def __init__(self, data: QueryDict, *, project: Project, actions: list[str]) -> None:
        super().__init__(data)
        self._project = project
        self.fields["action"].choices = [  # type: ignore[attr-defined]
            ("", "Everything"),
            *((action, action) for action in actions),
        ]

    def clean_person(self) -> User | None:
        """Of everybody who did something in the project, members or not any more."""
        name = self.cleaned_data["person"]
        if not name:
            return None
        did_something = Exists(self._project.audit_events.filter(actor=OuterRef("pk")))
        person = User.objects.filter(did_something, username=name).first()
        if person is None:
            raise forms.ValidationError("Nobody with this user name is in the log.")
        return person


class SearchForm(forms.Form):
    q = forms.CharField(required=False, max_length=200)
