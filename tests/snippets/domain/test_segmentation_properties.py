"""The properties of segmentation, on any body and on the real documents."""

from pathlib import Path

import pytest
from hypothesis import given

from apps.snippets.domain.blocks import Body, body_text
from apps.snippets.domain.decoding import decode
from apps.snippets.domain.extraction import Format, extract
from apps.snippets.domain.segmentation import Limits, LongLists
from tests.conftest import SHARED_DATA
from tests.snippets.domain.bodies import bodies, bodies_of_words, limits, lines
from tests.snippets.domain.properties import assert_all

pytestmark = pytest.mark.once  # no database

DOCUMENTS = sorted((SHARED_DATA / "documents").glob("*.html"))


@given(bodies, limits)
def test_any_body_within_any_limits(body: Body, of: Limits) -> None:
    assert_all(body, of)


@given(lines, limits)
def test_any_text_as_markdown(text: str, of: Limits) -> None:
    assert_all(extract(text, Format.MARKDOWN), of)


@given(lines, limits)
def test_any_text_as_plain_text(text: str, of: Limits) -> None:
    assert_all(extract(text, Format.TEXT), of)


@given(bodies_of_words)
def test_the_text_of_a_body_is_markdown_for_it(body: Body) -> None:
    assert body_text(extract(body_text(body), Format.MARKDOWN)) == body_text(body)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "of",
    [*(Limits(long_lists=long_lists) for long_lists in LongLists), Limits(2, 12)],
    ids=[*LongLists, "narrow"],
)
def test_real_documents(path: Path, of: Limits) -> None:
    body = extract(decode(path.read_bytes()).text, Format.HTML)
    assert_all(body, of)
    assert body_text(extract(body_text(body), Format.MARKDOWN)) == body_text(body)
