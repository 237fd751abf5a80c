"""The page of a path: each step, each refusal in place, and what is over."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Guideline, Project, Role
from apps.trees.domain.simulated_user import simulated_answer
from apps.trees.models import Cut, Node, NodeCheck, PathStep, Tree
from apps.trees.services.cuts import take_out
from apps.workers.models import Assignment, KeptText
from apps.workers.services.leases import release_work
from tests.factories import make_member, make_project, make_user
from tests.pages import words
from tests.trees.path_work import (
    RULE,
    growing_tree,
    node,
    path_address,
    send,
    send_htmx,
    shown,
    take,
)

pytestmark = pytest.mark.django_db

HOME = reverse("desk:project", args=["bikes"])


@pytest.fixture
def project() -> Project:
    return make_project("bikes")


@pytest.fixture
def worker(client, project) -> User:
    user = make_member(project, Role.WORKER)
    client.force_login(user)
    return user


@pytest.fixture
def tree(project) -> Tree:
    return growing_tree(project)


@pytest.fixture
def work(project: Project, worker: User, tree: Tree) -> Assignment:
    """The branch YES under the tree's one question."""
    return take(project, worker)


@pytest.fixture
def agreed(client: Client, work: Assignment) -> Assignment:
    send(client, work, "agree")
    return work


def expire(work: Assignment) -> None:
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=work.pk).update(
        leased_at=past - timedelta(hours=1), expires_at=past
    )


def steps(work: Assignment) -> list[tuple[int, str, str]]:
    return list(work.path_steps.standing().values_list("position", "text", "answer"))


def draft(work: Assignment) -> dict[str, str]:
    saved: dict[str, str] = Assignment.objects.get(pk=work.pk).draft
    return saved


# What stands there --------------------------------------------------------------------------------


def test_the_page_shows_the_conversation_and_asks_first_whether_it_is_right(client, project, work):
    Guideline.objects.filter(project=project, step="trees").update(text="Ask *little*.")
    page = shown(client.get(path_address(work)))
    assert (
        "User Can I borrow a cargo bike? Earlier worker Are you over 18? User Yes "
        "Is everything so far right? Yes, go on Y No, a turn is wrong… N" in page
    )
    assert "Guidelines G Ask little" in page
    assert "Ask the user" not in page
    assert "Final answer" not in page


def test_a_new_tree_begins_with_the_question_alone(client, project, worker):
    growing_tree(project, None)
    page = shown(client.get(path_address(take(project, worker))))
    assert "User Can I borrow a cargo bike? Ask the user a yes/no question" in page
    assert "8 questions left on this path" in page
    assert "Take your last question back" not in page


def test_only_whose_work_it_is_sees_it(client, project, work):
    for person in (make_member(project, Role.ADMIN), make_user()):
        client.force_login(person)
        assert client.get(path_address(work)).status_code == 404
    elsewhere = make_project("trams")
    make_member(elsewhere, Role.WORKER, work.worker)
    client.force_login(work.worker)
    address = reverse("trees:path", args=["trams", work.pk])
    assert client.get(address).status_code == 404


def test_the_seed_of_the_simulated_user_is_not_on_the_page(client, agreed, tree):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?")
    assert tree.seed not in client.get(path_address(agreed)).content.decode()


# The steps ----------------------------------------------------------------------------------------


def test_a_path_from_agreement_to_the_next_work(client, project, work, tree):
    page = shown(send(client, work, "agree"))
    assert "Is everything so far right?" not in page
    page = shown(send(client, work, "ask", position=0, text="  Do you have\na helmet? "))
    answer = simulated_answer(tree.seed, "y")
    assert f"You Do you have a helmet? User {answer}" in page
    page = shown(send(client, work, "answer", position=1, answer="No"))
    assert "You, finally No Your final answer" in page
    response = client.post(path_address(work), {"key": "k"})

    work.refresh_from_db()
    assert (work.state, work.outcome["turns"]) == ("submitted", 1)
    asked = node(tree, "y")
    assert (asked.text, asked.created_by) == ("Do you have a helmet?", work.worker)
    assert node(tree, f"y{answer[0].lower()}").answer == "No"
    following = Assignment.objects.leased().get()
    assert following.part == f"{node(tree, '').pk}-no"
    assert response.headers["Location"] == path_address(following)


