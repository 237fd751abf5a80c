"""Whatever people do, in whatever order: what must always be, is so after each step.

ENGINE_EXAMPLES says how many runs to try; more than the usual few look elsewhere each time.
"""

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from apps.projects.models import Project, StateChange
from apps.trees.domain.places import parse_slot
from apps.trees.domain.tree import Answer
from apps.trees.errors import GrowingError
from apps.trees.models import Cut, Node, PathStep, Tree
from apps.trees.services.checks import reject_turn, vote_to_keep, vote_to_reject
from apps.trees.services.cuts import restore, take_out
from apps.trees.services.open_work import is_branch_open
from apps.trees.services.paths import return_path, submit_path
from apps.trees.services.walks import Walk, agree, ask, give_final_answer, undo
from apps.trees.simulation.proof import faults
from apps.workers.errors import WorkError
from apps.workers.models import Assignment, KeptText, Kind
from apps.workers.services.leases import expire_leases, release_work, return_work
from apps.workers.services.next_work import take_another, take_work
from apps.workers.services.submits import Submitted, save_draft
from tests.factories import make_user
from tests.trees.services.growing import NOW, WRONG, make_questions, worker_of

USUAL = 12
EXAMPLES = int(os.environ.get("ENGINE_EXAMPLES", USUAL))
LIMITS = ("max_depth", "spans_required", "rejection_votes", "rejection_voters")
WORKERS = 5
numbers = st.integers(min_value=0, max_value=30)
ways = st.sampled_from(["now", "now", "now", "before", "after"])


