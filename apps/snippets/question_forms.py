"""The shape of what experts send about first questions, and what they read when it is wrong."""

from typing import Any
from uuid import uuid4

from django import forms

from apps.projects.fields import WordsField
from apps.projects.models import Project
from apps.snippets.domain.folding import fold
from apps.snippets.models import Document, Question, QuestionQuerySet

NO_RULE = "There is no rule in it."
LONGEST_QUESTION = 1000


def new_key() -> str:
    """One per form that is shown: a submit that is sent twice counts once."""
    return uuid4().hex


class KeyForm(forms.Form):
    key = forms.CharField(max_length=64, widget=forms.HiddenInput, initial=new_key)


class QuestionTextForm(forms.Form):
    text = forms.CharField(
        label="Question",
        max_length=LONGEST_QUESTION,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto", "autocomplete": "off"}),
        error_messages={"required": "Write the question first."},
    )

    def clean_text(self) -> str:
        text = " ".join(str(self.cleaned_data["text"]).split())
        if not fold(text):
            raise forms.ValidationError("Write the question first: there is no word in it.")
        return text


class QuestionForm(KeyForm, QuestionTextForm):
    """A submit on the question bench."""


class ReplaceForm(QuestionTextForm):
    def __init__(self, data: Any = None, *, question: Question) -> None:
        self.question = question
        super().__init__(data, initial={"text": question.text})

    def clean_text(self) -> str:
        text = super().clean_text()
        if text == self.question.text:
            raise forms.ValidationError("This is the wording that it has already.")
        return text


class NoRuleForm(KeyForm):
    note = WordsField(
        label="What is wrong with it? (may stay empty)",
        required=False,
        max_length=500,
        empty_value=NO_RULE,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
    )
    text = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)


class SkipForm(forms.Form):
    REASONS = (
        "I do not understand this rule.",
        "I know too little about the subject.",
        "I need a second opinion.",
    )

    reason = WordsField(
        label="Another reason",
        max_length=500,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
        error_messages={"required": "Say why you skip it."},
    )
    text = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)


class SendBackForm(KeyForm):
    note = forms.CharField(
        label="What should its author change?",
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto", "autocomplete": "off"}),
        error_messages={"required": "Say what its author should change."},
    )

    def clean_note(self) -> str:
        note = str(self.cleaned_data["note"])
        if not fold(note):
            raise forms.ValidationError("Say in words what its author should change.")
        return note


class QuestionFilter(forms.Form):
    """Every field may be left out; one that makes no sense says so and filters nothing."""

    q = forms.CharField(
        label="Search",
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "dir": "auto", "placeholder": "Question or rule text"}
        ),
    )
    state = forms.ChoiceField(choices=[("", "Any"), *Question.State.choices], required=False)
    domain = forms.ChoiceField(required=False)

    def __init__(self, data: Any, *, project: Project) -> None:
        super().__init__(data)
        domains = Document.objects.filter(project=project).order_by("domain").values_list("domain")
        self.fields["domain"] = forms.ChoiceField(
            choices=[("", "Any"), *((name, name) for (name,) in domains.distinct())],
            required=False,
        )

    def filtered(self, questions: QuestionQuerySet) -> QuestionQuerySet:
        self.is_valid()
        chosen = self.cleaned_data.get
        equal = {"state": chosen("state"), "snippet__document__domain": chosen("domain")}
        questions = questions.filter(**{name: value for name, value in equal.items() if value})
        if text := chosen("q"):
            questions = questions.saying(text)
        return questions

    @property
    def is_used(self) -> bool:
        return any(self.cleaned_data.values())
