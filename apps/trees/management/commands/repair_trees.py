"""manage.py repair_trees --project SLUG [--fix]"""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from apps.projects.commands import StudioCommand
from apps.projects.models import Project
from apps.trees.services.repair import Difference, differences, repair


class Command(StudioCommand):
    help = (
        "Computes anew what is kept beside the nodes of a project's trees (state, flags, class of "
        "logic, places, disputes, leases) and prints what differs, tree by tree. Exit code 0: "
        "nothing differs, or all of it was brought in line; 1: something differs."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--fix", action="store_true", help="bring in line what differs")

    def handle(self, **options: Any) -> None:
        slug = options["project"]
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise CommandError(f"--project {slug}: there is no such project")
        found = list(differences(project))
        for difference in found:
            self.stdout.write(f"{difference.tree_id}\t{difference.what}")
        trees = len({difference.tree_id for difference in found})
        if not found:
            self.stdout.write("nothing differs")
        elif options["fix"]:
            self._report(slug, found, repair(project, found, now=timezone.now()))
        else:
            raise CommandError(
                f"--project {slug}: {len(found):,} differences in {trees:,} trees, printed above; "
                "--fix brings them in line"
            )

    def _report(self, slug: str, found: list[Difference], left: list[Difference]) -> None:
        self.stdout.write(f"brought in line: {len(found) - len(left):,}")
        if left:
            raise CommandError(
                f"--project {slug}: {len(left):,} differences are still there, the first in tree "
                f"{left[0].tree_id}: {left[0].what}"
            )
