"""manage.py inspect_export DIR [--number N | --random SEED]"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.exports.management.commands.check_export import lines_of
from apps.exports.services.checking import Summary, inspect
from apps.projects.commands import StudioCommand
from apps.projects.errors import StudioError

MOST_ITEMS = 12
"""Of a list: tokens go on and on."""


class Command(StudioCommand):
    help = "Counts what is in exported files, and shows an example in readable form."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--number", type=int, metavar="N",
                           help="the example with this number, from 1")  # fmt: skip
        which.add_argument("--random", type=int, metavar="SEED", default=0,
                           help="an example at random (default: seed 0)")  # fmt: skip

    def handle(self, **options: Any) -> None:
        number = options["number"]
        try:
            for summary in inspect(options["folder"], number=number, seed=options["random"]):
                for line in lines_of(summary):
                    self.stdout.write(line)
                self._print_example(summary, number)
        except StudioError as error:
            raise CommandError(str(error)) from error

    def _print_example(self, summary: Summary, number: int | None) -> None:
        if example := summary.example:
            self.stdout.write(f"\nexample {summary.number}: {example.file}, {example.where}")
            for line in readable(example.value):
                self.stdout.write(line)
        elif number is not None:
            total = summary.files.total()
            raise CommandError(f"--number {number}: {summary.name} has {total:,} examples")


def readable(value: Any, indent: str = "") -> Iterator[str]:
    """A value as lines: keys, and what they hold further in."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _entry(f"{indent}{key}:", part, indent)
    else:
        for part in value[:MOST_ITEMS]:
            yield from _entry(f"{indent}-", part, indent)
        if len(value) > MOST_ITEMS:
            yield f"{indent}- ... {len(value) - MOST_ITEMS:,} more"


def _entry(head: str, part: Any, indent: str) -> Iterator[str]:
    inner = indent + "  "
    if isinstance(part, (Mapping, list)) and part:
        yield head
        yield from readable(part, inner)
    elif isinstance(part, str) and "\n" in part:
        yield head
        yield from (f"{inner}{line}" for line in part.split("\n"))
    else:
        yield f"{head} {part}"
