"""A project with as many rows of every kind as a test asks for."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db import connection, models
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import AuditEvent, Job, Membership, Project, Role, Split
from apps.scenarios.models import Fact, Finding, Scenario, ScenarioFault, Utterance
from apps.snippets.models import Document, Question, Snippet
from apps.trees.models import Flag, Node, Tree
from apps.workers.models import Assignment, Kind, Qualification

OLD = "Are you old?"

FILLED: tuple[type[models.Model], ...] = (
    User, Membership, Document, Snippet, Question, Tree, Node, Flag, Scenario, Fact, ScenarioFault,
    Utterance, Finding, Assignment, Qualification, AuditEvent, Job,
)  # fmt: skip
STRIDE = 10
"""Between the keys of a row and of its copy: more than rows of one kind for one number."""

# Columns beside keys that differ from row to row.
NUMBERED = {
    "workers_assignment.work_id", "workers_assignment.worker_id", "projects_membership.user_id",
    "workers_qualification.worker_id",
}  # fmt: skip
NAMED = {"accounts_user.username": 20, "trees_tree.tree_id": 40,
         "scenarios_utterance.utterance_id": 40, "snippets_document.source_url": 40}  # fmt: skip


def fill_many(project: Project, numbers: range, *, admin: User) -> None:
    """As `fill`, but only the first number goes the long way; the database copies its rows."""
    before = {model: _last(model) for model in FILLED}
    fill(project, numbers[:1], admin=admin)
    with connection.cursor() as cursor:
        for model in FILLED:
            cursor.execute(*_copying(model, since=before[model], times=len(numbers) - 1))


def _last(model: type[models.Model]) -> int:
    return int(model._base_manager.aggregate(last=models.Max("pk", default=0))["last"])


def _copying(model: type[models.Model], *, since: int, times: int) -> tuple[str, list[int]]:
    """SQL that copies the rows after `since` so many times, with all that belongs together."""
    table, fields = model._meta.db_table, model._meta.concrete_fields
    columns = ", ".join(str(field.column) for field in fields)
    values = ", ".join(_copied(field, table) for field in fields)
    return (
        f"INSERT INTO {table} ({columns}) "  # noqa: S608 - names of our own tables
        "WITH RECURSIVE copies(number) AS "
        "(SELECT 1 UNION ALL SELECT number + 1 FROM copies WHERE number < %s) "
        f"SELECT {values} FROM {table}, copies WHERE {table}.id > %s"
    ), [times, since]


def _copied(field: Any, table: str) -> str:
    name = f"{table}.{field.column}"
    shifted = f"{name} + {STRIDE} * copies.number"
    if field.primary_key or name in NUMBERED or field.related_model in set(FILLED) - {User}:
        return shifted
    if width := NAMED.get(name):
        number = f"'{'c' * width}' || CAST({table}.id + {STRIDE} * copies.number AS varchar)"
        return f"SUBSTR({number}, LENGTH({number}) - {width - 1})"
    return name


def fill(project: Project, numbers: range, *, admin: User) -> None:
    """One more of everything for each number, and the same queries for all of it."""
    people = bulk(User, (User(username=f"worker{n}", name=f"Worker {n}") for n in numbers))
    bulk(Membership, (Membership(project=project, user=one, role=Role.WORKER) for one in people))
    documents = bulk(Document, (
        Document(project=project, source_url=f"https://office.example/{n}", split=Split.DEV,
                 domain="office.example", title=f"Page {n}") for n in numbers
    ))  # fmt: skip
    bulk(Snippet, (
        Snippet(document=one, position=1, text=f"# Open {one.pk}", state=Snippet.State.PROPOSED)
        for one in documents
    ))  # fmt: skip
    rules = bulk(Snippet, (
        Snippet(document=one, position=2, text=f"# Rule {one.pk}", state=Snippet.State.ACCEPTED)
        for one in documents
    ))  # fmt: skip
    questions = bulk(Question, (Question(snippet=one, text="Can I?") for one in rules))
    trees = bulk(Tree, (
        Tree(project=project, question=one, tree_id=f"{one.pk:040x}", max_depth=8,
             state=Tree.State.FINISHED) for one in questions
    ))  # fmt: skip
    _scenarios(project, trees, _roots(trees))
    _log(project, people, trees, admin=admin)


def _roots(trees: list[Tree]) -> list[Node]:
    """Each tree asks one thing, which an expert has to settle."""
    now, ask = timezone.now(), {"kind": Node.Kind.QUESTION, "text": OLD}
    roots = bulk(Node, (Node.at(one, None, "", **ask) for one in trees))
    kind = Flag.Kind.ONE_ANSWER
    bulk(Flag, (Flag(tree=one.tree, node=one, kind=kind, found_at=now) for one in roots))
    return roots


def _scenarios(project: Project, trees: list[Tree], roots: list[Node]) -> None:
    scenarios = bulk(Scenario, (
        Scenario(tree=one, text=f"I am {one.pk}.", text_sha1=f"{one.pk:040x}") for one in trees
    ))  # fmt: skip
    bulk(Fact, (
        Fact(scenario=one, position=0, follow_up_question=OLD, follow_up_answer="Yes")
        for one in scenarios
    ))  # fmt: skip
    bulk(ScenarioFault, (
        ScenarioFault(scenario=one, reason=ScenarioFault.Reason.values[0]) for one in scenarios
    ))  # fmt: skip
    utterances = bulk(Utterance, (
        Utterance(project=project, tree=one, utterance_id=f"{one.pk * 7919 % 2**64:040x}",
                  kind="plain", node=root, question="Can I?", answer=OLD, answer_class="more")
        for one, root in zip(trees, roots, strict=True)
    ))  # fmt: skip
    reason = Finding.Reason.values[0]
    bulk(Finding, (Finding(utterance=one, reason=reason) for one in utterances))


def _log(project: Project, people: list[User], trees: list[Tree], *, admin: User) -> None:
    now = timezone.now()
    bulk(Assignment, (
        Assignment(project=project, worker=person, kind=Kind.PATH, work_id=tree.pk, part="root",
                   leased_at=now, expires_at=now + timedelta(hours=1))
        for person, tree in zip(people, trees, strict=True)
    ))  # fmt: skip
    bulk(Qualification, (
        Qualification(project=project, worker=person, given_at=now, given_by=admin,
                      expires_at=now + timedelta(days=1)) for person in people
    ))  # fmt: skip
    bulk(AuditEvent, (
        AuditEvent(project=project, actor=admin, action="look", object_type="tree", object_id="1")
        for _ in people
    ))  # fmt: skip
    bulk(Job, (
        Job(project=project, kind="export", state=Job.State.DONE, finished_at=now, created_by=admin)
        for _ in people
    ))  # fmt: skip


def bulk(model: Any, rows: Iterable[Any]) -> list[Any]:
    return list(model.objects.bulk_create(rows, batch_size=2000))
