"""The README against what is there."""

import re

import pytest

from sharc_studio.environment import BASE_DIR

README = (BASE_DIR / "README.md").read_text()

pytestmark = pytest.mark.once


def requirements(name: str) -> set[str]:
    lines = (BASE_DIR / name).read_text().splitlines()
    return {re.split(r"[=\[]", line)[0].lower() for line in lines if re.match(r"\w", line)}


def test_every_library_has_its_reason():
    cells = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", README, flags=re.MULTILINE)
    named = {name for cell in cells for name in cell.lower().split(", ")} - {"library"}
    assert named == requirements("requirements.txt") | requirements("requirements-dev.txt")


def test_every_picture_and_page_that_it_shows_is_there():
    linked = re.findall(r"\]\((?!https?:)([^)]+)\)", README)
    assert [path for path in linked if not (BASE_DIR / path).is_file()] == []
