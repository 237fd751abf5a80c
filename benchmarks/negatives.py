"""How long negatives take to be drawn for very many scenarios, and how much memory.

Makes a project of trees with seven scenarios each in a temporary database (of the kind that
DATABASE_URL names), and draws its negatives in one shard and in four, as Celery jobs for two
workers. What both runs drew must be the same, byte for byte. With `expand`, the utterances of all
of it are made as well, about 30 for each tree.
Usage: python benchmarks/negatives.py [scenarios] [hard] [expand]
"""

import logging
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha1
from itertools import islice
from pathlib import Path
from typing import Any

import django

FOLDER = tempfile.TemporaryDirectory()
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ["DJANGO_SETTINGS_MODULE"] = "sharc_studio.settings"
os.environ["CELERY_BROKER_URL"] = "filesystem://"
os.environ["CELERY_QUEUE_DIR"] = f"{FOLDER.name}/queue"  # a queue of our own
django.setup()

from django.db import connection  # noqa: E402
from django.db.models import Model  # noqa: E402

from apps.projects.models import Job, Project  # noqa: E402
from apps.projects.services.jobs import queue_job  # noqa: E402
from apps.scenarios.models import (  # noqa: E402
    EXPANSION,
    Fact,
    NegativeQuestion,
    NegativeScenario,
    Scenario,
    Utterance,
)
from apps.scenarios.services.expansion import TASK as EXPAND  # noqa: E402
from apps.scenarios.services.negatives import Wish, queue_mining  # noqa: E402
from apps.snippets.models import Document, Question, Snippet  # noqa: E402
from apps.trees.models import Node, Tree  # noqa: E402
from tests.celery_worker import database_url  # noqa: E402

SCENARIOS_PER_TREE = 7
TREES_PER_DOCUMENT = 4
AT_ONCE = 20_000
WORKERS = 2
WORDS = 4_000
"""Different words that rules are made of; rare ones are rarer, as in a language."""


# The project -------------------------------------------------------------------------------------


