"""How long a large ShARC file takes to come in and to go out, and how much memory.

Makes a file of trees on rule texts of its own, imports it into a temporary database (of the kind
that DATABASE_URL names), imports it again, and exports it. Usage:
python benchmarks/sharc_import.py [utterances]
"""

import json
import logging
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from hashlib import sha1
from pathlib import Path
from typing import Any

import django

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ["DJANGO_SETTINGS_MODULE"] = "sharc_studio.settings"
django.setup()

from django.db import connection  # noqa: E402

from apps.exports.services.exporting import export_here  # noqa: E402
from apps.exports.services.sharc_import import import_here  # noqa: E402
from apps.exports.services.sharc_reading import ImportFiles  # noqa: E402
from apps.projects.models import Project  # noqa: E402

DEPTH = 4
SCENARIOS = 5


def turn(question: str, answer: str) -> dict[str, str]:
    return {"follow_up_question": question, "follow_up_answer": answer}


def tree(number: int) -> Iterator[dict[str, Any]]:
    """An "all of these" tree: plain utterances, and scenarios that tell one fact each."""
    rule = f"# Allowance {number}\n\nYou get it if:\n\n" + "\n".join(
        f"* you meet condition {level} of {number}" for level in range(DEPTH)
    )
    asked = [f"Do you meet condition {level} of {number}?" for level in range(DEPTH)]
    base = {
        "tree_id": digits(rule),
        "source_url": f"https://office{number % 50}.example/page/{number // 5}",
        "snippet": rule,
        "question": "Do I get the allowance?",
    }
    for level in range(DEPTH + 1):
        met = [turn(question, "Yes") for question in asked[:level]]
        following = asked[level] if level < DEPTH else "Yes"
        yield from utterances(base, met, following, asked)
        if level < DEPTH:
            yield from utterances(base, [*met, turn(asked[level], "No")], "No", asked)


def utterances(
    base: dict[str, Any], history: list[Any], answer: str, asked: list[str]
) -> Iterator[dict[str, Any]]:
    yield record(base, history, answer, "", [])
    told = {one["follow_up_question"] for one in history}
    for number in range(SCENARIOS):
        fact = asked[number % DEPTH]
        evidence = [turn(fact, "Yes")] if fact not in told and answer == fact else []
        text = f"I have told the office all about myself, and letter {number} says so."
        yield record(base, history, answer, text, evidence)


def record(
    base: dict[str, Any], history: list[Any], answer: str, scenario: str, evidence: list[Any]
) -> dict[str, Any]:
    made = {**base, "scenario": scenario, "answer": answer, "history": history}
    return {"utterance_id": digits(json.dumps(made)), **made, "evidence": evidence}


def digits(text: str) -> str:
    return sha1(text.encode(), usedforsecurity=False).hexdigest()


def write(path: Path, count: int) -> int:
    records: list[dict[str, Any]] = []
    number = 0
    while len(records) < count:
        records.extend(tree(number))
        number += 1
    path.write_text(json.dumps(records))
    return len(records)


def measured(say: Callable[[str], object], what: str, work: Callable[[], object]) -> None:
    begin = time.perf_counter()
    work()
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say(f"{what:<28}{seconds:>8.1f} s{peak:>8.0f} MiB at most so far\n")


def report(say: Callable[[str], object], count: int) -> None:
    def quietly(step: str, done: int, total: int) -> None:
        """Progress is not what is measured."""

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sharc_train.json"
        written = write(path, count)
        say(f"ShARC import, {connection.vendor}: {written:,} utterances, ")
        say(f"{path.stat().st_size / 1e6:.0f} MB\n")
        files = ImportFiles(utterances=((path.name, path),))

        def bring_in() -> None:
            import_here(files, slug="large", split=None, author=None, progress=quietly)

        measured(say, "import", bring_in)
        measured(say, "import again", bring_in)
        project = Project.objects.get(slug="large")
        out = Path(folder) / "out"
        measured(say, "export", lambda: export_here(project, splits=[], out=out, progress=quietly))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 25_000
    logging.disable(logging.CRITICAL)
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        report(sys.stdout.write, count)
    finally:
        connection.creation.destroy_test_db(str(name), verbosity=0)


if __name__ == "__main__":
    main()
