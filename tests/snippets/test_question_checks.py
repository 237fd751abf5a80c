"""A second expert checks a first question; an accepted one can be replaced, and is kept."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection, transaction

from apps.accounts.models import User
from apps.projects.models import AuditEvent, Project, Role
from apps.snippets.errors import (
    QuestionNotAcceptedError,
    QuestionNotWaitingError,
    TreeHasBegunError,
)
from apps.snippets.models import Question, Snippet
from apps.snippets.services.question_checks import (
    approve_question,
    checkable_questions,
    send_question_back,
    take_check,
)
from apps.snippets.services.questions import (
    replace_question,
    skip,
    take_question,
)
from apps.trees.models import Tree
from apps.workers.models import Assignment, KeptText
from apps.workers.services.submits import NotTaken, Submitted
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_snippet,
    make_tree,
)
from tests.snippets.question_work import LATER, NOW, check, take, texts_by_state, write

pytestmark = pytest.mark.django_db

State = Question.State


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def expert(project) -> User:
    return make_member(project, Role.EXPERT)


@pytest.fixture
def other(project) -> User:
    return make_member(project, Role.EXPERT)


@pytest.fixture
def snippet(project) -> Snippet:
    return make_snippet(make_document(project))


@pytest.fixture
def checked(project: Project) -> Project:
    project.question_checks = True
    project.save()
    return project


def test_where_a_check_is_wanted_a_question_waits_for_it(checked, expert, other, snippet):
    write(take(checked, expert))
    assert texts_by_state(snippet) == [("Can I?", "proposed")]
    assert take_question(checked, expert=other, now=NOW) is None
    assert list(checkable_questions(checked, expert=other)) == [snippet.questions.get()]


def test_nobody_checks_their_own_not_even_by_the_database(checked, expert, snippet):
    write(take(checked, expert))
    question = snippet.questions.get()
    assert take_check(checked, expert=expert, now=NOW) is None
    with pytest.raises(IntegrityError), transaction.atomic():
        Question.objects.update(checked_by=expert)
    own = Assignment.objects.create(
        project=checked, worker=expert, kind="question check", work_id=question.pk,
        leased_at=NOW, expires_at=LATER,
    )  # fmt: skip
    with pytest.raises(QuestionNotWaitingError):
        approve_question(own, key="k", now=NOW)


def test_an_approved_question_is_accepted_with_who_and_when(checked, expert, other, snippet):
    write(take(checked, expert))
    work = check(checked, other)
    assert check(checked, other) == work
    assert approve_question(work, key="k", now=NOW) == approve_question(work, key="k", now=NOW)
    question = snippet.questions.get()
    assert (question.state, question.checked_by, question.checked_at, question.check_note) == (
        "accepted", other, NOW, "",
    )  # fmt: skip
    assert AuditEvent.objects.filter(action="approve question", actor=other).count() == 1
    assert take_check(checked, expert=other, now=NOW) is None


def test_a_question_sent_back_is_kept_and_its_snippet_waits_again_for_its_author_too(
    checked, expert, other, snippet
):
    write(take(checked, expert))
    send_question_back(check(checked, other), note="Says too much.", key="k", now=NOW)
    question = snippet.questions.get()
    assert (question.state, question.check_note) == ("sent back", "Says too much.")
    assert isinstance(write(take(checked, expert), "May I?"), Submitted)
    assert texts_by_state(snippet) == [("Can I?", "sent back"), ("May I?", "proposed")]


def test_a_check_that_somebody_else_made_void_keeps_the_note(checked, expert, other, snippet):
    write(take(checked, expert))
    work = check(checked, other)
    Question.objects.update(state=State.REPLACED)
    with pytest.raises(QuestionNotWaitingError):
        send_question_back(work, note="Says too much.", key="k", now=NOW)
    work.refresh_from_db()
    assert (work.state, KeptText.objects.get().content) == ("released", {"note": "Says too much."})


def test_a_late_check_does_not_take_a_question_again_that_waits_for_nobody(
    checked, expert, other, snippet
):
    write(take(checked, expert))
    work = check(checked, other)
    Question.objects.update(state=State.REPLACED)
    late = approve_question(work, key="k", now=LATER)
    assert isinstance(late, NotTaken)
    assert late.again is None
    assert not Assignment.objects.leased().exists()


def test_a_check_is_for_one_and_not_again_for_who_gave_it_back(checked, expert, other, snippet):
    third = make_member(checked, Role.EXPERT)
    write(take(checked, expert))
    work = check(checked, other)
    assert take_check(checked, expert=third, now=NOW) is None
    skip(work, reason="Not sure.", draft={"note": ""}, now=NOW)
    assert take_check(checked, expert=other, now=NOW) is None
    assert check(checked, third).work_id == work.work_id


def test_questions_that_wait_when_the_setting_goes_off_are_still_checked(
    checked, expert, other, snippet
):
    write(take(checked, expert))
    Project.objects.update(question_checks=False)
    assert isinstance(approve_question(check(checked, other), key="k", now=NOW), Submitted)


# Another wording


def test_a_replaced_question_is_kept_and_the_new_one_counts(project, expert, snippet):
    old = make_question(snippet, text="Can I?")
    new = replace_question(old, text="May I?", expert=expert)
    assert texts_by_state(snippet) == [("Can I?", "replaced"), ("May I?", "accepted")]
    assert new.created_by == expert
    event = AuditEvent.objects.get(action="replace question")
    assert event.details == {"changes": {"text": ["Can I?", "May I?"]}}


def test_a_new_wording_is_checked_like_any_other(checked, expert, other, snippet):
    replace_question(make_question(snippet), text="May I?", expert=expert)
    assert texts_by_state(snippet) == [("Can I?", "replaced"), ("May I?", "proposed")]
    assert isinstance(approve_question(check(checked, other), key="k", now=NOW), Submitted)


@pytest.mark.parametrize(
    "fields",
    [{"state": "proposed"}, {"state": "replaced"}, {"state": "sent back", "check_note": "No."}],
)
def test_only_the_accepted_question_is_replaced(expert, snippet, fields):
    question = make_question(snippet, **fields)
    with pytest.raises(QuestionNotAcceptedError):
        replace_question(question, text="May I?", expert=expert)
    assert texts_by_state(snippet) == [("Can I?", fields["state"])]


def test_a_question_on_which_a_tree_has_begun_stays(project, expert, snippet):
    tree: Tree = make_tree(project, question=make_question(snippet))
    with pytest.raises(TreeHasBegunError):
        replace_question(tree.question, text="May I?", expert=expert)
    assert texts_by_state(snippet) == [("Can I?", "accepted")]


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_once_take_one_check():
    project = make_project(question_checks=True)
    checker = make_member(project, Role.EXPERT)
    for _ in range(8):
        make_question(make_snippet(make_document(project)), state="proposed")

    def click(_: int) -> Assignment | None:
        try:
            return take_check(project, expert=checker, now=NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(click, range(8)))
    assert taken == [Assignment.objects.get()] * 8


@pytest.mark.django_db(transaction=True)
def test_of_five_who_replace_one_question_at_once_one_does():
    project = make_project()
    snippet = make_snippet(make_document(project))
    question, expert = make_question(snippet), make_member(project, Role.EXPERT)

    def replace(number: int) -> bool:
        try:
            replace_question(question, text=f"May {number}?", expert=expert)
        except QuestionNotAcceptedError:
            return False
        else:
            return True
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        assert sorted(pool.map(replace, range(5))) == [False] * 4 + [True]
    assert [state for _, state in texts_by_state(snippet)] == ["replaced", "accepted"]
