"""The list of cases is complete: each is held by a test, or says that it is not built."""

import pytest

from tests.cases.numbered import CASES, NOT_BUILT, named_cases

pytestmark = pytest.mark.once

LAST = 70


def test_each_case_is_held_by_a_test_or_says_that_it_is_not_built():
    held = set(named_cases())
    assert sorted(set(CASES) - held - set(NOT_BUILT)) == []


def test_what_is_not_built_is_held_by_no_test():
    assert {case: named_cases()[case] for case in NOT_BUILT if case in named_cases()} == {}


def test_no_test_names_a_case_that_is_none():
    assert [case for case in named_cases() if not 1 <= case <= LAST] == []


def test_a_case_is_named_by_name_or_docstring():
    found = named_cases()
    assert "tests/desk/test_worker_pages.py" in {test.split("::")[0] for test in found[7]}
    assert "tests/projects/test_deleting.py::" in found[19]
