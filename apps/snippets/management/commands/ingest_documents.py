"""manage.py ingest_documents PATH... --project SLUG [--index FILE]"""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.projects.arguments import project_slug
from apps.projects.commands import StudioCommand
from apps.projects.errors import StudioError
from apps.snippets.errors import NothingLoadedError
from apps.snippets.services.ingest_files import Upload, uploads_in
from apps.snippets.services.ingest_index import Index, read_index
from apps.snippets.services.ingest_jobs import FAILED, ingest_here

EPILOG = """
Reads HTML (.html, .htm, .xhtml), Markdown (.md, .markdown) and plain text (.txt, .text), alone, in
folders and in zip archives. FILE is a JSON array of {"file", "source_url", "title", "language",
"licence", "attribution", "retrieved_on"}; "file" counts from the folder of FILE, and the rest may
be missing. A file without a source URL gets file:/// and its name, which has no host. Without a
licence, what is made of a document cannot be exported; the page Licences sets it later, too. An
archive may hold such a list itself, called index.json.

A document that is here with the same source URL and content is skipped; other content makes a new
version. Each document is loaded by itself: after a kill, run the same command again. Stdout has a
line for each file, stderr the progress.

Exit code 1: the arguments or FILE are wrong, or none of the files could be read; then nothing was
written, not even the project. 0 otherwise, also when some failed: their lines say why.
"""

COUNTS = ("created", "new_version", "same", FAILED)


class Command(StudioCommand):
    help = "Loads documents and cuts them into snippets, which experts then look through."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.epilog = EPILOG
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH",
                            help="a file, a zip archive or a folder")  # fmt: skip
        parser.add_argument("--project", required=True, type=project_slug, metavar="SLUG",
                            help="made when it is not there")  # fmt: skip
        parser.add_argument("--index", type=Path, metavar="FILE",
                            help="says where each file comes from")  # fmt: skip

    def handle(self, **options: Any) -> None:
        try:
            index = _index(options["index"])
            uploads = list(_uploads(options["paths"], index, options["index"]))
            job = ingest_here(uploads, slug=options["project"], author=None,
                              missing=index.unused(), progress=self._progress)  # fmt: skip
        except StudioError as error:
            if isinstance(error, NothingLoadedError):
                self._print(error.report)
            raise CommandError(str(error)) from error
        self._print(job.report)

    def _progress(self, step: str, done: int, total: int) -> None:
        # A line for each per cent: a thousand files are no thousand lines.
        if total and done * 100 // total != (done - 1) * 100 // total:
            self.stderr.write(f"{step} {done * 100 // total} %")

    def _print(self, report: dict[str, Any]) -> None:
        for row in report["files"]:
            self.stdout.write(f"{_result(row)}: {row['name']}")
        for name in report["missing"]:
            self.stdout.write(f"in the index, but not there: {name}")
        counts = ", ".join(
            f"{report['counts'][key]:,} {key.replace('_', ' ')}"
            for key in COUNTS
            if key in report["counts"]
        )
        self.stdout.write(f"{counts}; {report['snippets']:,} new snippets")


def _result(row: dict[str, Any]) -> str:
    if row["outcome"] == FAILED:
        return f"failed ({row['reason']})"
    if row["outcome"] == "same":
        return "skipped, the same is here"
    version = f" {row['version']}" if row["version"] > 1 else ""
    return f"{row['outcome']}{version}, {row['snippets']:,} snippets"


def _index(path: Path | None) -> Index:
    if path is None:
        return Index()
    try:
        return read_index(path.read_bytes(), name=str(path))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error


def _uploads(paths: list[Path], index: Index, index_path: Path | None) -> list[Upload]:
    for path in paths:
        if not path.exists():
            raise CommandError(f"{path} is not there.")
        if not (path.is_file() or path.is_dir()):
            raise CommandError(f"{path} is neither a file nor a folder.")
    folder = index_path.parent if index_path else None
    found = [one for path in paths for one in uploads_in(path, index, index_folder=folder)]
    if not found:
        raise CommandError("There are no HTML, Markdown or text files in it.")
    return found
