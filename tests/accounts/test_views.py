"""Log-in and its throttling, log-out, password, profile, light and dark, refused forms."""

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import PASSWORD, make_user

LOG_IN = reverse("accounts:login")
HOME = reverse("desk:home")


@pytest.fixture
def ada(db):
    return make_user("ada", name="Ada Ruiz")


def _log_in(client, username="ada", password=PASSWORD, **more):
    return client.post(LOG_IN, {"username": username, "password": password, **more})


def test_a_page_asks_a_stranger_to_log_in_and_opens_after_that(ada, client):
    wanted = reverse("accounts:profile")
    asked = client.get(wanted)
    assert asked.headers["Location"] == f"{LOG_IN}?next={wanted}"

    assert _log_in(client, next=wanted).headers["Location"] == wanted


def test_log_in_never_leads_to_another_site(ada, client):
    assert _log_in(client, next="https://elsewhere.example/").headers["Location"] == HOME


def test_a_wrong_password_is_told_in_words_and_does_not_log_in(ada, client):
    answer = _log_in(client, password="wrong")

    assert answer.status_code == 200
    assert "This user name and password do not belong together." in answer.text
    assert client.get(HOME).status_code == 302


@pytest.mark.parametrize(("username", "password"), [("a\x00", "x"), ("ada", "x\x00"), ("", "")])
def test_a_log_in_that_cannot_be_is_refused_as_a_form(ada, client, username, password):
    answer = _log_in(client, username=username, password=password)

    assert answer.status_code == 200
    assert 'class="error-summary"' in answer.text


def test_a_closed_account_cannot_log_in_and_does_not_say_that_it_exists(ada, client):
    ada.is_active = False
    ada.save()

    assert "do not belong together" in _log_in(client).text


def test_too_many_wrong_passwords_lock_the_name_and_say_until_when(ada, client, settings):
    settings.AXES_FAILURE_LIMIT = 3
    settings.AXES_COOLOFF_TIME = timedelta(hours=1)
    statuses = [_log_in(client, password="wrong").status_code for _ in range(3)]
    locked = _log_in(client)

    assert statuses == [200, 200, 429]
    assert locked.status_code == 429
    assert "Log-in is locked for now" in locked.text
    assert "3 wrong passwords in a row" in locked.text
    moment = datetime.fromisoformat(locked.text.split('<time datetime="')[1].split('"')[0])
    assert abs(moment - datetime.now(UTC) - timedelta(hours=1)) < timedelta(minutes=2)
    assert client.get(HOME).status_code == 302


def test_a_lock_leaves_other_names_alone(ada, client, settings):
    settings.AXES_FAILURE_LIMIT = 1
    make_user("bo")
    _log_in(client, password="wrong")

    assert _log_in(client).status_code == 429
    assert _log_in(client, username="bo").status_code == 302


def test_log_out_ends_the_session_and_only_by_a_form(ada, client):
    client.force_login(ada)
    by_link = client.get(reverse("accounts:logout")).status_code
    still_in = client.get(HOME).status_code
    by_form = client.post(reverse("accounts:logout")).headers["Location"]

    assert (by_link, still_in, by_form) == (405, 200, LOG_IN)
    assert client.get(HOME).status_code == 302


def test_a_changed_password_logs_other_devices_out(ada, client):
    client.force_login(ada)
    elsewhere = Client()
    elsewhere.force_login(ada)
    new = "a longer staple"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}

    answer = client.post(reverse("accounts:password"), form, follow=True)

    assert "Your password is changed. Other devices are logged out." in answer.text
    assert elsewhere.get(HOME).status_code == 302
    ada.refresh_from_db()
    assert ada.check_password(new)


@pytest.mark.parametrize(
    ("old", "new", "again", "message"),
    [
        (
            "wrong",
            "a longer staple",
            "a longer staple",
            "Your old password was entered incorrectly",
        ),
        (PASSWORD, "password", "password", "This password is too common."),
        (PASSWORD, "a longer staple", "another staple", "The two password fields didn’t match."),
    ],
)
def test_a_bad_new_password_is_refused_in_words(ada, client, old, new, again, message):
    client.force_login(ada)
    form = {"old_password": old, "new_password1": new, "new_password2": again}

    answer = client.post(reverse("accounts:password"), form)

    assert message in answer.text
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_a_person_changes_their_own_name_and_keys_and_nothing_else(ada, client):
    client.force_login(ada)
    form = {"name": "Ada R.", "keys_off": "on", "username": "root", "is_staff": "on"}

    client.post(reverse("accounts:profile"), form)

    ada.refresh_from_db()
    assert (ada.name, ada.keys_off, ada.username, ada.is_staff) == ("Ada R.", True, "ada", False)


