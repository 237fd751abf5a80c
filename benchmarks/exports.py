"""How long a large export takes, by one Celery worker and by two, and how much memory.

Makes a project of whole trees with scenarios in a temporary database (of the kind that DATABASE_URL
names), and exports it as jobs. With the ShARC dev set, a file: that is exported, too. Usage:
python benchmarks/exports.py [--utterances N] [--workers N ...] [--formats NAME ...] [--dev FILE]
Memory is each worker's greatest resident size, as Linux counts it (VmHWM).
"""

import argparse
import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha1
from pathlib import Path
from subprocess import Popen

import django

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ["DJANGO_SETTINGS_MODULE"] = "sharc_studio.settings"
FOLDER = tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR"))
os.environ["VAR_DIR"] = FOLDER.name
os.environ["CELERY_QUEUE_DIR"] = f"{FOLDER.name}/queue"
django.setup()

from django.db import connection  # noqa: E402

from apps.exports.formats.registry import FORMATS  # noqa: E402
from apps.exports.formats.rows import Options  # noqa: E402
from apps.exports.models import ExportShard  # noqa: E402
from apps.exports.services.exporting import Wanted, queue_export  # noqa: E402
from apps.exports.services.sharc_import import import_here  # noqa: E402
from apps.exports.services.sharc_reading import ImportFiles  # noqa: E402
from apps.projects.models import Job, Project, Role, Split  # noqa: E402
from apps.scenarios.models import Utterance  # noqa: E402
from apps.snippets.models import Document, Question, Snippet  # noqa: E402
from apps.trees.models import Node, Tree  # noqa: E402
from tests.celery_worker import start_worker  # noqa: E402
from tests.factories import make_member, make_project  # noqa: E402

DEPTH = 4
SCENARIOS = 3
TREES_OF_A_PAGE = 5
BATCH = 500
EACH = (2 * DEPTH + 1) * (SCENARIOS + 1)
"""Utterances of a tree: one for each of its nodes, without a scenario and with each."""


def digits(text: str) -> str:
    return sha1(text.encode(), usedforsecurity=False).hexdigest()


