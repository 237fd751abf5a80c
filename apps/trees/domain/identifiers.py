"""Public ids of trees: the same content always gets the same id."""

from hashlib import sha1


def tree_id(rule_text: str, question: str) -> str:
    """40 hex digits: SHA-1 of the UTF-8 of rule text, line feed, initial question.

    ShARC's own formula is not known; imported trees keep the id they came with.
    """
    return sha1(f"{rule_text}\n{question}".encode(), usedforsecurity=False).hexdigest()
