"""Texts of the database in words for people."""

import re

from django import template

from apps.scenarios.models import Utterance

register = template.Library()

_MARKDOWN = re.compile(r"^[\s#>*+-]+|[*_`]{2,}", re.MULTILINE)


@register.filter
def excerpt(rule_text: str) -> str:
    """A rule text in one line, without the signs of its Markdown."""
    lines = _MARKDOWN.sub("", rule_text).splitlines()
    return " · ".join(line.strip() for line in lines if line.strip())


@register.filter
def utterance_kind(value: str) -> str:
    """A kind of utterances as people read it, of the value that a report has."""
    return str(dict(Utterance.Kind.choices).get(value, value))
