import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path as FilePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.snippets.domain.folding import fold
from apps.trees.domain.follow_up_hints import FollowUpCode, FollowUpHint, follow_up_hints
from apps.trees.domain.tree import questions
from tests.scenarios.domain.sharc_dev import read_dev_set
from tests.strategies import respelled, texts

pytestmark = pytest.mark.once  # no database

RULE = """## Sickness benefit

You can claim if you are employed, unmarried and live in the country, and your children are at
school."""

languages = st.sampled_from(["", "en", "en-GB", "ja", "ar", "de", "th", "el"])


def hints(
    text: str, *asked: str, rule_text: str = "", language: str = "en", threshold: float = 0.6
) -> list[FollowUpHint]:
    return follow_up_hints(
        text, asked=asked, rule_text=rule_text, language=language, threshold=threshold
    )


@pytest.mark.parametrize(
    "question",
    [
        "Are you employed?",
        "are you employed?",
        "Don't you live here?",
        "Can’t you work?",
        "Won't you go?",
        "Cannot you go?",
        "And are you employed?",
        "If you are ill, can you work?",
        "If it is so: will you be 65 by March?",
        "In the last 12 months – or before – have you worked?",
        "You had a child. Did it live with you?",
        "When you retired, were you over 60?",
        "Do you live in a country without a treaty?",
        "Do you own a unit or go to a university, not under 18?",
        "Do you have no income and are not in work?",
        "Is it form No. 5, and not No. 6?",
        "Is it bought and is the only one?",
        "Are you single, divorced, or have dissolved a civil partnership?",
        "Is it 3.5 metres (or more)?",
    ],
)
def test_a_good_question_is_left_in_peace(question: str) -> None:
    assert hints(question) == []


def first_word(word: str) -> FollowUpHint:
    return FollowUpHint(FollowUpCode.NOT_YES_OR_NO, word)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("How old are you?", "how"),
        ("If it medically appropriate?", "if"),
        ("You are over 18?", "you"),
        ("“Which” one, are you sure?", "which"),
        (f"If {'very ' * 14}ill, can you work?", "if"),
        ("But so?", "but"),
        ("\u0301 ?", "\u0301"),
    ],
)
def test_not_a_question_of_yes_or_no(question: str, about: str) -> None:
    assert hints(question) == [first_word(about)]


@pytest.mark.parametrize("language", ["", "nl", "de-AT"])
def test_words_of_grammar_are_looked_at_in_english_only(language: str) -> None:
    assert hints("What is not unable and is it so?", language=language) == []


@pytest.mark.parametrize(
    ("question", "language", "is_missing"),
    [
        ("Are you employed", "en", True),
        ("Are you employed.", "en", True),
        ("Are you employed?", "en", False),
        ("就職していますか？", "ja", False),
        ("就職しています。", "ja", True),
        ("هل أنت موظف؟", "ar", False),
        ("هل أنت موظف", "ar", True),
        ("ฉันทำงานไหม", "th", False),
    ],
)
def test_a_question_mark_of_the_script(question: str, language: str, is_missing: bool) -> None:
    expected = [FollowUpHint(FollowUpCode.NO_QUESTION_MARK)] if is_missing else []
    assert hints(question, language=language) == expected


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Are you not unemployed?", "not … unemployed"),
        ("Is it not the case that you have no income?", "not … no"),
        ("Aren’t you uninsured?", "aren't … uninsured"),
        ("Have you never been without a home?", "never … without"),
        ("If so, are you not ineligible?", "not … ineligible"),
        ("Do you not have an unimportant job?", "not … unimportant"),
    ],
)
def test_a_double_negation(question: str, about: str) -> None:
    assert hints(question) == [FollowUpHint(FollowUpCode.DOUBLE_NEGATION, about)]


@pytest.mark.parametrize(
    "question",
    ["Are you unemployed and not at school?", "Are you unemployed but not ill?", "Is it no unit?"],
)
def test_no_double_negation(question: str) -> None:
    assert hints(question) == []


@pytest.mark.parametrize(
    ("question", "language", "about"),
    [
        ("Are you 18? Do you work?", "en", "Do you work?"),
        ("Are you 18 and do you work?", "en", "and do you"),
        ("Is it a dog or is it a cat?", "en", "or is it"),
        ("Do you live here and does your child live here?", "en", "and does your"),
        ("働いていますか？学生ですか？", "ja", "学生ですか？"),
        ("هل تعمل؟ هل تدرس؟", "ar", "هل تدرس؟"),
    ],
)
def test_two_questions_in_one(question: str, language: str, about: str) -> None:
    expected = [FollowUpHint(FollowUpCode.TWO_QUESTIONS, about)]
    assert hints(question, language=language) == expected


def test_one_question_with_two_marks_is_one() -> None:
    assert hints("Are you really 18??") == []


@pytest.mark.parametrize(
    ("words", "language", "is_long"),
    [
        ("Are " + "very " * 38 + "ill?", "en", False),
        ("Are " + "very " * 39 + "ill?", "en", True),
        ("働" * 40 + "？", "ja", False),
        ("働" * 41 + "？", "ja", True),
    ],
)
def test_over_forty_words_are_long(words: str, language: str, is_long: bool) -> None:
    expected = [FollowUpHint(FollowUpCode.LONG)] if is_long else []
    assert hints(words, language=language) == expected


def test_asked_on_this_path_already() -> None:
    found = hints("Are you  employed?", "Do you live here?", "are you employed")
    assert found == [FollowUpHint(FollowUpCode.ALREADY_ASKED, "are you employed")]


