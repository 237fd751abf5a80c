"""What a scenario tells about each question of its tree: Yes, No, or nothing.

A question that the tree asks at several places, in the same words after folding, has one answer
for all of them: the person in the scenario is one person.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from apps.scenarios.domain.expansion import expand_scenario
from apps.snippets.domain.folding import fold
from apps.trees.domain.tree import Answer, Path, Tree, Turn, questions


class Stated(StrEnum):
    """What a text says to a question. What is unclear is not stated, and never a No."""

    YES = "Yes"
    NO = "No"
    NOT = "not stated"


Sheet = dict[str, Stated]
"""Folded questions, each with what is stated."""


def questions_of(tree: Tree) -> dict[str, str]:
    """The questions of a tree, each once: folded, and as the tree spells it. Parents first."""
    texts: dict[str, str] = {}
    for _, question in questions(tree):
        texts.setdefault(question.folded, question.text)
    return texts


def sheet_of(tree: Tree, facts: Iterable[Turn]) -> Sheet:
    """The facts with the questions that they leave open; facts that the tree does not ask last."""
    sheet = dict.fromkeys(questions_of(tree), Stated.NOT)
    return sheet | {fold(fact.follow_up_question): Stated(fact.follow_up_answer) for fact in facts}


def facts_of(tree: Tree, sheet: Mapping[str, Stated]) -> Path:
    """The turns that a sheet states, in the order of the tree and its spelling.

    Raises what `checked` raises. What is said to questions that the tree does not ask is left out.
    """
    stated = {folded: said for folded, said in sheet.items() if said is not Stated.NOT}
    texts = questions_of(tree)
    return checked(
        tree, [Turn(text, Answer(stated[one])) for one, text in texts.items() if one in stated]
    )


def checked(tree: Tree, facts: Iterable[Turn]) -> Path:
    """The facts, if one person can be in all of them and the tree leads there.

    Raises an `ExpansionError`: no facts, facts that contradict each other, or facts that are not
    on one path.
    """
    told = tuple(facts)
    expand_scenario(tree, told)  # raises at the call, before anything is expanded
    return told


def disputed(sheet: Mapping[str, Stated], votes: Sequence[Mapping[str, Stated]]) -> list[str]:
    """The folded questions where half of the votes, or more, say something else than the sheet.

    Who says nothing about a question has no vote on it.
    """
    return [question for question, stated in sheet.items() if _is_disputed(question, stated, votes)]


def _is_disputed(question: str, stated: Stated, votes: Sequence[Mapping[str, Stated]]) -> bool:
    said = [vote[question] for vote in votes if question in vote]
    others = sum(1 for one in said if one is not stated)
    return bool(others) and 2 * others >= len(said)
