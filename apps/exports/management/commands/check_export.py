"""manage.py check_export DIR"""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.exports.services.checking import Summary, check
from apps.projects.commands import StudioCommand
from apps.projects.errors import StudioError


class Command(StudioCommand):
    help = "Reads exported files back and says whether all of it is valid; else the first fault."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")

    def handle(self, **options: Any) -> None:
        try:
            for summary in check(options["folder"]):
                for line in lines_of(summary):
                    self.stdout.write(line)
                self.stdout.write(f"{summary.name}: valid")
        except StudioError as error:
            raise CommandError(str(error)) from error


def lines_of(summary: Summary) -> list[str]:
    files = [f"{summary.name}: {count:,} in {file}" for file, count in summary.files.items()]
    return files + [
        f"{summary.name}: {split}: {sum(classes.values()):,} utterances "
        f"({', '.join(f'{count:,} {name}' for name, count in sorted(classes.items()))})"
        for split, classes in summary.classes.items() if classes
    ]  # fmt: skip