def test_close_to_a_question_on_this_path() -> None:
    earlier = "Are you a man born before 6 April 1951?"
    question = "Are you a woman born before 6 April 1951?"
    close = [FollowUpHint(FollowUpCode.CLOSE_TO_ASKED, earlier)]
    assert hints(question, "Do you work?", earlier, threshold=0.6) == close
    assert hints(question, "Do you work?", earlier, threshold=0.9) == []
    assert hints(question, "Do you work?", threshold=0.6) == []
    assert hints(question, threshold=0.6) == []


def test_the_closest_is_named_and_of_two_equally_close_ones_the_first() -> None:
    def similar(texts: Sequence[str], threshold: float) -> Iterator[tuple[int, int, float]]:
        assert (list(texts), threshold) == (["A?", "B?", "C?", "Is it so?"], 0.5)
        yield from [(0, 1, 0.9), (0, 3, 0.6), (1, 3, 0.7), (2, 3, 0.7)]

    found = follow_up_hints(
        "Is it so?",
        asked=iter(["A?", "B?", "C?"]),
        rule_text="",
        language="en",
        threshold=0.5,
        similar=similar,
    )
    assert found == [FollowUpHint(FollowUpCode.CLOSE_TO_ASKED, "B?")]


@pytest.mark.parametrize("threshold", [0, -1.0])
def test_without_a_threshold_no_question_is_close(threshold: float) -> None:
    assert hints("Are you employed?", "Are you employed now?", threshold=threshold) == []


@pytest.mark.parametrize(
    ("question", "rule_text", "language", "is_apart"),
    [
        ("Do you own a boat?", RULE, "en", True),
        ("Do you own a boat?", "Boats are taxed.", "en", False),
        ("Are you an employee?", RULE, "en", False),
        ("Is your child at home?", RULE, "en", False),
        ("Is it so?", RULE, "en", False),
        ("Do you own a boat?", "", "en", False),
        ("Do you own a boat?", "It is what it is", "en", False),
        ("船を持っていますか？", "働く人は申請する。", "ja", True),
        ("働く人ですか？", "働く人は申請する。", "ja", False),
    ],
)
def test_no_word_of_the_rule_text(
    question: str, rule_text: str, language: str, is_apart: bool
) -> None:
    expected = [FollowUpHint(FollowUpCode.NOT_IN_RULE_TEXT)] if is_apart else []
    assert hints(question, rule_text=rule_text, language=language) == expected


def test_several_hints_come_in_the_order_of_their_codes() -> None:
    text = "What is not unable and is it so " + "very " * 40
    found = hints(text, text, rule_text="Boats are taxed.")
    assert [hint.code for hint in found] == [
        FollowUpCode.NO_QUESTION_MARK,
        FollowUpCode.NOT_YES_OR_NO,
        FollowUpCode.DOUBLE_NEGATION,
        FollowUpCode.TWO_QUESTIONS,
        FollowUpCode.LONG,
        FollowUpCode.ALREADY_ASKED,
        FollowUpCode.NOT_IN_RULE_TEXT,
    ]


@pytest.mark.parametrize("text", ["", " ", "?", "\u200b …"])
def test_nothing_is_said_before_there_is_a_word(text: str) -> None:
    assert hints(text, text, rule_text=RULE) == []


@pytest.mark.parametrize("text", ["and " * 50_000, "a" + " " * 200_000, "a" + "?!-" * 70_000])
def test_time_grows_with_the_length_of_the_text_and_not_with_its_square(text: str) -> None:
    """With the square of it, each would take minutes."""
    assert first_word(fold(text).split()[0]) in hints(text)


@given(
    texts | st.text(alphabet="not un-?？؟.,'’ NoAndIsItAre\n", max_size=60),
    st.lists(texts, max_size=3),
    texts,
    languages,
)
def test_any_text_gets_hints_and_at_most_one_of_each_code(
    text: str, asked: list[str], rule_text: str, language: str
) -> None:
    found = hints(text, *asked, rule_text=rule_text, language=language)
    codes = [hint.code for hint in found]
    assert codes == [code for code in FollowUpCode if code in codes]
    assert all(hint.sentence.endswith(":" if hint.about else ".") for hint in found)


@given(texts.filter(fold), texts, st.data())
def test_every_spelling_of_an_asked_question_is_the_same(
    question: str, other: str, data: st.DataObject
) -> None:
    asked = data.draw(respelled(question))
    found = hints(question, asked, other)
    assert FollowUpHint(FollowUpCode.ALREADY_ASKED, asked) in found


def test_the_questions_of_sharc_are_left_in_peace(sharc_dev: FilePath) -> None:
    """But for three without a question mark, and "If it medically appropriate?"."""
    dev = read_dev_set(sharc_dev)
    rule_texts = {one.tree_id: one.rule_text for one in dev.plain}
    found = Counter(
        hint.code
        for tree_id, rebuilt in dev.trees().items()
        for path, node in questions(rebuilt.tree)
        for hint in follow_up_hints(
            node.text,
            asked=[turn.follow_up_question for turn in path],
            rule_text=rule_texts[tree_id],
            language="en",
            threshold=0.8,
        )
    )
    assert found == {FollowUpCode.NO_QUESTION_MARK: 3, FollowUpCode.NOT_YES_OR_NO: 1}


def test_hints_do_not_wait_for_scikit_learn() -> None:
    """Its import takes a second, which the first person of each web process would wait."""
    program = (
        "import sys; from apps.trees.domain.follow_up_hints import follow_up_hints as hints; "
        "found = hints('Are you in work now?', asked=['Are you in work?'], rule_text='', "
        "language='en', threshold=0.5); "
        "print(*(hint.code for hint in found), 'sklearn' in sys.modules, sep='; ')"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "close to a question on this path; False"