def make_project(scenarios: int) -> Project:
    """Document, snippet, question, tree of two questions, scenarios; keys are counted from 1."""
    project = Project.objects.create(slug="large", name="Large", negative_threshold=0.2)
    trees = max(2, scenarios // SCENARIOS_PER_TREE)
    fill(Document, documents(project, trees))
    fill(Snippet, (snippet(number) for number in range(trees)))
    fill(Question, (question(number) for number in range(trees)))
    fill(Tree, (tree(project, number) for number in range(trees)))
    for level in range(3):
        fill(Node, (one for number in range(trees) for one in nodes(number, level)))
    fill(Scenario, (scenario(number, trees) for number in range(scenarios)))
    if "expand" in sys.argv:
        fill(Fact, (fact(number, trees) for number in range(scenarios)))
    return project


def fill(model: type[Model], rows: Iterator[Any]) -> None:
    while some := list(islice(rows, AT_ONCE)):
        model._default_manager.bulk_create(some, batch_size=2_000)


def documents(project: Project, trees: int) -> Iterator[Document]:
    for number in range(1 + (trees - 1) // TREES_PER_DOCUMENT):
        host = f"office{number % 50}.example"
        yield Document(pk=number + 1, project=project, source_url=f"https://{host}/{number}",
                       domain=host, title=f"Page {number}")  # fmt: skip


def some_words(what: str, number: int, count: int) -> str:
    chance = random.Random(f"{what} {number}")  # noqa: S311 - to be repeated
    return " ".join(f"word{int(WORDS * chance.random() ** 3)}" for _ in range(count))


def snippet(number: int) -> Snippet:
    text = f"# Rule {number}\n\nYou can, if {some_words('rule', number, 30)}."
    return Snippet(pk=number + 1, document_id=1 + number // TREES_PER_DOCUMENT, position=number,
                   text=text, state=Snippet.State.ACCEPTED)  # fmt: skip


def question(number: int) -> Question:
    text = f"Can I have {some_words('question', number, 4)}?"
    return Question(pk=number + 1, snippet_id=number + 1, text=text)


def tree(project: Project, number: int) -> Tree:
    return Tree(pk=number + 1, project=project, question_id=number + 1, tree_id=digits(number),
                state=Tree.State.FINISHED, max_depth=8)  # fmt: skip


def root(number: int) -> str:
    return f"Do you {some_words('root', number, 6)}?"


def nodes(number: int, level: int) -> Iterator[Node]:
    """Of one level: parents must be there before what hangs on them."""
    first = number * 5 + 1
    asked = {"kind": Node.Kind.QUESTION, "tree_id": number + 1}
    final = {"kind": Node.Kind.ANSWER, "tree_id": number + 1}
    if level == 0:
        yield Node(pk=first, text=root(number), **asked)
    if level == 1:
        yield Node(pk=first + 1, parent_id=first, branch="no", place="n", answer="No", **final)
        yield Node(pk=first + 2, parent_id=first, branch="yes", place="y",
                   text=f"Are you {some_words('second', number, 6)}?", **asked)  # fmt: skip
    if level == 2:
        for key, branch, answer in ((3, "yes", "Yes"), (4, "no", "No")):
            yield Node(pk=first + key, parent_id=first + 2, branch=branch, place=f"y{branch[0]}",
                       answer=answer, **final)  # fmt: skip


def scenario(number: int, trees: int) -> Scenario:
    text = f"I am person {number}, and {some_words('scenario', number, 10)}."
    return Scenario(pk=number + 1, tree_id=1 + number % trees, text=text, text_sha1=digits(text))


def fact(number: int, trees: int) -> Fact:
    """Every other person says Yes to the first question."""
    return Fact(scenario_id=number + 1, position=0, follow_up_question=root(number % trees),
                follow_up_answer="Yes" if number % 2 else "No")  # fmt: skip


def digits(text: object) -> str:
    return sha1(str(text).encode(), usedforsecurity=False).hexdigest()


# The workers -------------------------------------------------------------------------------------


@contextmanager
def workers() -> Iterator[list[int]]:
    """Celery workers on this database and queue, ready for work; their process ids."""
    command = [sys.executable, "-m", "celery", "-A", "sharc_studio", "worker", "--pool=solo",
               "--loglevel=INFO", "--without-gossip", "--without-mingle"]  # fmt: skip
    environment = {**os.environ, "DATABASE_URL": database_url(), "LOG_LEVEL": "INFO",
                   "LOG_FORMAT": "console"}  # fmt: skip
    started = []
    for number in range(WORKERS):
        log = Path(FOLDER.name, f"worker-{number}.log")
        with log.open("wb") as output:
            started.append(subprocess.Popen(  # noqa: S603
                [*command, f"--hostname=w{number}"], env=environment, stdout=output, stderr=output
            ))  # fmt: skip
        while "ready." not in log.read_text(errors="replace"):
            time.sleep(0.2)
    try:
        yield [worker.pid for worker in started]
    finally:
        for worker in started:
            worker.kill()
            worker.wait()


def wait_for(jobs: list[Job]) -> None:
    mine = Job.objects.filter(pk__in=[job.pk for job in jobs])
    while mine.unfinished().exists():
        time.sleep(0.5)
    for job in mine.exclude(state=Job.State.DONE):
        raise SystemExit(f"Job {job.pk}: {job.state}, {job.error}")


def peak_of(process: int) -> float:
    """The most memory that it ever held, in MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def fingerprint() -> str:
    """Of all negatives, by what they say and not by their keys."""
    found = sha1(usedforsecurity=False)
    for model in (NegativeQuestion, NegativeScenario):
        rows = model.objects.order_by("tree__tree_id", "text", "source").values_list(
            "tree__tree_id", "source", "text", "cosine", "hardness"
        )
        for row in rows.iterator(chunk_size=AT_ONCE):
            found.update(repr(row).encode())
    return found.hexdigest()


def mined(say: Callable[[str], object], project: Project, shards: int, *, hard: bool) -> str:
    wish = Wish(2, 1, project.negative_threshold, hard=hard)
    before = NegativeQuestion.objects.count() + NegativeScenario.objects.count()
    with workers() as processes:
        begin = time.perf_counter()
        wait_for(queue_mining(project, wish, author=None, shards=shards))
        seconds = time.perf_counter() - begin
        peak = max(peak_of(process) for process in processes)
    made = NegativeQuestion.objects.count() + NegativeScenario.objects.count() - before
    say(f"{f'mined, {shards} shards':<28}{seconds:>8.1f} s{peak:>8.0f} MiB a process at most")
    say(f"{made:>11,} negatives, {made / seconds:,.0f} a second\n")
    return fingerprint()


def expanded(say: Callable[[str], object], project: Project) -> None:
    with workers() as processes:
        begin = time.perf_counter()
        job = queue_job(project, kind=EXPANSION, task=EXPAND, parameters={}, created_by=None)
        wait_for([job])
        seconds = time.perf_counter() - begin
        peak = max(peak_of(process) for process in processes)
    say(f"{'expanded':<28}{seconds:>8.1f} s{peak:>8.0f} MiB a process at most")
    say(f"{Utterance.objects.count():>11,} utterances\n")


def report(say: Callable[[str], object], scenarios: int, *, hard: bool) -> bool:
    say(f"negatives, {connection.vendor}: {scenarios:,} scenarios{', hard' if hard else ''}\n")
    begin = time.perf_counter()
    project = make_project(scenarios)
    say(f"{'project made':<28}{time.perf_counter() - begin:>8.1f} s\n")
    prints = []
    for shards in (1, 4):
        for model in (NegativeQuestion, NegativeScenario):
            model.objects.all()._raw_delete(connection.alias)
        prints.append(mined(say, project, shards, hard=hard))
    mined(say, project, 4, hard=hard)  # again: nothing is missing
    for _ in range(2 if "expand" in sys.argv else 0):
        expanded(say, project)
    say(f"the same bytes: {'yes' if prints[0] == prints[1] else 'NO'} ({prints[0][:12]})\n")
    return prints[0] == prints[1]


def main() -> int:
    logging.disable(logging.CRITICAL)
    scenarios = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":  # in memory, it would be this process's own
        connection.settings_dict["TEST"]["NAME"] = f"{FOLDER.name}/large.sqlite3"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        return 0 if report(sys.stdout.write, scenarios, hard="hard" in sys.argv) else 1
    finally:
        connection.creation.destroy_test_db(str(name), verbosity=0)


if __name__ == "__main__":
    sys.exit(main())
