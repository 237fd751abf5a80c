"""manage.py evaluate_responses DIR"""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.exports.services.evaluating import evaluate_responses
from apps.projects.commands import StudioCommand
from apps.projects.errors import StudioError


class Command(StudioCommand):
    help = (
        "1-of-100 accuracy of TF-IDF and BM25 on a conversational export: how often a context "
        "finds its own response among 100, by words alone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--seed", type=int, default=0, metavar="N",
                            help="of the batches (default: 0)")  # fmt: skip

    def handle(self, **options: Any) -> None:
        try:
            measured = evaluate_responses(options["folder"], seed=options["seed"])
        except StudioError as error:
            raise CommandError(str(error)) from error
        for split, methods in measured.items():
            for name, share in methods.items():
                said = "undefined: fewer than 100 examples" if share is None else f"{share:.4f}"
                self.stdout.write(f"{split} {name} {said}")
