"""axe-core finds nothing on any page, in light and dark, on a desk and on a phone."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from axe_core_python.sync_playwright import Axe
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page

from apps.accounts.models import User
from apps.desk.demo.loader import load_demo
from apps.projects.models import Job, Project
from apps.projects.services.projects import create_project, delete_project
from apps.scenarios.models import Utterance
from apps.snippets.domain.extraction import Format
from apps.snippets.domain.segmentation import Limits
from apps.snippets.models import Question
from apps.snippets.services.ingest import Details, ingest_document
from apps.snippets.services.segmenting_jobs import try_limits
from apps.trees.domain.outline import slots
from apps.trees.domain.redundancy import highest_redundant
from apps.trees.domain.tree import Answer
from apps.trees.models import Cut, Node, Tree
from apps.trees.services.cuts import put_answer, take_out
from apps.trees.services.open_work import NodeCheckWork, PathWork
from apps.trees.services.paths import return_path
from apps.trees.services.walks import ask, give_final_answer
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import Work, lease_first, return_work
from apps.workers.services.submits import save_draft
from tests.browsing import open_session
from tests.factories import make_question, make_snippet, make_user
from tests.journeys.negative_visits import negative_visits
from tests.journeys.qualification_visits import qualification_visits
from tests.journeys.scenario_visits import scenario_visits
from tests.journeys.verification_visits import verification_visits
from tests.permission_table import TABLE
from tests.trees.path_work import growing_tree, node
from tests.trees.rows import grow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DESK, PHONE, NARROWEST = 1280, 375, 300
AXE = Axe().axe_script
# What a page that is dark, but the same page otherwise, can do wrong.
COLOURS = {"runOnly": ["color-contrast"]}
# All rules are tried on all elements. Only what is reported is cut down, to the faults: to
# describe each element that is without fault takes four times as long as to look at it.
LOOK = """async (options) => {
  const found = await axe.run(document, { ...options, resultTypes: ["violations"] });
  const fault = (id, node) => `${id}: ${JSON.stringify(node.target)} ${node.html.slice(0, 120)}`;
  return {
    passes: found.passes.length,
    faults: found.violations.flatMap(({ id, nodes }) => nodes.map((node) => fault(id, node))),
  };
}"""
# So many tests share the pages out among them, for processes that run side by side.
SHARES = 4
# A download is no page.
NO_PAGES = {"exports:download"}


@dataclass(frozen=True)
class Visit:
    """A page to look at, or one of its states: `name` is its URL's, and says which state."""

    name: str
    address: str


@pytest.fixture
def demo(settings, tmp_path) -> Project:
    settings.VAR_DIR = tmp_path
    settings.FETCH_ALLOWED_HOSTS = ["office.example"]
    project = load_demo(now=timezone.now())
    assert project is not None
    return project


def jobs(project: Project) -> dict[str, Job]:
    """A job in every state."""
    ended: dict[str, Any] = {"finished_at": timezone.now()}
    fields: dict[str, dict[str, Any]] = {
        "queued": {},
        "running": {"step": "reading", "done": 3, "total": 9, "heartbeat_at": timezone.now()},
        "failed": {**ended, "error": "sharc_dev.json: item 3 has no answer."},
        "cancelled": ended,
    }
    return {
        state: Job.objects.create(
            project=project, kind="ShARC import", task="exports.import_sharc", state=state,
            parameters={"files": [["sharc_dev.json", "uploads/a"]], "split": None}, **more,
        )
        for state, more in fields.items()
    }  # fmt: skip


