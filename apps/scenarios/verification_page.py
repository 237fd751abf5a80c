"""What the pages of the verification show, put together from the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import dropwhile, groupby
from typing import Any

from django.db.models import Exists, OuterRef

from apps.accounts.models import User
from apps.projects.models import Guideline, Project, Split, Step
from apps.scenarios.domain.consistency import Inconsistency
from apps.scenarios.models import Utterance, UtteranceQuerySet, Waived
from apps.scenarios.services.correction_drafts import begun_by
from apps.scenarios.services.proof import find_inconsistency
from apps.scenarios.services.verification import REASONS, open_of_tree, seen_of
from apps.scenarios.verification_forms import CorrectionForm, DropForm, WhyForm, turns_of_draft
from apps.trees.domain import tree as domain
from apps.trees.models import Tree

VERIFIED_SPLITS = (Split.DEV, Split.TEST)
SHOWN_MARKS = 120
MOST_COUNTED = 1000
"""To count more of what waits would take longer than all the rest of the page."""

BEGUN_SHOWN = 20

LATELY = timedelta(minutes=30)
"""So long a tree that another expert works on comes after the others."""

State = Utterance.State


@dataclass(frozen=True)
class Mark:
    """One utterance in the strip of its tree."""

    number: int
    utterance_id: str
    group: str
    words: str
    state: str
    waits: bool
    is_current: bool


@dataclass(frozen=True)
class Strip:
    """The utterances of a tree around the one that is open; `groups` are (title, marks)."""

    groups: Sequence[tuple[str, list[Mark]]]
    number: int
    total: int
    left: int
    before: str = ""  # ids of the neighbours, whatever their state
    after: str = ""


# The queue -----------------------------------------------------------------------------------


def waiting(project: Project) -> UtteranceQuerySet:
    """What experts have to look at: dev and test, and all whose tree has changed under them."""
    return Utterance.objects.filter(project=project).to_verify().in_splits(VERIFIED_SPLITS)


def next_to_verify(
    project: Project, reader: User, *, after: Utterance | None, now: datetime
) -> str | None:
    """The id of the next that waits: in the same tree, else in the next; None when none does."""
    if after is not None and (here := _next_in_tree(after)):
        return here
    tree = _next_tree(project, reader, after=after.tree_id if after else 0, now=now)
    return None if tree is None else _first_of(Utterance.objects.filter(tree=tree))


def _next_in_tree(after: Utterance) -> str | None:
    """The next one below; what was skipped above waits until all other trees are done."""
    if after.tree.question.snippet.document.split not in VERIFIED_SPLITS:
        return None
    of_tree = Utterance.objects.filter(tree=after.tree_id)
    waits = set(of_tree.to_verify().values_list("pk", flat=True))
    rows = of_tree.in_reading_order().values_list("pk", "utterance_id")
    below = dropwhile(lambda row: row[0] != after.pk, rows)
    return next((name for key, name in below if key in waits and key != after.pk), None)


def _first_of(rows: UtteranceQuerySet) -> str | None:
    return rows.to_verify().in_reading_order().values_list("utterance_id", flat=True).first()


def _next_tree(project: Project, reader: User, *, after: int, now: datetime) -> int | None:
    """The next tree after this one, then from the first on; where others work come last."""
    of_tree = Utterance.objects.filter(tree=OuterRef("pk"))
    others = of_tree.filter(verified_at__gt=now - LATELY).exclude(verified_by=reader)
    trees = Tree.objects.filter(
        Exists(of_tree.to_verify()), project=project,
        question__snippet__document__split__in=VERIFIED_SPLITS,
    )  # fmt: skip
    rows = trees.order_by("pk").annotate(is_taken=Exists(others)).values_list("is_taken", "pk")
    order = [(is_taken, key <= after, key) for is_taken, key in rows]
    return min(order)[2] if order else None


# One utterance -------------------------------------------------------------------------------


def bench(utterance: Utterance, reader: User, **forms: Any) -> dict[str, Any]:
    """The page of one utterance; `forms` are those that came back with errors."""
    project, tree = utterance.project, utterance.tree
    shape = tree.to_domain()
    found = find_inconsistency(shape, utterance.kind, utterance.parts)
    draft = utterance.correction_drafts.filter(by=reader).first()
    finding = found if utterance.is_in_force else None
    guideline = Guideline.objects.filter(project=project, step=Step.VERIFICATION).first()
    return {
        "project": project,
        "utterance": utterance,
        "snippet": tree.question.snippet,
        "finding": finding and {"words": REASONS[finding.reason], "expected": finding.expected},
        "waiver": finding and _waiver_of(utterance, finding),
        "strip": strip_of(utterance),
        "left": waiting(project).order_by()[: MOST_COUNTED + 1].count(),
        "most_counted": MOST_COUNTED,
        "questions": _questions(shape),
        "corrections": list(utterance.corrections.select_related("by").order_by("-pk")),
        "guideline": guideline,
        "accept_form": WhyForm(),
        "drop_form": DropForm(),
        "draft": draft,
        "draft_texts": list(_texts(draft.content)) if draft else [],
        "aside": [list(_texts(content)) for content in draft.aside] if draft else [],
        "correction_form": CorrectionForm(
            utterance=utterance, draft=draft.content if draft else None
        ),
        **forms,
    }


def _texts(content: Mapping[str, str]) -> Iterator[str]:
    """What somebody typed into the form of a correction, in its order."""
    turns = [turn for name in ("history", "evidence") for turn in turns_of_draft(content, name)]
    told = [content.get("part-scenario", ""), *(" ".join(turn.values()) for turn in turns)]
    told += [content.get("part-answer", ""), content.get("part-why", "")]
    yield from filter(None, map(str.strip, told))


def _waiver_of(utterance: Utterance, finding: Inconsistency) -> Waived | None:
    in_force = Waived.objects.filter(
        utterance=utterance, ended_at__isnull=True, waiver__reason=finding.reason.value
    )
    return in_force.select_related("waiver__by").first()


def _questions(shape: domain.Tree) -> list[str]:
    """The tree's questions, each wording once, as they come on the way down."""
    return list(dict.fromkeys(node.text for _, node in domain.questions(shape)))


