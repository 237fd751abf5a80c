"""manage.py expand_utterances --project SLUG"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.projects.models import Project
from apps.scenarios.models import Scenario
from apps.scenarios.services.expansion import expand_project


class Command(BaseCommand):
    help = (
        "Makes the utterances of a project's finished trees: without a scenario, with each "
        "scenario, and with negatives. Adds what is missing; what is here stays as it is."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project {options['project']}: there is no such project")
        job = expand_project(project, author=None, progress=self._progress)
        self._print(job.report)

    def _progress(self, step: str, done: int, total: int) -> None:
        self.stderr.write(f"{step} {done:,} of {total:,}")

    def _print(self, report: dict[str, Any]) -> None:
        self.stdout.write(
            f"finished trees: {report['trees']:,}; unfinished, left out: "
            f"{report['unfinished_trees']:,}"
        )
        added = ", ".join(f"{count:,} {kind}" for kind, count in sorted(report["added"].items()))
        self.stdout.write(f"added: {added or 'nothing; all of it is here already'}")
        self.stdout.write(f"here already: {report['here']:,}")
        if same := report["same_id"]:
            some = ", ".join(utterance_id[:8] for utterance_id in same[:10])
            self.stdout.write(
                f"not added, same as one that is here but for the evidence: {len(same):,} "
                f"({some}{', …' if len(same) > 10 else ''})"
            )
        for reason, scenarios in report["refused_scenarios"].items():
            trees = Scenario.objects.filter(pk__in=scenarios).values("tree").distinct().count()
            self.stdout.write(
                f"not expanded, {reason}: {len(scenarios):,} scenarios of {trees:,} trees"
            )
