"""The qualification of a project: experts write its test, admins say who needs it or has it."""

from collections.abc import Callable

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.projects.forms import SearchForm
from apps.projects.models import Role
from apps.projects.paging import page_of
from apps.projects.permissions import (
    can_administer,
    get_project_to_administer,
    get_project_to_read,
    signed_in,
)
from apps.workers.errors import QualificationError
from apps.workers.models import QualificationQuestion, QualificationTest
from apps.workers.qualification_forms import QualificationQuestionForm, QualificationSettingsForm
from apps.workers.qualification_page import page_of_test, person_rows
from apps.workers.services.qualification import give_by_hand, revoke, save_settings, settings_of
from apps.workers.services.qualification_tests import (
    add_question,
    begin_draft,
    change_question,
    discard_draft,
    publish,
    remove_question,
)

PEOPLE_ON_PAGE = 50


@require_safe
def qualification(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    may_set = can_administer(request.user, project)
    context = {**page_of_test(project), "may_set": may_set}
    return render(request, "workers/qualification.html", context)


@require_http_methods(["GET", "POST"])
def qualification_settings(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    form = QualificationSettingsForm(request.POST or None, instance=settings_of(project))
    if form.is_valid():
        try:
            saved = save_settings(form.save(commit=False), actor=signed_in(request))
        except QualificationError as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, "The settings are saved." if saved else "Nothing changed.")
            return redirect("workers:qualification", slug)
    context = {"project": project, "form": form}
    return render(request, "workers/qualification_settings.html", context)


# The test ---------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def test_question_new(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    form = QualificationQuestionForm(request.POST or None)
    if form.is_valid():
        given = form.fields_of_row()
        add_question(project, actor=signed_in(request), now=timezone.now(), **given)
        messages.success(request, "The question is added. People get it when you publish.")
        return redirect("workers:qualification", slug)
    context = {"project": project, "form": form}
    return render(request, "workers/qualification_question.html", context)


@require_http_methods(["GET", "POST"])
def test_question(request: HttpRequest, slug: str, test_question_id: int) -> HttpResponse:
    question = _question(request, slug, test_question_id)
    form = QualificationQuestionForm(request.POST or None, question=question)
    if form.is_valid():
        try:
            change_question(question, **form.fields_of_row())
        except QualificationError as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, "The question is saved. People get it when you publish.")
            return redirect("workers:qualification", slug)
    context = {"project": question.test.project, "form": form, "question": question}
    return render(request, "workers/qualification_question.html", context)


@require_POST
def test_question_remove(request: HttpRequest, slug: str, test_question_id: int) -> HttpResponse:
    question = _question(request, slug, test_question_id)
    return _done_for_sure(
        request, slug, lambda: remove_question(question), "The question is removed."
    )


@require_POST
def test_revise(request: HttpRequest, slug: str) -> HttpResponse:
    """A draft of the next version. People go on with the one that is published."""
    project = get_project_to_read(request, slug)
    begin_draft(project, actor=signed_in(request), now=timezone.now())
    return redirect("workers:qualification", slug)


@require_POST
def test_publish(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    return _done(
        request, slug,
        lambda: publish(project, actor=signed_in(request), now=timezone.now()),
        "The test is published. Whoever begins it now gets this version.",
    )  # fmt: skip


@require_POST
def test_discard(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    return _done_for_sure(
        request, slug, lambda: discard_draft(project), "The new version is discarded."
    )


def _question(request: HttpRequest, slug: str, key: int) -> QualificationQuestion:
    """Of the draft: what is published has no page to change it."""
    project = get_project_to_read(request, slug)
    questions = QualificationQuestion.objects.filter(
        test__project=project, test__state=QualificationTest.State.DRAFT
    )
    return get_object_or_404(questions.select_related("test__project"), pk=key)


def _done_for_sure(
    request: HttpRequest, slug: str, act: Callable[[], object], told: str
) -> HttpResponse:
    """What cannot be undone has a second button, which confirms it."""
    if "confirm" in request.POST:
        return _done(request, slug, act, told)
    messages.warning(request, "Nothing was done: confirm it with the button below it.")
    return redirect("workers:qualification", slug)


def _done(
    request: HttpRequest, slug: str, act: Callable[[], object], told: str
) -> HttpResponse:  # fmt: skip
    try:
        act()
    except QualificationError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, told)
    return redirect("workers:qualification", slug)


# People -----------------------------------------------------------------------------------------


@require_safe
@never_cache
def qualified(request: HttpRequest, slug: str) -> HttpResponse:
    """Each worker of the project, and how they stand."""
    project = get_project_to_administer(request, slug)
    members = project.memberships.filter(role=Role.WORKER).order_by("user__username")
    search = SearchForm(request.GET)
    if search.is_valid() and (text := search.cleaned_data["q"]):
        members = members.filter(Q(user__username__icontains=text) | Q(user__name__icontains=text))
    page = page_of(
        members, project.memberships.select_related("user"), asked=request.GET.get("page"),
        size=PEOPLE_ON_PAGE,
    )  # fmt: skip
    rows = person_rows(project, list(page), now=timezone.now())
    context = {"project": project, "page": page, "rows": rows, "search": search}
    return render(request, "workers/qualified.html", context)


@require_POST
def qualify(request: HttpRequest, slug: str, member: int) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    person = get_object_or_404(project.memberships.select_related("user", "project"), pk=member)
    try:
        give_by_hand(person, actor=signed_in(request), now=timezone.now())
    except QualificationError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"{person.user} has the qualification from now on.")
    return redirect("workers:qualified", slug)


@require_POST
def disqualify(request: HttpRequest, slug: str, member: int) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    person = get_object_or_404(project.memberships.select_related("user", "project"), pk=member)
    if revoke(person, actor=signed_in(request), now=timezone.now()):
        messages.success(request, f"{person.user} gets no more work that needs it.")
    else:
        messages.info(request, f"{person.user} did not have it.")
    return redirect("workers:qualified", slug)
