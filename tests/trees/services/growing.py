"""Workers who take steps on trees, for the tests of the services that grow them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from apps.accounts.models import User
from apps.projects.models import Project, Role, StateChange
from apps.snippets.models import Question
from apps.trees.domain.tree import Answer
from apps.trees.models import Node, NodeCheck, Tree
from apps.trees.services.checks import Rejection
from apps.trees.services.paths import submit_path
from apps.trees.services.walks import Walk, agree, ask, give_final_answer
from apps.workers.models import Assignment
from apps.workers.services.next_work import take_work
from apps.workers.services.submits import Submitted
from tests.factories import make_document, make_member, make_project, make_question, make_snippet

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SOON = NOW + timedelta(minutes=1)
LATE = NOW + timedelta(minutes=61)  # a lease of NOW has run out

WRONG = Rejection(NodeCheck.Reason.WRONG, "It is 16.")


def make_questions(count: int = 1, **settings: Any) -> Project:
    """A project with first questions that wait for their trees."""
    project = make_project(**settings)
    for _ in range(count):
        question = make_question(make_snippet(make_document(project)))
        assert question.state == Question.State.ACCEPTED
    return project


def worker_of(project: Project) -> User:
    return make_member(project, Role.WORKER)


def take(project: Project, worker: User | None = None, now: datetime = NOW) -> Assignment:
    """The next work of this worker, or of a new one; there is some."""
    lease = take_work(project, worker=worker or worker_of(project), now=now)
    assert lease is not None
    return lease


def nothing_for(project: Project, worker: User, now: datetime = NOW) -> bool:
    return take_work(project, worker=worker, now=now) is None


def turn(lease: Assignment, text: str = "Are you over 18?", now: datetime = NOW) -> Answer:
    """Asks; what the simulated user answers."""
    step = ask(lease, position=Walk(lease).position, text=text, span=None, now=now)
    return Answer(step.answer)


def finish(lease: Assignment, answer: Answer = Answer.YES, now: datetime = NOW) -> Submitted:
    """The final answer, and the submit."""
    give_final_answer(lease, position=Walk(lease).position, answer=answer, now=now)
    submitted = submit_path(lease, key=f"key {lease.pk}", now=now)
    assert isinstance(submitted, Submitted)
    return submitted


def walk(lease: Assignment, *texts: str, answer: Answer = Answer.YES, now: datetime = NOW) -> None:
    """Agrees, asks these questions, answers and submits."""
    if Walk(lease).needs_check:
        agree(lease, now=now)
    for text in texts:
        turn(lease, text, now)
    finish(lease, answer, now)


def grown(
    project: Project, *texts: str, worker: User | None = None, now: datetime = NOW
) -> tuple[Tree, list[Node]]:
    """A new tree with one path of these questions, and the nodes along it."""
    lease = take(project, worker, now)
    assert lease.part == "root"
    walk(lease, *texts, now=now)
    nodes = Node.objects.live().filter(tree=lease.work_id)
    return Tree.objects.get(pk=lease.work_id), sorted(nodes, key=lambda node: len(node.place))


def other_branch(node: Node) -> str:
    """The branch of a question that its walk did not take."""
    taken = node.children.live().get().branch
    return "no" if taken == "yes" else "yes"


def open_slot(node: Node) -> str:
    return f"{node.pk}-{other_branch(node)}"


def places(tree: Tree) -> list[tuple[str, str]]:
    """The live nodes: place and text."""
    return sorted((node.place, str(node)) for node in tree.nodes.live())


def states_of(row: Assignment | Tree) -> list[str]:
    """What the log says about the row, the oldest first."""
    kind = row._meta.model_name
    changes = StateChange.objects.filter(object_type=kind, object_id=row.pk)
    return [f"{change.from_state} -> {change.to_state}" for change in changes]
