"""The shape of a qualification test: what experts write, what admins set, what workers answer."""

from typing import Any
from uuid import uuid4

from django import forms

from apps.projects.fields import LineField, WordsField, show_limits
from apps.workers.domain.qualification import TurnLineError, read_turns, write_turns
from apps.workers.models import (
    AnswerClass,
    QualificationAttempt,
    QualificationQuestion,
    QualificationSettings,
)

LONGEST_TEXT = 10_000
QUESTION, ANSWER = "follow_up_question", "follow_up_answer"


class QualificationQuestionForm(forms.Form):
    """`turns` has one turn per line."""

    rule_text = WordsField(
        label="Rule text",
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text="Markdown, as snippets have it.",
    )
    question = LineField(
        label="What the user asks",
        max_length=1000,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
    )
    turns = forms.CharField(
        label="Turns so far (may stay empty)",
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text="One in each line, with its answer: Are you over 18? Yes",
    )
    answer_class = forms.ChoiceField(
        label="Right answer", choices=[("", "Choose"), *AnswerClass.choices]
    )
    explanation = WordsField(
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text="Why this answer is right. People read it when they have passed, or have no "
        "tries left.",
    )

    def __init__(self, data: Any = None, *, question: QualificationQuestion | None = None) -> None:
        super().__init__(data, initial=_as_typed(question) if question else None)

    def clean_turns(self) -> str:
        text = str(self.cleaned_data["turns"])
        try:
            read_turns(text)
        except TurnLineError as error:
            raise forms.ValidationError(
                f"Line {error.number} has no question with Yes or No behind it, such as: "
                "Are you over 18? Yes"
            ) from error
        return text

    def fields_of_row(self) -> dict[str, Any]:
        given = dict(self.cleaned_data)
        turns = read_turns(given.pop("turns"))
        given["rule_text"] = given["rule_text"].replace("\r\n", "\n")
        history = [{QUESTION: question, ANSWER: answer} for question, answer in turns]
        return {**given, "history": history}


def _as_typed(question: QualificationQuestion) -> dict[str, Any]:
    names = ("rule_text", "question", "answer_class", "explanation")
    turns = [(turn[QUESTION], turn[ANSWER]) for turn in question.history]
    return {**{name: getattr(question, name) for name in names}, "turns": write_turns(turns)}


class QualificationSettingsForm(forms.ModelForm[QualificationSettings]):
    class Meta:
        model = QualificationSettings
        fields = (*QualificationSettings.KINDS, "pass_mark", "most_tries", "waiting_hours",
                  "expiry_days")  # fmt: skip
        labels = {
            "for_paths": "Paths of trees",
            "for_node_checks": "Checks of turns",
            "for_scenarios": "Scenarios",
            "for_scenario_checks": "Checks of scenarios",
            "pass_mark": "Pass mark",
            "most_tries": "Tries",
            "waiting_hours": "Waiting time",
            "expiry_days": "Lasts",
        }

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        show_limits(self, QualificationSettings)

    @property
    def kinds(self) -> list[forms.BoundField]:
        return [self[name] for name in QualificationSettings.KINDS]

    @property
    def limits(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name not in QualificationSettings.KINDS]


class AttemptForm(forms.Form):
    """A group of radio buttons for each question: `answer-7` for the question with the key 7."""

    key = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(
        self, data: Any = None, *, attempt: QualificationAttempt,
        questions: list[QualificationQuestion],
    ) -> None:  # fmt: skip
        kept = {f"answer-{key}": answer for key, answer in attempt.draft.items()}
        super().__init__(data, initial={**kept, "key": uuid4().hex})
        self.questions = questions
        for number, question in enumerate(questions, 1):
            self.fields[f"answer-{question.pk}"] = forms.ChoiceField(
                label=f"Question {number}",
                choices=AnswerClass.choices,
                error_messages={"required": "Choose an answer."},
            )

    def rows(self) -> list[tuple[QualificationQuestion, forms.BoundField]]:
        return [(question, self[f"answer-{question.pk}"]) for question in self.questions]

    def answers(self) -> dict[int, AnswerClass]:
        """By key of the question: those that are given, also when others are missing."""
        given = {one.pk: self.cleaned_data.get(f"answer-{one.pk}") for one in self.questions}
        return {key: AnswerClass(answer) for key, answer in given.items() if answer}