def test_after_the_last_work_the_start_page_says_why_there_is_no_more(client, project, worker):
    tree = growing_tree(project)
    work = take(project, worker)
    send(client, work, "agree")
    send(client, work, "answer", position=0, answer="Yes")
    other = make_member(project, Role.WORKER)
    take(project, other)
    response = send(client, work, key="k")
    assert response.redirect_chain == [(HOME, 302)]
    assert "All that is open for you is in other people’s hands just now." in shown(response)
    assert tree.nodes.live().count() == 2


def test_htmx_gets_only_what_changes_and_the_answer_in_place(client, agreed, tree):
    response = send_htmx(client, agreed, "ask", position=0, text="Do you have a helmet?")
    assert response.status_code == 200
    assert response.headers["HX-Trigger"] == '{"draft:taken": {}}'
    content = response.content.decode()
    assert content.strip().startswith('<section id="path"')
    answer = simulated_answer(tree.seed, "y")
    assert f"You Do you have a helmet? User {answer}" in words(content)


def test_the_final_answer_can_be_changed_until_the_submit(client, agreed):
    send(client, agreed, "answer", position=0, answer="Yes")
    send(client, agreed, "answer", position=0, answer="No")
    assert steps(agreed) == [(0, "", "No")]


def test_case_35_yes_then_no_then_yes_is_one_yes(client, agreed, tree):
    for answer in ("Yes", "No", "Yes"):
        send(client, agreed, "answer", position=0, answer=answer)
    send(client, agreed, key="k")
    answers = Node.objects.filter(tree=tree, kind="answer").values_list("answer", flat=True)
    assert list(answers) == ["Yes"]


def test_case_25_what_was_not_answered_is_stored_as_nothing(client, agreed, tree):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?")
    send(client, agreed, key="k")
    assert not Node.objects.filter(tree=tree, kind="answer").exists()
    assert not PathStep.objects.filter(text="").exists()


def test_a_turn_is_taken_back_with_its_text_and_span_in_the_field(client, agreed):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?", span="43-67")
    response = send(client, agreed, "undo", position=0)
    assert steps(agreed) == []
    content = response.content.decode()
    assert ">\nDo you have a helmet?</textarea>" in content
    assert 'name="span" value="43-67"' in content
    again = send(client, agreed, "undo", position=0)
    assert ">\nDo you have a helmet?</textarea>" in again.content.decode()


def test_what_stood_in_the_field_is_kept_when_a_turn_is_taken_back(client, agreed):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?")
    send(client, agreed, "undo", position=0, text="Do you have a bell?")
    assert draft(agreed)["text"] == "Do you have a helmet?"
    assert KeptText.objects.get().content == {"text": "Do you have a bell?"}


def test_what_stood_in_the_field_is_there_again_when_the_final_answer_is_taken_back(client, agreed):
    send(client, agreed, "answer", position=0, answer="Yes", text="Do you have")
    response = send(client, agreed, "undo", position=0)
    assert ">\nDo you have</textarea>" in response.content.decode()
    assert not KeptText.objects.exists()


def test_after_a_question_the_draft_is_empty_and_older_saves_are_stale(client, agreed):
    address = reverse("workers:draft", args=["bikes", agreed.pk])
    client.post(address, {"version": "1", "content": '{"text": "Do you"}'})
    send(client, agreed, "ask", position=0, text="Do you have a helmet?")
    assert draft(agreed) == {}
    late = client.post(address, {"version": "2", "content": '{"text": "Do you have"}'})
    assert late.status_code == 409
    assert draft(agreed) == {}


def test_at_the_depth_limit_only_the_final_answer_is_left(client, project, worker):
    growing_tree(project, None, max_depth=1)
    work = take(project, worker)
    page = shown(send(client, work, "ask", position=0, text="Are you over 18?"))
    assert "The path is at its limit of 1 question: give the final answer" in page
    assert "Ask the user" not in page
    refused = shown(send(client, work, "ask", position=1, text="Do you have a helmet?"))
    assert "A path of this tree has at most 1 question. Give the final answer." in refused


# Twice, and late ----------------------------------------------------------------------------------


def test_case_16_a_question_sent_twice_is_asked_once(client, agreed):
    for _ in range(2):
        page = shown(send(client, agreed, "ask", position=0, text="Do you have a helmet?"))
    assert page.count("Do you have a helmet?") == 1
    assert len(steps(agreed)) == 1


