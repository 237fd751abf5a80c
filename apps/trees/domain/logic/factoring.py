"""The shortest expression that a tree's truth function is found to have.

A function is *read-once* if some expression names each of its questions once. There is only one
such expression, but for the order of parts, and no shorter one (Golumbic, Mintz and Rotics, 2006).
It is found from the leaves up. Take a question q, with f after Yes and g after No: what f and g
have in common as parts of an AND or of an OR is taken out, again and again, until one side is a
constant; q takes its place. Where that never happens, the function is not read-once: what is left
is written out as (q AND f) OR (NOT q AND g), without the q or NOT q that makes no difference.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from apps.trees.domain.logic.choices import Choice, Choices, differences
from apps.trees.domain.logic.expressions import And, Constant, Expression, Formula, Not, Or, Var
from apps.trees.domain.tree import Answer


def factored(tree: Choices) -> Expression:
    """Names only questions that change the outcome, and each of them once if that can be.

    Where it cannot be, there may be a shorter expression. `tree` comes from `choices`.
    """
    if isinstance(tree, Answer):
        return Constant(tree)
    asked = _asked(tree)
    forms = _Forms(asked)
    numbers: dict[int, int] = {}

    def number(node: Choices) -> int:
        return numbers[id(node)] if isinstance(node, Choice) else _CONSTANTS[node]

    for node in reversed(asked):  # children first
        numbers[id(node)] = forms.chosen(node, number(node.yes), number(node.no))
    return forms.formula(number(tree))


def _asked(tree: Choice) -> list[Choice]:
    """Parents first, Yes before No."""
    found = []
    waiting: list[Choices] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Choice):
            found.append(node)
            waiting += [node.no, node.yes]
    return found


_Op: TypeAlias = type[And] | type[Or]

_CONSTANTS: Mapping[Answer, int] = {Answer.NO: 0, Answer.YES: 1}
_NO, _YES = _CONSTANTS.values()
_NEUTRAL: Mapping[_Op, int] = {And: _YES, Or: _NO}


@dataclass(frozen=True)
class _Form:
    """`place` sorts the parts of an expression: negated questions last, else as they are asked."""

    place: tuple[bool, int]
    literals: int
    op: _Op | None = None
    parts: frozenset[int] = frozenset()


class _Forms:
    """Expressions while they are put together, each once: equal ones have the same number."""

    def __init__(self, asked: Iterable[Choice]) -> None:
        self._texts: dict[str, str] = {}
        for node in asked:
            self._texts.setdefault(node.question, node.text)
        self._positive = {question: 2 + 2 * n for n, question in enumerate(self._texts)}
        self._forms = [_Form((False, 0), 0), _Form((False, 0), 0)]
        for place in range(len(self._texts)):
            self._forms += [_Form((False, place), 1), _Form((True, place), 1)]
        self._numbers: dict[tuple[_Op, frozenset[int]], int] = {}

    def chosen(self, node: Choice, yes: int, no: int) -> int:
        """`yes` where the node's question is answered Yes, `no` where it is answered No."""
        taken_out: list[tuple[_Op, frozenset[int]]] = []
        while yes != no and (common := self._common(yes, no)):
            op, parts = common
            taken_out.append(common)
            yes = self._joined(op, self._parts(op, yes) - parts)
            no = self._joined(op, self._parts(op, no) - parts)
        whole = self._put_together(node, yes, no)
        for op, parts in reversed(taken_out):
            whole = self._joined(op, {*parts, whole})
        return whole

    def formula(self, number: int) -> Formula:
        built: dict[int, Formula] = {}
        for question, positive in self._positive.items():
            built[positive] = Var(self._texts[question])
            built[positive + 1] = Not(Var(self._texts[question]))
        for compound, form in enumerate(self._forms):
            if form.op:
                # Where the same question comes first in two parts, the one that was made first.
                in_order = sorted(form.parts, key=lambda part: (self._forms[part].place, part))
                built[compound] = form.op(tuple(built[part] for part in in_order))
        return built[number]

    def _common(self, one: int, other: int) -> tuple[_Op, frozenset[int]] | None:
        for op in _NEUTRAL:
            if parts := self._parts(op, one) & self._parts(op, other):
                return op, parts
        return None

    def _put_together(self, node: Choice, yes: int, no: int) -> int:
        gains, loses = _directions(node)
        if not gains and not loses:
            return min(yes, no, key=lambda number: self._forms[number].literals)
        asked = self._positive[node.question]
        after_yes = self._joined(And, [asked, yes]) if gains else yes
        after_no = self._joined(And, [asked + 1, no]) if loses else no
        return self._joined(Or, [after_yes, after_no])

    def _parts(self, op: _Op, number: int) -> frozenset[int]:
        """What `number` is as an AND, or as an OR: itself alone, if it is neither."""
        form = self._forms[number]
        if form.op is op:
            return form.parts
        return frozenset() if number == _NEUTRAL[op] else frozenset({number})

    def _joined(self, op: _Op, numbers: Iterable[int]) -> int:
        parts = frozenset[int]().union(*(self._parts(op, number) for number in numbers))
        if len(parts) < 2:
            return next(iter(parts), _NEUTRAL[op])
        if (op, parts) not in self._numbers:
            self._numbers[op, parts] = len(self._forms)
            self._forms.append(self._form(op, parts))
        return self._numbers[op, parts]

    def _form(self, op: _Op, parts: frozenset[int]) -> _Form:
        forms = [self._forms[part] for part in parts]
        first = min(form.place[1] for form in forms)
        return _Form((False, first), sum(form.literals for form in forms), op, parts)


def _directions(node: Choice) -> tuple[bool, bool]:
    """Whether Yes to its question can make a Yes of a No, and whether it can make a No of a Yes."""
    if isinstance(node.yes, Answer) or isinstance(node.no, Answer):
        gains = node.yes is Answer.YES or node.no is Answer.NO
        return gains, not gains
    return (
        any(found.one is Answer.YES for found in differences(node.yes, node.no)),
        any(found.one is Answer.NO for found in differences(node.yes, node.no)),
    )
