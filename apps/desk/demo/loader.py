"""Builds the demo project once, as if its people had worked on it over the last four weeks."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from hashlib import sha1
from itertools import count, cycle
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.hashers import make_password
from django.db import transaction

from apps.accounts.models import User
from apps.desk.demo.content import Branch, Demo, ScenarioText, SnippetText, Source, demo
from apps.desk.demo.logins import draw_password, keep_logins
from apps.exports.models import DatasetCard
from apps.projects.errors import StudioError
from apps.projects.models import AuditEvent, Guideline, Project, Role
from apps.projects.services import audit
from apps.projects.services.projects import add_member, create_project
from apps.scenarios.models import Fact, NegativeQuestion, NegativeScenario, Scenario
from apps.scenarios.services.expansion import expand_project
from apps.scenarios.services.negatives import Wish, mine_here
from apps.snippets.domain.reshaping import count_items
from apps.snippets.domain.words import count_words
from apps.snippets.models import POSITION_GAP, Document, Question, Snippet
from apps.trees.domain.identifiers import tree_id
from apps.trees.domain.places import slot_name
from apps.trees.models import Node, Tree
from apps.trees.services.derived import refresh
from apps.workers.models import Assignment, Kind

LOADED = "load demo"
DAYS = 28
_LEASE = timedelta(hours=1)
_TURN = timedelta(minutes=2)
CARD = {
    "description": "Made-up rules of made-up places: to see how the studio works, not to train on.",
    "creators": "The people of the demo, who are made up",
    "pay": "Nothing: nobody did this work.",
}


class DemoNamesTakenError(StudioError):
    """The demo's slug, or one of its user names, belongs to somebody else."""


@dataclass
class _Clock:
    """The time at which the demo's people are; each piece of work and each pause moves it on."""

    now: datetime
    minutes: Iterator[int] = field(default_factory=lambda: cycle((7, 13, 4, 9, 6, 11, 5)))
    pauses: Iterator[int] = field(default_factory=lambda: cycle((21, 8, 34, 15, 2)))

    def work(self) -> tuple[datetime, datetime]:
        """When the next piece of work begins and ends."""
        begin = self.now + timedelta(minutes=next(self.pauses))
        self.now = begin + timedelta(minutes=next(self.minutes))
        return begin, self.now


@dataclass(frozen=True)
class _Loading:
    """What every row of the demo is made with."""

    project: Project
    people: dict[str, User]
    clock: _Clock
    rounds: Iterator[int] = field(default_factory=count)

    def made_by(self, username: str) -> dict[str, Any]:
        """Provenance of a row that an expert or admin makes on a page, without an assignment."""
        _, end = self.clock.work()
        return {"created_by": self.people[username], "created_at": end}

    def handed_out(self, username: str, kind: Kind, tree: Tree, part: str = "") -> dict[str, Any]:
        """Provenance of a row that comes from work on the tree, handed out to a worker."""
        worker = self.people[username]
        begin, end = self.clock.work()
        number = next(self.rounds)
        assignment = Assignment.objects.create(
            project=self.project, worker=worker, kind=kind, work_id=tree.pk, part=part,
            round=0 if part else number,
            state=Assignment.State.SUBMITTED, submit_key=f"demo {number}",
            leased_at=begin, expires_at=begin + _LEASE, ended_at=end,
        )  # fmt: skip
        return {"created_by": worker, "created_at": end, "assignment": assignment}

    def gone_on(self, parent: Node | None, username: str) -> dict[str, Any] | None:
        """Provenance of the next turn of the walk that `parent` is of; None: another's begins."""
        if parent is None or parent.created_by != self.people[username] or not parent.assignment:
            return None
        self.clock.now += _TURN
        parent.assignment.ended_at = self.clock.now
        parent.assignment.save(update_fields=["ended_at"])
        return {
            "created_by": parent.created_by, "created_at": self.clock.now,
            "assignment": parent.assignment,
        }  # fmt: skip


def is_loaded() -> bool:
    """Whether the demo was ever loaded here, even if somebody has deleted it since."""
    return AuditEvent.objects.filter(action=LOADED).exists()


@transaction.atomic
def load_demo(*, now: datetime) -> Project | None:
    """Makes the demo's people, project and work up to `now`; None when that was done before."""
    if is_loaded():
        return None
    content = demo()
    _refuse_taken_names(content)
    password = draw_password()
    people = {
        person["username"]: User.objects.create(
            username=person["username"], name=person["name"], password=make_password(password),
            is_staff=person["role"] == Role.ADMIN,
        )
        for person in content["people"]
    }  # fmt: skip
    project = _make_project(content, people)
    first_morning = (now - timedelta(days=DAYS)).replace(hour=8, minute=40, second=0, microsecond=0)
    loading = _Loading(project, people, _Clock(first_morning))
    _make_documents(loading, content)
    _draw_negatives(project, at=now)
    expand_project(project, author=project.created_by, progress=_say_nothing)
    DatasetCard.objects.create(project=project, **CARD)
    audit.record(None, LOADED, project, project=project)
    keep_logins(people.values(), password)
    return project


def _draw_negatives(project: Project, *, at: datetime) -> None:
    wish = Wish.of(project)
    job = mine_here(project, wish, author=project.created_by, progress=_say_nothing)
    for model in (NegativeQuestion, NegativeScenario):
        model.objects.filter(job=job).update(created_at=at)


def _say_nothing(step: str, done: int, total: int) -> None:
    """The demo is small: nobody waits for its utterances long enough to want progress."""