def visits_of_an_admin(project: Project) -> Iterator[Visit]:
    slug = project.slug

    def visit(name: str, *arguments: Any, query: str = "", state: str = "") -> Visit:
        return Visit(f"{name} {state}".strip(), reverse(name, args=arguments) + query)

    for name in ("desk:home", "projects:new", "accounts:profile", "accounts:password"):
        yield visit(name)
    ada = User.objects.get(username="ada")
    gone = create_project(Project(slug="gone", name="Gone"), created_by=ada)
    delete_project(gone, actor=ada, now=timezone.now())
    yield visit("projects:deleted")
    for name in (
        "desk:project", "projects:settings", "projects:guidelines", "projects:people",
        "projects:delete", "projects:log", "trees:list", "scenarios:utterances", "exports:list",
        "exports:import", "scenarios:audit", "exports:splits", "exports:split_documents",
        "exports:card",
        "snippets:licences",
    ):  # fmt: skip
        yield visit(name, slug)
    preview = "?train=70&dev=10&test=20&anew=on"
    yield visit("exports:splits", slug, query=preview, state="preview")
    yield visit("projects:guideline", slug, "trees")
    yield from visits_of_first_questions(project)
    yield from visits_of_a_worker(project)
    yield visit("desk:workers", slug)
    yield visit("trees:list", slug, query="?q=zzzz", state="nothing found")
    yield visit("scenarios:utterances", slug, query="?q=zzzz", state="nothing found")
    yield from documents(project)
    yield visit("snippets:bench_list", slug)
    yield visit("snippets:bench", slug, project.documents.order_by("pk")[0].pk)
    for state, job in jobs(project).items():
        yield visit("projects:job", slug, job.pk, state=state)
    done = Job.objects.filter(project=project, state=Job.State.DONE)[0]
    yield visit("projects:job", slug, done.pk, state="done")
    for state, tree in trees(project).items():
        yield visit("trees:detail", slug, tree.tree_id, state=state)
    yield from visits_of_review(project)
    ada = User.objects.get(username="ada")
    yield from (Visit(*one) for one in negative_visits(project, ada))
    yield from (Visit(*one) for one in scenario_visits(project, ada))
    ada = User.objects.get(username="ada")
    yield from (Visit(*one) for one in verification_visits(project, ada))
    ada = User.objects.get(username="ada")
    yield from (Visit(*one) for one in qualification_visits(project, ada))
    for kind in Utterance.Kind.values:
        utterance = Utterance.objects.filter(project=project, kind=kind)[0]
        yield visit("scenarios:utterance", slug, utterance.utterance_id, state=kind)
    yield Visit("a page that is not there", "/p/demo/nothing-here/")
    yield Visit("an address of a form", reverse("workers:next", args=[slug]))


def documents(project: Project) -> Iterator[Visit]:
    """Their pages, with two versions of one that is cut, and the reports of their jobs."""
    ada = User.objects.get(username="ada")
    for text in ("# Costs\n\nIt is free.", "# Costs\n\nIt is ten pounds."):
        loaded = ingest_document(
            project, data=text.encode(), text_format=Format.MARKDOWN, author=ada,
            details=Details(source_url="https://office.example/costs"),
        )  # fmt: skip
    for name in ("documents", "snippets", "numbers", "upload", "paste", "fetch", "segmentation"):
        yield Visit(f"snippets:{name}", reverse(f"snippets:{name}", args=[project.slug]))
    for name in ("documents", "snippets"):
        address = reverse(f"snippets:{name}", args=[project.slug])
        yield Visit(f"snippets:{name} nothing found", f"{address}?q=zzzz")
    for name in ("document", "document_details"):
        address = reverse(f"snippets:{name}", args=[project.slug, loaded.document.pk])
        yield Visit(f"snippets:{name}", address)
    for kind, report in reports(project, ada).items():
        job = Job.objects.create(
            project=project, kind=kind, state="done", finished_at=timezone.now(), report=report
        )
        yield Visit(f"projects:job {kind}", job.get_absolute_url())


def reports(project: Project, ada: User) -> dict[str, Any]:
    files = [
        {"name": "a.txt", "outcome": "created", "snippets": 1, "document": 1, "version": 1},
        {"name": "b.txt", "outcome": "failed", "reason": "There is no text in its body."},
    ]
    tried = try_limits(project, limits=Limits(max_words=1), author=ada)
    return {
        "document ingest": {
            "files": files, "counts": {"created": 1, "failed": 1}, "snippets": 1,
            "missing": ["gone.txt"],
        },
        "segmentation": tried,
        "segmentation preview": tried,
    }  # fmt: skip


def visits_of_first_questions(project: Project) -> Iterator[Visit]:
    def visit(name: str, *arguments: Any, query: str = "", state: str = "") -> Visit:
        address = reverse(name, args=[project.slug, *arguments]) + query
        return Visit(f"{name} {state}".strip(), address)

    for state, (name, key) in first_questions(project).items():
        yield visit(name, key, state=state)
    for name in ("snippets:questions", "workers:mine", "workers:leases"):
        yield visit(name)
    yield visit("snippets:questions", query="?q=zzzz", state="nothing found")
    yield visit("workers:leases", query="?state=returned")


def first_questions(project: Project) -> dict[str, tuple[str, int]]:
    """The bench and the check of an admin, with one work that is over: address and key."""
    ada, now = User.objects.get(username="ada"), timezone.now()
    document = project.documents.all()[0]
    over, work, check = (
        make_assignment(project, ada, kind, key)
        for kind, key in (
            (Kind.QUESTION, make_snippet(document).pk),
            (Kind.QUESTION, make_snippet(document).pk),
            (Kind.QUESTION_CHECK, make_question(make_snippet(document), state="proposed").pk),
        )
    )
    return_work(over, reason="Too hard.", now=now)
    sent_back = make_question(
        make_snippet(document), created_by=ada, state="sent back", check_note="Too much.",
        checked_by=make_user(), checked_at=now,
    )  # fmt: skip
    accepted = Question.objects.filter(state="accepted", tree=None, snippet__document=document)
    return {
        "": ("snippets:question_work", work.pk),
        "over": ("snippets:question_work", over.pk),
        "check": ("snippets:question_check", check.pk),
        "sent back": ("snippets:question", sent_back.pk),
        "accepted": ("snippets:question", (accepted.first() or sent_back).pk),
    }


