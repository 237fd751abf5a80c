"""manage.py import_sharc FILE... --project SLUG"""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.exports.services.sharc_import import import_here
from apps.exports.services.sharc_reading import ImportFiles
from apps.projects.arguments import project_slug
from apps.projects.commands import StudioCommand
from apps.projects.errors import StudioError
from apps.projects.models import Split


class Command(StudioCommand):
    help = (
        "Imports ShARC files (a JSON array or JSON Lines) as trees, scenarios, negatives and "
        "utterances. All of it or nothing; what is here already stays as it is."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--project", required=True, type=project_slug, metavar="SLUG",
                            help="made when it is not there")  # fmt: skip
        parser.add_argument("--split", choices=Split.values, type=str,
                            help="default: what the files' names say")  # fmt: skip
        parser.add_argument("--negative-questions", type=Path, metavar="FILE",
                            help="ids of utterances whose question is another tree's")  # fmt: skip
        parser.add_argument("--negative-scenarios", type=Path, metavar="FILE",
                            help="ids of utterances whose scenario is another tree's")  # fmt: skip

    def handle(self, **options: Any) -> None:
        files = ImportFiles(
            utterances=tuple((path.name, path) for path in options["files"]),
            negative_questions=_named(options["negative_questions"]),
            negative_scenarios=_named(options["negative_scenarios"]),
        )
        split = Split(options["split"]) if options["split"] else None
        try:
            job = import_here(files, slug=options["project"], split=split, author=None,
                              progress=self._progress)  # fmt: skip
        except StudioError as error:
            raise CommandError(str(error)) from error
        self._print(job.report)

    def _progress(self, step: str, done: int, total: int) -> None:
        share = f" {done * 100 // total} %" if total else ""
        self.stderr.write(f"{step}{share}")

    def _print(self, report: dict[str, Any]) -> None:
        self.stdout.write(f"read: {report['read']:,} utterances")
        created = ", ".join(f"{count:,} {what}" for what, count in report["created"])
        nothing = "nothing; all of it is here already" if report["is_all_here"] else "nothing"
        self.stdout.write(f"created: {created or nothing}")
        for reason, ids in report["skipped"].items():
            self.stdout.write(f"skipped, {reason}: {len(ids):,} utterances")
        for found in report["findings"]:
            cases = "; ".join(" = ".join(id[:8] for id in ids) for ids in found["groups"])
            many = f"{len(found['groups']):,} x" if len(found["groups"]) > 1 else "once"
            self.stdout.write(f"{found['what']}, {many}: {cases}")


def _named(path: Path | None) -> tuple[str, Path] | None:
    return None if path is None else (path.name, path)
