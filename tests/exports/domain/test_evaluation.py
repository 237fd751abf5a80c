"""ShARC's measures against scikit-learn and against figures worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, recall_score

from apps.exports.domain.evaluation import LABELS, bleu, class_of, evaluate, tokenize

ANSWERS = {"yes": "Yes", "no": "No", "irrelevant": "Irrelevant", "more": "Are you over 60?"}
labels = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1)


@given(labels)
def test_accuracies_are_those_of_scikit_learn(pairs):
    scores = evaluate((ANSWERS[gold], ANSWERS[predicted]) for gold, predicted in pairs)
    gold, predicted = zip(*pairs, strict=True)
    assert scores.micro == accuracy_score(gold, predicted)
    if {*gold} == {*LABELS}:
        macro = recall_score(gold, predicted, labels=list(LABELS), average="macro")
        assert scores.macro == pytest.approx(macro)
    else:
        assert scores.macro is None
    assert set(scores.by_class) == {*gold}


@pytest.mark.parametrize(
    ("answer", "label"),
    [("Yes", "yes"), ("no", "no"), ("IRRELEVANT", "irrelevant"), ("More", "more"),
     ("Yes.", "more"), ("Are you?", "more"), ("", "more"), ("maybe", "more")],
)  # fmt: skip
def test_what_is_no_final_answer_asks_for_more(answer, label):
    assert class_of(tokenize(answer)) == label


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't you?", ("do", "n't", "you", "?")),
        ("Is it your wife’s?", ("is", "it", "your", "wife", "’s", "?")),
        ("£1,000.50 (a year)", ("£", "1,000.50", "(", "a", "year", ")")),
        ("日本?", ("日本", "?")),
    ],
)
def test_questions_are_cut_into_tokens(text, tokens):
    assert tokenize(text) == tokens


def test_bleu_is_what_one_works_out_by_hand():
    pair = (("are", "you", "over", "60", "?"), ("are", "you", "60", "?"))
    brevity = math.exp(1 - 5 / 4)
    assert bleu([pair], 1) == pytest.approx(brevity * (4 + 1) / (4 + 1))
    # Of the pairs of words, "are you" and "60 ?" are there, "you 60" is not.
    assert bleu([pair], 2) == pytest.approx(brevity * math.sqrt(1 * (2 + 1) / (3 + 1)))


def test_bleu_punishes_short_questions_only():
    assert bleu([(("a",), ("a", "a"))], 1) == pytest.approx(2 / 3)
    assert bleu([(("a", "b"), ("a",))], 1) == pytest.approx(math.exp(-1))


@pytest.mark.parametrize("pairs", [[], [((), ("a",))], [(("a",), ())]])
def test_bleu_of_nothing_is_0(pairs):
    assert bleu(pairs, 4) == 0.0


def test_bleu_is_over_what_both_ask():
    scores = evaluate(
        [("Are you over 60?", "Are you over 60?"), ("Are you?", "Yes"), ("No", "Eh?"),
         ("Are you?", "More")]
    )  # fmt: skip
    assert (scores.count, scores.follow_ups, scores.bleu) == (4, 1, (1.0, 1.0, 1.0, 1.0))
