"""Scenarios that finished trees still need, and what becomes of one that somebody writes.

The scenarios of a tree have numbers from 0, which are the parts of its work. One is open while
nobody has it in hand and none that was written for it is kept: it comes again when a scenario was
sent back, or a contradiction was reported. A worker who wrote any node of the tree, or had one of
its scenarios, gets none of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from hashlib import sha1
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from apps.accounts.models import User
from apps.projects.models import Project
from apps.projects.services import audit, states
from apps.scenarios.models import Contradiction, Fact, Prompt, Scenario
from apps.scenarios.scenario_errors import (
    ChooseTwoError,
    EmptyScenarioError,
    FitsFirstError,
    PromptGoneError,
    SameScenarioError,
    SettledAlreadyError,
)
from apps.scenarios.services.prompts import carry_prompt, draw_prompt, facts_now
from apps.snippets.domain.folding import fold
from apps.trees.models import Node, Tree, TreeQuerySet
from apps.trees.services.checks import end_void_work
from apps.trees.services.open_work import lock_tree
from apps.workers.errors import LeaseEndedError
from apps.workers.models import Assignment, Kind
from apps.workers.services.drafts import replace_draft
from apps.workers.services.leases import Work, own_lease, return_work, take_slot_again
from apps.workers.services.submits import NotTaken, Submitted, submit

State = Assignment.State
CHUNK = 50


@dataclass(frozen=True)
class ScenarioWork(Work):
    """One scenario of a finished tree. `prompt` is what it was to be written on before."""

    prompt: Prompt | None = field(default=None, compare=False)

    def is_open(self) -> bool:
        """Locks the tree, so that it is not changed while the prompt is drawn."""
        tree = lock_tree(self.work_id)
        if tree.state != Tree.State.FINISHED or _open_contradictions(tree.pk).exists():
            return False
        [here] = _parts_of([tree.pk], tree.project.scenarios_per_finished_tree)
        return (self.part, self.round) in here.free and tree.nodes.live().questions().exists()

    def begin(self, lease: Assignment) -> None:
        if self.prompt is None:
            draw_prompt(lease)
        else:
            carry_prompt(self.prompt, lease)


# Open work ------------------------------------------------------------------------------------


def scenarios(project: Project, *, worker: User) -> Iterator[Work]:
    """A source of work (see settings.WORK_SOURCES): the oldest trees first."""
    wanted = project.scenarios_per_finished_tree
    trees = trees_in_need(project, worker=worker).order_by("pk")
    for keys in _chunks(trees):
        for here in _parts_of(keys, wanted):
            for part, number in here.free:
                yield ScenarioWork(Kind.SCENARIO, here.tree, part, number)


def trees_in_need(project: Project, *, worker: User) -> TreeQuerySet:
    """Finished trees that lack scenarios, and that this worker may write one for."""
    written = Node.objects.filter(tree=OuterRef("pk"), created_by=worker)
    had = Assignment.objects.of_work(Kind.SCENARIO, OuterRef("pk")).filter(worker=worker)
    had = had.filter(state__in=[State.LEASED, State.SUBMITTED, State.RETURNED])
    trees = trees_lacking_scenarios(project).filter(~Exists(written), ~Exists(had))
    return without_contradictions(trees).exclude(question__created_by=worker)


def trees_lacking_scenarios(project: Project) -> TreeQuerySet:
    """Finished trees that ask something and do not have all their scenarios, whoever may write."""
    wanted = project.scenarios_per_finished_tree
    if not wanted:
        return Tree.objects.none()
    kept = Scenario.objects.kept().filter(tree=OuterRef("pk"))
    asks = Node.objects.live().questions().filter(tree=OuterRef("pk"))
    trees = Tree.objects.finished().filter(~Exists(kept[wanted - 1 : wanted]), project=project)
    return trees.filter(Exists(asks))


def without_contradictions(trees: TreeQuerySet) -> TreeQuerySet:
    """Those in which no report of a contradiction waits for an expert."""
    return trees.filter(~Exists(_open_contradictions(OuterRef("pk"))))


def _open_contradictions(tree: Any) -> Any:
    return Contradiction.objects.open().filter(prompt__tree=tree)


@dataclass(frozen=True)
class _Parts:
    """The scenarios of a tree that nobody writes and nobody has written: part and round."""

    tree: int
    free: list[tuple[str, int]]


def _parts_of(trees: list[int], wanted: int) -> list[_Parts]:
    """For each of the trees. Two queries."""
    kept: dict[int, list[str]] = {tree: [] for tree in trees}
    rounds: dict[tuple[int, str], int] = {}
    rows = Scenario.objects.kept().filter(tree__in=trees)
    for key, kind, part in rows.values_list("tree_id", "assignment__kind", "assignment__part"):
        kept[key].append(part if kind == Kind.SCENARIO else "")
    work = Assignment.objects.holding().filter(kind=Kind.SCENARIO, work_id__in=trees)
    for tree, part, state in work.values_list("work_id", "part", "state"):
        if state == State.LEASED:
            kept[tree].append(part)
        else:
            rounds[tree, part] = rounds.get((tree, part), 0) + 1
    return [_Parts(tree, list(_free(kept[tree], wanted, tree, rounds))) for tree in trees]


def _free(
    kept: list[str], wanted: int, tree: int, rounds: Mapping[tuple[int, str], int]
) -> Iterator[tuple[str, int]]:
    parts = [str(number) for number in range(wanted) if str(number) not in kept]
    for part in parts[: max(0, wanted - len(kept))]:
        yield part, rounds.get((tree, part), 0)


def _chunks(trees: TreeQuerySet) -> Iterator[list[int]]:
    last = 0
    while keys := list(trees.filter(pk__gt=last).values_list("pk", flat=True)[:CHUNK]):
        yield keys
        last = keys[-1]


# The worker's steps -----------------------------------------------------------------------------


def prompt_of(lease: Assignment) -> Prompt:
    return Prompt.objects.select_related("tree__project").get(assignment=lease)


def say_that_it_fits(lease: Assignment, *, now: datetime) -> None:
    """No two of the cards contradict each other. Raises LeaseEndedError."""
    _change_prompt(lease, fits_at=now, now=now)


def look_again(lease: Assignment, *, now: datetime) -> None:
    """Takes that back; what was written meanwhile stays. Raises LeaseEndedError."""
    _change_prompt(lease, fits_at=None, now=now)


def _change_prompt(lease: Assignment, *, fits_at: datetime | None, now: datetime) -> None:
    lasting = Assignment.objects.lasting(now).filter(pk=lease.pk)
    if not Prompt.objects.filter(assignment__in=lasting).update(fits_at=fits_at):
        raise LeaseEndedError


@transaction.atomic
def take_again(lease: Assignment, *, now: datetime) -> Assignment:
    """The work of a lease that ran out, if it is still free, with what was shown and written.

    Raises LeaseEndedError.
    """
    lock_tree(lease.work_id)
    overdue = Assignment.objects.overdue(now).filter(pk=lease.pk)
    states.move(overdue, State.EXPIRED, actor=None, now=now, ended_at=now)
    lease.refresh_from_db()
    work = _work_of(lease, prompt_of(lease))
    again = own_lease(work, worker=lease.worker, now=now)
    if again is None and lease.state == State.EXPIRED:
        again = take_slot_again(
            lease, work, now=now, draft=lease.draft, draft_version=lease.draft_version,
            draft_saved_at=lease.draft_saved_at,
        )  # fmt: skip
    if again is None:
        raise LeaseEndedError
    return again


@transaction.atomic
def give_back(lease: Assignment, *, text: str, reason: str, now: datetime) -> bool:
    """What stood in the field is kept with it. False: the lease had ended."""
    if not return_work(lease, reason=reason, now=now):
        return False
    if fold(text):
        replace_draft(lease, {"text": text}, now=now)
    return True


def _work_of(lease: Assignment, prompt: Prompt) -> ScenarioWork:
    return ScenarioWork(Kind.SCENARIO, lease.work_id, lease.part, lease.round, prompt=prompt)


def submit_scenario(
    lease: Assignment, *, text: str, pasted: int, key: str, now: datetime
) -> Submitted | NotTaken:
    """Makes a scenario of the text, with the shown turns as its facts.

    Raises FitsFirstError, EmptyScenarioError or SameScenarioError; or PromptGoneError when the
    tree has changed, and then the lease is over, and the text is kept.
    """
    take = partial(_write, text=text.strip(), pasted=pasted, now=now)
    return _submit(lease, {"text": text}, take, key=key, now=now)


def report_contradiction(
    lease: Assignment, *, cards: tuple[int, int], reason: str, key: str, now: datetime
) -> Submitted | NotTaken:
    """Two cards contradict each other: an expert looks at the tree, and nobody writes on it
    meanwhile. When one of them belongs elsewhere, somebody else gets another one beside the rest.

    Raises ChooseTwoError.
    """
    take = partial(_report, cards=cards, reason=reason, now=now)
    return _submit(lease, {"note": reason}, take, key=key, now=now)


def _submit(
    lease: Assignment, content: dict[str, Any], take: Any, *, key: str, now: datetime
) -> Submitted | NotTaken:
    prompt = prompt_of(lease)
    work = _work_of(lease, prompt)
    try:
        with transaction.atomic():
            lock_tree(prompt.tree_id)
            return submit(
                lease.pk, worker=lease.worker, key=key, content=content, take=take, work=work,
                now=now,
            )  # fmt: skip
    except PromptGoneError:
        end_void_work(lease, content, now=now)
        raise


def _write(lease: Assignment, *, text: str, pasted: int, now: datetime) -> dict[str, Any]:
    prompt = prompt_of(lease)
    if prompt.fits_at is None:
        raise FitsFirstError
    if not fold(text):
        raise EmptyScenarioError
    facts = facts_now(prompt)
    digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
    if Scenario.objects.filter(tree=prompt.tree_id, text_sha1=digest).exists():
        raise SameScenarioError
    checks = lease.project.checks_per_scenario
    scenario = Scenario.objects.create(
        tree=prompt.tree, text=text, text_sha1=digest, prompt=prompt, pasted=pasted,
        checks_wanted=checks, state=Scenario.State.WAITING if checks else Scenario.State.STANDS,
        created_by=lease.worker, created_at=now, assignment=lease,
    )  # fmt: skip
    write_facts(scenario, facts)
    states.began(scenario, project_id=lease.project_id, actor=lease.worker, now=now)
    audit.record(lease.worker, "write scenario", scenario, project=lease.project, facts=len(facts))
    return {"scenario": scenario.pk, "state": scenario.state}


def write_facts(scenario: Scenario, facts: Any) -> None:
    """These and no others."""
    scenario.facts.all().delete()
    Fact.objects.bulk_create(
        Fact(
            scenario=scenario, position=position, follow_up_question=fact.follow_up_question,
            follow_up_answer=fact.follow_up_answer,
        )
        for position, fact in enumerate(facts)
    )  # fmt: skip


def _report(
    lease: Assignment, *, cards: tuple[int, int], reason: str, now: datetime
) -> dict[str, Any]:
    prompt = prompt_of(lease)
    shown = prompt.cards
    if len(set(cards)) != 2 or not all(0 <= card < len(shown) for card in cards):
        raise ChooseTwoError
    first, second = _above_first([shown[card][0] for card in cards])
    report = Contradiction.objects.create(
        prompt=prompt, first_id=first, second_id=second, reason=reason, by=lease.worker, at=now
    )
    audit.record(
        lease.worker, "report contradiction", prompt.tree, project=lease.project, reason=reason
    )
    return {"contradiction": report.pk, "of_the_tree": second is not None}


def _above_first(nodes: list[int | None]) -> tuple[int, int | None]:
    """The node that stands higher first; what belongs elsewhere has none, and comes last."""
    keys = [node for node in nodes if node is not None]
    places = dict(Node.objects.filter(pk__in=keys).values_list("pk", "place"))
    keys.sort(key=lambda key: len(places[key]))
    return keys[0], keys[1] if len(keys) > 1 else None


@transaction.atomic
def settle_contradiction(report: Contradiction, *, note: str, expert: User, now: datetime) -> None:
    """An expert has seen to it; scenarios of the tree are open work again.

    Raises SettledAlreadyError.
    """
    waiting = Contradiction.objects.filter(pk=report.pk, settled_at__isnull=True)
    said = {"settled_at": now, "settled_by": expert, "settled_note": note}
    if not waiting.update(**said):
        raise SettledAlreadyError
    tree = report.prompt.tree
    audit.record(expert, "settle contradiction", tree, project=tree.project, reason=note)
