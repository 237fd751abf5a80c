"""manage.py make_splits --project SLUG"""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.exports.domain.splits import DEFAULT_RATIOS
from apps.exports.services.leaks import near_leaks
from apps.exports.services.splits import (
    SplitPlan,
    empty_splits,
    plan_splits,
    plan_splits_anew,
    write_splits,
)
from apps.projects.commands import StudioCommand
from apps.projects.errors import StudioError
from apps.projects.models import Project, Split

SHOWN = 10


class Command(StudioCommand):
    help = (
        "Puts the documents of a project into train, dev and test: whole documents, domain by "
        "domain. The same data and seed give the same splits; what is placed stays."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--ratios", nargs=3, type=float, default=DEFAULT_RATIOS,
                            metavar=("TRAIN", "DEV", "TEST"),
                            help="shares of a domain's trees (default: 0.7 0.1 0.2)")  # fmt: skip
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--anew", action="store_true",
                            help="place everything anew but what is pinned")  # fmt: skip

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project {options['project']}: there is no such project")
        make_plan = plan_splits_anew if options["anew"] else plan_splits
        try:
            plan = make_plan(project, ratios=options["ratios"], seed=options["seed"])
            moved = write_splits(project, plan, actor=None)
        except StudioError as error:
            raise CommandError(str(error)) from error
        self._print(plan, moved)
        for split in empty_splits(plan, options["ratios"]):
            self.stderr.write(
                f"note: {split} is empty: load more documents, draw with --anew, give it a larger "
                "share, or pin a document to it"
            )
        self._print_leaks(project, plan)

    def _print(self, plan: SplitPlan, moved: int) -> None:
        for name, by_split in [*plan.table, ("all domains", plan.totals)]:
            numbers = ", ".join(f"{split} {by_split[split]:,}" for split in Split.values)
            self.stdout.write(f"{name}: {numbers} trees")
        self.stdout.write(f"documents moved: {moved:,}")

    def _print_leaks(self, project: Project, plan: SplitPlan) -> None:
        for leak in plan.leaks:
            where = " and ".join(leak.splits)
            self.stdout.write(f"leak: one rule text in {where}: {', '.join(leak.keys)}")
        near = near_leaks(project)
        for found in near[:SHOWN]:
            one, other = (tree_id[:8] for tree_id in found.tree_ids)
            self.stdout.write(
                f"near: trees {one} ({found.splits[0]}) and {other} ({found.splits[1]}), "
                f"cosine {found.cosine:.2f}"
            )
        if len(near) > SHOWN:
            self.stdout.write(f"near: {len(near) - SHOWN:,} pairs more")
        if not plan.leaks and not near:
            self.stdout.write("nothing crosses between the splits")
