"""What the benchmarks share: Django set up, a temporary database, and times of requests."""

import gc
import logging
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "sharc_studio.settings"
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment, teardown_test_environment  # noqa: E402

WIDE, NARROW = 44, 9


@contextmanager
def temporary_database() -> Iterator[None]:
    """Of the kind that DATABASE_URL names; gone afterwards."""
    logging.disable(logging.CRITICAL)
    # The files of the pages stay where they are: no collected static files are needed.
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    setup_test_environment(debug=False)
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(str(name), verbosity=0)
        teardown_test_environment()


def settle() -> None:
    """As in a server that has run for some minutes: PostgreSQL has learned how large its tables
    are, and wsgi.py has put aside what is there for good."""
    import_module(settings.ROOT_URLCONF)
    gc.collect()
    gc.freeze()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


class Times:
    """Of one kind of request: milliseconds by the clock and of this process, which other load
    changes less, and numbers of queries."""

    def __init__(self) -> None:
        self.clock: list[float] = []
        self.own: list[float] = []
        self.queries: list[int] = []

    def of(self, act: Callable[[], object]) -> None:
        counted = 0

        def count(execute: Callable[..., Any], *arguments: Any) -> Any:
            nonlocal counted
            counted += 1
            return execute(*arguments)

        # Not CaptureQueriesContext: it spells every query out, which takes longer than many of
        # them.
        with connection.execute_wrapper(count):
            start, own_start = time.perf_counter(), time.process_time()
            act()
            self.clock.append((time.perf_counter() - start) * 1000)
            self.own.append((time.process_time() - own_start) * 1000)
        self.queries.append(counted)

    @property
    def queries_in_words(self) -> str:
        few, many = min(self.queries), max(self.queries)
        return str(few) if few == many else f"{few}-{many}"

    def table(self, name: str) -> str:
        return _row("", HEADINGS) + self.row(name)

    def row(self, name: str) -> str:
        figures = [
            self.queries_in_words,
            *(f"{figure:.1f}" for figure in (_p50(self.clock), _p95(self.clock))),
            *(f"{figure:.1f}" for figure in (_p50(self.own), _p95(self.own))),
        ]
        return _row(name, figures)


HEADINGS = ("queries", "p50 ms", "p95 ms", "CPU p50", "CPU p95")


def _row(name: str, figures: list[str] | tuple[str, ...]) -> str:
    return f"{name:{WIDE}}" + "".join(f"{figure:>{NARROW}}" for figure in figures) + "\n"


def _p50(times: list[float]) -> float:
    return statistics.median(times)


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def measure_pages(
    client: Client, pages: Iterable[tuple[str, str]], requests: int, write: Callable[[str], object]
) -> None:
    """Asks for each page (name, address) so often, after once that does not count."""
    write(_row("page", HEADINGS))
    for name, address in pages:
        status = client.get(address).status_code
        if status != 200:
            raise SystemExit(f"{address} answered {status}")
        times = Times()
        for _ in range(requests):
            times.of(lambda address=address: client.get(address))  # type: ignore[misc]
        write(times.row(name))


def arguments(*defaults: int) -> list[int]:
    """The numbers on the command line, and for those that are not there the defaults."""
    return [*map(int, sys.argv[1 : len(defaults) + 1]), *defaults[len(sys.argv) - 1 :]]
