"""The shape of what experts decide about trees, and what they read when it is wrong.

A form with `seen` says what its page showed; the services refuse what has changed since.
"""

from typing import Any, ClassVar

from django import forms

from apps.accounts.models import User
from apps.projects.fields import LineField, WordsField
from apps.projects.models import Project
from apps.trees.domain.tree import Answer
from apps.trees.models import Cut, TreeComment

LONGEST_QUESTION = 1000
LONGEST_REASON = 500
LONGEST_COMMENT = 5000
ANSWERS = [(answer.value, answer.value) for answer in Answer]
TAKE_OUT = [
    (Cut.Kind.REJECTED.value, "It is wrong"),
    (Cut.Kind.PRUNED.value, "It is needless"),
]
PRUNE, KEEP = "prune", "keep"
KEYS = {PRUNE: "p", Answer.YES.value: "y", Answer.NO.value: "n", KEEP: "k"}
DECISIONS = [
    (PRUNE, "Take out and annotate anew"),
    (Answer.YES.value, "Settle with Yes"),
    (Answer.NO.value, "Settle with No"),
    (KEEP, "Keep as it is"),
]


def _line(**attributes: str) -> forms.TextInput:
    return forms.TextInput(attrs={"dir": "auto", "autocomplete": "off", **attributes})


class DecisionRadios(forms.RadioSelect):
    """Each with the key that chooses it; nothing is sent before the form is."""

    def create_option(
        self, name: str, value: Any, label: Any, *arguments: Any, **named: Any
    ) -> dict[str, Any]:
        option = super().create_option(name, value, label, *arguments, **named)
        option["attrs"] |= {"data-key": KEYS[str(value)], "data-key-label": str(label)}
        return option


class SeenForm(forms.Form):
    """Its fields have the form's name in their ids: several stand on one page."""

    seen = forms.CharField(max_length=LONGEST_QUESTION * 2, strip=False, widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **{"auto_id": f"{type(self).__name__}-%s", **named})

    def show_again(self, *, seen: str) -> None:
        """What was typed stays; the next try is about what the page shows now."""
        typed: Any = self.data
        self.data = {**typed.dict(), "seen": seen}


class WordingForm(SeenForm):
    text = LineField(
        label="Question",
        max_length=LONGEST_QUESTION,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto", "autocomplete": "off"}),
        error_messages={"required": "Write a question."},
    )


class AnswerForm(SeenForm):
    answer = forms.ChoiceField(choices=ANSWERS, widget=forms.HiddenInput)
    reason = WordsField(
        label="Why? (may stay empty)", required=False, max_length=LONGEST_REASON, widget=_line()
    )


class TakeOutForm(SeenForm):
    kind = forms.ChoiceField(
        label="What is the matter with it?", choices=TAKE_OUT, widget=forms.RadioSelect,
        error_messages={"required": "Say what is the matter."},
    )  # fmt: skip
    reason = WordsField(
        label="Why?", max_length=LONGEST_REASON, widget=_line(),
        error_messages={"required": "Say why. It is kept with what goes."},
    )  # fmt: skip


class GiveForm(forms.Form):
    slot = forms.RegexField(
        r"^(root|[0-9]{1,18}-(yes|no))$", widget=forms.HiddenInput,
        error_messages={"invalid": "This is no branch of the tree. Choose one in the outline."},
    )  # fmt: skip
    worker = forms.ModelChoiceField(
        label="Person", queryset=User.objects.none(), empty_label="Choose a person",
        error_messages={
            "required": "Choose a person.",
            "invalid_choice": "This person is not in the project (any more). Choose another.",
        },
    )  # fmt: skip

    def __init__(self, *arguments: Any, project: Project, **named: Any) -> None:
        super().__init__(*arguments, **{"auto_id": f"{type(self).__name__}-%s", **named})
        people: Any = self.fields["worker"]
        people.queryset = User.objects.filter(memberships__project=project).order_by("username")


class CommentForm(forms.ModelForm[TreeComment]):
    node_key = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = TreeComment
        fields = ("text",)
        field_classes: ClassVar = {"text": WordsField}
        labels = {"text": "Comment"}
        error_messages = {"text": {"required": "Write something first."}}
        widgets = {
            "text": forms.Textarea(
                attrs={"rows": 3, "dir": "auto", "maxlength": str(LONGEST_COMMENT)}
            )
        }

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **{"auto_id": f"{type(self).__name__}-%s", **named})


class DecisionForm(SeenForm):
    """What becomes of a question that was flagged."""

    decision = forms.ChoiceField(
        label="What becomes of this question?", choices=DECISIONS, widget=DecisionRadios,
        error_messages={"required": "Choose what becomes of it."},
    )  # fmt: skip
    reason = WordsField(
        label="Why?", required=False, max_length=LONGEST_REASON, widget=_line(),
        help_text="Needed when you keep it: nobody is asked about it again.",
    )  # fmt: skip
    kind = forms.CharField(required=False, max_length=20, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("decision") == KEEP and not cleaned.get("reason"):
            self.add_error("reason", "Say why it stays; nobody is asked about it again.")
        return cleaned


class PruneAllForm(forms.Form):
    """`last` is the newest flag that the preview counted."""

    last = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
