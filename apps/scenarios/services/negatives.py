"""Negatives of a project's finished trees (design 4.5): draws what is missing, drops single ones.

A project can be dealt out to several shards, each a job of its own: which negatives come does not
depend on how many there are.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.projects.services import audit
from apps.projects.services.jobs import finish_job, queue_job, report_progress, start_job_here
from apps.scenarios.domain.negatives import Candidate, Pool
from apps.scenarios.models import NegativeQuestion, NegativeScenario, Scenario, Utterance
from apps.scenarios.services.expansion import Progress
from apps.snippets.domain.folding import fold
from apps.trees.models import Node, Tree

KIND = "negatives"
TASK = "scenarios.mine_negatives"
AT_ONCE = 500


@dataclass(frozen=True)
class Wish:
    """What is wanted of each tree, and the seed to draw with."""

    questions_per_tree: int
    scenarios_per_tree: int
    threshold: float
    seed: int = 0

    @classmethod
    def of(cls, project: Project, *, seed: int = 0) -> "Wish":
        return cls(
            project.questions_per_tree, project.scenarios_per_tree, project.negative_threshold, seed
        )


def mine_here(project: Project, wish: Wish, *, author: User | None, progress: Progress) -> Job:
    """Draws what is missing, in this process; the job has the report."""
    job = start_job_here(project, kind=KIND, parameters=_parameters(wish, 0, 1), created_by=author)
    mine(job, progress)
    job.refresh_from_db()
    return job


def queue_mining(project: Project, wish: Wish, *, shards: int, author: User | None) -> list[Job]:
    """The same in the background, dealt out to so many jobs."""
    return [
        queue_job(
            project, kind=KIND, task=TASK, parameters=_parameters(wish, shard, shards),
            created_by=author,
        )
        for shard in range(shards)
    ]  # fmt: skip


def run_mining(job: Job) -> None:
    """The work of one queued job."""
    mine(job, lambda step, done, total: report_progress(job, step=step, done=done, total=total))


def _parameters(wish: Wish, shard: int, shards: int) -> dict[str, Any]:
    return {**asdict(wish), "shard": shard, "shards": shards}


def mine(job: Job, progress: Progress) -> None:
    """Gives the shard's trees the negatives that they lack, some hundred trees at a time.

    Stopped in the middle, it goes on where it was when it is run again.
    """
    parameters = dict(job.parameters)
    shard, shards = parameters.pop("shard"), parameters.pop("shards")
    wish = Wish(**parameters)
    progress("reading trees", 0, 0)
    source = _Source(job.project)
    places = range(shard, len(source.keys), shards)
    report: Counter[str] = Counter()
    missing: dict[str, Counter[str]] = {"questions": Counter(), "scenarios": Counter()}
    for start in range(0, len(places), AT_ONCE):
        progress("drawing negatives", start, len(places))
        some = places[start : start + AT_ONCE]
        with transaction.atomic():
            _give_questions(source, some, wish, job, report, missing["questions"])
            _give_scenarios(source, some, wish, job, report, missing["scenarios"])
    finish_job(job, report={"trees": len(places), **report, "missing": missing})


class _Source:
    """The pool of a project, and the keys of its trees and scenarios in the pool's order."""

    def __init__(self, project: Project) -> None:
        self.keys: list[int] = []
        self.questions: list[int] = []
        self.texts: list[str] = []
        self.scenarios = array("q")
        self.pool = Pool(list(self._trees(project)), self._scenario_trees(project))

    def _trees(self, project: Project) -> Iterator[Candidate]:
        follow_ups: dict[int, list[str]] = defaultdict(list)
        nodes = Node.objects.live().questions().filter(tree__project=project)
        for tree, text in nodes.order_by("tree", "place").values_list("tree_id", "text").iterator():
            follow_ups[tree].append(text)
        trees = Tree.objects.finished().filter(project=project).order_by("tree_id")
        rows = trees.values_list(
            "pk", "tree_id", "question", "question__text",
            "question__snippet__document__source_url",
        )  # fmt: skip
        for key, tree_id, question, text, url in rows.iterator():
            self.keys.append(key)
            self.questions.append(question)
            self.texts.append(text)
            yield Candidate(tree_id, url, fold(text), "\n".join(follow_ups.pop(key, ())))

    def _scenario_trees(self, project: Project) -> Sequence[int]:
        place_of = {key: place for place, key in enumerate(self.keys)}
        trees = array("l")
        scenarios = Scenario.objects.in_force().filter(tree__project=project)
        rows = scenarios.filter(tree__state=Tree.State.FINISHED)
        in_order = rows.order_by("tree__tree_id", "text_sha1").values_list("pk", "tree_id")
        for key, tree in in_order.iterator():
            self.scenarios.append(key)
            trees.append(place_of[tree])
        return trees


