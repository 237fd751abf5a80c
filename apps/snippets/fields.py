"""Columns that follow another column of their row."""

from hashlib import sha1
from typing import Any

from django.db import models

from apps.snippets.domain.folding import fold


class FoldedField(models.CharField):  # type: ignore[type-arg]
    """SHA-1 of what the text in the column `of` folds to: the database finds the same question.

    Set by each save and by bulk_create, so that whoever writes a row need not know of it.
    """

    def __init__(self, *, of: str, **options: Any) -> None:
        self.of = of
        super().__init__(**{"max_length": 40, "editable": False, **options})

    def deconstruct(self) -> Any:
        name, path, arguments, options = super().deconstruct()
        return name, path, arguments, {**options, "of": self.of}

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        value = sha1_of_folded(getattr(model_instance, self.of))
        setattr(model_instance, self.attname, value)
        return value


def sha1_of_folded(text: str) -> str:
    return sha1(fold(text).encode(), usedforsecurity=False).hexdigest()
