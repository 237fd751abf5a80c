"""New projects, settings and guidelines."""

import pytest
from django.urls import reverse

from apps.projects.models import AuditEvent, Guideline, Membership, Project, Role, Step
from apps.projects.services.projects import save_guideline
from tests.factories import make_member, make_project, make_user

SETTINGS = {
    "name": "Housing rules",
    "language": "en",
    "max_list_items": "4",
    "max_words": "150",
    "long_lists": "split",
    "max_depth": "8",
    "active_trees": "50",
    "questions_per_tree": "2",
    "scenarios_per_tree": "1",
    "negative_threshold": "0.2",
    "near_duplicate_threshold": "0.8",
    "rejection_votes": "1",
    "rejection_voters": "1",
    "tell_rejections": "on",
    "near_question_threshold": "0.8",
    "most_leases": "3",
    "scenarios_per_finished_tree": "0",
    "checks_per_scenario": "0",
    "lease_minutes": "60",
}


@pytest.fixture
def project(db):
    return make_project("housing", name="Housing rules")


@pytest.fixture
def admin(project, client):
    person = make_member(project, Role.ADMIN)
    client.force_login(person)
    return person


def _events(project):
    return list(
        AuditEvent.objects.filter(project=project).order_by("pk").values_list("action", "details")
    )


def _guideline(project, step=Step.TREES):
    return Guideline.objects.get(project=project, step=step)


def _address(name, project, *more):
    return reverse(f"projects:{name}", args=[project.slug, *more])


def test_staff_create_a_project_and_are_its_first_admin(db, client):
    maker = make_user(is_staff=True)
    client.force_login(maker)

    answer = client.post(reverse("projects:new"), {**SETTINGS, "slug": "Housing-2"})

    project = Project.objects.get(slug="housing-2")
    assert answer.headers["Location"] == project.get_absolute_url()
    assert list(project.memberships.values_list("user", "role")) == [(maker.pk, "admin")]
    assert set(project.guidelines.values_list("step", flat=True)) == set(Step)
    assert _events(project) == [
        ("create", {}),
        ("add member", {"user": maker.pk, "role": "admin"}),
    ]


def test_who_is_not_staff_is_told_why_they_cannot_create_a_project(admin, client):
    answer = client.post(reverse("projects:new"), {**SETTINGS, "slug": "mine"})

    assert answer.status_code == 403
    assert "Only staff of this installation may create a project." in answer.text
    assert not Project.objects.filter(slug="mine").exists()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("slug", "housing", "Another project has this short name, perhaps one that was deleted."),
        ("slug", "HOUSING", "Another project has this short name, perhaps one that was deleted."),
        ("slug", "a b", "Enter a valid “slug”"),
        ("slug", "", "This field is required."),
        ("name", "   ", "This field is required."),
        ("name", "a\x00b", "Null characters are not allowed."),
    ],
)
def test_a_project_that_cannot_be_is_refused_at_the_field(project, client, field, value, message):
    client.force_login(make_user(is_staff=True))

    form = {**SETTINGS, "slug": "other", field: value}
    answer = client.post(reverse("projects:new"), form)

    assert message in answer.context["form"].errors[field][0]
    assert f'id="id_{field}_error"' in answer.text
    assert Project.objects.count() == 1


def test_changed_settings_are_saved_and_the_log_says_what_they_were(project, admin, client):
    form = {**SETTINGS, "name": "Homes", "max_words": "120", "long_lists": "keep"}

    client.post(_address("settings", project), form)

    project.refresh_from_db()
    assert (project.name, project.max_words, project.long_lists) == ("Homes", 120, "keep")
    assert _events(project) == [
        (
            "change settings",
            {
                "changes": {
                    "name": ["Housing rules", "Homes"],
                    "max_words": [150, 120],
                    "long_lists": ["split", "keep"],
                }
            },
        )
    ]


def test_settings_that_are_the_same_leave_no_trace(project, admin, client):
    answer = client.post(_address("settings", project), SETTINGS, follow=True)

    assert "Nothing had changed." in answer.text
    assert _events(project) == []


def test_every_setting_of_a_project_is_on_the_page(project, admin, client):
    editable = {field.name for field in Project._meta.fields if field.editable}

    groups = client.get(_address("settings", project)).context["form"].groups()

    shown = {field.name for _, fields in groups for field in fields}
    kept_elsewhere = {"splits_frozen_at", "deleted_at", "deleted_by"}
    assert shown == editable - {"id", "slug", "created_at", "created_by"} - kept_elsewhere