def _give_questions(
    source: _Source, places: range, wish: Wish, job: Job, report: Counter[str],
    missing: Counter[str],
) -> None:  # fmt: skip
    keys = [source.keys[place] for place in places]
    here, taken = _here(NegativeQuestion.objects.filter(tree__in=keys))
    place_of = {question: place for place, question in enumerate(source.questions)}
    new = []
    for place in places:
        key = source.keys[place]
        known = [place_of[one] for one in taken[key] if one in place_of]
        wanted = max(0, wish.questions_per_tree - here[key])
        result = source.pool.draw_questions(place, wanted, seed=wish.seed, taken=known)
        report["questions_here"] += here[key]
        _miss(missing, result.reason, result.missing)
        new += [
            NegativeQuestion(
                tree_id=key, source_id=source.questions[one.index], text=source.texts[one.index],
                cosine=one.cosine, job=job, created_by=job.created_by,
            )
            for one in result.drawn
        ]  # fmt: skip
    NegativeQuestion.objects.bulk_create(new, batch_size=AT_ONCE)
    report["questions_made"] += len(new)


def _give_scenarios(
    source: _Source, places: range, wish: Wish, job: Job, report: Counter[str],
    missing: Counter[str],
) -> None:  # fmt: skip
    keys = [source.keys[place] for place in places]
    here, taken = _here(NegativeScenario.objects.filter(tree__in=keys))
    wanted_by = {place: max(0, wish.scenarios_per_tree - here[source.keys[place]])
                 for place in places}  # fmt: skip
    number_of = _numbers(source, {one for some in taken.values() for one in some})
    drawn: list[tuple[int, int, float]] = []
    for place in places:
        key = source.keys[place]
        known = [number_of[one] for one in taken[key] if one in number_of]
        result = source.pool.draw_scenarios(
            place, wanted_by[place], threshold=wish.threshold, seed=wish.seed, taken=known
        )
        report["scenarios_here"] += here[key]
        _miss(missing, result.reason, result.missing)
        drawn += [(key, source.scenarios[one.index], one.cosine) for one in result.drawn]
    texts = dict(
        Scenario.objects.filter(pk__in={scenario for _, scenario, _ in drawn}).values_list(
            "pk", "text"
        )
    )
    NegativeScenario.objects.bulk_create(
        [
            NegativeScenario(
                tree_id=key, source_id=scenario, text=texts[scenario], cosine=cosine, job=job,
                created_by=job.created_by,
            )
            for key, scenario, cosine in drawn
        ],
        batch_size=AT_ONCE,
    )  # fmt: skip
    report["scenarios_made"] += len(drawn)


def _here(negatives: QuerySet[Any]) -> tuple[Counter[int], dict[int, list[int]]]:
    """By tree: how many are in force, and which sources it has or had."""
    here: Counter[int] = Counter()
    taken: dict[int, list[int]] = defaultdict(list)
    for tree, source, dropped in negatives.values_list("tree_id", "source_id", "dropped_at"):
        here[tree] += dropped is None
        if source is not None:
            taken[tree].append(source)
    return here, taken


def _numbers(source: _Source, keys: set[int]) -> dict[int, int]:
    """The numbers in the pool of these scenarios."""
    if not keys:
        return {}
    return {key: number for number, key in enumerate(source.scenarios) if key in keys}


def _miss(missing: Counter[str], reason: str, number: int) -> None:
    if number:
        missing[reason] += number


@transaction.atomic
def drop_all_drawn(project: Project, *, actor: User | None) -> int:
    """To start over: takes away what was drawn, with the utterances that the rule made of it.

    What was imported, written by hand or dropped stays. Returns how many negatives went.
    """
    gone = 0
    for kind, link in ((NegativeQuestion, "negative_question"),
                       (NegativeScenario, "negative_scenario")):  # fmt: skip
        negatives: Any = kind
        drawn = negatives.objects.in_force().filter(tree__project=project, job__kind=KIND)
        utterances = Utterance.objects.filter(**{f"{link}__in": drawn.values("pk")})
        utterances.filter(origin=Utterance.Origin.RULE).delete()
        free = drawn.filter(utterances__isnull=True)
        gone += free.delete()[0]
    if gone:
        audit.record(actor, "drop negatives", project, project=project, negatives=gone)
    return gone


@transaction.atomic
def drop_negative(
    negative: NegativeQuestion | NegativeScenario, *, reason: str, actor: User, now: datetime
) -> bool:
    """It counts no more, and is not drawn again; False: somebody was faster."""
    in_force: Any = type(negative).objects
    dropped = {"dropped_at": now, "dropped_by": actor, "dropped_reason": reason}
    if not in_force.in_force().filter(pk=negative.pk).update(**dropped):
        return False
    negative.utterances.filter(origin=Utterance.Origin.RULE).delete()
    audit.record(actor, "drop negative", negative, project=negative.tree.project, reason=reason)
    return True
