"""The audit's figures on the official dev set, where this machine has it."""

import pytest

from apps.scenarios.domain.audit.rows import Row, Share
from apps.scenarios.domain.audit.shortcuts import find_shortcuts
from tests.scenarios.domain.sharc_dev import Utterance, read_dev_set

pytestmark = pytest.mark.once
LABELS = {"Yes": "yes", "No": "no", "Irrelevant": "irrelevant"}


def as_row(one: Utterance) -> Row:
    return Row(
        one.utterance_id, one.tree_id, "dev", one.question, one.scenario, one.history,
        one.evidence, one.answer, LABELS.get(one.answer, "more"),
    )  # fmt: skip


def test_the_shortcut_table(sharc_dev):
    dev = read_dev_set(sharc_dev)
    trees = [rebuilt.tree for rebuilt in dev.trees().values()]
    found = find_shortcuts([as_row(one) for one in dev.all], trees)
    assert found.irrelevant_if_empty == Share(138, 207)
    assert found.irrelevant_found == Share(138, 138)
    assert found.last_answer == Share(983, 1266)
    assert found.last_evidence == Share(261, 304)
    assert found.leaf_is_last_edge == Share(151, 181)
    assert found.trees_of_last_edges == Share(51, 69)
