"""What whoever exports should know of the files: what is not in them, and what they lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from apps.exports.domain.splits import leaks
from apps.exports.services.exportable import growing_by_split
from apps.exports.services.splits import sources_of
from apps.projects.models import Project, Split
from apps.scenarios.models import Utterance


def missing_classes(found: Mapping[str, Counter[str]], splits: Sequence[Split]) -> Iterator[str]:
    for split in splits:
        for answer_class in Utterance.AnswerClass:
            if not found[split][answer_class]:
                yield (
                    f"{split} has no {answer_class.label} utterance: the field's evaluators need "
                    "all four"
                )


def left_out(
    project: Project, found: Mapping[str, Counter[str]], unverified: Mapping[str, int],
    splits: Sequence[Split], *, is_chosen: bool,
) -> Iterator[str]:  # fmt: skip
    """How many utterances of the dataset are not in an export of these splits, and why.

    `found` are those that may go out, `unverified` those that may not for that reason alone;
    `is_chosen` says that somebody asked for these splits, and for no others.
    """
    waiting = growing_by_split(project)
    for split in (*Split, ""):
        if split in splits or (split and not is_chosen):
            if number := unverified.get(split, 0):
                yield (
                    f"{_were(number, split)} left out: no expert has verified that; "
                    "--allow-unverified (“Unverified ones, too”) puts it in"
                )
            continue
        if number := found[split].total() + unverified.get(split, 0) + waiting.pop(split, 0):
            why = "the split was not asked for" if split else "their documents are in no split"
            yield f"{_were(number, split)} left out: {why}"
    if number := sum(waiting.values()):
        yield f"{_were(number)} left out: their trees grow again, and wait for branches"


def _were(number: int, split: str = "") -> str:
    utterances, were = ("utterance", "was") if number == 1 else ("utterances", "were")
    return f"{number:,} {utterances}{f' of {split}' if split else ''} {were}"


def crossing(project: Project, splits: Sequence[Split]) -> Iterator[str]:
    found = [leak for leak in leaks(sources_of(project)) if {*leak.splits} & {*splits}]
    if found:
        pages = sum(len(leak.keys) for leak in found)
        yield f"{pages:,} documents share rule texts across splits: see the leaks of the splits"
