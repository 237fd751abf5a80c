"""Drafts of corrections: versions, two windows, and an utterance that changes meanwhile."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.urls import reverse

from apps.projects.models import Role
from apps.scenarios.models import CorrectionDraft, Utterance
from apps.scenarios.services.verification import accept
from apps.trees.domain.tree import Answer, FinalAnswer, Question
from tests.factories import make_member, make_project, make_tree, make_utterance
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db

OLD = "Are you old?"
SHAPE = Question(OLD, FinalAnswer(Answer.YES), FinalAnswer(Answer.NO))
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TYPED = {
    "part-scenario": "I am 90.", "part-answer": "Yes", "part-why": "",
    "evidence-0-follow_up_question": OLD, "evidence-0-follow_up_answer": "Yes",
    "evidence-1-follow_up_question": "", "evidence-1-follow_up_answer": "",
}  # fmt: skip


@pytest.fixture
def utterance() -> Utterance:
    tree = make_tree(make_project("bikes"), SHAPE)
    return make_utterance(tree, OLD, kind="scenario", scenario="I am.")


@pytest.fixture
def expert(client, utterance):
    user = make_member(utterance.project, Role.EXPERT)
    client.force_login(user)
    return user


def address(name: str, utterance: Utterance) -> str:
    return reverse(f"scenarios:{name}", args=["bikes", utterance.utterance_id])


def save(client, utterance: Utterance, version: int, seen: int = 1, **typed: str) -> Any:
    content = {**TYPED, **{f"part-{name}": text for name, text in typed.items()}}
    return client.post(
        f"{address('correction_draft', utterance)}?seen={seen}",
        {"version": version, "content": json.dumps(content)},
    )


def shown(client, utterance: Utterance) -> tuple[str, str]:
    """The page's markup and words."""
    markup = client.get(address("verify", utterance)).content.decode()
    return markup, words_of_main(markup)


def test_what_was_typed_stands_in_the_form_again(client, expert, utterance):
    answer = save(client, utterance, 1)
    assert (answer.status_code, answer.json()["version"]) == (200, 1)
    markup, words = shown(client, utterance)
    assert "You had typed this before" in words
    assert '<textarea name="part-scenario"' in markup
    assert "I am 90.</textarea>" in markup
    assert f'name="evidence-0-follow_up_question" value="{OLD}"' in markup
    assert 'data-draft-version="1"' in markup
    listed = client.get(reverse("scenarios:verification", args=["bikes"])).content.decode()
    assert "Corrections that you have begun" in words_of_main(listed)


def test_other_experts_do_not_see_it(client, expert, utterance):
    save(client, utterance, 1)
    client.force_login(make_member(utterance.project, Role.EXPERT))
    assert "I am 90." not in shown(client, utterance)[0]


def test_an_older_draft_is_refused_and_kept_aside(client, expert, utterance):
    save(client, utterance, 1, scenario="Theirs.")
    assert save(client, utterance, 2, scenario="Theirs!").status_code == 200
    for _ in range(2):
        refused = save(client, utterance, 2, scenario="Mine.")
        assert refused.status_code == 409
        assert refused.json()["content"]["part-scenario"] == "Theirs!"
    assert save(client, utterance, 2, scenario="Theirs!").status_code == 200  # sent once more
    (draft,) = CorrectionDraft.objects.all()
    assert [content["part-scenario"] for content in draft.aside] == ["Mine."]
    words = shown(client, utterance)[1]
    assert f"Typed in another window, and not saved: Mine. {OLD} Yes Yes" in words


def test_a_draft_of_an_utterance_that_has_changed_is_told_and_kept(client, expert, utterance):
    accept(utterance, seen=1, by=make_member(utterance.project, Role.EXPERT), now=NOW)
    answer = save(client, utterance, 1)
    assert (answer.status_code, answer.json()["state"]) == (410, "changed")
    markup, words = shown(client, utterance)
    assert "The utterance has changed since you typed this" in words
    assert "I am 90.</textarea>" in markup


def correct(client, utterance: Utterance) -> Any:
    rows = {f"{name}-{what}_FORMS": number for name, number in (("history", 0), ("evidence", 2))
            for what in ("TOTAL", "INITIAL")}  # fmt: skip
    sent = {**TYPED, **rows, "part-seen": "1", "evidence-INITIAL_FORMS": 0}
    return client.post(address("verify_correct", utterance), sent)


def test_a_correction_ends_its_draft_and_a_late_copy_of_it_brings_none_back(
    client, expert, utterance
):
    save(client, utterance, 1, scenario="I am")
    assert correct(client, utterance).status_code == 302
    assert not CorrectionDraft.objects.exists()
    assert save(client, utterance, 2).status_code == 410
    assert not CorrectionDraft.objects.exists()
    assert save(client, utterance, 2, scenario="Other.").status_code == 410
    assert CorrectionDraft.objects.get().content["part-scenario"] == "Other."


def test_what_says_nothing_new_is_no_draft(client, expert, utterance):
    same = {"scenario": "I am.", "answer": OLD}
    content = {f"part-{name}": text for name, text in same.items()}
    there = f"{address('correction_draft', utterance)}?seen=1"
    save(client, utterance, 1)
    for version, more in ((2, {}), (3, {"part-why": "So."})):
        sent = {"version": version, "content": json.dumps({**content, **more})}
        assert client.post(there, sent).status_code == 200
        assert CorrectionDraft.objects.exists() == bool(more)


def test_a_draft_can_be_thrown_away(client, expert, utterance):
    save(client, utterance, 1)
    assert "Throw this away" in shown(client, utterance)[1]
    client.post(address("correction_draft_forget", utterance))
    assert "I am 90." not in shown(client, utterance)[0]


@pytest.mark.parametrize("content", ["{", "[]", '{"part-why": 3}'])
def test_what_is_no_draft_is_refused(client, expert, utterance, content):
    there = f"{address('correction_draft', utterance)}?seen=1"
    assert client.post(there, {"version": 1, "content": content}).status_code == 400
    assert client.post(f"{there}x", {"version": 1, "content": "{}"}).status_code == 400
