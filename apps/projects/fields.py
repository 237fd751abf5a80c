"""Fields of forms for what people write, and numbers with the limits of their model."""

import unicodedata
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Model

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def is_blank(text: str) -> bool:
    """Whether it says nothing: a zero-width space or three dots are no reason (case 49)."""
    return not any(unicodedata.category(one)[0] in "LNS" and one not in _BLANK for one in text)


class WordsField(forms.CharField):
    """What says nothing counts as empty."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return text if not text or not is_blank(text) else self.empty_value


class LineField(WordsField):
    """Line breaks and blanks in a row become one blank, as in all that stands in a turn."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return " ".join(text.split()) if text else text


def show_limits(form: forms.BaseForm, model: type[Model]) -> None:
    """The limits of numbers that browsers know: those of the model's validators.

    Django's own are those of the column, such as 0 where the least is 5.
    """
    for name, field in form.fields.items():
        if isinstance(field, forms.IntegerField | forms.FloatField):
            for validator in model._meta.get_field(name).validators:  # type: ignore[union-attr]
                if isinstance(validator, MinValueValidator):
                    field.widget.attrs["min"] = validator.limit_value
                elif isinstance(validator, MaxValueValidator):
                    field.widget.attrs["max"] = validator.limit_value
