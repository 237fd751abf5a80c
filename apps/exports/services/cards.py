"""The dataset card: what an admin says for it, and the files that every export gets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from django.db import transaction

from apps.accounts.models import User
from apps.exports.formats import huggingface
from apps.exports.formats.card import statistics_of, write_card
from apps.exports.formats.registry import FORMATS
from apps.exports.formats.rows import Options
from apps.exports.formats.written import written
from apps.exports.models import DatasetCard
from apps.exports.services.snapshot import Snapshot
from apps.projects.services import audit


def add_card(name: str, source: Snapshot, folder: Path, options: Options) -> None:
    """Beside the files of the format. Hugging Face's own says more, and is there already."""
    if name != huggingface.NAME:
        told = written(source, name, options)
        seen = source.statistics if told is source else statistics_of(told)
        write_card(told, folder, seen, readers=FORMATS[name].READERS)


@transaction.atomic
def save_card(card: DatasetCard, *, changed: Sequence[str], actor: User) -> None:
    card.save()
    if changed:
        audit.record(
            actor, "change dataset card", card.project, project=card.project, fields=list(changed)
        )
