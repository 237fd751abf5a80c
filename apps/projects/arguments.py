"""Arguments that several commands take."""

import argparse

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, validate_slug


def project_slug(text: str) -> str:
    """A project's short name, or a refusal that argparse shows."""
    try:
        MaxLengthValidator(60)(text)
        validate_slug(text)
    except ValidationError as error:
        raise argparse.ArgumentTypeError("letters, digits, - and _ only, at most 60") from error
    return text
