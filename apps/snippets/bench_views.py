"""The snippet bench: taking documents, and one document with the steps on its snippets."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect, replace_url, reswap, retarget

from apps.projects.permissions import get_project_to_read, signed_in
from apps.projects.requests import HtmxHttpRequest
from apps.snippets.bench_forms import LeaveForm, StepForm, form_for
from apps.snippets.bench_page import BenchPage, bench_start, next_to_settle
from apps.snippets.errors import BenchError
from apps.snippets.models import Document, Snippet
from apps.snippets.services import bench as steps
from apps.snippets.services.bench_leases import keep_text, put_down, take, take_next
from apps.snippets.services.near_duplicates import look_for_near_duplicates

SETTLING = {"accept", "discard"}
# After these, other snippets than the focused one look different, too.
RESHAPING = {"merge", "split", "accept all"}


@require_safe
@never_cache
def bench_list(request: HttpRequest, slug: str) -> HttpResponse:
    """Where one begins: what is in hand, what waits, what was given back."""
    project = get_project_to_read(request, slug)
    started = bench_start(project, signed_in(request), timezone.now())
    return render(request, "snippets/bench_start.html", {"project": project, **started})


@require_POST
def bench_next(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    document = take_next(project, expert=signed_in(request), now=timezone.now())
    if document is None:
        messages.info(request, "No document waits for you: all are settled or in other hands.")
        return redirect("snippets:bench_list", slug)
    look_for_near_duplicates(project, now=timezone.now())
    return redirect("snippets:bench", slug, document.pk)


@require_safe
@never_cache
@vary_on_headers("HX-Request")
def bench(request: HtmxHttpRequest, slug: str, document_id: int) -> HttpResponse:
    document = _document(request, slug, document_id)
    page = _page(request, document, _key(request.GET, "snippet"))
    if request.htmx:
        return _rows(request, page, _key(request.GET, "from"))
    return _whole(request, page)


@require_POST
def bench_take(request: HttpRequest, slug: str, document_id: int) -> HttpResponse:
    document = _document(request, slug, document_id)
    try:
        take(document, expert=signed_in(request), now=timezone.now())
    except BenchError as refusal:
        messages.error(request, str(refusal))
    return redirect("snippets:bench", slug, document_id)


@require_POST
def bench_leave(request: HtmxHttpRequest, slug: str, document_id: int) -> HttpResponse:
    """Puts the document down, and opens the next one."""
    document = _document(request, slug, document_id)
    form = LeaveForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    return _put_down_and_go_on(request, document, reason)


@require_POST
def bench_undo(request: HtmxHttpRequest, slug: str, document_id: int) -> HttpResponse:
    document = _document(request, slug, document_id)
    try:
        step = steps.undo(document, expert=signed_in(request), now=timezone.now())
    except BenchError as refusal:
        return _refused(request, document, refusal)
    keys = [int(key) for key in step.before]
    touched = document.snippets.on_bench().filter(pk__in=keys).values_list("pk", flat=True).first()
    return _stay(request, document, touched, action=step.action)


@require_POST
def bench_accept_all(request: HtmxHttpRequest, slug: str, document_id: int) -> HttpResponse:
    document = _document(request, slug, document_id)
    try:
        steps.accept_all(document, expert=signed_in(request), now=timezone.now())
    except BenchError as refusal:
        return _refused(request, document, refusal)
    return _put_down_and_go_on(request, document, "")


@require_POST
def bench_step(
    request: HtmxHttpRequest, slug: str, document_id: int, snippet_id: int, action: str
) -> HttpResponse:
    document = _document(request, slug, document_id)
    snippet = get_object_or_404(
        document.snippets.select_related("document__project"), pk=snippet_id
    )
    form = form_for(action, snippet, request.POST)
    if not form.is_valid():
        return _invalid(request, snippet, action, form)
    try:
        form.take(snippet, expert=signed_in(request), now=timezone.now())
    except BenchError as refusal:
        return _refused(request, document, refusal, snippet=snippet, form=form)
    return _after(request, snippet, action)


# What a step is answered with -------------------------------------------------------------------


def _after(request: HtmxHttpRequest, snippet: Snippet, action: str) -> HttpResponse:
    document = snippet.document
    if action not in SETTLING:
        return _stay(request, document, snippet.pk, action=action)
    following = next_to_settle(document, snippet)
    if following is None:
        return _put_down_and_go_on(request, document, "")
    if request.htmx:
        return _rows(request, _page(request, document, following), snippet.pk)
    return redirect(_address(document, following))


def _stay(
    request: HtmxHttpRequest, document: Document, focused: int | None, *, action: str
) -> HttpResponse:
    """With this snippet, after a step or after its undo."""
    if not request.htmx:
        return redirect(_address(document, focused))
    page = _page(request, document, focused)
    if action in RESHAPING:
        return _whole(request, page)
    return reswap(_rows(request, page, _key(request.POST, "from")), "none")


def _refused(
    request: HtmxHttpRequest,
    document: Document,
    refusal: BenchError,
    *,
    snippet: Snippet | None = None,
    form: StepForm | None = None,
) -> HttpResponse:
    """One sentence, the bench as it is now, and what was typed."""
    page = _page(request, document, snippet.pk if snippet else None)
    page.refusal = str(refusal)
    if text := (form.cleaned_data.get("text") if form else None):
        keep_text(document, expert=signed_in(request), text=text, now=timezone.now())
        page.give_back(text, snippet)
    return _whole(request, page)


def _invalid(
    request: HtmxHttpRequest, snippet: Snippet, action: str, form: StepForm
) -> HttpResponse:
    page = _page(request, snippet.document, snippet.pk)
    if page.focused and page.focused.snippet.pk == snippet.pk:
        page.forms[action] = form
        page.opened = action
    return _whole(request, page)


def _put_down_and_go_on(request: HtmxHttpRequest, document: Document, reason: str) -> HttpResponse:
    expert, now = signed_in(request), timezone.now()
    try:
        is_settled = put_down(document, expert=expert, reason=reason, now=now)
    except BenchError as refusal:
        return _refused(request, document, refusal)
    outcome = "All its snippets are settled" if is_settled else "Given back for somebody else"
    messages.success(
        request,
        format_html(
            '{}: <a href="{}"><bdi>{}</bdi></a>.', outcome, _address(document, None), document
        ),
    )
    following = take_next(document.project, expert=expert, now=now)
    slug = document.project.slug
    address = (
        _address(following, None) if following else reverse("snippets:bench_list", args=[slug])
    )
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


def _whole(request: HtmxHttpRequest, page: BenchPage) -> HttpResponse:
    """The page or, to htmx, its bench."""
    context = {"project": page.document.project, "document": page.document, "page": page}
    if not request.htmx:
        return render(request, "snippets/bench.html", context)
    response = render(request, "snippets/_bench.html", context)
    return _addressed(retarget(reswap(response, "outerHTML"), "#bench"), page)


def _rows(request: HtmxHttpRequest, page: BenchPage, left: int | None) -> HttpResponse:
    """To htmx: the focused row, the one that was left, and the counts."""
    context = {"project": page.document.project, "document": page.document, "page": page}
    context["left"] = page.row_of(left) if left != page.focused_key else None
    return _addressed(render(request, "snippets/_bench_rows.html", context), page)


def _addressed(response: HttpResponse, page: BenchPage) -> HttpResponse:
    return replace_url(response, _address(page.document, page.focused_key))


def _address(document: Document, focused: int | None) -> str:
    address = reverse("snippets:bench", args=[document.project.slug, document.pk])
    return f"{address}?snippet={focused}" if focused else address


def _document(request: HttpRequest, slug: str, document_id: int) -> Document:
    project = get_project_to_read(request, slug)
    documents = Document.objects.visible_to(request.user).filter(project=project)
    return get_object_or_404(documents.select_related("project").defer("source"), pk=document_id)


def _page(request: HttpRequest, document: Document, focused: int | None) -> BenchPage:
    return BenchPage(document, reader=signed_in(request), asked=focused, now=timezone.now())


def _key(sent: QueryDict, name: str) -> int | None:
    value = sent.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None
