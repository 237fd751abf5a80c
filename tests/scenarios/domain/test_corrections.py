"""The parts of an utterance, as values and as in the export."""

from apps.scenarios.domain.corrections import Parts
from apps.scenarios.domain.fingerprint import fingerprint
from apps.trees.domain.tree import Answer, Turn

PARTS = Parts("I am 90.", (Turn("Old?", Answer.YES),), (Turn("Poor?", Answer.NO),), "Rich?")


def test_parts_have_the_keys_of_the_export():
    assert PARTS.as_json() == {
        "scenario": "I am 90.",
        "history": [{"follow_up_question": "Old?", "follow_up_answer": "Yes"}],
        "evidence": [{"follow_up_question": "Poor?", "follow_up_answer": "No"}],
        "answer": "Rich?",
    }


def test_parts_come_back():
    assert Parts.from_json(PARTS.as_json()) == PARTS


def test_equal_parts_have_one_fingerprint_and_others_another():
    assert fingerprint("a", [1, "b"]) == fingerprint("a", [1, "b"])
    others = [fingerprint("ab"), fingerprint("a", "b"), fingerprint(["a", "b"]), fingerprint()]
    assert len(set(others)) == 4
    assert all(len(one) == 40 for one in others)
