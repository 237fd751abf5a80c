"""The pages of negatives: list, one of them, mining, threshold."""

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.projects.models import AuditEvent, Job, Project, Role
from apps.scenarios.domain.negatives.similarities import Bar
from apps.scenarios.models import MINING, NegativeQuestion, NegativeScenario, Utterance
from apps.scenarios.negative_page import picture_of
from apps.scenarios.services import similarities
from apps.scenarios.services.expansion import expand_project
from apps.scenarios.services.negatives import Wish, mine_here
from apps.scenarios.services.similarities import measure_or_queue, run_measuring
from tests.factories import make_member, make_project, make_user
from tests.scenarios.test_negatives import TOPICS, add_tree, say_nothing

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project("rules", negative_threshold=0.9)
    for topic in TOPICS[:4]:
        add_tree(project, topic, title=f"All about {topic}")
    return project


@pytest.fixture
def mined(project):
    mine_here(project, Wish(2, 1, 0.9, attach=True), author=None, progress=say_nothing)
    return project


def address(name: str, *arguments: object) -> str:
    return reverse(f"scenarios:{name}", args=["rules", *arguments])


def test_the_list_filters_and_says_where_each_comes_from(client, mined):
    client.force_login(make_member(mined, Role.EXPERT))
    page = client.get(address("negatives")).text
    assert "1–8 of 8 negatives" in page
    assert "All about rent" in page
    assert "12 of them have no utterances yet" in page
    assert "Draw negatives…" not in page
    expand_project(mined, author=None, progress=say_nothing)
    Utterance.objects.filter(negative_question__isnull=False)[0].delete()  # another says the same
    assert "no utterances yet" not in client.get(address("negatives")).text
    page = client.get(address("negatives"), {"kind": "scenarios", "order": "hard"}).text
    assert "1–4 of 4 negatives" in page
    found = NegativeQuestion.objects.filter(source__snippet__document__title="All about rent")
    page = client.get(address("negatives"), {"q": "about RENT"}, headers={"HX-Target": "results"})
    number = found.count()
    assert ("1 in all" if number == 1 else f"1–{number} of {number} negatives") in page.text
    page = client.get(address("negatives"), {"state": "dropped"}).text
    assert "No negative fits" in page


def test_an_admin_mines_from_the_page(client, project):
    client.force_login(make_member(project, Role.ADMIN))
    assert 'name="threshold" value="0.9"' in client.get(address("negatives")).text
    data = {"questions_per_tree": 1, "scenarios_per_tree": 2, "threshold": "2", "seed": 7}
    page = client.post(address("negatives_mine"), data).text
    assert "less than or equal to 1" in page
    assert not Job.objects.exists()
    answer = client.post(address("negatives_mine"), {**data, "threshold": "0.5", "hard": "on"})
    job = Job.objects.get(kind=MINING)
    assert answer.url == job.get_absolute_url()
    assert job.parameters == {
        "questions_per_tree": 1, "scenarios_per_tree": 2, "threshold": 0.5, "seed": 7,
        "hard": True, "attach": False, "same_split": False, "shard": 0, "shards": 1, "anew": False,
    }  # fmt: skip
    page = client.post(address("negatives_mine"), {**data, "threshold": "0.5"}, follow=True).text
    assert "being drawn already" in page
    assert Job.objects.filter(kind=MINING).count() == 1


@pytest.mark.parametrize(("kind", "model"), [("questions", NegativeQuestion),
                                             ("scenarios", NegativeScenario)])  # fmt: skip
def test_an_expert_drops_replaces_and_puts_back(client, mined, kind, model):
    client.force_login(make_member(mined, Role.EXPERT))
    one = model.objects.filter(tree__project=mined).earliest("pk")
    page = client.post(address("negative_drop", kind, one.pk), {"reason": "\u200b"}).text
    assert "Say why it is dropped." in page or "Say in words" in page
    page = client.post(address("negative_drop", kind, one.pk), {"reason": "So."}, follow=True).text
    assert "It was dropped, and will not be drawn again." in page
    page = client.post(address("negative_drop", kind, one.pk), {"reason": "So."}, follow=True).text
    assert "Somebody else has decided" in page
    page = client.post(address("negative_restore", kind, one.pk), follow=True).text
    assert "It is in force again" in page
    page = client.post(address("negative_restore", kind, one.pk), follow=True).text
    assert "Somebody else has decided" in page
    page = client.post(address("negative_replace", kind, one.pk), {"reason": "X."}, follow=True)
    new = model.objects.get(replaces=one)
    assert page.redirect_chain[0][0] == address("negative", kind, new.pk)
    assert "this one was drawn in its place" in page.text
    assert "Replaced by" in client.get(address("negative", kind, one.pk)).text


