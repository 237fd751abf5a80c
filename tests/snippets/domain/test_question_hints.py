import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given

from apps.snippets.domain.folding import fold
from apps.snippets.domain.question_hints import Code, Hint, hints
from tests.snippets.domain.bodies import lines
from tests.strategies import respelled, texts

pytestmark = pytest.mark.once  # no database

RULE = """## Can dogs have a treatment

Dogs must also have a tapeworm treatment. Cats must have a chip if they travel. You need:

* a passport"""


def codes(question: str, language: str = "en") -> list[Code]:
    return [hint.code for hint in hints(question, RULE, [], language)]


@pytest.mark.parametrize(
    ("question", "language", "needs_mark"),
    [
        ("Can I go", "en", True),
        ("Can I go.", "", True),
        ("Can I go?", "en", False),
        ("Can I go? Now", "en", False),
        ("申請できますか？", "ja", False),
        ("申請できますか。", "ja-JP", False),
        ("申請できます。", "ja", True),
        ("هل أنت مؤهل؟", "ar", False),
        ("هل أنت مؤهل", "ur", True),
        ("Μπορώ να πάω;", "el", False),
        ("Can I go;", "en", True),
        ("ฉันขอทุนได้ไหม", "th", False),
        ("Կարո՞ղ եմ", "hy", False),
    ],
)
def test_a_question_mark_of_the_script(question: str, language: str, needs_mark: bool) -> None:
    assert (Code.NO_QUESTION_MARK in codes(question, language)) == needs_mark


@pytest.mark.parametrize(
    ("question", "language", "found"),
    [
        ("What must dogs have?", "en-GB", [Hint(Code.NOT_YES_OR_NO, "what")]),
        ("“How” long is it?", "EN", [Hint(Code.NOT_YES_OR_NO, "how")]),
        ("Whatever happens, can I go?", "en", []),
        ("Can I go where I want?", "en", []),
        ("What is it?", "nl", []),
        ("What is it?", "", []),
    ],
)
def test_wh_words_in_english(question: str, language: str, found: list[Hint]) -> None:
    assert hints(question, "", [], language) == found


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Must dogs also have a tapeworm treatment?", "Dogs must also have a tapeworm treatment."),
        (
            "Do I have to pay for a tapeworm treatment of old dogs?",
            None,
        ),  # says more than the sentence
        ("Must cats have a chip if they travel?", None),  # conditions
        ("Can dogs have a treatment?", None),  # a heading
        ("Do you need this?", None),  # a lead-in
        ("Is it a passport?", "a passport"),
    ],
)
def test_the_rule_text_answers_it_outright(question: str, about: str | None) -> None:
    expected = [Hint(Code.ANSWERED_OUTRIGHT, about)] if about else []
    assert hints(question, RULE, [], "en") == expected


def test_the_rule_text_answers_it_outright_without_spaces() -> None:
    rule = "犬は治療を受ける必要があります。猫は自由です。"
    assert hints("犬は治療を受ける必要がありますか？", rule, [], "ja") == [
        Hint(Code.ANSWERED_OUTRIGHT, "犬は治療を受ける必要があります。")
    ]


@pytest.mark.parametrize(
    ("existing", "expected"),
    [
        ([], []),
        (["Can I claim it?", "can I claim SMP"], [Hint(Code.SAME_AS_EXISTING, "can I claim SMP")]),
        (
            ["Can I claim a refund?", "May we claim SMP?"],
            [Hint(Code.CLOSE_TO_EXISTING, "May we claim SMP?")],
        ),
        (["Is it for me?"], []),
        (["…"], []),
    ],
)
def test_existing_questions(existing: list[str], expected: list[Hint]) -> None:
    assert hints("Can I claim SMP?", "", existing, "en") == expected


def test_words_of_grammar_only_count_when_there_are_no_others() -> None:
    assert hints("Is it for me?", "", ["Is it for you?"], "en") == [
        Hint(Code.CLOSE_TO_EXISTING, "Is it for you?")
    ]


@pytest.mark.parametrize("question", ["", " ", "?", "\u200b …"])
def test_nothing_is_said_before_there_is_a_word(question: str) -> None:
    assert hints(question, RULE, [question], "en") == []


@given(texts, lines, texts.map(lambda text: [text, "Can I go?"]))
def test_one_hint_of_each_code_at_most(question: str, rule: str, existing: list[str]) -> None:
    found = hints(question, rule, existing, "en")
    assert [hint.code for hint in found] == [
        code for code in Code if code in {hint.code for hint in found}
    ]


@given(texts, texts.flatmap(respelled))
def test_a_question_is_the_same_as_its_other_spellings(other: str, question: str) -> None:
    found = hints(question, "", [other, f"{question} ?"], "")
    same = [hint for hint in found if hint.code == Code.SAME_AS_EXISTING]
    expected = other if fold(other) == fold(question) else f"{question} ?"
    assert same == ([Hint(Code.SAME_AS_EXISTING, expected)] if fold(question) else [])


def test_the_questions_of_sharc_are_left_in_peace(sharc_dev: Path) -> None:
    utterances = json.loads((sharc_dev / "sharc_dev.json").read_text())
    first = {
        (one["snippet"], one["question"])
        for one in utterances
        if one["answer"] != "Irrelevant" and not one["history"] and not one["scenario"]
    }
    found = Counter(hint.code for rule, asked in first for hint in hints(asked, rule, [], "en"))
    assert (len(first), found) == (69, {Code.ANSWERED_OUTRIGHT: 2})
