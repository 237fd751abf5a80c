"""Draws the negatives that a project's finished trees lack (design 4.5).

A project can be dealt out to several shards, each a job of its own: which negatives come does not
depend on how many there are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.projects.services.jobs import finish_job, queue_job, report_progress, start_job_here
from apps.scenarios.domain.negatives.hardness import hardness, words
from apps.scenarios.domain.negatives.pool import Attached, Result
from apps.scenarios.models import MINING, NegativeQuestion, NegativeScenario, Scenario, Utterance
from apps.scenarios.services.expansion import Progress
from apps.scenarios.services.negative_source import Source
from apps.trees.models import Tree

TASK = "scenarios.mine_negatives"
AT_ONCE = 500

NOT_FINISHED = "its tree is not finished any more"

TREES_PER_SHARD = 50_000
MOST_SHARDS = 4


@dataclass(frozen=True)
class Wish:
    """What is wanted of each tree, how it is drawn, and the seed to draw with.

    hard    candidates of the same domain that share many words with the rule text come first
    attach  irrelevant questions get a scenario or a history of their tree before them
    same_split  only trees of one split lend to each other
    """

    questions_per_tree: int
    scenarios_per_tree: int
    threshold: float
    seed: int = 0
    hard: bool = False
    attach: bool = False
    same_split: bool = False

    @classmethod
    def of(cls, project: Project, *, seed: int = 0) -> Wish:
        return cls(
            project.questions_per_tree, project.scenarios_per_tree, project.negative_threshold, seed
        )

    @classmethod
    def of_job(cls, job: Job) -> Wish:
        names = cls.__dataclass_fields__
        return cls(**{name: job.parameters[name] for name in names if name in job.parameters})

    def read(self, project: Project) -> Source:
        return Source(project, texts=self.hard, places=self.attach, splits=self.same_split)


# Jobs ------------------------------------------------------------------------------------------


def mine_here(project: Project, wish: Wish, *, author: User | None, progress: Progress) -> Job:
    """Draws what is missing, in this process; the job has the report."""
    return _here_with(project, _parameters(wish), author, progress)


def mine_anew_here(project: Project, wish: Wish, *, author: User | None, progress: Progress) -> Job:
    """Takes away what was drawn before, and draws anew. What was imported, written by hand or
    dropped stays, and so does what an expert has verified."""
    return _here_with(project, _parameters(wish, anew=True), author, progress)


def _here_with(
    project: Project, parameters: dict[str, Any], author: User | None, progress: Progress
) -> Job:
    job = start_job_here(project, kind=MINING, parameters=parameters, created_by=author)
    mine(job, progress)
    job.refresh_from_db()
    return job


def queue_mining(
    project: Project, wish: Wish, *, author: User | None, shards: int = 0, anew: bool = False
) -> list[Job]:
    """The same in the background, dealt out to so many jobs; 0: as many as the trees want."""
    trees = Tree.objects.finished().filter(project=project).count()
    shards = shards or min(MOST_SHARDS, 1 + trees // TREES_PER_SHARD)
    return [
        queue_job(
            project, kind=MINING, task=TASK, created_by=author,
            parameters=_parameters(wish, shard=shard, shards=shards, anew=anew),
        )
        for shard in range(shards)
    ]  # fmt: skip


def run_mining(job: Job) -> None:
    """The work of one queued job."""
    mine(job, lambda step, done, total: report_progress(job, step=step, done=done, total=total))


def _parameters(
    wish: Wish, *, shard: int = 0, shards: int = 1, anew: bool = False
) -> dict[str, Any]:
    return {**asdict(wish), "shard": shard, "shards": shards, "anew": anew}


# Mining ----------------------------------------------------------------------------------------


def mine(job: Job, progress: Progress) -> None:
    """Gives the shard's trees the negatives that they lack, some hundred trees at a time.

    Stopped in the middle, it goes on where it was when it is run again.
    """
    progress("reading trees", 0, 0)
    wish = Wish.of_job(job)
    miner = Miner(job, wish, wish.read(job.project))
    places = range(job.parameters["shard"], len(miner.source.keys), job.parameters["shards"])
    for start in range(0, len(places), AT_ONCE):
        progress("drawing negatives", start, len(places))
        some = places[start : start + AT_ONCE]
        with transaction.atomic():
            miner.hold(some)
            if job.parameters.get("anew"):
                miner.take_away(some)
            miner.give_questions(some)
            miner.give_scenarios(some)
    finish_job(job, report={"trees": len(places), **miner.report, "missing": miner.missing})


class Miner:
    """Gives trees their negatives, and counts what it did."""

    def __init__(self, job: Job, wish: Wish, source: Source) -> None:
        self.job, self.wish, self.source = job, wish, source
        self.report: Counter[str] = Counter()
        self.missing: dict[str, Counter[str]] = {"questions": Counter(), "scenarios": Counter()}

    def hold(self, places: Sequence[int]) -> None:
        """Locks the trees: two that mine at once would both find the same missing."""
        trees = Tree.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
        list(trees.filter(pk__in=self._keys(places)).values_list("pk"))

    def take_away(self, places: Sequence[int]) -> None:
        """What other runs drew for these trees and no expert has verified, with its utterances."""
        keys = self._keys(places)
        for model, link in ((NegativeQuestion, "negative_question"),
                            (NegativeScenario, "negative_scenario")):  # fmt: skip
            gone = take_away_drawn(model.objects.filter(tree__in=keys).exclude(job=self.job), link)
            self.report["taken_away"] += gone

    def give_questions(self, places: Sequence[int]) -> None:
        here, taken = _here(NegativeQuestion.objects.filter(tree__in=self._keys(places)))
        new: list[NegativeQuestion] = []
        for place in places:
            key = self.source.keys[place]
            self.report["questions_here"] += here[key]
            wanted = max(0, self.wish.questions_per_tree - here[key])
            new += self.questions(place, wanted, taken[key])
        NegativeQuestion.objects.bulk_create(new, batch_size=AT_ONCE)
        self.report["questions_made"] += len(new)

    def give_scenarios(self, places: Sequence[int]) -> None:
        here, taken = _here(NegativeScenario.objects.filter(tree__in=self._keys(places)))
        numbers = self.source.numbers_of_scenarios({one for some in taken.values() for one in some})
        drawn: list[NegativeScenario] = []
        for place in places:
            key = self.source.keys[place]
            self.report["scenarios_here"] += here[key]
            wanted = max(0, self.wish.scenarios_per_tree - here[key])
            known = [numbers[one] for one in taken[key] if one in numbers]
            drawn += self.scenarios(place, wanted, known)
        self._give_texts(drawn)
        NegativeScenario.objects.bulk_create(drawn, batch_size=AT_ONCE)
        self.report["scenarios_made"] += len(drawn)

    def replace(
        self, dropped: NegativeQuestion | NegativeScenario
    ) -> NegativeQuestion | NegativeScenario | None:
        """Another one in its place, if there is one."""
        place = self.source.place_of_tree.get(dropped.tree_id)
        if place is None:
            self._miss("questions", Result((), 1, NOT_FINISHED))
            return None
        self.hold([place])
        of_tree: Any = type(dropped).objects.filter(tree=dropped.tree_id)
        taken = list(of_tree.filter(source__isnull=False).values_list("source", flat=True))
        drawn: list[Any]
        if isinstance(dropped, NegativeQuestion):
            drawn = list(self.questions(place, 1, taken))
        else:
            numbers = self.source.numbers_of_scenarios(taken)
            drawn = list(self.scenarios(place, 1, list(numbers.values())))
            self._give_texts(drawn)
        for one in drawn:
            one.replaces = dropped
            one.save()
            return one  # type: ignore[no-any-return]
        return None

    def questions(
        self, place: int, wanted: int, taken: Sequence[int]
    ) -> Iterator[NegativeQuestion]:
        """Not saved. `taken` are the keys of first questions."""
        source, pool, wish = self.source, self.source.pool, self.wish
        known = [source.place_of_question[one] for one in taken if one in source.place_of_question]
        result = (
            pool.draw_hard_questions(
                place, wanted, threshold=wish.threshold, seed=wish.seed, taken=known
            )
            if wish.hard
            else pool.draw_questions(place, wanted, seed=wish.seed, taken=known)
        )
        self._miss("questions", result)
        rule = words(pool.trees[place].rule_text) if result.drawn else frozenset[str]()
        for one in result.drawn:
            attached = pool.attach(place, one.index, seed=wish.seed) if wish.attach else Attached()
            text = source.texts[one.index]
            yield NegativeQuestion(
                tree_id=source.keys[place], source_id=source.questions[one.index], text=text,
                cosine=one.cosine, hardness=hardness(text, rule), attached_place=attached.place,
                attached_scenario_id=(
                    None if attached.scenario is None else source.scenarios[attached.scenario]
                ),
                job=self.job, created_by=self.job.created_by,
            )  # fmt: skip

    def scenarios(
        self, place: int, wanted: int, taken: Sequence[int]
    ) -> Iterator[NegativeScenario]:
        """Not saved, and without their texts. `taken` are numbers of scenarios in the pool."""
        source, pool, wish = self.source, self.source.pool, self.wish
        draw = pool.draw_hard_scenarios if wish.hard else pool.draw_scenarios
        result = draw(place, wanted, threshold=wish.threshold, seed=wish.seed, taken=taken)
        self._miss("scenarios", result)
        for one in result.drawn:
            yield NegativeScenario(
                tree_id=source.keys[place], source_id=source.scenarios[one.index],
                cosine=one.cosine, job=self.job, created_by=self.job.created_by,
            )  # fmt: skip

    def _give_texts(self, negatives: Sequence[NegativeScenario]) -> None:
        """Their texts, and how hard they are by them. One query for each `AT_ONCE`."""
        rules: dict[int, frozenset[str]] = {}
        for start in range(0, len(negatives), AT_ONCE):
            some = negatives[start : start + AT_ONCE]
            texts = Scenario.objects.only("text").in_bulk([one.source_id for one in some])
            for one in some:
                if one.tree_id not in rules:
                    place = self.source.place_of_tree[one.tree_id]
                    rules[one.tree_id] = words(self.source.pool.trees[place].rule_text)
                one.text = texts[one.source_id].text
                one.hardness = hardness(one.text, rules[one.tree_id])

    def _keys(self, places: Sequence[int]) -> list[int]:
        return [self.source.keys[place] for place in places]

    def _miss(self, what: str, result: Result) -> None:
        if result.missing:
            self.missing[what][result.reason] += result.missing


def _here(negatives: QuerySet[Any]) -> tuple[Counter[int], dict[int, list[int]]]:
    """By tree: how many are in force, and which sources it has or had."""
    here: Counter[int] = Counter()
    taken: dict[int, list[int]] = defaultdict(list)
    for tree, source, dropped in negatives.values_list("tree_id", "source_id", "dropped_at"):
        here[tree] += dropped is None
        if source is not None:
            taken[tree].append(source)
    return here, taken


# Starting over -----------------------------------------------------------------------------------


def take_away_drawn(negatives: Any, link: str) -> int:
    """With their utterances, of which `link` is the field; returns how many negatives went."""
    drawn = negatives.in_force().drawn()
    free = [Utterance.State.TO_VERIFY, Utterance.State.TAKEN_OUT]
    kept = Utterance.objects.filter(**{f"{link}__in": drawn.values("pk")}).exclude(
        state__in=free, origin=Utterance.Origin.RULE
    )
    keys = list(drawn.exclude(pk__in=kept.values(link)).values_list("pk", flat=True))
    for start in range(0, len(keys), AT_ONCE):
        some = keys[start : start + AT_ONCE]
        Utterance.objects.filter(**{f"{link}__in": some}).delete()
        negatives.model.objects.filter(pk__in=some).delete()
    return len(keys)
