"""The host of a source URL is a document's domain."""

from datetime import date

import pytest

from apps.snippets.domain.source import credit_of, host

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("source_url", "domain"),
    [
        ("https://Office.Example:8443/a?b#c", "office.example"),
        ("file:///rules.html", ""),
        ("not a url", ""),
        ("https://[half/", ""),
    ],
)
def test_the_host_in_lower_case_or_nothing(source_url, domain):
    assert host(source_url) == domain


@pytest.mark.parametrize(
    ("title", "url", "day", "credit"),
    [
        (" Bus\npasses ", "https://a.example/x", date(2024, 3, 5),
         "“Bus passes”, https://a.example/x, retrieved on 2024-03-05"),
        ("", "file:///x", None, "file:///x"),
    ],
)  # fmt: skip
def test_a_text_is_credited_with_what_is_known(title, url, day, credit):
    assert credit_of(title, url, day) == credit
