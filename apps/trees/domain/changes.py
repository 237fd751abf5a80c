"""What a change would make of a tree, before anybody makes it; whether a page is out of date."""

import json
from collections.abc import Hashable, Iterable
from hashlib import sha1

from apps.trees.domain.tree import Answer, FinalAnswer, Question, Tree, nodes

FINGERPRINT_DIGITS = 16


def with_final_answer(tree: Tree, key: Hashable, answer: Answer) -> Tree:
    """The tree with this final answer in the place of the node with the key, and of all below."""
    built: dict[int, Tree] = {}
    for _, node in reversed(list(nodes(tree))):  # children first
        if getattr(node, "key", None) == key:
            built[id(node)] = FinalAnswer(answer, key=key)
        elif isinstance(node, Question):
            below = built[id(node.yes)], built[id(node.no)]
            built[id(node)] = Question(node.text, *below, key=node.key)
        else:
            built[id(node)] = node
    return built[id(tree)]


def fingerprint(rows: Iterable[tuple[int, str]]) -> str:
    """Changes whenever one of the nodes (key, and question or answer) does, comes or goes."""
    content = json.dumps(sorted(rows))
    return sha1(content.encode(), usedforsecurity=False).hexdigest()[:FINGERPRINT_DIGITS]
