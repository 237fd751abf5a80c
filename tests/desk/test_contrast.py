"""The colours of tokens.css against each other, by WCAG's formula: 4.5 for text, 3 for lines."""

import re

import pytest
from django.conf import settings

TOKENS = (settings.BASE_DIR / "sharc_studio/static/css/tokens.css").read_text(encoding="utf-8")
COLOURS = {
    name: {"light": light, "dark": dark}
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)", TOKENS
    )
}
SURFACES = ["surface-page", "surface-raised", "surface-sunken", "surface-hover"]
TEXT = [
    *((text, surface) for text in ("text-main", "text-quiet") for surface in SURFACES),
    *((text, surface) for text in ("accent", "danger") for surface in SURFACES),
    *((word, "surface-raised") for word in ("yes", "no", "more", "warn")),
    *((word, f"{word}-surface") for word in ("yes", "no", "more", "warn", "danger", "accent")),
    *(("text-main", f"{word}-surface") for word in ("yes", "warn", "danger", "accent")),
    ("on-accent", "accent"),
    ("on-accent", "accent-hover"),
    ("text-main", "mark"),
]
LINES = [("line-strong", surface) for surface in SURFACES]


def _luminance(colour: str) -> float:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str, theme: str) -> float:
    low, high = sorted(_luminance(COLOURS[name][theme]) for name in (one, other))
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_is_twenty_one_to_one():
    assert (1.0 + 0.05) / (_luminance("000000") + 0.05) == pytest.approx(21)
    assert _luminance("ffffff") == pytest.approx(1)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("text", "surface"), TEXT)
def test_text_can_be_read(text, surface, theme):
    assert _contrast(text, surface, theme) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("line", "surface"), LINES)
def test_lines_that_mean_something_can_be_seen(line, surface, theme):
    assert _contrast(line, surface, theme) >= 3
