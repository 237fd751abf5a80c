"""Contexts that find their response by words."""

from apps.exports.domain.retrieval import BATCH, Corpus, accuracy, words


def measured(examples, seed=0) -> list[float | None]:
    corpus = Corpus(response for _, response in examples)
    return [accuracy(examples, weigh, seed) for weigh in (corpus.tf_idf, corpus.bm25)]


def test_contexts_that_name_their_response_all_find_it():
    examples = [(f"What about bus{number}?", f"The bus{number} goes.") for number in range(BATCH)]
    assert measured(examples) == [1.0, 1.0]


def test_contexts_that_share_no_word_find_nothing():
    assert measured([("What?", f"bus{number}") for number in range(BATCH)]) == [0.0, 0.0]


def test_of_responses_that_are_the_same_only_the_first_is_found():
    assert measured([("Yes?", "Yes")] * BATCH) == [1 / BATCH, 1 / BATCH]


def test_what_does_not_fill_a_batch_is_left_out():
    examples = [(f"bus{number}", f"bus{number}") for number in range(BATCH + 20)]
    assert measured(examples) == [1.0, 1.0]
    assert measured(examples[:99]) == [None, None]


def test_the_seed_says_which_examples_meet():
    examples = [(f"a{number % 7} b{number % 11}", f"a{number % 7} b{number % 11} c{number % 3}")
                for number in range(3 * BATCH)]  # fmt: skip
    assert measured(examples, 1) == measured(examples, 1)
    assert measured(examples, 1) != measured(examples, 2)


def test_rare_words_weigh_more_and_empty_texts_nothing():
    corpus = Corpus(["bus stop", "bus pass", "bus", ""])
    for weigh in (corpus.tf_idf, corpus.bm25):
        weights = weigh(words("Bus pass"))
        assert weights["pass"] > weights["bus"] > 0
        assert weigh(words("")) == {}
    assert Corpus([]).bm25(words("bus"))["bus"] > 0
