from hashlib import sha1

from hypothesis import given

from apps.trees.domain.identifiers import tree_id
from tests.strategies import texts


def test_tree_id_is_the_sha1_of_rule_text_and_question() -> None:
    # printf '* one\nMay I?' | sha1sum
    assert tree_id("* one", "May I?") == "02619dceb4e9f943cd57035e89a8145c86914cfa"


@given(texts, texts)
def test_tree_id_is_made_of_utf_8(rule_text: str, question: str) -> None:
    expected = sha1(rule_text.encode("utf-8") + b"\n" + question.encode("utf-8")).hexdigest()
    assert tree_id(rule_text, question) == expected
