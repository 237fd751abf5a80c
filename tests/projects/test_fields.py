"""What experts and admins write says something (case 49); numbers have the limits of the model."""

import pytest

from apps.projects.fields import LineField, is_blank
from apps.projects.forms import SettingsForm
from apps.scenarios.audit_forms import LimitForm
from apps.snippets.bench_forms import DiscardForm, EditForm
from apps.snippets.forms import PasteForm
from apps.snippets.licence_forms import LicenceForm
from apps.snippets.question_forms import SkipForm
from apps.trees.review_forms import (
    CommentForm,
    DecisionForm,
    TakeOutForm,
    WordingForm,
)
from apps.workers.qualification_forms import QualificationQuestionForm, QualificationSettingsForm

pytestmark = pytest.mark.once

NOTHING = "\u200b \u3164"
REQUIRED = [
    (WordingForm, {"seen": "a"}, "text"),
    (TakeOutForm, {"seen": "a", "kind": "pruned"}, "reason"),
    (DecisionForm, {"seen": "a", "decision": "keep"}, "reason"),
    (CommentForm, {}, "text"),
    (QualificationQuestionForm, {}, "rule_text"),
    (QualificationQuestionForm, {}, "question"),
    (QualificationQuestionForm, {}, "explanation"),
    (SkipForm, {}, "reason"),
    (EditForm, {"seen": "a"}, "text"),
    (DiscardForm, {"seen": "a", "reason": "other"}, "note"),
    (PasteForm, {}, "text"),
    (SettingsForm, {}, "name"),
]


@pytest.mark.parametrize(("form", "data", "name"), REQUIRED)
def test_what_says_nothing_is_refused_as_if_it_were_empty(form, data, name):
    assert name in form({**data, name: NOTHING}).errors
    assert name not in form({**data, name: "Ω"}).errors


@pytest.mark.parametrize(("form", "name"), [(LicenceForm, "licence"), (LimitForm, "waiver")])
def test_what_may_be_empty_is_empty_then(form, name):
    filled = form({name: NOTHING})
    filled.is_valid()
    assert not filled.cleaned_data.get(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", True), ("…", True), ("\u2060\xad", True), ("👍", False), ("ب", False)],
)
def test_who_sees_something_reads_something(text, expected):
    assert is_blank(text) is expected


def test_a_wording_is_one_line_whoever_writes_it():
    assert LineField().clean(" Are you under 16?\r\nReally?  ") == "Are you under 16? Really?"


def test_browsers_know_the_limits_of_numbers():
    project, qualification = SettingsForm(), QualificationSettingsForm()
    shown = str(project["lease_minutes"]), str(qualification["pass_mark"])
    assert ['min="5"' in shown[0], 'max="1440"' in shown[0]] == [True, True]
    assert ['min="1"' in shown[1], 'max="100"' in shown[1]] == [True, True]
    assert 'min="0"' in str(project["questions_per_tree"])
