"""A project's own pages: settings, guidelines, people, log."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.projects.audit_log import explain
from apps.projects.errors import GuidelineChangedError, LastAdminError
from apps.projects.forms import (
    AddMemberForm,
    DeleteForm,
    GuidelineForm,
    LogFilterForm,
    NewAccountForm,
    NewProjectForm,
    RoleForm,
    SearchForm,
    SettingsForm,
)
from apps.projects.models import Guideline, Project, Role, Step
from apps.projects.permissions import (
    can_administer,
    can_create_project,
    get_project,
    get_project_to_administer,
    signed_in,
)
from apps.projects.services.projects import (
    add_member,
    create_account,
    create_project,
    delete_project,
    remove_member,
    restore_project,
    save_guideline,
    save_settings,
)

PER_PAGE = 50


@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    if not can_create_project(request.user):
        raise PermissionDenied("Only staff of this installation may create a project.")
    form = NewProjectForm(request.POST or None)
    if form.is_valid():
        return redirect(create_project(form.save(commit=False), created_by=signed_in(request)))
    return render(request, "projects/new.html", {"form": form})


@require_http_methods(["GET", "POST"])
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    changed = get_project_to_administer(request, slug)
    form = SettingsForm(request.POST or None, instance=changed)
    if form.is_valid():
        changes = save_settings(changed, actor=signed_in(request))
        messages.success(request, "The settings are saved." if changes else "Nothing had changed.")
        return redirect("projects:settings", slug)
    return render(request, "projects/settings.html", {"project": project, "form": form})


@require_http_methods(["GET", "POST"])
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    form = DeleteForm(request.POST or None, project=project)
    if form.is_valid():
        delete_project(project, actor=signed_in(request), now=timezone.now())
        messages.success(request, f"{project} is deleted. Its admins can restore it from here.")
        return redirect("projects:deleted")
    return render(request, "projects/delete.html", {"project": project, "form": form})


@require_safe
@never_cache
def deleted(request: HttpRequest) -> HttpResponse:
    """The deleted projects that the reader may restore."""
    projects = Project.with_deleted.restorable_by(request.user, timezone.now())
    listed = projects.select_related("deleted_by").order_by("-deleted_at")
    page = Paginator(listed, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "projects/deleted.html", {"page": page})


@require_POST
def restore(request: HttpRequest, slug: str) -> HttpResponse:
    now = timezone.now()
    project = get_object_or_404(Project.with_deleted.restorable_by(request.user, now), slug=slug)
    restore_project(project, actor=signed_in(request), now=now)
    messages.success(request, f"{project} is back, with all that was in it.")
    return redirect(project)


@require_safe
def guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(request, slug)
    texts = sorted(project.guidelines.all(), key=_place_in_pipeline)
    may_edit = can_administer(request.user, project)
    context = {"project": project, "guidelines": texts, "may_edit": may_edit}
    return render(request, "projects/guidelines.html", context)


@require_http_methods(["GET", "POST"])
def guideline(request: HttpRequest, slug: str, step: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    edited = get_object_or_404(project.guidelines, step=step)
    form = GuidelineForm(request.POST or None, guideline=edited)
    if form.is_valid():
        try:
            save_guideline(edited, text=form.cleaned_data["text"], actor=signed_in(request))
        except GuidelineChangedError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The guidelines are saved. This is how people see them.")
            return redirect("projects:guideline", slug, step)
    context = {"project": project, "guideline": edited, "form": form}
    return render(request, "projects/guideline.html", context)


@require_http_methods(["GET", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    form = AddMemberForm(request.POST or None, project=project)
    if form.is_valid():
        member = form.cleaned_data["username"]
        add_member(project, user=member, role=_role(form), actor=signed_in(request))
        messages.success(request, f"{member} is now a member.")
        return redirect("projects:people", slug)
    return _people_page(request, project, add_form=form)


@require_POST
@never_cache
def new_account(request: HttpRequest, slug: str) -> HttpResponse:
    """Answers with the one page that ever shows the password; it is stored nowhere."""
    project = get_project_to_administer(request, slug)
    form = NewAccountForm(request.POST)
    if not form.is_valid():
        return _people_page(request, project, new_form=form)
    person = form.save(commit=False)
    password = create_account(project, person=person, role=_role(form), actor=signed_in(request))
    context = {"project": project, "person": person, "password": password}
    return render(request, "projects/account_created.html", context)


@require_POST
def role(request: HttpRequest, slug: str, member: int) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    membership = get_object_or_404(project.memberships.select_related("user"), pk=member)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the roles in the list. Nothing was changed.")
        return redirect("projects:people", slug)
    try:
        add_member(project, user=membership.user, role=_role(form), actor=signed_in(request))
    except LastAdminError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{membership.user}: {_role(form).label} from now on.")
    return _back_to_people(request, project)


@require_POST
def remove(request: HttpRequest, slug: str, member: int) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    membership = get_object_or_404(project.memberships.select_related("user"), pk=member)
    try:
        remove_member(membership, actor=signed_in(request))
    except LastAdminError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{membership.user} is no longer a member.")
    return _back_to_people(request, project)


@require_safe
def log(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    events = project.audit_events.all()
    actions = list(events.order_by("action").values_list("action", flat=True).distinct())
    form = LogFilterForm(request.GET, project=project, actions=actions)
    form.is_valid()
    if person := form.cleaned_data.get("person"):
        events = events.filter(actor=person)
    if action := form.cleaned_data.get("action"):
        events = events.filter(action=action)
    page = Paginator(events.select_related("actor"), PER_PAGE).get_page(request.GET.get("page"))
    context = {"project": project, "form": form, "page": page, "entries": explain(list(page))}
    return render(request, "projects/log.html", context)


def _people_page(request: HttpRequest, project: Project, **forms: Any) -> HttpResponse:
    search = SearchForm(request.GET)
    members = project.memberships.select_related("user").order_by("user__username")
    if search.is_valid() and (text := search.cleaned_data["q"]):
        members = members.filter(Q(user__username__icontains=text) | Q(user__name__icontains=text))
    context = {
        "project": project,
        "page": Paginator(members, PER_PAGE).get_page(request.GET.get("page")),
        "roles": Role,
        "search": search,
        "add_form": AddMemberForm(project=project),
        "new_form": NewAccountForm(),
    }
    return render(request, "projects/people.html", {**context, **forms})


def _back_to_people(request: HttpRequest, project: Project) -> HttpResponse:
    """To the list; who has just given up their own rights goes where they still may."""
    if can_administer(request.user, project):
        return redirect("projects:people", project.slug)
    if Project.objects.visible_to(request.user).filter(pk=project.pk).exists():
        return redirect(project)
    return redirect("desk:home")


def _role(form: Any) -> Role:
    return Role(form.cleaned_data["role"])


def _place_in_pipeline(text: Guideline) -> int:
    return list(Step).index(Step(text.step))