def test_the_next_one_is_a_key_away(client, mined):
    client.force_login(make_member(mined, Role.EXPERT))
    last, newest = (
        NegativeQuestion.objects.order_by("-pk")[1],
        NegativeQuestion.objects.latest("pk"),
    )
    page = client.get(address("negative", "questions", newest.pk)).text
    assert f'href="{address("negative", "questions", last.pk)}" data-key="n"' in page
    first = NegativeQuestion.objects.earliest("pk")
    assert 'data-key="n"' not in client.get(address("negative", "questions", first.pk)).text


def test_nothing_can_take_its_place(client, project):
    wish = Wish(3, 0, 0.9)
    mine_here(project, wish, author=None, progress=say_nothing)
    client.force_login(make_member(project, Role.EXPERT))
    one = NegativeQuestion.objects.earliest("pk")
    where = address("negative_replace", "questions", one.pk)
    page = client.post(where, {"reason": "X."}, follow=True).text
    assert "nothing could take its place: other documents have too few." in page
    page = client.post(where, {"reason": "X."}, follow=True).text
    assert "Somebody else has decided" in page
    assert client.get(address("negative", "answers", one.pk)).status_code == 404


def test_the_threshold_is_chosen_with_a_picture(client, mined, monkeypatch):
    admin = make_member(mined, Role.ADMIN)
    client.force_login(admin)
    assert "Nothing was measured yet" in client.get(address("similarities")).text
    client.post(address("similarities_measure"))
    page = client.get(address("similarities"), {"threshold": "0.05"}).text
    assert "6 pairs of 4 finished trees" in page
    assert "threshold 0.05" in page
    assert page.count('class="bar-') >= 1
    assert "Use 0.05 from now on" in page
    page = client.post(address("similarities_threshold"), {"threshold": "0.05"}, follow=True).text
    assert "This is the project's threshold." in page
    assert Project.objects.get(pk=mined.pk).negative_threshold == 0.05
    assert AuditEvent.objects.get(action="set negative threshold").actor == admin
    page = client.post(address("similarities_threshold"), {"threshold": "7"}, follow=True).text
    assert "A threshold is a number from 0 to 1." in page
    monkeypatch.setattr(similarities, "READ_AT_ONCE", 0)
    page = client.post(address("similarities_measure"), follow=True).text
    assert "read in the background" in page
    job = Job.objects.get(kind=similarities.KIND, state="queued")
    Job.objects.filter(pk=job.pk).update(state=Job.State.RUNNING, attempt=1)
    job.refresh_from_db()
    run_measuring(job)
    job.refresh_from_db()
    first = Job.objects.filter(kind=similarities.KIND).earliest("pk")
    assert job.report == first.report


def test_one_tree_has_nothing_to_compare(client):
    project = make_project("rules")
    add_tree(project, "a dog")
    measure_or_queue(project, author=make_user())
    client.force_login(make_member(project, Role.EXPERT))
    assert "There are no pairs to compare" in client.get(address("similarities")).text


@pytest.mark.once
def test_the_picture_says_what_it_shows():
    picture = picture_of([Bar(0, 0.05, 9), Bar(0.05, 0.1, 0), Bar(0.95, 1, 1)], 0.8)
    assert [bar["passes"] for bar in picture.bars] == [True, True, False]
    assert [float(bar["height"]) for bar in picture.bars] == [144, 0, 43.3]
    assert picture.label_anchor == "end"
    assert picture_of([Bar(0, 0.05, 0)], 0.2).bars[0]["height"] == "0.0"


@pytest.mark.parametrize("trees", [1, 3])
def test_the_pages_make_a_constant_number_of_queries(client, django_assert_num_queries, trees):
    project = make_project("rules", negative_threshold=0.9)
    for topic in TOPICS[: trees + 1]:
        add_tree(project, topic)
    mine_here(project, Wish(1, 1, 0.9), author=None, progress=say_nothing)
    measure_or_queue(project, author=make_user())
    client.force_login(make_member(project, Role.ADMIN))
    one = NegativeQuestion.objects.earliest("pk")
    for where, number in (
        (address("negatives"), 12), (address("negative", "questions", one.pk), 10),
        (address("similarities"), 9),
    ):  # fmt: skip
        with django_assert_num_queries(number):
            client.get(where)


def test_a_dropped_one_says_who_and_why(client, mined):
    expert = make_member(mined, Role.EXPERT)
    one = NegativeQuestion.objects.earliest("pk")
    NegativeQuestion.objects.filter(pk=one.pk).update(
        dropped_at=timezone.now(), dropped_by=expert, dropped_reason="It is <b>the same</b>."
    )
    client.force_login(expert)
    page = client.get(address("negative", "questions", one.pk)).text
    assert f"Dropped by <bdi>{expert}</bdi>" in page
    assert "It is &lt;b&gt;the same&lt;/b&gt;." in page