def strip_of(utterance: Utterance) -> Strip:
    """Two queries, however many there are."""
    of_tree = Utterance.objects.filter(tree=utterance.tree_id)
    columns = ("pk", "utterance_id", "kind", "scenario_of", "state", "answer_class")
    rows = list(of_tree.in_reading_order().values_list(*columns))
    waits = set(of_tree.to_verify().values_list("pk", flat=True))
    marks = list(_marks(rows, waits, utterance.pk))
    here = next(place for place, mark in enumerate(marks) if mark.is_current)
    start = max(0, min(here - SHOWN_MARKS // 2, len(marks) - SHOWN_MARKS))
    shown = marks[start : start + SHOWN_MARKS]
    groups = [(title, list(some)) for title, some in groupby(shown, key=lambda mark: mark.group)]
    return Strip(
        groups, here + 1, len(marks), len(waits),
        before=marks[here - 1].utterance_id if here else "",
        after=marks[here + 1].utterance_id if here + 1 < len(marks) else "",
    )  # fmt: skip


def _marks(rows: Sequence[Any], waits: set[int], current: int) -> Iterable[Mark]:
    titles: dict[int | None, str] = {}
    answers, states = dict(Utterance.AnswerClass.choices), dict(Utterance.State.choices)
    for number, (key, utterance_id, kind, scenario, state, answer) in enumerate(rows, 1):
        title = _title(titles, kind, scenario)
        yield Mark(
            number, utterance_id, title, f"{answers[answer]}, {states[state].lower()}", state,
            key in waits, key == current,
        )  # fmt: skip


def _title(titles: dict[int | None, str], kind: str, scenario: int | None) -> str:
    if kind == Utterance.Kind.SCENARIO:
        return titles.setdefault(scenario, f"Scenario {len(titles) + 1}")
    if kind == Utterance.Kind.NEGATIVE_SCENARIO:
        return "Irrelevant scenario"
    return "Irrelevant questions" if kind == Utterance.Kind.NEGATIVE_QUESTION else "No scenario"


# All of a tree, and all of a project ---------------------------------------------------------


def tree_page(tree: Tree, reader: User) -> dict[str, Any]:
    """What one click would accept, and what it would not."""
    rows = open_of_tree(tree, by=reader)
    together = {row.pk for row in rows}
    waits = Utterance.objects.filter(tree=tree).to_verify().in_reading_order()
    return {
        "project": tree.project,
        "tree": tree,
        "snippet": tree.question.snippet,
        "utterances": rows,
        "seen": seen_of(rows),
        "others": [row for row in waits if row.pk not in together],
    }


def queue_page(project: Project, reader: User) -> dict[str, Any]:
    """How far the verification is, by split and state; and what the reader has begun to correct."""
    rows = [_split_row(project, split) for split in VERIFIED_SPLITS]
    drafts = begun_by(reader).filter(utterance__project=project)
    return {
        "project": project,
        "rows": rows,
        "left": sum(row["waiting"] for row in rows),
        "begun": drafts.select_related("utterance")[:BEGUN_SHOWN],
    }


def _split_row(project: Project, split: Split) -> dict[str, Any]:
    utterances = Utterance.objects.filter(project=project).in_splits([split])
    states = {row["state"]: row for row in utterances.counted_by_state()}
    gone = sum(row["gone"] for row in states.values())
    to_verify = states.pop(State.TO_VERIFY, {"number": 0, "gone": 0, "fresh": 0})
    # Those whose tree has changed wait again, and are counted there.
    numbers = {state: row["number"] - row["gone"] for state, row in states.items()}
    return {
        "split": split.label,
        "value": split.value,
        "waiting": to_verify["fresh"] + gone,
        "gone": gone,
        "imported": to_verify["number"] - to_verify["fresh"] - to_verify["gone"],
        "accepted": numbers.get(State.ACCEPTED, 0),
        "corrected": numbers.get(State.CORRECTED, 0),
        "dropped": numbers.get(State.DROPPED, 0),
        "taken_out": numbers.get(State.TAKEN_OUT, 0),
    }
