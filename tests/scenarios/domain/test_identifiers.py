from hashlib import sha1

from hypothesis import given

from apps.scenarios.domain.identifiers import utterance_id
from apps.trees.domain.tree import Answer, Turn
from tests.strategies import texts

HISTORY = (Turn("A?", Answer.YES), Turn("B?", Answer.NO))


def test_utterance_id_is_the_sha1_of_all_parts_without_a_separator() -> None:
    # printf '* oneMay I?I am old.A?YesB?NoC?' | sha1sum
    assert (
        utterance_id("* one", "May I?", "I am old.", HISTORY, "C?")
        == "36ffb874e0aee4c866a268e5c00ec6025b1e4b9d"
    )


@given(texts, texts, texts, texts, texts)
def test_utterance_id_is_made_of_utf_8(
    rule_text: str, question: str, scenario: str, follow_up_question: str, answer: str
) -> None:
    history = [Turn(follow_up_question, Answer.NO)]
    content = rule_text + question + scenario + follow_up_question + "No" + answer
    expected = sha1(content.encode("utf-8")).hexdigest()
    assert utterance_id(rule_text, question, scenario, history, answer) == expected
