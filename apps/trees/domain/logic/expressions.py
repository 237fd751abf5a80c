"""AND/OR/NOT expressions over follow-up questions, and how they read.

An expression stands for the final answer Yes: `Var` is true when its question is answered Yes.
Only questions are negated, and no part of an `And` is itself an `And` (nor of an `Or` an `Or`), so
that every pair of brackets is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from apps.trees.domain.tree import Answer


@dataclass(frozen=True)
class Constant:
    """No question matters."""

    answer: Answer


@dataclass(frozen=True)
class Var:
    """A follow-up question as the tree spells it first."""

    question: str


@dataclass(frozen=True)
class Not:
    part: Var


@dataclass(frozen=True)
class And:
    """At least two parts in the order in which the tree asks, but negated questions last.

    Read aloud, "B or not A" is clear, and "not A or B" is not.
    """

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Or:
    """As `And`."""

    parts: tuple[Formula, ...]


Formula: TypeAlias = Var | Not | And | Or
Expression: TypeAlias = Constant | Formula


def literals(expression: Expression) -> Iterator[Var | Not]:
    """Every place where a question is named, in order, with the NOT before it."""
    waiting: list[Expression] = [expression]
    while waiting:
        part = waiting.pop()
        if isinstance(part, And | Or):
            waiting.extend(reversed(part.parts))
        elif isinstance(part, Var | Not):
            yield part


@dataclass(frozen=True)
class Piece:
    """Words of ours with their spaces, or a question as it is spelled."""

    text: str
    is_question: bool = False


def pieces(expression: Expression) -> list[Piece]:
    """A sentence such as: Yes, if A and (not B or C). For a template, which marks the questions up.

    Where every question is negated, the sentence says "unless" and negates none.
    """
    if isinstance(expression, Constant):
        return [Piece(f"Always {expression.answer}")]
    if all(isinstance(literal, Not) for literal in literals(expression)):
        return list(_merged([Piece("Yes, unless "), *_pieces(expression, _NEGATED)]))
    return list(_merged([Piece("Yes, if "), *_pieces(expression, _PLAIN)]))


def in_words(expression: Expression) -> str:
    """The sentence of `pieces`, with its questions in quotation marks."""
    return "".join(
        f"“{piece.text}”" if piece.is_question else piece.text for piece in pieces(expression)
    )


_Words: TypeAlias = Mapping[type[Formula], str]
_PLAIN: _Words = {And: " and ", Or: " or ", Not: "not "}
_NEGATED: _Words = {And: " or ", Or: " and ", Not: ""}
"""The words for the opposite: not (not A and not B) is A or B."""


def _pieces(formula: Formula, words: _Words) -> Iterator[Piece]:
    waiting: list[Formula | Piece] = [formula]
    while waiting:
        part = waiting.pop()
        if isinstance(part, And | Or):
            waiting.extend(reversed(list(_with_words_between(part, words))))
        elif isinstance(part, Not):
            waiting.extend([part.part, Piece(words[Not])])
        elif isinstance(part, Var):
            yield Piece(part.question, is_question=True)
        else:
            yield part


def _with_words_between(whole: And | Or, words: _Words) -> Iterator[Formula | Piece]:
    for index, part in enumerate(whole.parts):
        if index:
            yield Piece(words[type(whole)])
        if isinstance(part, And | Or):
            yield from (Piece("("), part, Piece(")"))
        else:
            yield part


def _merged(found: Iterable[Piece]) -> Iterator[Piece]:
    """Neighbouring words as one piece."""
    for is_question, group in groupby(found, key=lambda piece: piece.is_question):
        if is_question:
            yield from group
        else:
            yield Piece("".join(piece.text for piece in group))
