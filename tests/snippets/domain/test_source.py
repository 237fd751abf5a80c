"""The host of a source URL is a document's domain."""

import pytest

from apps.snippets.domain.source import host

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
