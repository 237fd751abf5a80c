"""What kind of rule a finished tree is."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from apps.trees.domain.logic.choices import choices
from apps.trees.domain.logic.expressions import (
    And,
    Constant,
    Expression,
    Not,
    Or,
    Piece,
    Var,
    in_words,
    literals,
    pieces,
)
from apps.trees.domain.logic.factoring import factored
from apps.trees.domain.tree import Tree

NO_SHORT_FORM = "There is no short rule: some questions count in more than one way"

LONGEST_WRITTEN_OUT = 12
"""Literals of an expression that is still worth reading though it names a question twice."""


class LogicClass(StrEnum):
    """Every finished tree is in exactly one class. Only questions that matter are counted."""

    ONE_QUESTION = "one question"
    """Yes, if one question is answered Yes."""
    NEGATED_QUESTION = "one negated question"
    """Yes, unless one question is answered Yes."""
    AND = "all of several questions"
    """Yes, if all of several questions are answered Yes."""
    OR = "any of several questions"
    """Yes, if any of several questions is answered Yes."""
    MIXED = "AND and OR"
    """AND and OR of several questions, each named once and none negated."""
    WITH_NOT = "with a NOT"
    """AND, OR or both, of several questions, each named once and at least one negated."""
    CONSTANT = "always the same answer"
    """No question matters."""
    NOT_READ_ONCE = "not read-once"
    """No expression names each question once."""


@dataclass(frozen=True)
class Logic:
    """A tree's truth function. The expression is None where none is short enough to be of use."""

    kind: LogicClass
    expression: Expression | None

    @property
    def pieces(self) -> list[Piece]:
        return pieces(self.expression) if self.expression else [Piece(NO_SHORT_FORM)]

    @property
    def words(self) -> str:
        return in_words(self.expression) if self.expression else NO_SHORT_FORM


def logic(tree: Tree, *, longest: int = LONGEST_WRITTEN_OUT) -> Logic:
    """The class and the shortest expression that is found.

    An expression that has to name a question twice is given up to `longest` literals. Raises
    `UnfinishedTreeError` when a branch is open.
    """
    expression = factored(choices(tree))
    kind = _class(expression)
    is_too_long = kind is LogicClass.NOT_READ_ONCE and len(list(literals(expression))) > longest
    return Logic(kind, None if is_too_long else expression)


def _class(expression: Expression) -> LogicClass:
    named = list(literals(expression))
    if len({_question(literal) for literal in named}) < len(named):
        return LogicClass.NOT_READ_ONCE
    if len(named) > 1 and any(isinstance(literal, Not) for literal in named):
        return LogicClass.WITH_NOT
    if isinstance(expression, And | Or) and any(
        isinstance(part, And | Or) for part in expression.parts
    ):
        return LogicClass.MIXED
    return _CLASSES[type(expression)]


_CLASSES: Mapping[type[Expression], LogicClass] = {
    Constant: LogicClass.CONSTANT,
    Var: LogicClass.ONE_QUESTION,
    Not: LogicClass.NEGATED_QUESTION,
    And: LogicClass.AND,
    Or: LogicClass.OR,
}


def _question(literal: Var | Not) -> str:
    """Its spelling, which is the same wherever the expression names it."""
    return literal.question if isinstance(literal, Var) else literal.part.question
