"""Bar charts as SVG files: the same numbers give the same bytes."""

from collections.abc import Mapping
from xml.sax.saxutils import escape

_WIDTH, _BAR, _GAP, _LEFT, _TOP, _MOST = 640, 20, 8, 150, 44, 400


def bars(title: str, counts: Mapping[str, int]) -> str:
    """A bar for each name, in their order, with its number at the end."""
    height = _TOP + len(counts) * (_BAR + _GAP) + _GAP
    most = max(counts.values(), default=0) or 1
    drawn = "".join(
        _bar(name, count, count * _MOST // most, _TOP + index * (_BAR + _GAP))
        for index, (name, count) in enumerate(counts.items())
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="14">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>\n'
        f'<text x="{_GAP}" y="24" font-size="16" fill="#1a1a1a">{escape(title)}</text>\n'
        f"{drawn}</svg>\n"
    )


def _bar(name: str, count: int, length: int, top: int) -> str:
    baseline = top + _BAR - 5
    return (
        f'<text x="{_LEFT - _GAP}" y="{baseline}" text-anchor="end" fill="#1a1a1a">'
        f"{escape(name)}</text>\n"
        f'<rect x="{_LEFT}" y="{top}" width="{length}" height="{_BAR}" fill="#2f6f8f"/>\n'
        f'<text x="{_LEFT + length + _GAP}" y="{baseline}" fill="#1a1a1a">{count:,}</text>\n'
    )
