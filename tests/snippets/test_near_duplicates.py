"""Near-duplicates are found in the background, and only when there is something new."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.projects.models import Job, Project, Role
from apps.snippets.models import NearDuplicate, Snippet
from apps.snippets.services import near_duplicates
from apps.snippets.services.bench import edit_text
from apps.snippets.services.near_duplicates import TASK, look_for_near_duplicates
from apps.snippets.tasks import compare_snippets
from tests.factories import make_document, make_member, make_project, make_snippet
from tests.snippets.bench import NOW, take_now

pytestmark = pytest.mark.django_db

RULE = "You can claim the grant if you are over 18 and live in the city."
ALMOST = "You can claim this grant if you are over 18 and live in the city."
OTHER = "Dogs need a passport and a microchip before they travel."


@pytest.fixture
def project() -> Project:
    return make_project()


def snippets(project: Project, *texts: str) -> list[Snippet]:
    return [make_snippet(make_document(project), text=text) for text in texts]


def compare(project: Project) -> Job | None:
    job = look_for_near_duplicates(project, now=timezone.now())
    if job is not None:
        compare_snippets(job.pk)
        # The next one need not wait.
        Job.objects.update(queued_at=timezone.now() - timedelta(minutes=11))
    return job


def pairs() -> set[tuple[int, int]]:
    return set(NearDuplicate.objects.values_list("snippet", "other"))


def test_a_pair_is_found_from_both_sides_with_its_cosine(project):
    one, almost, _ = snippets(project, RULE, ALMOST, OTHER)
    job = compare(project)
    assert pairs() == {(one.pk, almost.pk), (almost.pk, one.pk)}
    first, second = NearDuplicate.objects.values_list("cosine", flat=True)
    assert first == second
    assert 0.8 <= first < 1
    assert job is not None
    job.refresh_from_db()
    assert (job.state, job.report) == ("done", {"compared": 3, "with_near_duplicates": 2})


def test_snippets_of_another_project_and_those_taken_out_are_not_compared(project):
    snippets(project, RULE)
    snippets(make_project(), RULE)
    document = make_document(project)
    make_snippet(document, text=RULE, state="discarded", discard_reason="no rule")
    make_snippet(document, text=RULE, state="merged")
    compare(project)
    assert pairs() == set()


def test_one_that_is_discarded_afterwards_is_not_pointed_out(project):
    _, almost = snippets(project, RULE, ALMOST)
    compare(project)
    Snippet.objects.filter(pk=almost.pk).update(state="discarded", discard_reason="duplicate")
    assert [one.other_id for one in NearDuplicate.objects.pointed_out()] == [almost.pk - 1]


def test_nothing_new_is_not_compared_again(project):
    snippets(project, RULE, ALMOST)
    assert compare(project) is not None
    assert compare(project) is None


@pytest.mark.parametrize("change", ["snippet", "edit", "threshold"])
def test_what_has_changed_is_compared_again_and_replaces_the_pairs(project, change):
    one, almost = snippets(project, RULE, ALMOST)
    compare(project)
    if change == "snippet":
        (added,) = snippets(project, RULE)
        expected = {(a, b) for a in (one.pk, almost.pk, added.pk)
                    for b in (one.pk, almost.pk, added.pk) if a != b}  # fmt: skip
    elif change == "edit":
        expert = make_member(project, Role.EXPERT)
        take_now(almost.document, expert)
        edit_text(almost, seen=almost.fingerprint, text=OTHER, expert=expert, now=NOW)
        expected = set()
    else:
        project.near_duplicate_threshold = 1.0
        project.save()
        expected = set()
    assert compare(project) is not None
    assert pairs() == expected


def test_changes_are_not_compared_every_minute(project):
    snippets(project, RULE)
    now = timezone.now()
    job = look_for_near_duplicates(project, now=now)
    assert job is not None
    assert (job.task, job.state) == (TASK, "queued")
    snippets(project, ALMOST)
    assert look_for_near_duplicates(project, now=now + timedelta(minutes=9)) is None
    assert look_for_near_duplicates(project, now=now + timedelta(minutes=11)) is not None


def test_of_many_only_the_closest_are_kept(project, monkeypatch):
    monkeypatch.setattr(near_duplicates, "MOST_PER_SNIPPET", 2)
    one, *_ = snippets(project, RULE, RULE, RULE, ALMOST)
    compare(project)
    kept = NearDuplicate.objects.filter(snippet=one).values_list("other__text", flat=True)
    assert list(kept) == [RULE, RULE]


def test_a_threshold_of_zero_compares_all_the_same(project):
    project.near_duplicate_threshold = 0
    project.save()
    one, almost = snippets(project, RULE, ALMOST)
    compare(project)
    assert pairs() == {(one.pk, almost.pk), (almost.pk, one.pk)}
