"""What a dataset card says in numbers, counted while the rows go by."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from apps.exports.formats.rows import CLASSES, TreeRow, UtteranceRow
from apps.snippets.domain.words import count_words

LABELS = {"yes": "Yes", "no": "No", "irrelevant": "Irrelevant", "more": "Follow-up question"}
KINDS = {
    "plain": "without a scenario", "scenario": "with a scenario",
    "negative_question": "with an irrelevant question",
    "negative_scenario": "with an irrelevant scenario",
}  # fmt: skip
_BIN, _BINS = 10, 10
_PERSONAL = {
    "e-mail addresses": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+"),
    # Groups of digits, eight or more of them in all: dates and sums of money have fewer.
    "telephone numbers": re.compile(r"(?<![\w.,])(?:\+|\(?0)\d(?:[ ()/.-]{0,2}\d){7,14}(?!\w)"),
}


class Statistics:
    """Utterances by split and class; trees by depth; scenarios and questions by length."""

    def __init__(self) -> None:
        self.classes: dict[str, Counter[str]] = {}
        self.kinds: Counter[str] = Counter(dict.fromkeys(KINDS.values(), 0))
        self.personal: Counter[str] = Counter(dict.fromkeys(_PERSONAL, 0))
        self.depths: Counter[int] = Counter()
        self.scenarios: Counter[int] = Counter()
        self.questions: Counter[int] = Counter()

    def utterances(self, rows: Iterator[UtteranceRow], split: str) -> Iterator[UtteranceRow]:
        """The rows as they come, counted."""
        self.classes.setdefault(split, Counter())
        for row in rows:
            self.add_utterances((row,), split)
            yield row

    def add_utterances(self, rows: Iterable[UtteranceRow], split: str) -> None:
        classes = self.classes.setdefault(split, Counter())
        for row in rows:
            classes[row.answer_class] += 1
            self.kinds[KINDS.get(row.kind, row.kind)] += 1
            if row.scenario:
                self.scenarios[_bin(row.scenario)] += 1
            said = f"{row.question}\n{row.scenario}\n{row.answer}"
            for what, pattern in _PERSONAL.items():
                self.personal[what] += len(pattern.findall(said))

    @property
    def count(self) -> int:
        return sum(classes.total() for classes in self.classes.values())

    def trees(self, rows: Iterator[TreeRow]) -> Iterator[TreeRow]:
        for tree in rows:
            self.depths[_depth(tree)] += 1
            self.questions.update(_bin(node.text) for node in tree.nodes if node.kind == "question")
            yield tree

    @property
    def plots(self) -> Mapping[str, tuple[str, Mapping[str, int]]]:
        """Title and bars of each plot, by the name of its file."""
        total = sum(self.classes.values(), Counter())
        return {
            "labels": ("Utterances by answer", {LABELS[one]: total[one] for one in CLASSES}),
            "depths": ("Trees by follow-up questions on their longest path", _filled(self.depths)),
            "scenarios": ("Utterances by words of their scenario", _binned(self.scenarios)),
            "questions": ("Follow-up questions by words", _binned(self.questions)),
        }


def _depth(tree: TreeRow) -> int:
    depths: dict[int, int] = defaultdict(lambda: -1)
    for node in tree.nodes:
        depths[node.node_id] = depths[node.parent_id] + 1
    return max(depths.values(), default=0)


def _bin(text: str) -> int:
    return min(count_words(text) // _BIN, _BINS)


def _filled(counts: Counter[int]) -> dict[str, int]:
    return {str(number): counts[number] for number in range(max(counts, default=0) + 1)}


def _binned(counts: Counter[int]) -> dict[str, int]:
    last = max(counts, default=0)
    return {_name(number): counts[number] for number in range(last + 1)}


def _name(number: int) -> str:
    first = number * _BIN
    return f"{first} or more" if number == _BINS else f"{first} to {first + _BIN - 1}"
