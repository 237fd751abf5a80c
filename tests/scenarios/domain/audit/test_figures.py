"""The figures of the audit, on rows made for them."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.scenarios.domain.audit import crossing
from apps.scenarios.domain.audit.balance import (
    by_depth,
    by_items,
    by_position,
    by_split,
    majority,
)
from apps.scenarios.domain.audit.crossing import (
    in_two_splits,
    lent_to_another_split,
    near_in_two_splits,
)
from apps.scenarios.domain.audit.figures import AuditedTree, measure
from apps.scenarios.domain.audit.order import (
    as_many_questions_as_items,
    asked_in_text_order,
    place_of,
)
from apps.scenarios.domain.audit.overlap import (
    ByOverlap,
    copied_questions,
    copies_any,
    irrelevant_by_overlap,
)
from apps.scenarios.domain.audit.partial import (
    FLAGS,
    PARTS,
    PartialModel,
    hard_rows,
    macro_accuracy,
    run_partial_models,
)
from apps.scenarios.domain.audit.rows import Row, Share
from apps.scenarios.domain.audit.shortcuts import find_shortcuts
from apps.trees.domain.tree import Answer, FinalAnswer, Question, Turn

pytestmark = pytest.mark.once
YES, NO = Answer.YES, Answer.NO


def turn(question: str, answer: Answer = YES) -> Turn:
    return Turn(question, answer)


def row(number: int = 0, *, label: str = "yes", **fields) -> Row:
    answers = {"yes": "Yes", "no": "No", "irrelevant": "Irrelevant", "more": "Is it?"}
    defaults = {
        "utterance_id": f"{number:040}", "tree": "t", "split": "dev", "question": "Can I?",
        "scenario": "", "history": (), "evidence": (), "answer": answers[label], "label": label,
    }  # fmt: skip
    return Row(**{**defaults, **fields})


def test_shortcuts():
    rows = [
        row(label="irrelevant"),
        row(label="more"),
        row(label="irrelevant", history=(turn("a"),)),
        row(label="yes", history=(turn("a", NO), turn("b", YES))),
        row(label="no", history=(turn("a", YES),)),
        row(label="no", evidence=(turn("a", NO),), scenario="s"),
        row(label="more", evidence=(turn("a", NO),), scenario="s"),
    ]
    agrees = Question("a", FinalAnswer(YES), FinalAnswer(NO))
    mixed = Question("a", FinalAnswer(YES), Question("b", FinalAnswer(NO), FinalAnswer(NO)))
    found = find_shortcuts(rows, [agrees, mixed, FinalAnswer(YES)])
    assert found.irrelevant_if_empty == Share(1, 2)
    assert found.irrelevant_found == Share(1, 2)
    assert found.last_answer == Share(1, 2)
    assert found.last_evidence == Share(1, 1)
    assert found.leaf_is_last_edge == Share(4, 6)
    assert found.trees_of_last_edges == Share(1, 3)


def test_a_share_of_nothing_has_no_value():
    assert (Share(1, 4).value, Share(0, 0).value) == (0.25, None)


def test_balance():
    rows = [row(label="yes"), row(label="no", split="", history=(turn("a"),)),
            row(label="no", scenario="s", evidence=(turn("a"),))]  # fmt: skip
    assert by_split(rows) == {"dev": Counter(yes=1, no=1), "none": Counter(no=1)}
    assert by_depth(rows) == {"0": Counter(yes=1), "1": Counter(no=2)}
    assert by_position(rows) == {
        "no history, no scenario": Counter(yes=1), "no history, scenario": Counter(no=1),
        "with history, no scenario": Counter(no=1),
    }  # fmt: skip
    assert majority(rows) == 2 / 3
    assert majority([]) is None


@pytest.mark.parametrize(
    ("text", "copies"),
    [
        ("Well, do you live in Wales now?", True),
        ("I live in Wales with my son.", False),
        ("DO YOU LIVE IN cardiff", True),
        ("", False),
    ],
)
def test_four_words_in_a_row_are_copied(text, copies):
    assert copies_any(text, ["Do you live in Wales?"]) is copies


def test_a_short_question_is_copied_as_a_whole():
    assert copies_any("So is it, here.", ["Is it?"])
    assert not copies_any("It is.", ["Is it?"])
    assert not copies_any("It is.", ["?"])


def test_scenarios_that_copy_are_counted_once():
    asked = (turn("Do you live in Wales?"),)
    rows = [row(scenario="Do you live in Wales I wonder", evidence=asked)] * 2
    rows += [row(scenario="I am Welsh.", evidence=asked), row(scenario="Do you live in Wales")]
    assert copied_questions(rows) == Share(1, 2)


def test_irrelevant_by_overlap():
    rules = {"t": "You can claim rent if you work"}
    rows = [row(question="Can you claim rent?"), row(question="Is tea hot?", label="irrelevant"),
            row(question="Is tea hot?", label="irrelevant")]  # fmt: skip
    assert irrelevant_by_overlap(rows, rules) == ByOverlap(0.0, 1.0)
    assert irrelevant_by_overlap(rows[:1], rules) == ByOverlap(None, None)
    same = [row(question="Can rent?"), row(question="Can rent", label="irrelevant"),
            row(question="?", label="irrelevant")]  # fmt: skip
    assert irrelevant_by_overlap(same, rules) == ByOverlap(0.0, 0.75)
    reverse = [row(question="tea"), row(question="rent", label="irrelevant")]
    assert irrelevant_by_overlap(reverse, rules) == ByOverlap(0.0, 0.5)


def test_what_stands_in_two_splits():
    placed = [("a", "train"), ("a", "dev"), ("a", "dev"), ("b", "dev"), ("u", ""), ("u", "test")]
    assert in_two_splits(placed) == Share(1, 3)


def test_near_duplicates_in_another_split(monkeypatch):
    long, near = "you pay rent and tax and live here", "you pay rent and tax and live there"
    placed = [
        (long, "train"),
        (near, "dev"),
        ("it is tuesday", "dev"),
        ("you pay rent and tax", ""),
    ]
    assert near_in_two_splits(placed, 0.7) == Share(2, 4)
    assert near_in_two_splits(placed, 1.0) == Share(0, 4)
    assert near_in_two_splits([(long, "dev"), (near, "dev")], 0.7) == Share(0, 2)
    assert near_in_two_splits([], 0.7) == Share(0, 0)
    monkeypatch.setattr(crossing, "MOST_TEXTS", 2)
    assert near_in_two_splits(placed, 0.7).of == 2


def test_scenarios_that_were_lent_to_another_split():
    rows = [
        row(scenario=text, split=split, kind=kind)
        for text, split, kind in (
            ("s", "dev", "scenario"), ("s", "train", "negative_scenario"),
            ("s", "dev", "negative_scenario"), ("s", "", "negative_scenario"),
            ("elsewhere", "dev", "negative_scenario"), ("u", "", "scenario"),
            ("u", "dev", "negative_scenario"),
        )
    ]  # fmt: skip
    assert lent_to_another_split(rows) == Share(1, 2)


def test_all_figures_have_a_code_and_advice():
    shape = Question("Do you pay rent?", FinalAnswer(YES), FinalAnswer(NO))
    trees = [
        AuditedTree("t", shape, "* You pay rent", 1, "dev"),
        AuditedTree("u", shape, "* you PAY rent.", 1, "train"),
    ]
    rows = [
        row(scenario="s", split="dev", history=(turn("a"),)),
        row(scenario="s", split="train", history=(turn("a"), turn("b"))),
        row(scenario="s", split="train", kind="negative_scenario"),
    ]
    models = [PartialModel("flags", 0.5, 0.25, (True, False, False))]
    figures = {figure.code: figure for figure in measure(rows, trees, models)}
    shares = {code: (one.hits, one.of) for code, one in figures.items() if one.of is not None}
    crossing_figures = {
        "scenarios_in_two_splits": (1, 1), "questions_in_two_splits": (1, 2),
        "rules_in_two_splits": (1, 1), "lent_scenarios": (0, 1),
    }  # fmt: skip
    assert {code: shares[code] for code in crossing_figures} == crossing_figures
    assert shares["near_rules_in_two_splits"] == (0, 1)
    assert shares["one_per_item"] == (2, 2)
    assert all(figure.advice for figure in figures.values())
    assert (figures["micro_flags"].value, figures["macro_flags"].value) == (0.5, 0.25)


def test_questions_by_list_items():
    assert by_items([(2, 2), (1, 3), (2, 2), (1, 2)]) == {
        "2": Counter({"2": 2, "1": 1}), "3": Counter({"1": 1}),
    }  # fmt: skip


def test_questions_in_the_order_of_the_text():
    rule = "You can claim if:\n* you are over eighteen\n* you pay rent"
    age, rent = "Are you over eighteen?", "Do you pay rent?"
    assert asked_in_text_order([[age, rent], [age, rent]], rule) == [True]
    assert asked_in_text_order([[rent, age], [rent, "Is it blue?"]], rule) == [False]
    assert place_of("Can you?", rule) == 0
    assert place_of("Are you?", "you\nyou") is None
    assert place_of("?", "") is None


def test_one_question_for_each_item():
    assert as_many_questions_as_items([(2, 2), (1, 3), (4, 0)]) == Share(1, 2)


def flagged(number: int) -> Row:
    """The last answer tells the label, and nothing else does."""
    answer = YES if number % 2 else NO
    label = "yes" if number % 2 else "no"
    return row(number, label=label, tree=f"tree {number % 7}", history=(turn("Is it?", answer),))


def test_a_model_that_sees_flags_finds_what_flags_tell():
    rows = [flagged(number) for number in range(42)]
    by_name = {model.name: model for model in run_partial_models(rows)}
    assert list(by_name) == list(PARTS)
    assert (by_name[FLAGS].micro, by_name[FLAGS].macro) == (1.0, 1.0)
    assert by_name["question"].micro <= 0.6
    assert by_name["scenario"].micro <= 0.6
    assert hard_rows(list(by_name.values()), rows) == []


def test_one_tree_or_one_label_gives_no_model():
    assert run_partial_models([row(1), row(2, label="no")]) == []
    assert run_partial_models([row(1, tree="a"), row(2, tree="b")]) == []
    assert hard_rows([], [row(1)]) == []


def test_a_fold_of_one_label_is_guessed_by_it():
    rows = [row(1, tree="a", label="yes"), row(2, tree="b", label="no")]
    assert [model.micro for model in run_partial_models(rows)] == [0.0] * 4
    assert hard_rows(run_partial_models(rows), rows) == [rows[0].utterance_id, rows[1].utterance_id]


def test_hard_is_what_no_model_gets_right():
    models = [PartialModel("a", 0, 0, (True, False)), PartialModel("b", 0, 0, (False, False))]
    assert hard_rows(models, [row(1), row(2)]) == [f"{2:040}"]


@given(st.lists(st.tuples(st.sampled_from(["yes", "no", "more"]), st.booleans()), min_size=1))
def test_macro_lies_between_the_worst_and_the_best_label(pairs):
    labels, right = zip(*pairs, strict=True)
    shares = [
        sum(hit for label, hit in pairs if label == one) / labels.count(one) for one in set(labels)
    ]
    assert min(shares) - 1e-9 <= macro_accuracy(labels, right) <= max(shares) + 1e-9
