"""Several experts decide about one utterance at the same moment: one of them does."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Role, StateChange
from apps.scenarios.errors import UtteranceChangedError
from apps.scenarios.models import Utterance
from apps.scenarios.services.verification import accept, drop
from apps.trees.domain.tree import Answer, FinalAnswer, Question
from tests.factories import make_member, make_project, make_tree, make_utterance

pytestmark = pytest.mark.django_db(transaction=True)

SHAPE = Question("Are you old?", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO))


def decide(utterance: Utterance, expert: User, number: int) -> bool:
    now = timezone.now()
    try:
        if number % 2:
            accept(utterance, seen=1, by=expert, now=now)
        else:
            drop(utterance, reason="It is odd.", seen=1, by=expert, now=now)
    except UtteranceChangedError:
        return False
    finally:
        connection.close()
    return True


def test_of_eight_at_once_one_decides():
    project = make_project()
    utterance = make_utterance(make_tree(project, SHAPE), "Are you old?")
    experts = [make_member(project, Role.EXPERT) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        decided = list(pool.map(decide, [utterance] * 8, experts, range(8)))
    assert decided.count(True) == 1
    winner = experts[decided.index(True)]
    utterance.refresh_from_db()
    assert (utterance.verified_by, utterance.version) == (winner, 2)
    assert StateChange.objects.filter(object_type="utterance").count() == 1
