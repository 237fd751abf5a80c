"""The list of cases is complete: each is held by a test that names it."""

import pytest

from tests.cases.numbered import CASES, named_cases

pytestmark = pytest.mark.once

LAST = 70


HELD = {*range(1, 45), 48, 49, *range(56, 60)}


def test_each_case_is_held_by_a_test():
    assert set(CASES) == HELD
    assert sorted(HELD - set(named_cases())) == []


def test_no_test_names_a_case_that_is_none():
    assert [case for case in named_cases() if not 1 <= case <= LAST] == []


def test_a_case_is_named_by_name_or_docstring():
    found = named_cases()
    assert "tests/desk/test_worker_pages.py" in {test.split("::")[0] for test in found[7]}
    assert "tests/projects/test_deleting.py::" in found[19]
