"""manage.py export --project SLUG --format NAME --out DIR"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.exports.services.exporting import FORMATS, export_here
from apps.projects.errors import StudioError
from apps.projects.models import Project, Split


class Command(BaseCommand):
    help = "Writes the utterances of a project as files. All of them, or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--format", required=True, choices=FORMATS)
        parser.add_argument("--out", required=True, type=Path, metavar="DIR",
                            help="made when it is not there")  # fmt: skip
        parser.add_argument("--splits", nargs="+", choices=Split.values, default=[],
                            help="default: all that have utterances")  # fmt: skip

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project {options['project']}: there is no such project")
        splits = [Split(split) for split in options["splits"]]
        try:
            report = export_here(
                project, splits=splits, out=options["out"], progress=self._progress
            )
        except StudioError as error:
            raise CommandError(str(error)) from error
        for split, classes in report["exported"].items():
            shares = ", ".join(f"{count:,} {name}" for name, count in sorted(classes.items()))
            self.stdout.write(f"{split}: {sum(classes.values()):,} utterances ({shares})")
        for warning in report["warnings"]:
            self.stderr.write(f"note: {warning}")

    def _progress(self, step: str, done: int, total: int) -> None:
        self.stderr.write(f"{step} {done * 100 // total} %")