def test_the_short_name_is_fixed(project, admin, client):
    client.post(_address("settings", project), {**SETTINGS, "slug": "moved"})

    project.refresh_from_db()
    assert project.slug == "housing"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("language", "en; drop"),
        ("max_list_items", "0"),
        ("max_words", "9"),
        ("max_words", "many"),
        ("long_lists", "burn"),
        ("max_depth", "13"),
        ("active_trees", "0"),
        ("active_trees", "99999999999999999999"),
        ("questions_per_tree", "-1"),
        ("negative_threshold", "1.01"),
        ("negative_threshold", "nan"),
        ("near_duplicate_threshold", "-0.1"),
        ("lease_minutes", "4"),
    ],
)
def test_limits_out_of_range_are_refused_at_the_field(project, admin, client, field, value):
    answer = client.post(_address("settings", project), {**SETTINGS, field: value})

    assert list(answer.context["form"].errors) == [field]
    assert _events(project) == []


def test_a_refused_name_is_not_shown_as_the_projects_name(project, admin, client):
    answer = client.post(_address("settings", project), {**SETTINGS, "name": "X", "max_words": "1"})

    assert "<bdi>Housing rules</bdi>" in answer.text
    assert "<bdi>X</bdi>" not in answer.text


def test_guidelines_are_saved_shown_as_people_see_them_and_logged(project, admin, client):
    address = _address("guideline", project, "trees")
    form = {"text": "# Ask\r\n\r\n* one thing", "seen": _seen(client, address)}

    answer = client.post(address, form, follow=True)

    assert _guideline(project).text == "# Ask\n\n* one thing"
    assert '<h3 dir="auto">Ask</h3>' in answer.text
    assert "<li>one thing</li>" in answer.text
    change = {"step": "trees", "changes": {"text": ["", "# Ask\n\n* one thing"]}}
    assert _events(project) == [("change guidelines", change)]


def test_guidelines_that_are_the_same_leave_no_trace(project, admin, client):
    address = _address("guideline", project, "trees")

    client.post(address, {"text": "", "seen": _seen(client, address)})

    assert _events(project) == []


def test_nobodys_guidelines_are_replaced_unseen(project, admin, client):
    address = _address("guideline", project, "trees")
    seen = _seen(client, address)
    save_guideline(_guideline(project), text="Theirs", actor=admin)

    refused = client.post(address, {"text": "Mine", "seen": seen})

    assert "Somebody else changed these guidelines" in refused.text
    assert '<p dir="auto">Theirs</p>' in refused.text
    assert "Mine</textarea>" in refused.text
    assert _guideline(project).text == "Theirs"
    client.post(address, {"text": "Both", "seen": refused.context["form"]["seen"].value()})
    assert _guideline(project).text == "Both"


def test_two_who_save_in_the_same_moment_do_not_lose_one_text(project, admin, client, monkeypatch):
    address = _address("guideline", project, "trees")
    seen = _seen(client, address)
    is_valid = "apps.projects.forms.GuidelineForm.is_valid"

    def meanwhile(form):
        form.full_clean()
        save_guideline(_guideline(project), text="Theirs", actor=admin)
        return True

    monkeypatch.setattr(is_valid, meanwhile)
    refused = client.post(address, {"text": "Mine", "seen": seen})

    assert "while you were writing. Nothing was saved." in refused.text
    assert _guideline(project).text == "Theirs"


@pytest.mark.parametrize("step", ["snippet", "TREES", "none"])
def test_a_step_that_does_not_exist_has_no_guidelines(project, admin, client, step):
    assert client.get(_address("guideline", project, step)).status_code == 404


def test_members_read_the_guidelines_in_the_order_of_the_pipeline(project, client):
    client.force_login(make_member(project, Role.WORKER))
    Guideline.objects.filter(step=Step.CHECKS).update(text="<script>alert(1)</script>")

    answer = client.get(_address("guidelines", project))

    assert [text.step for text in answer.context["guidelines"]] == list(Step)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text
    assert "Edit<" not in answer.text


def test_only_admins_see_a_button_to_edit_guidelines(project, admin, client):
    assert client.get(_address("guidelines", project)).text.count("Edit<") == len(Step)


def test_guidelines_of_another_project_stay_as_they_are(project, admin, client):
    other = make_project()

    assert client.post(_address("guideline", other, "trees"), {"text": "x"}).status_code == 404
    assert Membership.objects.filter(project=other).count() == 0
    assert _guideline(other).text == ""


def _seen(client, address):
    return client.get(address).context["form"]["seen"].value()
