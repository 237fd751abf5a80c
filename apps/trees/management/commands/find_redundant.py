"""manage.py find_redundant --project SLUG [--prune]"""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from apps.projects.commands import StudioCommand
from apps.projects.models import Project
from apps.trees.models import Flag
from apps.trees.services.pruning import find_flags, flags_of_project, prune_here

REDUNDANT = {Flag.Kind.ONE_ANSWER, Flag.Kind.SAME_BRANCHES}


class Command(StudioCommand):
    help = (
        "Finds questions of finished trees that cannot change the outcome, and prints each with "
        "its tree: tree id, reason, question. Then questions that are asked twice on one path, or "
        "nearly so. What an expert kept is left out. Experts see all of it on a page."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--prune", action="store_true",
                            help="take the redundant ones out, with all below them: their "
                            "branches are open work again, and can be restored")  # fmt: skip

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project {options['project']}: there is no such project")
        find_flags(project, now=timezone.now())
        self._print(list(flags_of_project(project)))
        if options["prune"]:
            report = prune_here(project, progress=self._progress).report
            self.stdout.write(
                f"taken out: {report['questions']:,} redundant questions of {report['trees']:,} "
                f"trees, {report['nodes']:,} nodes in all"
            )

    def _progress(self, step: str, done: int, total: int) -> None:
        self.stderr.write(f"{step} {done:,} of {total:,}")

    def _print(self, flags: list[Flag]) -> None:
        redundant = [flag for flag in flags if flag.kind in REDUNDANT]
        for flag in redundant:
            self._print_flag(flag)
        trees = len({flag.tree_id for flag in redundant})
        self.stdout.write(f"redundant: {len(redundant):,} questions of {trees:,} trees")
        for kind in (Flag.Kind.ASKED_TWICE, Flag.Kind.NEAR):
            of_kind = [flag for flag in flags if flag.kind == kind]
            for flag in of_kind:
                self._print_flag(flag)
            self.stdout.write(f"{kind.label.lower()}: {len(of_kind):,} questions")

    def _print_flag(self, flag: Flag) -> None:
        question = " ".join(flag.node.text.split())
        near = f"\tnear to: {' '.join(flag.other.text.split())}" if flag.other else ""
        self.stdout.write(
            f"{flag.tree.tree_id}\t{flag.get_kind_display().lower()}\t{question}{near}"
        )
