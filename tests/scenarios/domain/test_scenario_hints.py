"""What a scenario is pointed out for, and what not."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.scenarios.domain.scenario_hints import (
    LONGEST,
    PASTED,
    ScenarioCode,
    ScenarioHint,
    copied_spans,
    scenario_hints,
)
from apps.snippets.domain.folding import fold
from tests.strategies import texts

SHOWN = ["Do you work more than 16 hours a week?", "Are you over 60?"]
GOOD = "I turned 72 in May, and I still spend 40 hours a week at the bakery."


def hints(text, shown=SHOWN, question="Can I claim the grant?", language="en", pasted=0):
    return scenario_hints(
        text, shown=shown, first_question=question, language=language, pasted=pasted
    )


def codes(text, **fields):
    return [hint.code for hint in hints(text, **fields)]


def test_a_good_scenario_has_none():
    assert hints(GOOD) == []


@pytest.mark.parametrize("text", ["", "  ", "?!"])
def test_nothing_is_said_about_no_words(text):
    assert hints(text, pasted=100) == []


# Copies


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("Yes, I work more than 16 hours a week now.", ["work more than 16 hours a week"]),
        ("We WORK “more” than 16, gladly.", ["WORK “more” than 16"]),
        ("Are you over 60 they ask, and I work more than 16.",
         ["Are you over 60", "work more than 16"]),
        ("I work more than 15 hours.", []),
        ("", []),
    ],
)  # fmt: skip
def test_words_in_a_row_that_stand_in_a_question_are_found(text, copied):
    assert [text[start:end] for start, end in copied_spans(text, SHOWN)] == copied


def test_a_question_of_few_words_counts_when_all_of_it_is_there():
    assert copied_spans("So: you own land there.", ["You own land?"]) == [(4, 16)]
    assert copied_spans("So: you own a field.", ["You own land?", "?"]) == []


def test_where_words_are_written_together_letters_count_half():
    question = "あなたは六十歳以上ですか？"
    assert copied_spans("私は六十歳以上ですから大丈夫", [question]) == [(1, 10)]
    assert copied_spans("私は七十歳です", [question]) == []


def test_the_longest_copy_is_pointed_out():
    found = hints("Are you over 60 they ask, and I work more than 16 hours.")
    assert ScenarioHint(ScenarioCode.COPIES, "work more than 16 hours") in found


@given(texts, st.lists(texts, max_size=3))
def test_spans_lie_in_the_text_in_order_and_say_what_a_question_says(text, questions):
    spans = copied_spans(text, questions)
    assert spans == sorted(spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    asked = [fold(question) for question in questions]
    for start, end in spans:
        words = fold(text[start:end]).split()
        assert words
        assert any(words[0] in question for question in asked)


# The question and its answer


@pytest.mark.parametrize(
    "text", ["I am 70 and like my work. Can I claim the grant?", "Can you claim the grant, I ask."]
)
def test_asking_the_first_question_is_pointed_out(text):
    assert ScenarioHint(ScenarioCode.ASKS, "Can I claim the grant?") in hints(text)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("I am over 70 and work a lot, so I can claim the money.", "I can claim the"),
        ("I work little; I cannot claim the money this time.", "I cannot claim the"),
        ("I can not claim the money, as I hardly work.", "I can not claim the"),
        ("I have worked since May and I am not eligible.", "I am not eligible"),
        ("I work a lot. The answer is yes for all I know.", "The answer is yes"),
        ("I work, but I don’t qualify for now.", "I don’t qualify"),
    ],
)
def test_giving_the_answer_away_is_pointed_out(text, about):
    assert ScenarioHint(ScenarioCode.ANSWERS, about) in hints(text)


@pytest.mark.parametrize("question", ["Is it?", "Is the grant for me?"])
def test_other_first_questions_are_not_looked_for(question):
    text = "I can claim that I have worked for more than 60 years."
    assert ScenarioCode.ANSWERS not in codes(text, question=question)


def test_words_that_are_parts_of_others_are_quoted_as_they_were_looked_for():
    found = hints("So I can 申請 it for all of us.", question="Can I 申請 it?")
    assert ScenarioHint(ScenarioCode.ANSWERS, "i can 申請 it") in found


def test_answers_are_looked_for_in_english_only():
    assert ScenarioCode.ANSWERS not in codes("I am eligible and I work.", language="de")


def test_a_first_question_without_words_is_not_looked_for():
    assert ScenarioCode.ASKS not in codes(GOOD, question="?")


# Length, facts, script, pasted


def test_length():
    assert codes("I work a lot.") == [ScenarioCode.SHORT]
    assert codes("I work " * 60 + "now") == [ScenarioCode.LONG]
    assert codes("work " * LONGEST) == []


def test_a_text_that_mentions_none_of_the_facts():
    assert codes("My bees are calm and like the garden.") == [ScenarioCode.NO_FACT]
    assert codes("My hours are calm and like the garden.") == []


@pytest.mark.parametrize("shown", [[], ["Are you?"], ["?"]])
def test_questions_of_words_of_grammar_only_are_not_looked_for(shown):
    assert ScenarioCode.NO_FACT not in codes("My bees are calm in the garden.", shown=shown)


def test_a_text_of_words_of_grammar_only_says_nothing_about_them():
    assert codes("I am so, and you are not.") == []


@pytest.mark.parametrize(
    ("text", "language", "is_other"),
    [
        ("Я работаю каждый день, шестьдесят часов.", "en", True),
        ("Я работаю каждый день, шестьдесят часов.", "ru", False),
        ("I work at IBM in Москва every day.", "en-GB", False),
        ("I work at the bakery every day.", "ja", True),
        ("私は毎日パン屋で働いています。", "ja", False),
        ("I work at the bakery every day.", "sr-Latn", False),
        ("I work at the bakery every day.", "ru-Latn-RU", False),
        ("Я работаю каждый день, шестьдесят часов.", "", False),
        ("1 2 3 4 5 6 7 8", "en", False),
    ],
)
def test_another_script_than_the_languages(text, language, is_other):
    assert (ScenarioCode.OTHER_SCRIPT in codes(text, language=language)) is is_other


def test_pasted_text():
    assert codes(GOOD, pasted=PASTED) == [ScenarioCode.PASTED]
    assert codes(GOOD, pasted=PASTED - 1) == []


def test_every_hint_has_its_sentence():
    assert all(ScenarioHint(code).sentence for code in ScenarioCode)