def test_case_16_a_submit_sent_twice_counts_once_and_leads_on(client, agreed, tree):
    send(client, agreed, "answer", position=0, answer="Yes")
    first = client.post(path_address(agreed), {"key": "k"}).headers["Location"]
    second = client.post(path_address(agreed), {"key": "k"}).headers["Location"]
    assert first == second
    assert tree.nodes.count() == 2


def test_a_submit_of_another_page_after_the_submit_says_that_it_was_over(client, agreed):
    send(client, agreed, "answer", position=0, answer="Yes")
    client.post(path_address(agreed), {"key": "k"})
    page = shown(send(client, agreed, key="another"))
    assert "This was not taken" not in page
    assert "You have submitted this work already" in page
    mine = client.get(reverse("workers:mine", args=[agreed.project.slug])).text
    assert "Texts that were not submitted" not in mine


def test_a_page_that_another_window_went_on_from_says_so_and_keeps_the_text(client, agreed):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?")
    response = send_htmx(client, agreed, "ask", position=0, text="Do you have a bell?")
    content = response.content.decode()
    assert "You went on with this path in another window." in words(content)
    assert ">\nDo you have a bell?</textarea>" in content
    assert "HX-Trigger" not in response.headers
    assert KeptText.objects.get().content == {"question": "Do you have a bell?"}
    assert [text for _, text, _ in steps(agreed)] == ["Do you have a helmet?"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"text": ""}, "Write a question first"),
        ({"text": " \u3000\u200b "}, "Write a question first"),
        ({"text": "Yes"}, "This is an answer, not a question."),
        ({"text": "x" * 1001}, "A question has at most 1000 characters; this one has 1001."),
        ({"text": "Is it?", "span": "60-900"}, "The words that you selected are not in the rule"),
        ({"text": "Is it?", "span": "9-9"}, "The words that you selected are not in the rule"),
        ({"text": "Is it?", "span": "a-b"}, "Select the words of the rule text anew."),
        ({"text": "Is it?", "words": "no such words"}, "These words are not in the rule text"),
    ],
)
@pytest.mark.parametrize("is_htmx", [True, False])
def test_a_refused_question_stands_in_the_field_with_one_clear_sentence(
    client, agreed, data, sentence, is_htmx
):
    if is_htmx:
        response = send_htmx(client, agreed, "ask", position=0, **data)
    else:
        response = send(client, agreed, "ask", position=0, **data)
    content = response.content.decode()
    assert response.status_code == 200
    assert sentence in words(content)
    assert f">\n{data['text']}</textarea>" in content
    assert "data-draft-unsaved" in content
    assert steps(agreed) == []


def test_words_are_wanted_where_the_tree_wants_them(client, project, worker):
    growing_tree(project, None, spans_required=True)
    work = take(project, worker)
    page = shown(send(client, work, "ask", position=0, text="Are you over 18?"))
    assert "Select the words of the rule text that your question comes from; they are" in page
    send(client, work, "ask", position=0, text="Are you over 18?", words="you are over 18")
    step = PathStep.objects.get()
    assert RULE[step.span_start : step.span_end] == "you are over 18"


def test_case_48_a_span_behind_an_emoji_is_the_same_text_in_the_database(client, agreed, tree):
    start = RULE.index("have a helmet")
    send(
        client,
        agreed,
        "ask",
        position=0,
        text="Do you have a helmet?",
        span=f"{start}-{start + 13}",
    )
    send(client, agreed, "answer", position=1, answer="Yes")
    send(client, agreed, key="k")
    asked = node(tree, "y")
    assert RULE[asked.span_start : asked.span_end] == "have a helmet"


def test_a_path_without_its_end_cannot_be_submitted(client, agreed):
    page = shown(send(client, agreed, key="k"))
    assert "A path ends with a final answer. Give it, Yes or No, then submit." in page
    agreed.refresh_from_db()
    assert agreed.state == "leased"


@pytest.mark.parametrize("step", ["ask", "answer"])
def test_nobody_goes_on_before_they_said_whether_all_is_right(client, work, step):
    page = shown(send(client, work, step, position=0, text="Is it?", answer="Yes"))
    assert "Say first whether everything so far is right." in page
    assert steps(work) == []


