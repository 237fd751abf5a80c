"""Small words on pages."""

import pytest

from apps.desk.templatetags.wording import utterance_kind

pytestmark = pytest.mark.once


def test_a_kind_of_utterances_is_said_in_words():
    assert utterance_kind("negative_question") == "Irrelevant question"
    assert utterance_kind("of an earlier version") == "of an earlier version"
