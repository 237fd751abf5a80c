"""manage.py expand_utterances --project SLUG [--dry-run]"""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.projects.commands import StudioCommand
from apps.projects.models import Project
from apps.scenarios.models import Scenario
from apps.scenarios.services.expansion import expand_project, preview_expansion

ALREADY = "nothing; all of it is here already"
NO_TREE = "nothing; the project has no finished tree, and only these are expanded"


class Command(StudioCommand):
    help = (
        "Makes the utterances of a project's finished trees: without a scenario, with each "
        "scenario, and with negatives. Only trees that have changed are expanded anew. Adds what "
        "is missing, and takes out what a tree no longer gives; what was verified, corrected or "
        "imported stays, and is reported."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--dry-run", action="store_true", help="Say what would change, and write nothing."
        )

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project {options['project']}: there is no such project")
        if options["dry_run"]:
            report = preview_expansion(project, progress=self._progress)
            self.stdout.write("dry run: nothing was written; an expansion now would say")
        else:
            report = expand_project(project, author=None, progress=self._progress).report
        self._print(report)

    def _progress(self, step: str, done: int, total: int) -> None:
        self.stderr.write(f"{step} {done:,} of {total:,}" if total else step)

    def _print(self, report: dict[str, Any]) -> None:
        self.stdout.write(
            f"finished trees: {report['trees']:,}; unfinished, left out: "
            f"{report['unfinished_trees']:,}"
        )
        self.stdout.write(f"changed since the last expansion: {report['expanded_trees']:,}")
        added = ", ".join(f"{count:,} {kind}" for kind, count in sorted(report["added"].items()))
        nothing = ALREADY if report["trees"] else NO_TREE
        self.stdout.write(f"added: {added or nothing}")
        self.stdout.write(f"here already: {report['here']:,}")
        for what, key in (
            ("not added, same as one that is here but for the evidence", "same_id"),
            ("given again, to verify", "back"),
            ("taken out, no longer given by their trees", "taken_out"),
            ("kept though no longer given by their trees; an expert decides", "gone"),
        ):
            self._print_ids(what, report[key])
        for reason, scenarios in report["refused_scenarios"].items():
            trees = Scenario.objects.filter(pk__in=scenarios).values("tree").distinct().count()
            self.stdout.write(
                f"not expanded, {reason}: {len(scenarios):,} scenarios of {trees:,} trees"
            )

    def _print_ids(self, what: str, ids: list[str]) -> None:
        if ids:
            some = ", ".join(utterance_id[:8] for utterance_id in ids[:10])
            self.stdout.write(f"{what}: {len(ids):,} ({some}{', …' if len(ids) > 10 else ''})")
