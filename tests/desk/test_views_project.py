"""The project dashboard: how far each step is, what is stuck, and what to do next."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.desk.dashboard import BAR_WIDTH, dashboard_of
from apps.desk.last_days import work_of_last_days
from apps.projects.models import Guideline, Job, Role
from apps.scenarios.models import Prompt, Utterance
from apps.scenarios.services.proof import prove
from apps.scenarios.verification_page import waiting
from apps.snippets.models import Snippet
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question, Turn
from apps.workers.models import Assignment
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_scenario,
    make_snippet,
    make_tree,
    make_user,
    make_utterance,
)
from tests.pages import words_of_main
from tests.scenarios.writing import contradict, make_writing, take_scenario

pytestmark = pytest.mark.django_db

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
ADULT = Question("Over 18?", YES, NO)
PAGE = reverse("desk:project", args=["bikes"])


@pytest.fixture
def project():
    return make_project("bikes", name="Bikes")


def show(client, project, role: Role) -> str:
    client.force_login(make_member(project, role))
    response = client.get(PAGE)
    assert response.status_code == 200
    content: str = response.content.decode()
    return content


def fail_job(project) -> Job:
    return Job.objects.create(
        project=project, kind="import_sharc", state=Job.State.FAILED,
        error="Not JSON.", finished_at=timezone.now(),
    )  # fmt: skip


def fill(project) -> None:
    document = make_document(project, split="dev")
    make_snippet(document, state=Snippet.State.PROPOSED)
    make_question(make_snippet(document))
    growing = make_tree(project, Question("Over 18?", OpenBranch(), NO))
    tree = make_tree(project, ADULT)
    make_scenario(tree, "", Turn("Over 18?", Answer.YES))
    make_scenario(growing)
    make_utterance(tree, "Yes")
    make_utterance(tree, "Over 18?")
    unplaced = make_document(project, split="")
    make_utterance(make_tree(project, ADULT, question=make_question(make_snippet(unplaced))), "No")


def test_strangers_find_no_project(client, project):
    assert client.get(PAGE).headers["Location"] == f"{reverse('accounts:login')}?next={PAGE}"
    client.force_login(make_user())
    assert client.get(PAGE).status_code == 404


def test_a_worker_reads_what_is_open_and_the_guidelines(client, project):
    fill(project)
    Guideline.objects.filter(project=project, step="trees").update(text="Ask **one** thing.")
    content = show(client, project, Role.WORKER)
    shown = words_of_main(content)
    assert "Work is open for you 1 branch waits to be continued 1 new tree wa" in shown
    assert "Follow-up questions Ask one thing." in words_of_main(content)
    assert "<strong>one</strong>" in content
    assert "Snippets" not in words_of_main(content)
    assert "/utterances/" not in content


def test_the_funnel_counts_every_step_and_its_parts(project):
    fill(project)
    dashboard = dashboard_of(project)
    assert [
        (stage.label, stage.count, [(part.label, part.count) for part in stage.parts])
        for stage in dashboard.stages
    ] == [
        ("Documents", 4, [("Dev", 3), ("In no split yet", 1)]),
        ("Snippets", 5, [("Accepted", 4), ("Proposed", 1)]),
        ("Questions", 4, [("With a tree", 3), ("Without a tree", 1)]),
        ("Trees", 3, [("Finished", 2), ("Growing", 1)]),
        ("Scenarios", 2, [("With facts", 1), ("Without facts", 1)]),
        ("Utterances", 3, [("Yes", 1), ("No", 1), ("A follow-up question", 1)]),
    ]
    assert [
        (stage.label, stage.count, [(part.label, part.count) for part in stage.parts])
        for stage in dashboard.by_split
    ] == [
        ("Dev", 2, [("Yes", 1), ("A follow-up question", 1)]),
        ("In no split yet", 1, [("No", 1)]),
    ]


def test_other_projects_count_for_nothing(project):
    fill(make_project())
    assert dashboard_of(project).is_empty
    assert not dashboard_of(project).by_split


def test_a_bar_is_filled_from_end_to_end(project):
    fill(project)
    for stage in dashboard_of(project).stages:
        ends = [0, *(part.x + part.width for part in stage.parts)]
        assert [part.x for part in stage.parts] == ends[:-1]
        assert ends[-1] == BAR_WIDTH


def test_parts_lead_to_the_filtered_lists(client, project):
    fill(project)
    client.force_login(make_member(project, Role.EXPERT))
    dashboard = client.get(PAGE).context["dashboard"]
    shown = {}
    for stage in (*dashboard.stages, *dashboard.by_split):
        for part in stage.parts:
            if part.url:
                count = client.get(part.url).context["page"].paginator.count
                shown[part.url.partition("/bikes/")[2]] = (part.count, count)
    assert shown == {
        "documents/?split=dev": (3, 3),
        "documents/?split=none": (1, 1),
        "snippets/?state=accepted": (4, 4),
        "snippets/?state=proposed": (1, 1),
        "trees/?state=finished": (2, 2),
        "trees/?state=growing": (1, 1),
        "utterances/?answer=yes": (1, 1),
        "utterances/?answer=no": (1, 1),
        "utterances/?answer=more": (1, 1),
        "utterances/?split=dev&answer=yes": (1, 1),
        "utterances/?split=dev&answer=more": (1, 1),
        "utterances/?split=none&answer=no": (1, 1),
    }


def test_what_is_stuck_is_said(client, project):
    fill(project)
    fail_job(project)
    content = words_of_main(show(client, project, Role.ADMIN))
    assert (
        "Stuck 2 utterances of dev and test that an expert has to look at Verify these utterances "
        "1 tree with an open branch Show unfinished trees "
        "1 snippet that nobody has looked at Show these snippets "
        "1 scenario without facts, so the rule gives no utterances for it Show these scenarios "
        "1 job failed"
    ) in content


def test_what_experts_must_decide_on_scenarios_and_utterances_is_stuck(client):
    project, tree = make_writing(1, slug="bikes")
    lease = take_scenario(project)
    shown = Prompt.objects.filter(assignment=lease)
    turn, nodes = shown.get().turns[0], tree.nodes.live().questions().values_list("pk", flat=True)
    shown.update(
        turns=[{**turn, "node": node} for node in nodes], unrelated_question="", unrelated_answer=""
    )
    contradict(lease)
    make_scenario(tree, "", Turn("Are you old?", Answer.YES), state="disputed")
    make_scenario(tree, "", Turn("Are you tall?", Answer.YES))
    make_utterance(tree, "Yes")
    expert = make_member(project, Role.EXPERT)
    make_utterance(tree, "No", state="accepted", verified_by=expert, verified_at=timezone.now())
    prove(project)
    client.force_login(expert)
    stuck = client.get(PAGE).context["dashboard"].stuck
    assert [(one.count, one.url.partition("/bikes/")[2]) for one in stuck] == [
        (1, "scenarios/"), (1, "scenarios/?state=disputed"), (1, "text-checks/"),
        (1, "consistency/?state=blocks"), (1, "verification/"), (1, "text-checks/?reason=no+facts"),
    ]  # fmt: skip
    for one in stuck:
        assert client.get(one.url).status_code == 200


def test_the_dashboard_counts_what_the_verification_counts(project):
    tree, now, ada = make_tree(project, ADULT), timezone.now(), make_user()
    job, expansion = (
        Job.objects.create(project=project, kind=kind) for kind in ("import", "expansion")
    )
    for made_by in (None, job, expansion):
        for gone_at in (None, now):
            for state in Utterance.State:
                make_utterance(
                    tree, job=made_by, gone_at=gone_at, state=state, verified_by=ada,
                    verified_at=now, dropped_reason="So." if state == "dropped" else "",
                )  # fmt: skip
    train = make_document(project, split="train")
    make_utterance(make_tree(project, ADULT, question=make_question(make_snippet(train))))
    (found,) = [one.count for one in dashboard_of(project).stuck if "dev and test" in one.words]
    assert found == waiting(project).count() == 2 + 3 * 3


def test_nothing_stuck_is_said_too(client, project):
    train = make_document(project, split="train")
    make_utterance(make_tree(project, ADULT, question=make_question(make_snippet(train))))
    assert "Stuck Nothing is stuck." in words_of_main(show(client, project, Role.EXPERT))


def test_experts_see_what_waits_for_them_with_a_button_each(client, project):
    document, author = make_document(project), make_user()
    make_snippet(document)
    make_snippet(document, state=Snippet.State.PROPOSED)
    make_question(make_snippet(document), state="proposed", created_by=author)
    content = show(client, project, Role.EXPERT)
    assert (
        "Open work 1 snippet waits to be settled Settle snippets "
        "1 snippet waits for a first question Write questions "
        "1 question of others waits for a check Check questions"
    ) in words_of_main(content)
    for name in ("bench_next", "question_next", "check_next"):
        assert f'action="{reverse(f"snippets:{name}", args=["bikes"])}"' in content
    make_member(project, Role.EXPERT, author)
    client.force_login(author)
    assert "waits for a check" not in client.get(PAGE).content.decode()


def test_where_nothing_waits_no_work_is_offered(client, project):
    make_utterance(make_tree(project, ADULT))
    assert "Open work" not in show(client, project, Role.EXPERT)


def test_only_admins_see_jobs(client, project):
    fill(project)
    job = fail_job(project)
    fail_job(make_project())
    content = show(client, project, Role.ADMIN)
    assert content.count(f'href="{job.get_absolute_url()}"') == 1
    assert words_of_main(content).count("Failed") == 1
    expert = words_of_main(show(client, project, Role.EXPERT))
    assert "Recent jobs" not in expert
    assert "failed" not in expert


def test_an_empty_project_says_what_to_do_next(client, project):
    link = f'href="{reverse("exports:import", args=["bikes"])}"'
    admin = show(client, project, Role.ADMIN)
    assert "Nothing is here yet" in words_of_main(admin)
    assert link in admin
    expert = show(client, project, Role.EXPERT)
    assert "An admin of this project loads its documents" in words_of_main(expert)
    assert link not in expert


def test_three_times_as_much_takes_no_more_queries(client, project):
    client.force_login(make_member(project, Role.ADMIN))
    counts = []
    for times in (1, 2):
        for _ in range(times):
            fill(project)
            fail_job(project)
        with CaptureQueriesContext(connection) as caught:
            client.get(PAGE)
        counts.append(len(caught))
    assert counts == [19, 19]


def end_work(project, worker, work: int, state: str, end: datetime, kind: str = "path") -> None:
    Assignment.objects.create(
        project=project, worker=worker, kind=kind, work_id=work, state=state, submit_key="form",
        leased_at=end, expires_at=end + timedelta(hours=1), ended_at=end,
    )  # fmt: skip


def test_the_last_14_days_show_what_was_submitted_by_kind_and_day(project):
    noon = datetime(2026, 3, 20, 12, tzinfo=UTC)
    worker = make_member(project, Role.WORKER)
    for work, (kind, days) in enumerate(
        [("path", 0), ("path", 0), ("path", 13), ("path", 15), ("scenario", 1)]
    ):
        end_work(project, worker, work, "submitted", noon - timedelta(days=days), kind=kind)
    end_work(project, worker, 9, "returned", noon)
    found = work_of_last_days(project, now=noon)
    assert [(kind.label, kind.count) for kind in found.kinds] == [
        ("Path of a tree", 3), ("Scenario", 1),
    ]  # fmt: skip
    by_day = dict(found.by_day())
    assert len(by_day) == 14
    assert by_day[date(2026, 3, 20)] == [("Path of a tree", 2), ("Scenario", 0)]
    assert by_day[date(2026, 3, 7)] == [("Path of a tree", 1), ("Scenario", 0)]
    assert [day.height for day in found.kinds[0].days] == [12] + [0] * 12 + [24]
