"""The pages of the qualification: its test, its people, and a worker who takes it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Membership, Project, Role
from apps.workers.models import (
    Kind,
    Qualification,
    QualificationAttempt,
    QualificationQuestion,
    QualificationSettings,
    QualificationTest,
)
from apps.workers.services.attempts import begin_attempt, submit_attempt
from apps.workers.services.qualification import give_by_hand, revoke
from tests.factories import make_member, make_project, make_user
from tests.pages import words_of_main
from tests.trees.path_work import growing_tree
from tests.workers.qualifying import NO, NOW, YES, answer, make_test, need_it, try_it

pytestmark = pytest.mark.django_db

HOME = reverse("desk:project", args=["bikes"])
QUESTION = {
    "rule_text": "# Bikes\r\n\r\nYou can, if you are over 18.", "question": "Can I?",
    "turns": "Are you over 18? yes\n", "answer_class": "yes", "explanation": "Line 1.",
}  # fmt: skip


def address(name: str, *arguments: int) -> str:
    return reverse(f"workers:{name}", args=["bikes", *arguments])


@pytest.fixture
def project() -> Project:
    return make_project("bikes")


@pytest.fixture
def log_in(client, project):
    def as_member(role: Role) -> User:
        user = make_member(project, role)
        client.force_login(user)
        return user

    return as_member


def get(client, where: str) -> str:
    response = client.get(where)
    assert response.status_code == 200
    return words_of_main(response.content.decode())


def post(client, where: str, **data: str) -> str:
    """What stands on the page that it ends up on."""
    response = client.post(where, data, follow=True)
    assert response.status_code == 200
    return words_of_main(response.content.decode())


# Experts ------------------------------------------------------------------------------------------


def test_an_expert_writes_the_test_publishes_it_and_writes_the_next_version(client, log_in):
    log_in(Role.EXPERT)
    assert "There is no test yet." in get(client, address("qualification"))
    assert "The question is added." in post(client, address("test_question_new"), **QUESTION)
    row = QualificationQuestion.objects.get()
    assert (row.rule_text, row.answer_class) == ("# Bikes\n\nYou can, if you are over 18.", "yes")
    assert row.history == [{"follow_up_question": "Are you over 18?", "follow_up_answer": "Yes"}]
    where = address("test_question", row.pk)
    assert "Are you over 18? Yes" in client.get(where).content.decode()
    post(client, where, **{**QUESTION, "question": "Can I borrow one?", "turns": ""})
    assert "Whoever begins it now gets this version." in post(client, address("test_publish"))
    assert client.get(where).status_code == 404
    page = post(client, address("test_revise"))
    assert "Version 2 is being written" in page
    assert "Can I borrow one?" in page
    copy = QualificationQuestion.objects.get(test__number=2)
    remove = address("test_question_remove", copy.pk)
    assert "Nothing was done" in post(client, remove)
    assert "is removed" in post(client, remove, confirm="1")
    assert "There is no question in this test." in post(client, address("test_publish"))
    assert "is discarded" in post(client, address("test_discard"), confirm="1")
    assert "published or discarded" in post(client, address("test_discard"), confirm="1")
    assert QualificationTest.objects.get().state == "published"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("turns", "Are you over 18? Yes\nAre you ill?", "Line 2 has no question with Yes or No"),
        ("answer_class", "", "Right answer: This field is required."),
        ("question", " ", "What the user asks: This field is required."),
    ],
)
def test_a_question_that_lacks_something_is_refused(client, log_in, field, value, said):
    log_in(Role.EXPERT)
    page = post(client, address("test_question_new"), **{**QUESTION, field: value})
    assert said in page
    assert not QualificationQuestion.objects.exists()


def test_what_was_published_meanwhile_is_not_changed(client, log_in, project):
    expert = log_in(Role.EXPERT)
    post(client, address("test_question_new"), **QUESTION)
    row = QualificationQuestion.objects.get()
    QualificationTest.objects.update(state="published", published_at=expert.date_joined)
    assert client.post(address("test_question", row.pk), QUESTION).status_code == 404
    assert "Only admins" not in get(client, address("qualification"))
    assert "Change who needs it" not in get(client, address("qualification"))


# Admins -------------------------------------------------------------------------------------------


def test_an_admin_says_which_work_needs_it_once_there_is_a_test(client, log_in, project):
    log_in(Role.ADMIN)
    limits = {"pass_mark": "80", "most_tries": "2", "waiting_hours": "0", "expiry_days": "30"}
    wanted = {"for_paths": "on", **limits}
    assert "Publish a test first" in post(client, address("qualification_settings"), **wanted)
    make_test(project)
    assert "The settings are saved." in post(client, address("qualification_settings"), **wanted)
    assert "Nothing changed." in post(client, address("qualification_settings"), **wanted)
    stored = QualificationSettings.objects.get()
    assert (stored.kinds, stored.pass_mark, stored.expiry_days) == (frozenset({Kind.PATH}), 80, 30)
    page = post(client, address("qualification_settings"), **{**wanted, "pass_mark": "101"})
    assert "Pass mark" in page
    assert QualificationSettings.objects.get().pass_mark == 80


def test_an_admin_sees_how_each_worker_stands_and_gives_and_takes_it(client, log_in, project):
    log_in(Role.ADMIN)
    make_test(project)
    need_it(project)
    ada = make_member(project, Role.WORKER, make_user("ada"))
    eve = make_member(project, Role.WORKER, make_user("eve"))
    try_it(project, eve, NO, NO)
    member = Membership.objects.get(user=ada)
    page = get(client, address("qualified"))
    assert "ada Has not taken the test – 2 Give ada the qualification" in page
    assert "eve Did not pass" in page
    assert "ada has the qualification from now on." in post(client, address("qualify", member.pk))
    assert "ada Has it" in get(client, address("qualified") + "?q=ad")
    assert "gets no more work" in post(client, address("disqualify", member.pk))
    assert "did not have it" in post(client, address("disqualify", member.pk))
    assert "ada Revoked" in get(client, address("qualified"))
    assert "No worker here has" in get(client, address("qualified") + "?q=zzz")
    expert = make_member(project, Role.EXPERT)
    of_expert = Membership.objects.get(user=expert).pk
    assert "need no qualification" in post(client, address("qualify", of_expert))


def test_the_list_of_people_takes_a_constant_number_of_queries(client, log_in, project):
    log_in(Role.ADMIN)
    make_test(project)
    counts = []
    for more in (1, 2):
        for _ in range(more):
            try_it(project, make_member(project, Role.WORKER))
        with CaptureQueriesContext(connection) as caught:
            get(client, address("qualified"))
        counts.append(len(caught))
    assert counts[0] == counts[1]


# Workers ------------------------------------------------------------------------------------------


def test_the_start_page_says_that_the_test_comes_first_and_the_test_opens_the_work(
    client, log_in, project
):
    make_test(project)
    need_it(project, waiting_hours=0)
    growing_tree(project)
    log_in(Role.WORKER)
    page = get(client, HOME)
    assert (
        "The test comes first This work needs a qualification here: Path of a tree. You have "
        "not taken the test yet. 2 of 2 tries left. Take the test T" in page
    )
    assert "Take work" not in page
    assert "Try 1 · 2 questions · 100 % must be right" in post(client, address("attempt_begin"))
    assert "You have begun the test." in get(client, HOME)
    attempt = QualificationAttempt.objects.get()
    where, first = address("attempt", attempt.pk), attempt.test.questions.all()[0].pk
    page = post(client, where, key="k", **{f"answer-{first}": "yes"})
    assert "Not submitted. Every question wants an answer; what you answered is kept." in page
    assert "Question 2: Choose an answer." in page
    assert f'name="answer-{first}" value="yes" checked' in client.get(where).content.decode()
    keys = [f"answer-{one.pk}" for one in attempt.test.questions.all()]
    assert "Your answers are kept." in post(client, where, key="k", later="1", **{keys[1]: "no"})
    page = post(client, where, key="k", **{keys[0]: "yes", keys[1]: "no"})
    assert page.startswith("Not passed Try 1 · 1 of 2 right")
    assert "Right is" not in page  # the same test can be taken again
    assert "Because of line" not in page
    assert "Not passed" in post(client, where, key="other", **{keys[0]: "yes", keys[1]: "more"})
    assert "You may try again now. 1 of 2 tries left." in get(client, HOME)
    post(client, address("attempt_begin"))
    where = address("attempt", QualificationAttempt.objects.get(number=2).pk)
    page = post(client, where, key="k", **{keys[0]: "yes", keys[1]: "more"})
    assert page.startswith("Passed Try 2 · 2 of 2 right")
    assert "You have passed the test." in page
    assert "Why Because of line 1." in page
    assert "Take work W" in page
    assert "Work is open for you" in get(client, HOME)
    assert "You have the qualification." in post(client, address("attempt_begin"))
    assert Qualification.objects.count() == 1


def test_who_has_no_tries_left_sees_the_right_answers_and_no_test(client, log_in, project):
    make_test(project)
    need_it(project, most_tries=1)
    attempt = try_it(project, log_in(Role.WORKER), YES, NO)
    page = get(client, address("attempt", attempt.pk))
    assert "Right is A follow-up question is needed Why Because of line 1." in page
    assert "Some work is not open to you" in get(client, HOME)


def test_who_gets_it_by_hand_and_fails_after_that_reads_what_is_so(client, log_in, project):
    make_test(project)
    need_it(project)
    worker = log_in(Role.WORKER)
    attempt = begin_attempt(project, worker=worker, now=NOW)
    member = project.memberships.get(user=worker)
    give_by_hand(member, actor=worker, now=timezone.now())
    submit_attempt(attempt, answer(attempt, YES, NO), key="k", now=timezone.now())
    page = get(client, address("attempt", attempt.pk))
    assert page.startswith("Not passed")
    assert "You have the qualification." in page
    revoke(member, actor=worker, now=timezone.now())
    assert "Some work is not open to you" in get(client, HOME)


def test_other_work_is_open_beside_the_test(client, log_in, project):
    make_test(project)
    need_it(project, for_paths=False, for_scenarios=True, for_scenario_checks=True)
    growing_tree(project)
    log_in(Role.WORKER)
    page = get(client, HOME)
    assert "a qualification here: Scenario, Check of a scenario." in page
    assert "2 branches wait to be continued Take work W" in page
    need_it(project, for_node_checks=True)
    assert "2 branches" not in get(client, HOME)


def test_a_try_is_seen_by_its_worker_alone(client, log_in, project):
    make_test(project)
    attempt = try_it(project, make_member(project, Role.WORKER), YES, NO)
    for role in Role:
        log_in(role)
        assert client.get(address("attempt", attempt.pk)).status_code == 404