def _refuse_taken_names(content: Demo) -> None:
    slug = content["project"]["slug"]
    if Project.with_deleted.filter(slug=slug).exists():
        raise DemoNamesTakenError(f"There is a project {slug!r} already, which the demo needs.")
    names = [person["username"] for person in content["people"]]
    taken = User.objects.filter(username__in=names).values_list("username", flat=True)
    if taken:
        raise DemoNamesTakenError(
            f"There are accounts already that the demo needs: {', '.join(sorted(taken))}."
        )


def _make_project(content: Demo, people: dict[str, User]) -> Project:
    text = content["project"]
    admin = next(people[p["username"]] for p in content["people"] if p["role"] == Role.ADMIN)
    project = create_project(
        Project(slug=text["slug"], name=text["name"], language=text["language"]), created_by=admin
    )
    for person in content["people"]:
        user = people[person["username"]]
        if user != admin:
            add_member(project, user=user, role=Role(person["role"]), actor=admin)
    for step, guideline in text["guidelines"].items():
        Guideline.objects.filter(project=project, step=step).update(text=guideline)
    return project


def _make_documents(loading: _Loading, content: Demo) -> None:
    morning = loading.clock.now
    for source in content["documents"]:
        document = _make_document(loading, source, loaded_by=content["people"][0]["username"])
        for number, text in enumerate(source["snippets"]):
            _make_snippet(loading, document, number, text)
            # The next snippet's work is done on the next day.
            morning += timedelta(days=1)
            loading.clock.now = morning


def _make_document(loading: _Loading, source: Source, *, loaded_by: str) -> Document:
    made = loading.made_by(loaded_by)
    retrieved = min(date.fromisoformat(source["retrieved_on"]), made["created_at"].date())
    body = "\n\n".join(text["text"] for text in source["snippets"])
    document = Document.objects.create(
        source=body, body=body, media=Document.Media.MARKDOWN, project=loading.project,
        source_url=source["source_url"],
        domain=urlsplit(source["source_url"]).hostname or "", title=source["title"],
        language=source["language"], licence=source["licence"], retrieved_on=retrieved,
        split=source["split"], **made,
    )  # fmt: skip
    audit.record(made["created_by"], "load", document, project=loading.project)
    return document


def _make_snippet(loading: _Loading, document: Document, number: int, text: SnippetText) -> None:
    note, rule_text = text.get("discard_reason", ""), text["text"]
    start = document.body.index(rule_text)
    snippet = Snippet.objects.create(
        document=document, position=number * POSITION_GAP, text=rule_text, cut_text=rule_text,
        pieces=[[start, start + len(rule_text)]], words=count_words(rule_text),
        items=count_items(rule_text), state=text["state"],
        discard_reason=Snippet.DiscardReason.OTHER if note else "", discard_note=note,
        created_by=document.created_by, created_at=document.created_at,
    )  # fmt: skip
    if text["question"] is None:
        return
    question = Question.objects.create(
        snippet=snippet, text=text["question"]["text"],
        **loading.made_by(text["question"]["by"]),
    )  # fmt: skip
    if text["tree"] is None:
        return
    tree = _grow_tree(loading, question, text["tree"])
    for scenario in text["scenarios"]:
        _write_scenario(loading, tree, scenario)


def _grow_tree(loading: _Loading, question: Question, root: Branch) -> Tree:
    tree = Tree.objects.create(
        project=loading.project, question=question, max_depth=loading.project.max_depth,
        tree_id=tree_id(question.snippet.text, question.text),
        created_by=question.created_by, created_at=question.created_at,
    )  # fmt: skip
    _grow_branch(loading, tree, root, parent=None, branch=Node.Branch.ROOT)
    refresh(tree, actor=None, now=loading.clock.now)
    return tree


def _grow_branch(
    loading: _Loading, tree: Tree, content: Branch, *, parent: Node | None, branch: Node.Branch,
) -> None:  # fmt: skip
    """A walk goes on where its author does; what somebody else wrote is another walk."""
    if "by" not in content:
        return  # open: nobody has continued it yet
    made = loading.gone_on(parent, content["by"]) or loading.handed_out(
        content["by"], Kind.PATH, tree, part=slot_name(parent.pk if parent else None, branch)
    )
    if "answer" in content:
        Node.at(
            tree, parent, branch, kind=Node.Kind.ANSWER, answer=content["answer"], **made
        ).save()
        return
    start = tree.question.snippet.text.index(content["span"])
    node = Node.at(
        tree, parent, branch, kind=Node.Kind.QUESTION, text=content["ask"], span_start=start,
        span_end=start + len(content["span"]), **made,
    )  # fmt: skip
    node.save()
    below = [(Node.Branch.YES, content["yes"]), (Node.Branch.NO, content["no"])]
    for side, next_turn in sorted(below, key=lambda one: one[1].get("by") != content["by"]):
        _grow_branch(loading, tree, next_turn, parent=node, branch=side)


def _write_scenario(loading: _Loading, tree: Tree, content: ScenarioText) -> None:
    scenario = Scenario.objects.create(
        tree=tree, text=content["text"],
        text_sha1=sha1(content["text"].encode(), usedforsecurity=False).hexdigest(),
        **loading.handed_out(content["by"], Kind.SCENARIO, tree),
    )  # fmt: skip
    Fact.objects.bulk_create(
        Fact(
            scenario=scenario, position=position,
            follow_up_question=turn["follow_up_question"],
            follow_up_answer=turn["follow_up_answer"],
        )
        for position, turn in enumerate(content["facts"])
    )  # fmt: skip
