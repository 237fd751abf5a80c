"""manage.py mine_negatives --project SLUG"""

from dataclasses import replace
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.projects.commands import StudioCommand
from apps.projects.models import Project
from apps.scenarios.services.negatives import Wish, mine_anew_here, mine_here


class Command(StudioCommand):
    help = (
        "Gives each finished tree of a project questions and scenarios of other documents' trees. "
        "Draws what is missing; the same data and seed give the same negatives."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--questions-per-tree", type=int, metavar="N",
                            help="default: the project's setting")  # fmt: skip
        parser.add_argument("--scenarios-per-tree", type=int, metavar="N",
                            help="default: the project's setting")  # fmt: skip
        parser.add_argument("--threshold", type=float, metavar="T",
                            help="TF-IDF cosine of two trees' follow-up questions that a scenario "
                            "must stay under; default: the project's setting")  # fmt: skip
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--hard", action="store_true",
                            help="prefer candidates of the same domain that share many words with "
                            "the rule text; all stay under the threshold")  # fmt: skip
        parser.add_argument("--attach", action="store_true",
                            help="put a scenario or a history of the tree before irrelevant "
                            "questions, so that they are not told by having none")  # fmt: skip
        parser.add_argument("--same-split", action="store_true",
                            help="draw only from trees of the same split")  # fmt: skip
        parser.add_argument("--anew", action="store_true",
                            help="first take away what was drawn before and nobody has verified"
                            )  # fmt: skip

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project {options['project']}: there is no such project")
        wish = self._wish(project, options)
        service = mine_anew_here if options["anew"] else mine_here
        job = service(project, wish, author=None, progress=self._progress)
        if options["anew"]:
            gone = job.report.get("taken_away", 0)
            self.stdout.write(f"taken away: {gone:,} negative{'' if gone == 1 else 's'}")
        self._print(job.report)

    def _wish(self, project: Project, options: dict[str, Any]) -> Wish:
        names = ("questions_per_tree", "scenarios_per_tree", "threshold")
        asked = {name: options[name] for name in names if options[name] is not None}
        for name in names[:2]:
            if asked.get(name, 0) < 0:
                raise CommandError(f"--{name.replace('_', '-')}: must be 0 or more")
        if not 0 <= asked.get("threshold", 0) <= 1:
            raise CommandError("--threshold: must be between 0 and 1")
        usual = Wish.of(project, seed=options["seed"])
        return replace(
            usual, **asked, **{name: options[name] for name in ("hard", "attach", "same_split")}
        )

    def _progress(self, step: str, done: int, total: int) -> None:
        self.stderr.write(f"{step} {done:,} of {total:,}" if total else step)

    def _print(self, report: dict[str, Any]) -> None:
        if not report["trees"]:
            self.stdout.write(
                "nothing to do: the project has no finished tree, and only these get negatives"
            )
            return
        self.stdout.write(f"finished trees: {report['trees']:,}")
        for what in ("questions", "scenarios"):
            self.stdout.write(
                f"irrelevant {what}: {report.get(f'{what}_made', 0):,} made, "
                f"{report.get(f'{what}_here', 0):,} here already"
            )
            for reason, number in report["missing"][what].items():
                self.stdout.write(f"irrelevant {what} that could not be made: {number:,}; {reason}")