def make_large_project(count: int) -> Project:
    """Trees that ask for one condition after the other, all of which must be met."""
    project = make_project("large")
    job = Job.objects.create(project=project, kind="ShARC import", state=Job.State.DONE,
                             finished_at=project.created_at)  # fmt: skip
    for first in range(0, -(-count // EACH), BATCH):
        numbers = range(first, min(first + BATCH, -(-count // EACH)))
        trees = _trees(project, numbers)
        _nodes(trees, numbers)
        Utterance.objects.bulk_create(
            (one for number, tree in zip(numbers, trees, strict=True)
             for one in _utterances(project, job, tree, number)), batch_size=1000,
        )  # fmt: skip
        sys.stderr.write(f"\rmaking the project: {first * EACH:,} utterances")
    sys.stderr.write("\n")
    return project


def _trees(project: Project, numbers: range) -> list[Tree]:
    pages = sorted({number // TREES_OF_A_PAGE for number in numbers})
    splits = [Split.TRAIN] * 7 + [Split.DEV] + [Split.TEST] * 2
    documents = Document.objects.bulk_create(
        Document(project=project, source_url=f"https://office{page % 50}.example/page/{page}",
                 domain=f"office{page % 50}.example", title=f"Allowances {page}",
                 split=splits[page % 10]) for page in pages
    )  # fmt: skip
    by_page = dict(zip(pages, documents, strict=True))
    snippets = Snippet.objects.bulk_create(
        Snippet(document=by_page[number // TREES_OF_A_PAGE], position=number % TREES_OF_A_PAGE + 1,
                text=_rule(number), state=Snippet.State.ACCEPTED) for number in numbers
    )  # fmt: skip
    questions = Question.objects.bulk_create(
        Question(snippet=one, text="Do I get the allowance?") for one in snippets
    )
    return Tree.objects.bulk_create(
        Tree(project=project, question=one, tree_id=digits(one.snippet.text), max_depth=8,
             state=Tree.State.FINISHED) for one in questions
    )  # fmt: skip


def _rule(number: int) -> str:
    return f"# Allowance {number}\n\nYou get it if:\n\n" + "\n".join(
        f"* you meet condition {level} of {number}" for level in range(DEPTH)
    )


def _asked(number: int, level: int) -> str:
    return f"Do you meet condition {level} of {number}?"


def _nodes(trees: list[Tree], numbers: range) -> None:
    above: list[Node | None] = [None] * len(trees)
    for level in range(DEPTH + 1):
        places = list(zip(trees, numbers, above, strict=True))
        ends = [_node(tree, number, parent, "no", DEPTH + 1) for tree, number, parent in places
                if parent]  # fmt: skip
        Node.objects.bulk_create(ends)
        above = list(
            Node.objects.bulk_create(
                _node(tree, number, parent, "yes" if parent else "", level)
                for tree, number, parent in places
            )
        )


def _node(tree: Tree, number: int, parent: Node | None, branch: str, level: int) -> Node:
    if level < DEPTH:
        text = _asked(number, level)
        return Node.at(tree, parent, branch, kind=Node.Kind.QUESTION, text=text)
    answer = "Yes" if level == DEPTH else "No"
    return Node.at(tree, parent, branch, kind=Node.Kind.ANSWER, answer=answer)


def _utterances(project: Project, job: Job, tree: Tree, number: int) -> Iterator[Utterance]:
    for level in range(DEPTH + 1):
        met = [_turn(number, one, "Yes") for one in range(level)]
        given = _asked(number, level) if level < DEPTH else "Yes"
        yield from _of_node(project, job, tree, met, given)
        if level < DEPTH:
            yield from _of_node(project, job, tree, [*met, _turn(number, level, "No")], "No")


def _turn(number: int, level: int, answer: str) -> dict[str, str]:
    return {"follow_up_question": _asked(number, level), "follow_up_answer": answer}


def _of_node(
    project: Project, job: Job, tree: Tree, history: list[dict[str, str]], answer: str
) -> Iterator[Utterance]:
    for scenario in range(SCENARIOS + 1):
        text = f"I have told the office all about myself, and letter {scenario} says so."
        yield Utterance(
            project=project, job=job, tree=tree, kind="scenario" if scenario else "plain",
            utterance_id=digits(f"{tree.tree_id} {history} {scenario}"), history=history,
            question="Do I get the allowance?", scenario=text if scenario else "", answer=answer,
            answer_class=Utterance.class_of(answer),
        )  # fmt: skip


@contextmanager
def workers(number: int) -> Iterator[list[Popen[bytes]]]:
    with ExitStack() as stack:
        running = []
        for one in range(number):
            log = Path(FOLDER.name) / f"worker-{one}.log"
            running.append(start_worker(log, f"--hostname=bench{one}@%h", LOG_LEVEL="WARNING"))
            stack.callback(running[-1].kill)
        yield running


def peak_of(worker: Popen[bytes]) -> float:
    """The worker's greatest resident size so far, in MiB."""
    for line in Path(f"/proc/{worker.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def measure(project: Project, formats: list[str], number: int) -> None:
    author = make_member(project, Role.ADMIN)
    with workers(number) as running:
        begin = time.perf_counter()
        job = queue_export(project, Wanted(formats, options=Options(shards=4)), author=author)
        steps: dict[str, float] = {}
        while not job.is_finished:
            time.sleep(0.2)
            step = job.step.partition(":")[0] or "waiting"
            steps[step] = steps.get(step, 0.0) + 0.2
            job.refresh_from_db()
        seconds = time.perf_counter() - begin
        peaks = ", ".join(f"{peak_of(one):.0f}" for one in running)
    assert job.state == Job.State.DONE, job.error  # noqa: S101
    count = sum(sum(classes.values()) for classes in job.report["exported"].values())
    size = sum(one["bytes"] for one in job.report["files"])
    shards = ExportShard.objects.of(job).count()
    parts = ", ".join(f"{step} {spent:.0f}" for step, spent in steps.items())
    sys.stdout.write(
        f"{project.slug}: {count:,} utterances, {len(formats)} formats, {size / 1e6:,.0f} MB, "
        f"{shards} shards, {number} worker(s): {seconds:.1f} s ({parts}); "
        f"at most {peaks} MiB; zip {job.report['sha256'][:12]}\n"
    )
    sys.stdout.flush()


def import_dev(path: Path) -> Project:
    files = ImportFiles(utterances=((path.name, path),))
    import_here(files, slug="dev", split=None, author=None, progress=lambda *_: None)
    return Project.objects.get(slug="dev")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--utterances", type=int, default=10_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--dev", type=Path)
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    logging.disable(logging.CRITICAL)
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        begin = time.perf_counter()
        projects = [make_large_project(asked.utterances)]
        sys.stdout.write(f"{connection.vendor}: made in {time.perf_counter() - begin:.0f} s\n")
        projects += [import_dev(asked.dev)] if asked.dev else []
        for project in projects:
            for number in asked.workers:
                measure(project, asked.formats, number)
    finally:
        connection.creation.destroy_test_db(str(name), verbosity=0)
        FOLDER.cleanup()


if __name__ == "__main__":
    main()