def visits_of_a_worker(project: Project) -> Iterator[Visit]:
    """The page of a path in each of its phases, of work that is over, and of a check."""
    ada, now = User.objects.get(username="ada"), timezone.now()
    begun, new = growing_tree(project), [growing_tree(project, None) for _ in range(3)]
    disputed = growing_tree(project)
    Node.objects.filter(tree=disputed).update(disputed_at=now)
    works = {
        "check": PathWork(Kind.PATH, begun.pk, f"{node(begun, '').pk}-yes"),
        "ask": PathWork(Kind.PATH, new[0].pk, "root"),
        "end": PathWork(Kind.PATH, new[1].pk, "root"),
        "over": PathWork(Kind.PATH, new[2].pk, "root"),
        "turn": NodeCheckWork(Kind.NODE_CHECK, node(disputed, "").pk),
    }
    leases = {
        state: lease_first([work], project=project, worker=ada, now=now)
        for state, work in works.items()
    }
    for state, lease in leases.items():
        assert lease is not None
        if state in {"end", "over"}:
            ask(lease, position=0, text="Are you over 18?", span=(4, 15), now=now)
        if state == "end":
            give_final_answer(lease, position=1, answer=Answer.NO, now=now)
        if state == "over":
            return_path(lease, reason="Too hard.", now=now)
        name = "trees:node_check" if state == "turn" else "trees:path"
        yield Visit(f"{name} {state}", reverse(name, args=[project.slug, lease.pk]))


def make_assignment(project: Project, worker: User, kind: Kind, key: int) -> Assignment:
    leased = lease_first(
        [Work(kind, key)], project=project, worker=worker, now=timezone.now()
    )  # fmt: skip
    assert leased is not None
    save_draft(
        leased.pk, worker=worker, version=1, content={"text": "Who?", "note": "Who?"},
        now=timezone.now(),
    )  # fmt: skip
    return leased


def visits_of_review(project: Project) -> Iterator[Visit]:
    """What experts settle and compare, and a tree on which much has been done."""

    def visit(name: str, *arguments: Any, query: str = "", state: str = "") -> Visit:
        address = reverse(name, args=[project.slug, *arguments]) + query
        return Visit(f"{name} {state}".strip(), address)

    yield visit("trees:to_settle")
    yield visit("trees:to_settle", query="?kind=near", state="nothing of this kind")
    yield visit("trees:prune_all")
    finished = Tree.objects.finished().filter(project=project).order_by("pk")
    one, other, much = finished[0], finished[1], finished[2]
    yield visit("trees:compare", one.tree_id)
    for state, with_tree in (("different", other), ("equal", grow(project, one.to_domain()))):
        query = f"?other={with_tree.tree_id}"
        yield visit("trees:compare", one.tree_id, query=query, state=state)
    ada, now = User.objects.get(username="ada"), timezone.now()
    leaf = much.nodes.live().filter(kind="answer")[0]
    put_answer(leaf, Answer.YES, actor=ada, reason="Read line 2.", now=now)
    much.comments.create(text="Better so.", author=ada, node=leaf)
    cut_off = much.nodes.live().filter(kind="answer").order_by("-pk")[0]
    take_out(cut_off, kind=Cut.Kind.REJECTED, actor=ada, reason="Wrong.", now=now)
    yield visit("trees:history", much.tree_id)
    yield visit("trees:detail", much.tree_id, state="with cuts and comments")
    slot = f"{cut_off.parent_id}-{cut_off.branch}"
    yield visit("trees:detail", much.tree_id, query=f"?node={slot}", state="an open branch")


def trees(project: Project) -> dict[str, Tree]:
    """One tree of each kind that looks different."""
    rows = list(Tree.objects.filter(project=project).with_source())
    return {
        "finished": next(tree for tree in rows if tree.state == Tree.State.FINISHED),
        "growing": next(tree for tree in rows if tree.state == Tree.State.GROWING),
        "redundant": next(tree for tree in rows if any(highest_redundant(tree.to_domain()))),
        **{
            language: next(
                tree for tree in rows if tree.question.snippet.document.language == language
            )
            for language in ("ja", "ar")
        },
    }


