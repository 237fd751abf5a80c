"""The segmentation of real pages, as it was read through and agreed with.

In `segmentations`, one line for each snippet: its kind, words, items and the SHA-1 of its text. The
texts stay with the pages. After a change that is meant, delete a file: the test writes it anew,
and fails, so that somebody reads the snippets that have changed.
"""

import hashlib
import json
from pathlib import Path

import pytest

from apps.snippets.domain.decoding import decode
from apps.snippets.domain.extraction import Format, extract
from apps.snippets.domain.segmentation import Limits, segment
from tests.conftest import SHARED_DATA

pytestmark = pytest.mark.once  # no database

DOCUMENTS = SHARED_DATA / "documents"
AGREED = Path(__file__).parent / "segmentations"
NAMES = [
    "become-a-councillor",
    "forest-governance-grants",
    "gwasanaethau-cymraeg-cthem",
    "living-in-fiji",
    "national-curriculum",
    "nectar-flower-mix",
    "salary-sacrifice",
    "spring-budget-2017",
    "take-pet-abroad",
    "tier-4-sponsor-licence",
]


@pytest.fixture
def documents() -> Path:
    if not DOCUMENTS.exists():
        pytest.skip(f"the documents are not at {DOCUMENTS}")
    return DOCUMENTS


@pytest.mark.parametrize("name", NAMES)
def test_the_segmentation_that_was_agreed_with(documents: Path, name: str) -> None:
    body = extract(decode((documents / f"{name}.html").read_bytes()).text, Format.HTML)
    found = "".join(
        f"{one.kind} {one.words} {one.items} {hashlib.sha1(one.text.encode()).hexdigest()}\n"
        for one in segment(body, Limits())
    )
    agreed = AGREED / f"{name}.txt"
    if not agreed.exists():
        agreed.write_text(found, encoding="utf-8")
        pytest.fail(f"{agreed} is new: read the snippets of {name}.html")
    assert found == agreed.read_text(encoding="utf-8")


def test_titles_and_languages(documents: Path) -> None:
    index = json.loads((documents / "index.json").read_text(encoding="utf-8"))
    for entry in index:
        body = extract((documents / entry["file"]).read_text(encoding="utf-8"), Format.HTML)
        assert (body.title, body.language) == (entry["title"], entry["language"])


def test_the_rule_texts_of_sharc_come_back_as_one_snippet_each(sharc_dev: Path) -> None:
    utterances = json.loads((sharc_dev / "sharc_dev.json").read_text(encoding="utf-8"))
    trees = {one["snippet"]: one["tree_id"][:8] for one in utterances}
    changed = [
        tree_id
        for rule_text, tree_id in trees.items()
        if [one.text for one in segment(extract(rule_text, Format.MARKDOWN), Limits())]
        != [rule_text]
    ]
    assert (len(trees), changed) == (68, [])