@pytest.mark.parametrize("data", [{}, {"answer": "Maybe", "position": 0}, {"answer": "Yes"}])
def test_an_answer_that_is_none_is_refused(client, agreed, data):
    assert "Answer with Yes or with No." in shown(send(client, agreed, "answer", **data))
    assert steps(agreed) == []


def test_an_undo_without_a_number_changes_nothing(client, agreed):
    send(client, agreed, "answer", position=0, answer="Yes")
    assert "Your final answer" in shown(send(client, agreed, "undo"))
    assert len(steps(agreed)) == 1


# Rejections ---------------------------------------------------------------------------------------


def test_a_rejected_turn_is_out_and_the_branch_open_for_others(client, work, tree):
    root = node(tree, "")
    response = send(
        client, work, "reject", key="k", turn=root.pk, reason="unclear", note="Of what?"
    )
    assert response.redirect_chain[-1][0] == HOME or "/path/" in response.redirect_chain[-1][0]
    cut = Cut.objects.get()
    assert (cut.kind, cut.reason) == ("rejected", "It cannot be understood. Of what?")
    assert not Node.objects.live().exists()
    check = NodeCheck.objects.get()
    assert (check.checker, check.reason, check.note) == (work.worker, "unclear", "Of what?")
    work.refresh_from_db()
    assert work.state == "submitted"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"reason": "unclear"}, "Choose the turn that is wrong."),
        ({"reason": "unclear", "turn": 0}, "This turn is not on the path any more."),
        ({"reason": "unclear", "turn": "x"}, "This turn is not on the path any more."),
        ({"turn": "root"}, "Choose what is wrong with it."),
        ({"turn": "root", "reason": "other"}, "Say in words what is wrong with it."),
        ({"turn": "root", "reason": "other", "note": " \u200b"}, "Say in words what is wrong"),
    ],
)
def test_a_rejection_says_which_turn_and_why(client, work, tree, data, sentence):
    if data.get("turn") == "root":
        data = {**data, "turn": node(tree, "").pk}
    page = shown(send(client, work, "reject", key="k", **data))
    assert sentence in page
    assert Node.objects.live().count() == 1


# Work that is over --------------------------------------------------------------------------------


def test_case_18_a_question_after_the_time_has_run_out_takes_the_work_again(client, agreed):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?")
    expire(agreed)
    response = send(client, agreed, "ask", position=1, text="Do you have a bell?")
    again = Assignment.objects.leased().get()
    assert response.redirect_chain == [(path_address(again), 302)]
    page = shown(response)
    assert "It is yours again, with all that you wrote." in page
    assert [text for _, text, _ in steps(again)] == ["Do you have a helmet?", "Do you have a bell?"]


def test_htmx_is_sent_to_the_page_of_the_work_that_was_taken_again(client, agreed):
    expire(agreed)
    response = send_htmx(client, agreed, "answer", position=0, answer="Yes")
    assert response.headers["HX-Redirect"] == path_address(Assignment.objects.leased().get())


def test_case_18_a_submit_after_the_time_has_run_out_brings_the_work_back(client, agreed):
    send(client, agreed, "answer", position=0, answer="Yes")
    expire(agreed)
    response = send(client, agreed, key="k")
    again = Assignment.objects.leased().get()
    assert response.redirect_chain == [(path_address(again), 302)]
    assert "You, finally Yes" in shown(response)
    assert Node.objects.count() == 1


def test_work_that_somebody_else_has_by_now_is_over_with_all_that_was_typed(
    client, project, agreed
):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?")
    expire(agreed)
    other = take(project, make_member(project, Role.WORKER))
    assert other.part == agreed.part
    response = send(client, agreed, "ask", position=1, text="Do you have a bell?")
    page = shown(response)
    assert "This work is over The time for this work ran out before it was submitted." in page
    assert "Do you have a helmet? Do you have a bell?" in page


def test_an_expired_page_offers_to_go_on(client, agreed):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?")
    expire(agreed)
    page = shown(client.get(path_address(agreed)))
    assert "Do you have a helmet? Go on with it, if it is free" in page
    response = send(client, agreed, "again")
    assert "You Do you have a helmet?" in shown(response)
    assert response.redirect_chain == [(path_address(Assignment.objects.leased().get()), 302)]


