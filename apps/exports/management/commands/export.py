"""manage.py export --project SLUG --format NAME --out DIR"""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.exports.formats.registry import FORMATS
from apps.exports.formats.rows import Options
from apps.exports.services.exporting import MOST_SHARDS, export_here
from apps.projects.commands import StudioCommand
from apps.projects.errors import StudioError
from apps.projects.models import Project, Split


class Command(StudioCommand):
    help = "Writes the utterances of a project as files. All of them, or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--format", required=True, choices=FORMATS)
        parser.add_argument("--out", required=True, type=Path, metavar="DIR",
                            help="made when it is not there; what an earlier export of this "
                            "format left there is replaced")  # fmt: skip
        parser.add_argument("--splits", nargs="+", choices=Split.values, default=[],
                            help="default: all that have utterances")  # fmt: skip
        parser.add_argument("--anonymise", action="store_true",
                            help="leave out fields of imported records that ShARC does not have; "
                            "names of people are in no export")  # fmt: skip
        parser.add_argument("--allow-unverified", action="store_true",
                            help="dev and test utterances that no expert saw, too; then it is "
                            "no release, and waits neither for the consistency proof nor for the "
                            "audit")  # fmt: skip
        parser.add_argument("--bom", action="store_true", dest="byte_order_mark",
                            help="csv: begin with a byte order mark, for Excel")  # fmt: skip
        _add_conversational(parser.add_argument_group("conversational formats"))

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project {options['project']}: there is no such project")
        try:
            report = export_here(
                project, formats=[options["format"]], out=options["out"],
                splits=[Split(split) for split in options["splits"]],
                options=Options(**{key: options[key] for key in Options.__dataclass_fields__}),
                allow_unverified=options["allow_unverified"], progress=self._progress,
            )  # fmt: skip
        except StudioError as error:
            raise CommandError(str(error)) from error
        self._print(report)

    def _print(self, report: dict[str, Any]) -> None:
        for split, classes in report["exported"].items():
            shares = ", ".join(f"{count:,} {name}" for name, count in sorted(classes.items()))
            self.stdout.write(f"{split}: {sum(classes.values()):,} utterances ({shares or 'none'})")
        for warning in report["warnings"]:
            self.stderr.write(f"note: {warning}")

    def _progress(self, step: str, done: int, total: int) -> None:
        self.stderr.write(f"{step} {done * 100 // max(total, 1)} %")


def _add_conversational(group: Any) -> None:
    group.add_argument("--seed", type=_whole, default=0, metavar="N",
                       help="of the shuffling (default: 0)")  # fmt: skip
    group.add_argument("--shards", type=_shards, default=1, metavar="N",
                       help="files for each split (default: 1)")  # fmt: skip
    group.add_argument("--min-length", type=_whole, metavar="N",
                       help="leave out examples with a shorter context or response")  # fmt: skip
    group.add_argument("--max-length", type=_whole, metavar="N",
                       help="leave out examples with a longer context or response")  # fmt: skip
    group.add_argument("--only-follow-ups", action="store_true",
                       help="leave out examples whose response is a final answer")  # fmt: skip
    group.add_argument("--fold-context", action="store_true",
                       help="put rule text and all turns into the context")  # fmt: skip
    group.add_argument("--split-by-hash", action="store_true",
                       help="the format's own split, by a hash of the source URL, instead of the "
                       "stored one")  # fmt: skip


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("a whole number from 0 on")
    return int(text)


def _shards(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_SHARDS:
        raise argparse.ArgumentTypeError(f"a whole number from 1 to {MOST_SHARDS}")
    return int(text)
