"""What is wrong with a scenario's facts, seen from its tree as it is now."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from apps.scenarios.domain.expansion import (
    ContradictoryFactsError,
    ExpansionError,
    FactsNotOnOnePathError,
    NoFactsError,
    expand_scenario,
)
from apps.trees.domain.tree import Path, Tree, Turn, questions


class FactFault(StrEnum):
    """Why facts give no utterances.

    NO_FACTS         there are none
    CONTRADICTORY    they answer both Yes and No to one question
    NOT_ASKED        the tree does not ask one of them: it was taken out, or worded anew
    NOT_ON_ONE_PATH  the tree asks them all, but nobody can be asked all of them
    """

    NO_FACTS = "no facts"
    CONTRADICTORY = "contradictory"
    NOT_ASKED = "not asked"
    NOT_ON_ONE_PATH = "not on one path"


REFUSALS: dict[FactFault, type[ExpansionError]] = {
    FactFault.NO_FACTS: NoFactsError,
    FactFault.CONTRADICTORY: ContradictoryFactsError,
    FactFault.NOT_ASKED: FactsNotOnOnePathError,
    FactFault.NOT_ON_ONE_PATH: FactsNotOnOnePathError,
}
"""How the expansion refuses facts with this fault."""


class FaultyFacts(NamedTuple):
    """The fault, and the facts that one has to look at to mend it."""

    fault: FactFault
    facts: Path


def fault_of(tree: Tree, facts: Iterable[Turn]) -> FaultyFacts | None:
    """The fault of a scenario that tells `facts`; None when it can be expanded."""
    told = tuple(facts)
    try:
        expand_scenario(tree, told)
    except NoFactsError:
        return FaultyFacts(FactFault.NO_FACTS, ())
    except ContradictoryFactsError as error:
        both = {fact.folded[0] for fact in error.contradicting}
        return FaultyFacts(
            FactFault.CONTRADICTORY, tuple(fact for fact in told if fact.folded[0] in both)
        )
    except FactsNotOnOnePathError:
        asked = {question.folded for _, question in questions(tree)}
        unknown = tuple(fact for fact in told if fact.folded[0] not in asked)
        if unknown:
            return FaultyFacts(FactFault.NOT_ASKED, unknown)
        return FaultyFacts(FactFault.NOT_ON_ONE_PATH, told)
    return None