@pytest.mark.parametrize("is_htmx", [True, False])
def test_a_branch_whose_turns_were_taken_out_says_so_with_what_was_typed(
    client, agreed, tree, is_htmx
):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?")
    take_out(node(tree, ""), kind=Cut.Kind.REJECTED, actor=None, reason="", now=timezone.now())
    if is_htmx:
        answer = send_htmx(client, agreed, "ask", position=1, text="Do you have a bell?")
        assert answer.headers["HX-Redirect"] == path_address(agreed)
        response = client.get(path_address(agreed))
    else:
        response = send(client, agreed, "ask", position=1, text="Do you have a bell?")
    page = shown(response)
    assert "Turns that you went on from were taken out meanwhile" in page
    assert "Do you have a helmet? Do you have a bell?" in page
    assert "Go on with it" not in page


def test_work_that_an_admin_took_back_says_so(client, project, agreed):
    release_work(agreed, actor=make_member(project, Role.ADMIN), now=timezone.now())
    page = shown(client.get(path_address(agreed)))
    assert "This work is no longer yours: an admin took it back." in page


def test_submitted_work_says_so_and_shows_nothing_that_was_taken(client, agreed):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?")
    send(client, agreed, "answer", position=1, answer="Yes")
    send(client, agreed, key="k")
    page = shown(client.get(path_address(agreed)))
    assert "You have submitted this work already" in page
    assert "helmet" not in page


def test_a_path_is_given_back_with_a_reason_and_its_turns_are_kept(client, agreed):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?")
    response = send(client, agreed, "return", reason="I have no time for it now.")
    agreed.refresh_from_db()
    assert (agreed.state, agreed.return_reason) == ("returned", "I have no time for it now.")
    page = shown(response)
    assert "The work is given back. You will not get it again." in page
    assert page.count("Do you have a helmet?") == 1
    assert "The time for this work had ended before." in shown(send(client, agreed, "return"))


def test_a_reason_that_is_too_long_gives_nothing_back(client, agreed):
    page = shown(send(client, agreed, "return", reason="x" * 501))
    assert "Nothing was given back." in page
    agreed.refresh_from_db()
    assert agreed.state == "leased"


def test_somebody_who_is_no_member_any_more_finds_nothing(client, project, agreed):
    project.memberships.filter(user=agreed.worker).delete()
    assert client.get(path_address(agreed)).status_code == 404


# Hints and time -----------------------------------------------------------------------------------


def test_hints_come_for_what_is_typed_and_not_again_once_dismissed(client, agreed):
    response = client.post(path_address(agreed, "hints"), {"text": "Are you over 18"})
    said = words(response.content.decode())
    assert "There is no question mark." in said
    assert "This has been asked and answered already." in said
    key = response.content.decode().partition('data-hint="')[2].partition('"')[0]
    fewer = client.post(
        path_address(agreed, "hints"), {"text": "Are you over 18", "dismissed": key}
    )
    assert "There is no question mark." not in words(fewer.content.decode())
    assert "asked and answered already" in words(fewer.content.decode())


def test_case_43_time_on_task_is_the_most_that_a_page_has_counted(client, agreed):
    Assignment.objects.filter(pk=agreed.pk).update(leased_at=timezone.now() - timedelta(minutes=10))
    send(client, agreed, "ask", position=0, text="Do you have a helmet?", seconds="40")
    address = reverse("workers:draft", args=["bikes", agreed.pk])
    client.post(address, {"version": "9", "content": "{}", "seconds": "55"})
    send(client, agreed, "answer", position=1, answer="Yes", seconds="50")
    send(client, agreed, key="k", seconds="60")
    agreed.refresh_from_db()
    assert agreed.active_seconds == 60


@pytest.mark.parametrize("told", ["", "-5", "x", "9" * 30, "1e9", "²"])
def test_a_time_that_makes_no_sense_is_no_reason_to_refuse(client, agreed, told):
    send(client, agreed, "ask", position=0, text="Do you have a helmet?", seconds=told)
    agreed.refresh_from_db()
    assert (agreed.active_seconds, len(steps(agreed))) == (0, 1)


# Numbers of queries -------------------------------------------------------------------------------


def test_a_long_path_takes_the_same_queries_as_a_short_one(
    client, project, agreed, django_assert_max_num_queries
):
    with django_assert_max_num_queries(17) as short:
        client.get(path_address(agreed))
    for position in range(5):
        send(client, agreed, "ask", position=position, text=f"Do you have {position} helmets?")
    with django_assert_max_num_queries(17) as long:
        client.get(path_address(agreed))
    assert len(long) == len(short)
