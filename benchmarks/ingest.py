"""How long a thousand web pages take to come in, and to be cut anew, and how much memory.

Writes pages of 100 KB with rules of their own, as web sites have them: navigation, headings,
lists, paragraphs, a footer. Loads them into a temporary database (of the kind that DATABASE_URL
names), loads them again, and tries and saves other limits. Usage:
python benchmarks/ingest.py [pages]
"""

import logging
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import django

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ["DJANGO_SETTINGS_MODULE"] = "sharc_studio.settings"
django.setup()

from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from apps.projects.models import Project  # noqa: E402
from apps.snippets.domain.segmentation import Limits  # noqa: E402
from apps.snippets.models import Snippet  # noqa: E402
from apps.snippets.services.ingest_files import Upload  # noqa: E402
from apps.snippets.services.ingest_jobs import ingest_here  # noqa: E402
from apps.snippets.services.segmenting import (  # noqa: E402
    changes_by,
    cuttable,
    recut_documents,
)

SIZE = 100_000
LINKS = 60


def page(number: int) -> str:
    """A page of about SIZE characters; no two have a rule in common."""
    links = "".join(f'<li><a href="/page/{n}">Office page {n}</a></li>' for n in range(LINKS))
    begin = (
        f'<!doctype html><html lang="en"><head><title>Grants of office {number}</title></head>'
        "<body>"
        f"<nav><ul>{links}</ul></nav><main><h1>Grants of office {number}</h1>"
    )
    rules: list[str] = []
    size = len(begin)
    while size < SIZE:
        rules.append(rule(number, len(rules)))
        size += len(rules[-1])
    return f"{begin}{''.join(rules)}</main><footer><ul>{links}</ul></footer></body></html>"


def rule(number: int, part: int) -> str:
    name = f"{number}.{part}"
    items = "".join(
        f"<li>you have met condition {n} of grant {name} for at least {n + 2} years</li>"
        for n in range(part % 7 + 1)
    )
    return (
        f"<section><h2>Grant {name}</h2><p>The office pays grant {name} to people who live in its "
        f"district, and to people who <a href='/move'>have moved</a> in the last {part} months. "
        f"It does not pay for costs that somebody else has paid.</p><p>You can claim grant {name} "
        f"if:</p><ul>{items}</ul></section>"
    )


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
        uploads = []
        for number in range(count):
            path = Path(folder) / f"{number}.html"
            path.write_text(page(number))
            uploads.append(Upload(path.name, path))
        size = sum(upload.path.stat().st_size for upload in uploads)
        say(f"documents, {connection.vendor}: {count:,} pages, {size / 1e6:.0f} MB\n")

        def load() -> None:
            ingest_here(uploads, slug="large", author=None, missing=[], progress=quietly)

        measured(say, "load", load)
        say(f"{'':28}{Snippet.objects.count():,} snippets\n")
        measured(say, "load again", load)
    project, limits = Project.objects.get(slug="large"), Limits(max_list_items=3)
    keys = cuttable(project)
    measured(
        say, "try other limits", lambda: list(changes_by(keys, limits, now=timezone.now()))
    )  # fmt: skip
    Project.objects.update(max_list_items=3)
    measured(
        say, "cut anew",
        lambda: recut_documents(project, keys, author=None, job=None, progress=quietly),
    )  # fmt: skip


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    logging.disable(logging.CRITICAL)
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        report(sys.stdout.write, count)
    finally:
        connection.creation.destroy_test_db(str(name), verbosity=0)


if __name__ == "__main__":
    main()