class Growing(RuleBasedStateMachine):
    """A project with a few questions, a few workers and an expert."""

    @initialize(votes=st.sampled_from([(1, 1), (1, 1), (2, 2), (2, 3)]))
    def begin(self, votes: tuple[int, int]) -> None:
        self.run = transaction.atomic()
        self.run.__enter__()
        self.now = NOW
        self.project = make_questions(
            3, max_depth=2, active_trees=2, lease_minutes=5, most_leases=2,
            rejection_votes=votes[0], rejection_voters=votes[1],
        )  # fmt: skip
        self.people = [worker_of(self.project) for _ in range(WORKERS)]
        self.expert = make_user()
        self.typed: list[str] = []
        self.accepted: dict[int, tuple[str, Submitted]] = {}
        self.limits: dict[int, dict[str, Any]] = {}

    def teardown(self) -> None:
        if hasattr(self, "run"):
            transaction.set_rollback(True)
            self.run.__exit__(None, None, None)

    # How ----------------------------------------------------------------------------------

    def act(self, what: Callable[[], Any]) -> Any:
        """Does it a second later; a refusal is told and changes nothing else."""
        self.now += timedelta(seconds=1)
        try:
            return what()
        except (GrowingError, WorkError) as refusal:
            assert refusal.code  # noqa: PT017 - each refusal is a known one
            return None

    def work(self, number: int, kind: Kind = Kind.PATH) -> Assignment | None:
        """Any piece of work that ever was, the newest for 0; old pages are still open somewhere."""
        work = Assignment.objects.select_related("project", "worker").filter(kind=kind)
        return work.order_by("-pk")[number:].first()

    def position(self, lease: Assignment, way: str) -> int:
        position = Walk(lease).position
        return {"now": position, "before": max(0, position - 1), "after": position + 1}[way]

    # What workers do ----------------------------------------------------------------------

    @rule(person=st.integers(0, WORKERS - 1))
    def take(self, person: int) -> None:
        worker = self.people[person]
        lease = self.act(lambda: take_work(self.project, worker=worker, now=self.now))
        again = self.act(lambda: take_work(self.project, worker=worker, now=self.now))
        assert lease is None or lease == again

    @rule(person=st.integers(0, WORKERS - 1))
    def take_one_more(self, person: int) -> None:
        worker = self.people[person]
        self.act(lambda: take_another(self.project, worker=worker, now=self.now))
        held = Assignment.objects.lasting(self.now).filter(worker=worker)
        assert held.count() <= WORKERS

    @rule(person=st.integers(0, WORKERS - 1), turns=st.integers(0, 2), answer=st.booleans())
    def walk_to_the_end(self, person: int, turns: int, answer: bool) -> None:
        worker = self.people[person]
        lease = self.act(lambda: take_work(self.project, worker=worker, now=self.now))
        if lease is None or lease.kind != Kind.PATH:
            return
        self.act(lambda: agree(lease, now=self.now))
        for _ in range(turns):
            self.ask_on(lease, "now")
        self.answer_on(lease, "now", answer)
        self.send(lease, "key")

    @rule(number=numbers)
    def agree_with_all(self, number: int) -> None:
        if lease := self.work(number):
            self.act(lambda: agree(lease, now=self.now))

    @rule(number=numbers, way=ways)
    def ask_something(self, number: int, way: str) -> None:
        if lease := self.work(number):
            self.ask_on(lease, way)

    def ask_on(self, lease: Assignment, way: str) -> None:
        position, text = self.position(lease, way), f"Is it {len(self.typed)}?"
        refusals = []

        def say() -> None:
            try:
                ask(lease, position=position, text=text, span=None, now=self.now)
            except GrowingError as refusal:
                refusals.append(refusal.code)
                raise

        self.act(say)
        # What a form refuses at once comes back in its field.
        if not {"check_first", "path_ended", "depth_reached"} & set(refusals):
            self.typed.append(text)

    @rule(number=numbers, way=ways, answer=st.booleans())
    def answer_finally(self, number: int, way: str, answer: bool) -> None:
        if lease := self.work(number):
            self.answer_on(lease, way, answer)

    def answer_on(self, lease: Assignment, way: str, answer: bool) -> None:
        position, said = self.position(lease, way), Answer.YES if answer else Answer.NO
        self.act(lambda: give_final_answer(lease, position=position, answer=said, now=self.now))

    @rule(number=numbers, way=ways)
    def take_back(self, number: int, way: str) -> None:
        if lease := self.work(number):
            position = max(0, self.position(lease, way) - 1)
            self.act(lambda: undo(lease, position=position, now=self.now))

    @rule(number=numbers, version=st.integers(1, 4))
    def draft(self, number: int, version: int) -> None:
        if lease := self.work(number):
            content = {"text": f"Half {version}"}
            self.act(
                lambda: save_draft(
                    lease.pk, worker=lease.worker, version=version, content=content, now=self.now
                )
            )

    @rule(number=numbers, key=st.sampled_from(["key", "another key"]))
    def submit(self, number: int, key: str) -> None:
        if lease := self.work(number):
            self.send(lease, key)

    def send(self, lease: Assignment, key: str) -> None:
        self.end(lease, key, lambda: submit_path(lease, key=key, now=self.now))

    def end(self, lease: Assignment, key: str, what: Callable[[], Any]) -> None:
        """A submit of any kind; sent again, it is answered the same."""
        answer = self.act(what)
        if isinstance(answer, Submitted):
            self.accepted.setdefault(lease.pk, (key, answer))
            assert self.accepted[lease.pk] == (key, answer)
            assert self.act(what) == answer

    @rule(number=numbers)
    def give_back(self, number: int) -> None:
        if lease := self.work(number):
            self.act(lambda: return_path(lease, reason="too hard", now=self.now))

    # Rejections and votes -----------------------------------------------------------------

    @rule(number=numbers, turn=st.integers(0, 5))
    def reject(self, number: int, turn: int) -> None:
        lease = self.work(number)
        if lease is None:
            return
        nodes = list(Node.objects.filter(tree=lease.work_id).order_by("-pk")[:6])
        if turn < len(nodes):
            self.end(
                lease, "no", lambda: reject_turn(lease, nodes[turn], WRONG, key="no", now=self.now)
            )

    @rule(person=st.integers(0, WORKERS - 1), turn=st.integers(0, 1))
    def take_and_reject(self, person: int, turn: int) -> None:
        worker = self.people[person]
        lease = self.act(lambda: take_work(self.project, worker=worker, now=self.now))
        if lease is None or lease.kind != Kind.PATH:
            return
        history = Walk(lease).history
        if turn < len(history):
            node = history[turn].node
            self.end(lease, "no", lambda: reject_turn(lease, node, WRONG, key="no", now=self.now))

    @rule(number=st.integers(0, 5), keeps=st.booleans())
    def vote(self, number: int, keeps: bool) -> None:
        lease = self.work(number, Kind.NODE_CHECK)
        if lease is None:
            return
        if keeps:
            self.end(lease, "vote", lambda: vote_to_keep(lease, key="vote", now=self.now))
        else:
            self.end(lease, "vote", lambda: vote_to_reject(lease, WRONG, key="vote", now=self.now))

    @rule(number=st.integers(0, 5))
    def give_a_check_back(self, number: int) -> None:
        if lease := self.work(number, Kind.NODE_CHECK):
            self.act(lambda: return_work(lease, reason="", now=self.now))

    # Time, experts, admins ----------------------------------------------------------------

    @rule(minutes=st.sampled_from([1, 4, 6]), sees=st.booleans())
    def time_passes(self, minutes: int, sees: bool) -> None:
        self.now += timedelta(minutes=minutes)
        if sees:
            self.act(lambda: expire_leases(self.now))

    @rule(number=st.integers(0, 10))
    def prune(self, number: int) -> None:
        node = Node.objects.order_by("-pk")[number:].first()
        if node:
            self.act(
                lambda: take_out(
                    node, kind=Cut.Kind.PRUNED, actor=self.expert, reason="", now=self.now
                )
            )

    @rule(number=st.integers(0, 4))
    def put_back(self, number: int) -> None:
        if cut := Cut.objects.order_by("-pk")[number:].first():
            self.act(lambda: restore(cut, actor=self.expert, now=self.now))

    @rule(number=numbers)
    def release(self, number: int) -> None:
        if lease := self.work(number):
            self.act(lambda: release_work(lease, actor=self.expert, now=self.now))

    @rule(
        depth=st.integers(1, 3), active=st.integers(1, 3), lease=st.integers(5, 9),
        votes=st.sampled_from([(1, 1), (2, 3)]),
    )  # fmt: skip
    def change_settings(
        self, depth: int, active: int, lease: int, votes: tuple[int, int]
    ) -> None:  # fmt: skip
        Project.objects.update(
            max_depth=depth, active_trees=active, lease_minutes=lease,
            rejection_votes=votes[0], rejection_voters=votes[1],
        )  # fmt: skip
        self.project.refresh_from_db()

    # What must always be ------------------------------------------------------------------

    @invariant()
    def nothing_is_wrong(self) -> None:
        if hasattr(self, "run"):
            assert faults(self.project) == []

    @invariant()
    def leases_are_on_what_is_there(self) -> None:
        if not hasattr(self, "run"):
            return
        for lease in Assignment.objects.leased().filter(kind=Kind.PATH):
            tree = Tree.objects.get(pk=lease.work_id)
            assert is_branch_open(tree, lease.part), lease
            above, _ = parse_slot(lease.part)
            if above:
                place = Node.objects.get(pk=above).place
                authors = tree.nodes.live().on_path_to(place).values_list("created_by", flat=True)
                assert lease.worker_id not in authors
        checks = Assignment.objects.leased().filter(kind=Kind.NODE_CHECK)
        for node in Node.objects.filter(pk__in=checks.values("work_id")):
            assert node.taken_out_at is None
            assert node.disputed_at is not None

    @invariant()
    def limits_are_frozen(self) -> None:
        for tree in Tree.objects.all():
            limits = {name: getattr(tree, name) for name in LIMITS}
            assert self.limits.setdefault(tree.pk, limits) == limits
            places = tree.nodes.live().values_list("place", flat=True)
            assert max(map(len, places), default=0) <= tree.max_depth

    @invariant()
    def nothing_typed_is_lost(self) -> None:
        if not hasattr(self, "run"):
            return
        kept = " ".join(str(text.content) for text in KeptText.objects.all())
        steps = set(PathStep.objects.values_list("text", flat=True))
        lost = [text for text in self.typed if text not in steps and text not in kept]
        assert lost == []

    @invariant()
    def what_was_accepted_stands(self) -> None:
        if not hasattr(self, "run"):
            return
        done = Assignment.objects.filter(state=Assignment.State.SUBMITTED)
        assert {
            one.pk: (one.submit_key, Submitted(one.outcome)) for one in done
        } == self.accepted  # fmt: skip

    @invariant()
    def the_log_tells_each_state(self) -> None:
        for model in (Tree, Assignment):
            name, transitions = model._meta.model_name, dict[Any, Any](model.TRANSITIONS)
            last: dict[int, str] = {}
            for change in StateChange.objects.filter(object_type=name):
                before = last.get(change.object_id)
                if before is not None:
                    assert change.from_state == before
                if change.from_state:
                    assert change.to_state in transitions[change.from_state]
                last[change.object_id] = change.to_state
            for row in model.objects.filter(pk__in=last):
                assert row.state == last[row.pk]


@pytest.mark.django_db
def test_what_must_always_be_is_so_after_each_step():
    run_state_machine_as_test(
        Growing,
        settings=settings(
            max_examples=EXAMPLES, stateful_step_count=30, deadline=None,
            derandomize=EXAMPLES == USUAL, database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