def test_keys_that_are_off_are_off_on_every_page(ada, client):
    client.force_login(ada)
    before = '<body data-keys="off">' in client.get(HOME).text
    client.post(reverse("accounts:profile"), {"name": "Ada", "keys_off": "on"})

    assert (before, '<body data-keys="off">' in client.get(HOME).text) == (False, True)


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_the_chosen_theme_is_on_the_next_page_without_scripts(db, client, theme):
    answer = client.post(reverse("accounts:theme"), {"theme": theme, "next": LOG_IN})

    assert answer.headers["Location"] == LOG_IN
    assert f'<html lang="en" data-theme="{theme}">' in client.get(LOG_IN).text
    assert f'value="{theme}" aria-pressed="true"' in client.get(LOG_IN).text


@pytest.mark.parametrize("cookie", ["", "pink", '"><script>'])
def test_a_cookie_that_we_did_not_write_counts_as_no_choice(db, client, cookie):
    client.cookies["theme"] = cookie

    assert '<html lang="en" data-theme="auto">' in client.get(LOG_IN).text


def test_an_unknown_theme_changes_nothing(db, client):
    answer = client.post(reverse("accounts:theme"), {"theme": "pink"})

    assert (answer.status_code, "theme" in answer.cookies) == (302, False)


def test_the_theme_never_leads_to_another_site(db, client):
    form = {"theme": "dark", "next": "//elsewhere.example/"}

    assert client.post(reverse("accounts:theme"), form).headers["Location"] == HOME


def test_a_refused_form_gives_back_what_was_typed_but_no_secret(ada):
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    form = {
        "name": "A long <b>text</b> that took an hour",
        "old_password": "hidden-one",
        "csrfmiddlewaretoken": "stale-token",
    }

    answer = client.post(reverse("accounts:profile"), form)

    assert answer.status_code == 403
    assert "Please send this again" in answer.text
    assert "A long &lt;b&gt;text&lt;/b&gt; that took an hour" in answer.text
    assert "hidden-one" not in answer.text
    assert "stale-token" not in answer.text
    ada.refresh_from_db()
    assert ada.name == "Ada Ruiz"


def test_a_page_that_does_not_exist_says_so_in_the_studio_s_own_words(ada, client):
    client.force_login(ada)
    answer = client.get("/nowhere/")

    assert answer.status_code == 404
    assert "This page does not exist, or not for you" in answer.text


def test_who_was_logged_out_comes_back_to_the_page_of_the_form_with_what_they_typed(ada, client):
    page = {"Referer": "http://testserver/accounts/profile/?tab=1"}
    next_work = reverse("workers:next", args=["demo"])

    empty = client.post(next_work, headers=page)
    typed = client.post(
        reverse("trees:comment", args=["demo", "t"]),
        {"text": "It took\nan hour", "key": "k", "node_key": "1", "password": "hidden-one"},
        headers=page,
    )

    back = "/accounts/profile/?tab=1"
    assert empty.headers["Location"] == f"{LOG_IN}?next={quote(back)}"
    assert (typed.status_code, typed.context["next"]) == (403, back)
    assert typed.context["typed"] == [("text", "It took\nan hour")]
    assert "hidden-one" not in typed.text
    sent = {"next": back, "typed_name": ["text"], "typed_text": ["It took\nan hour"]}
    assert "It took\nan hour" in _log_in(client, password="wrong", **sent).text
    shown = _log_in(client, **sent)
    assert "It took\nan hour" in shown.text
    assert f'href="{back}"' in shown.text
    assert client.get(next_work).status_code == 405
    assert "There is no page at this address" in client.get(next_work).text


@pytest.mark.parametrize("referer", ["", "https://elsewhere.example/p/demo/"])
def test_without_a_page_of_ours_log_in_leads_to_the_project(db, client, referer):
    answer = client.post(reverse("workers:next", args=["demo"]), headers={"Referer": referer})

    assert answer.headers["Location"] == f"{LOG_IN}?next=/p/demo/"
