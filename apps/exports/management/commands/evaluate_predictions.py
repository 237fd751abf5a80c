"""manage.py evaluate_predictions GOLD PREDICTIONS"""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.exports.domain.evaluation import LABELS, Scores
from apps.exports.services.evaluating import as_json, evaluate_predictions
from apps.projects.commands import StudioCommand
from apps.projects.errors import StudioError


class Command(StudioCommand):
    help = "ShARC's measures of a model's answers: accuracy over four classes, BLEU-1 to BLEU-4."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("gold", type=Path, metavar="GOLD", help="ShARC JSON")
        parser.add_argument("predictions", type=Path, metavar="PREDICTIONS",
                            help="JSON objects with utterance_id and answer")  # fmt: skip
        parser.add_argument("--json", action="store_true")

    def handle(self, **options: Any) -> None:
        try:
            scores = evaluate_predictions(options["gold"], options["predictions"])
        except StudioError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(as_json(scores))
        else:
            self._print(scores)

    def _print(self, scores: Scores) -> None:
        self.stdout.write(f"{scores.count:,} utterances")
        self.stdout.write(f"micro accuracy  {scores.micro:.4f}")
        if scores.macro is None:
            lacking = ", ".join(label for label in LABELS if label not in scores.by_class)
            self.stdout.write(f"macro accuracy  undefined: no gold answer is {lacking}")
        else:
            self.stdout.write(f"macro accuracy  {scores.macro:.4f}")
        for label, share in scores.by_class.items():
            self.stdout.write(f"  {label:<13} {share:.4f}")
        for order, score in enumerate(scores.bleu, 1):
            self.stdout.write(f"BLEU-{order}          {score:.4f}")
        self.stdout.write(f"BLEU is over {scores.follow_ups:,} follow-up questions")
