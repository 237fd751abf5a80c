"""Who belongs to a project, and in which role."""

import re

import pytest
from django.urls import reverse

from apps.accounts.models import User
from apps.projects.models import AuditEvent, Role
from tests.factories import make_member, make_project, make_user


@pytest.fixture
def project(db):
    return make_project("housing", name="Housing rules")


@pytest.fixture
def admin(project, client):
    person = make_member(project, Role.ADMIN, make_user("ada", name="Ada Ruiz"))
    client.force_login(person)
    return person


def _people(project):
    return reverse("projects:people", args=[project.slug])


def _at(name, project, member):
    membership = project.memberships.get(user=member)
    return reverse(f"projects:{name}", args=[project.slug, membership.pk])


def _roles(project):
    return dict(
        project.memberships.order_by("user__username").values_list("user__username", "role")
    )


def _events(project):
    return list(
        AuditEvent.objects.filter(project=project).order_by("pk").values_list("action", "details")
    )


def test_an_existing_account_is_added_with_a_role(project, admin, client):
    bo = make_user("bo")

    client.post(_people(project), {"add-username": "bo", "add-role": "expert"})

    assert _roles(project) == {"ada": "admin", "bo": "expert"}
    assert _events(project) == [("add member", {"user": bo.pk, "role": "expert"})]


@pytest.mark.parametrize(
    ("username", "role", "field", "message"),
    [
        ("nobody", "worker", "username", "Nobody has this user name."),
        ("ada", "worker", "username", "This person is a member already"),
        ("closed", "worker", "username", "Nobody has this user name."),
        ("", "worker", "username", "This field is required."),
        ("bo", "owner", "role", "Select a valid choice."),
    ],
)
def test_who_cannot_be_added_is_said_at_the_field(
    project, admin, client, username, role, field, message
):
    make_user("bo")
    make_user("closed", is_active=False)

    answer = client.post(_people(project), {"add-username": username, "add-role": role})

    assert message in answer.context["add_form"].errors[field][0]
    assert 'class="error-summary"' in answer.text
    assert _roles(project) == {"ada": "admin"}


def test_a_new_account_gets_a_password_that_is_shown_exactly_once(project, admin, client):
    address = reverse("projects:new_account", args=[project.slug])
    form = {"new-username": "chi", "new-name": "千尋", "new-role": "worker"}

    shown = client.post(address, form)

    (password,) = re.findall(r'<code class="once">([^<]+)</code>', shown.text)
    chi = User.objects.get(username="chi")
    assert chi.check_password(password)
    assert len(password.replace("-", "")) == 20
    assert "no-store" in shown.headers["Cache-Control"]
    assert (chi.name, chi.is_staff, chi.is_superuser) == ("千尋", False, False)
    assert _roles(project) == {"ada": "admin", "chi": "worker"}
    assert password not in client.get(_people(project)).text
    assert password not in str(list(AuditEvent.objects.values()))
    assert [action for action, _ in _events(project)] == ["create account", "add member"]


def test_each_new_account_gets_a_password_of_its_own(project, admin, client):
    address = reverse("projects:new_account", args=[project.slug])
    texts = [
        client.post(address, {"new-username": name, "new-role": "worker"}).text
        for name in ("one", "two")
    ]

    passwords = {re.findall(r'<code class="once">([^<]+)</code>', text)[0] for text in texts}
    assert len(passwords) == 2


@pytest.mark.parametrize("username", ["ada", "", "a b", "a\x00b", "x" * 151])
def test_an_account_that_cannot_be_is_refused_and_nobody_is_added(project, admin, client, username):
    address = reverse("projects:new_account", args=[project.slug])

    answer = client.post(address, {"new-username": username, "new-role": "worker"})

    assert list(answer.context["new_form"].errors) == ["username"]
    assert User.objects.count() == 1
    assert _events(project) == []


def test_a_role_is_changed_and_logged(project, admin, client):
    bo = make_member(project, Role.WORKER, make_user("bo"))

    answer = client.post(_at("role", project, bo), {"role": "expert"}, follow=True)

    assert "bo: Expert from now on." in answer.text
    assert _roles(project) == {"ada": "admin", "bo": "expert"}
    assert _events(project) == [("add member", {"user": bo.pk, "role": "expert"})]


def test_a_role_that_does_not_exist_changes_nothing(project, admin, client):
    bo = make_member(project, Role.WORKER, make_user("bo"))

    answer = client.post(_at("role", project, bo), {"role": "owner"}, follow=True)

    assert "Choose one of the roles in the list. Nothing was changed." in answer.text
    assert _roles(project) == {"ada": "admin", "bo": "worker"}


@pytest.mark.parametrize(("name", "form"), [("role", {"role": "worker"}), ("remove", {})])
def test_the_last_admin_stays_and_is_told_what_to_do(project, admin, client, name, form):
    answer = client.post(_at(name, project, admin), form, follow=True)

    assert "Ada Ruiz is the only admin of Housing rules" in answer.text
    assert "make somebody else admin first" in answer.text
    assert _roles(project) == {"ada": "admin"}
    assert _events(project) == []


def test_a_removed_person_loses_the_project_with_the_next_request(project, admin, client):
    bo = make_member(project, Role.EXPERT, make_user("bo"))
    theirs = type(client)()
    theirs.force_login(bo)
    before = theirs.get(project.get_absolute_url()).status_code

    client.post(_at("remove", project, bo))

    assert (before, theirs.get(project.get_absolute_url()).status_code) == (200, 404)
    assert _events(project) == [("remove member", {"user": bo.pk})]
    assert User.objects.filter(username="bo").exists()


def test_an_admin_who_steps_down_goes_where_they_still_may(project, admin, client):
    make_member(project, Role.ADMIN)

    stepped_down = client.post(_at("role", project, admin), {"role": "worker"})

    assert stepped_down.headers["Location"] == project.get_absolute_url()


def test_an_admin_who_leaves_goes_home(project, admin, client):
    make_member(project, Role.ADMIN)

    left = client.post(_at("remove", project, admin))

    assert left.headers["Location"] == reverse("desk:home")


def test_a_member_of_another_project_is_not_reached(project, admin, client):
    other = make_project()
    bo = make_member(other, Role.WORKER, make_user("bo"))
    theirs = other.memberships.get(user=bo).pk
    addresses = [
        reverse(f"projects:{name}", args=[project.slug, theirs]) for name in ("role", "remove")
    ]

    assert [client.post(address, {"role": "admin"}).status_code for address in addresses] == [
        404,
        404,
    ]
    assert _roles(other) == {"bo": "worker"}


@pytest.mark.parametrize(
    ("search", "found"),
    [("RUIZ", ["ada"]), ("bo", ["bo"]), ("", ["ada", "bo"]), ("%", []), ("a\x00", ["ada", "bo"])],
)
def test_people_are_found_by_any_part_of_their_names(project, admin, client, search, found):
    make_member(project, Role.WORKER, make_user("bo"))

    answer = client.get(_people(project), {"q": search})

    assert [member.user.username for member in answer.context["page"]] == found


@pytest.mark.parametrize("page", ["0", "abc", "99999", "-1", "\x00"])
def test_a_page_that_does_not_exist_is_the_nearest_one(project, admin, client, page):
    assert client.get(_people(project), {"page": page}).status_code == 200


def test_the_list_takes_as_many_queries_for_three_people_as_for_one(
    project, admin, client, django_assert_num_queries
):
    with django_assert_num_queries(7):
        client.get(_people(project))
    for _ in range(2):
        make_member(project, Role.WORKER)
    with django_assert_num_queries(7):
        client.get(_people(project))