def faults_of(page: Page, name: str) -> list[str]:
    """What axe-core finds on the page, in light and dark, on a desk and on a phone."""
    look(page, DESK, "light")
    faults = axe(page, f"{name}, desk")
    look(page, DESK, "dark")
    faults += axe(page, f"{name}, desk, dark", COLOURS)
    look(page, PHONE, "dark")
    faults += axe(page, f"{name}, phone, dark", COLOURS)
    look(page, PHONE, "light")
    faults += axe(page, f"{name}, phone")
    for width in (PHONE, NARROWEST):
        look(page, width, "light")
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            faults.append(f"{name}: wider than {width} px")
    return faults


def look(page: Page, width: int, scheme: Literal["light", "dark"]) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)


def axe(page: Page, name: str, options: dict[str, Any] | None = None) -> list[str]:
    """The violations, each in one line. It must have looked at something to find nothing."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate(LOOK, options or {})
    assert found["passes"], f"{name}: axe-core looked at nothing"
    return [f"{name}: {fault}" for fault in found["faults"]]


def faults_at(page: Page, visits: Iterable[Visit]) -> list[str]:
    faults = []
    for visit in visits:
        page.goto(visit.address)
        faults += faults_of(page, visit.name)
    return faults


@pytest.fixture
def page(browser, live_server, demo) -> Iterator[Page]:
    # Without motion: half-way from light to dark, contrast is nobody's.
    context = browser.new_context(base_url=live_server.url, reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture
def as_person(page, live_server) -> Callable[[str], Page]:
    def log_in_as(username: str) -> Page:
        opened: Page = page
        open_session(opened.context, User.objects.get(username=username), live_server.url)
        return opened

    return log_in_as


@pytest.mark.parametrize("share", range(SHARES))
def test_axe_finds_nothing_on_any_page(as_person, demo, share):
    visits = list(visits_of_an_admin(demo))
    assert faults_at(as_person("ada"), visits[share::SHARES]) == []


def test_axe_finds_nothing_on_the_page_to_log_in(page):
    assert faults_at(page, [Visit("accounts:login", reverse("accounts:login"))]) == []


@pytest.mark.once
def test_every_page_is_looked_at(demo):
    looked_at = {visit.name.split(" ")[0] for visit in visits_of_an_admin(demo)}
    pages = {name for name, row in TABLE.items() if 200 in row.GET} - NO_PAGES
    assert pages - looked_at == {"accounts:login"}


def test_axe_finds_a_fault_that_is_there(page):
    page.goto(reverse("accounts:login"))
    page.evaluate("document.querySelector('#id_username').labels[0].remove()")
    assert {fault.split(": ")[1] for fault in faults_of(page, "log in")} == {"label"}


def test_axe_finds_nothing_in_the_forms_of_a_trees_page(as_person, demo):
    page = as_person("ada")
    tree = next(tree for tree in Tree.objects.growing() if tree.nodes.exists())
    question = tree.nodes.live().filter(kind="question")[0]
    leaf = tree.nodes.live().filter(kind="answer")[0]
    open_branch = next(slot for slot in slots(tree.to_domain()) if slot.is_open)
    faults = []
    for name in (question.pk, leaf.pk, open_branch.name):
        page.goto(f"{reverse('trees:detail', args=[demo.slug, tree.tree_id])}?node={name}")
        page.evaluate("document.querySelectorAll('.review details').forEach(d => d.open = true)")
        faults += faults_of(page, f"trees:detail {name}")
    page.get_by_role("button", name="Give it to them").evaluate(
        "button => { button.form.noValidate = true; button.click() }"
    )
    page.get_by_text("Choose a person.").first.wait_for()
    assert faults + faults_of(page, "trees:give, refused") == []


@pytest.mark.parametrize("username", ["akiko", "haruka"])
def test_axe_finds_nothing_on_what_experts_and_workers_see(as_person, demo, username):
    visits = [Visit("desk:home", reverse("desk:home"))]
    for name in ("desk:project", "projects:guidelines"):
        visits.append(Visit(name, reverse(name, args=[demo.slug])))
    assert faults_at(as_person(username), visits) == []


def test_axe_finds_nothing_on_forms_with_errors(page, as_person, demo):
    page.goto(reverse("accounts:login"))
    page.locator("#id_username").fill("ada")
    page.locator("#id_password").fill("not it")
    page.get_by_role("button", name="Log in").click()
    faults = faults_of(page, "log in, refused")
    as_person("ada")
    page.goto(reverse("exports:import", args=[demo.slug]))
    page.get_by_role("main").locator("form").evaluate("form => { form.noValidate = true }")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("alert").wait_for()
    assert faults + faults_of(page, "import, refused") == []
