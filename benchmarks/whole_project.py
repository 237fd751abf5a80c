"""A project from documents to a release, by scripted people through the services of the pages.

Documents are ingested; an expert accepts snippets and writes first questions, which another one
checks; workers grow the trees, write scenarios and check each other's; negatives are mined, splits
made, trees expanded; an expert verifies dev and test; the answers are proven, the dataset is
audited, exported as a release, and the export is checked. What each step comes to is printed.
Works on a temporary database of the kind that DATABASE_URL names.
Usage: python -m benchmarks.whole_project [documents]
"""

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import StringIO
from itertools import count
from pathlib import Path

from benchmarks._studio import arguments, temporary_database

# isort: split
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.projects.services.projects import add_member, create_project
from apps.scenarios.models import Scenario, ScenarioCheck, Utterance
from apps.scenarios.services import verification
from apps.scenarios.services.fact_sheets import decide_sheet
from apps.scenarios.services.proof import (
    find_inconsistency,
    findings_of,
    numbers_of,
    prove,
    waive,
)
from apps.scenarios.services.scenario_checks import (
    sheet_now,
)
from apps.scenarios.verification_page import next_to_verify
from apps.snippets.models import Snippet
from apps.snippets.services.bench import accept_all
from apps.snippets.services.bench_leases import put_down, take_next
from apps.snippets.services.question_checks import approve_question, take_check
from apps.snippets.services.questions import submit_question, take_question
from apps.trees.models import Tree

SLUG = "whole"
WORKERS = 16
SUBJECTS = ("buses", "bees", "boats", "barns", "bikes", "beaches", "bridges", "bakeries")

Say = Callable[[str], object]
Counts = dict[str, dict[str, int]]


@dataclass(frozen=True)
class People:
    admin: User
    expert: User
    checker: User


# Documents and first questions ------------------------------------------------------------------


def write_documents(folder: Path, number: int) -> None:
    """Pages of one office, with two rules each, and the list that says where they come from."""
    index = []
    for page, name in zip(range(number), _subjects(), strict=False):
        (folder / f"{name}.md").write_text(
            f"# Permits for {name}\n\nYou can get a permit for {name} if you are over 18 and live "
            f"in the district.\n\n## Fees for {name}\n\nYou pay no fee for {name} if:\n\n"
            f"* you are a student\n* you asked before June {page + 1}\n",
            encoding="utf-8",
        )
        index.append({
            "file": f"{name}.md", "source_url": f"https://office.example/{name}",
            "title": f"All about {name}", "licence": "Open Government Licence v3.0",
        })  # fmt: skip
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")


def _subjects() -> Iterator[str]:
    for again in count():
        yield from (f"{name}{again or ''}" for name in SUBJECTS)


def make_project() -> tuple[Project, People]:
    people = People(*(
        User.objects.create(username=name) for name in ("whole-admin", "whole-ada", "whole-ben")
    ))  # fmt: skip
    project = create_project(
        Project(
            slug=SLUG, name="A whole project", max_depth=2, question_checks=True,
            scenarios_per_finished_tree=2, checks_per_scenario=1,
        ),
        created_by=people.admin,
    )  # fmt: skip
    for expert in (people.expert, people.checker):
        add_member(project, user=expert, role=Role.EXPERT, actor=people.admin)
    return project, people


def settle_snippets(project: Project, expert: User) -> None:
    while document := take_next(project, expert=expert, now=timezone.now()):
        accept_all(document, expert=expert, now=timezone.now())
        put_down(document, expert=expert, reason="", now=timezone.now())


def write_questions(project: Project, people: People) -> None:
    while lease := take_question(project, expert=people.expert, now=timezone.now()):
        heading = Snippet.objects.get(pk=lease.work_id).text.splitlines()[0].lstrip("# ")
        submit_question(
            lease, text=f"What about me: {heading.lower()}?", key=f"k{lease.pk}",
            now=timezone.now(),
        )  # fmt: skip
    while lease := take_check(project, expert=people.checker, now=timezone.now()):
        approve_question(lease, key=f"k{lease.pk}", now=timezone.now())


# Trees and scenarios ----------------------------------------------------------------------------


def grow_and_write(project: Project) -> dict[str, int]:
    """Workers grow the trees, write scenarios and check each other's, until all is done."""
    grown = _numbers(command(
        "simulate_workers", f"--project={project.slug}", f"--workers={WORKERS}", "--until-done",
        "--seed=1", "--rejections=0", "--crashes=0",
    ))  # fmt: skip
    return {name: grown[name] for name in ("trees finished", "live nodes", "accepted")}


def scenarios(project: Project) -> dict[str, int]:
    rows = Scenario.objects.filter(tree__project=project)
    return {
        "kept": rows.kept().count(),
        "sent back": rows.filter(state=Scenario.State.SENT_BACK).count(),
        "checks": ScenarioCheck.objects.filter(scenario__in=rows).count(),
    }


def decide_disputes(project: Project, expert: User) -> int:
    """The expert finds that the writers were right."""
    disputed = Scenario.objects.filter(tree__project=project, state=Scenario.State.DISPUTED)
    rows = list(disputed.select_related("tree"))
    for one in rows:
        decide_sheet(one, sheet_now(one), seen=one.sheet_version, expert=expert, now=timezone.now())
    return len(rows)


# Verification and release -----------------------------------------------------------------------


def verify(project: Project, expert: User) -> dict[str, int]:
    """Each in turn: what does not follow is dropped, and one in ten; another one with a scenario
    is corrected."""
    counts = {"accepted": 0, "corrected": 0, "dropped": 0}
    after = None
    for number in count():
        now = timezone.now()
        key = next_to_verify(project, expert, after=after, now=now)
        if key is None:
            return counts
        after = Utterance.objects.select_related("tree__question__snippet__document").get(
            project=project, utterance_id=key
        )
        found = find_inconsistency(after.tree.to_domain(), after.kind, after.parts)
        if found or number % 10 == 9:
            verification.drop(after, reason="It is odd.", seen=after.version, by=expert, now=now)
            counts["dropped"] += 1
        elif after.scenario and number % 10 == 4:
            parts = replace(after.parts, scenario=f"{after.scenario} Really.")
            verification.correct(after, parts, seen=after.version, by=expert, now=now)
            counts["corrected"] += 1
        else:
            verification.accept(after, seen=after.version, by=expert, now=now)
            counts["accepted"] += 1
    raise AssertionError  # `count` does not end


def waive_the_rest(project: Project, expert: User) -> dict[str, int]:
    """Two people may ask the same on one path, and then a path of train contradicts itself."""
    prove(project)
    counts = {"found": 0}
    for row in numbers_of(project)["reasons"]:
        if number := row["open"]:
            counts["found"] += number
            waive(findings_of(project), reason=row["reason"], number=number, why="It is made up.",
                  by=expert, now=timezone.now())  # fmt: skip
    proven = numbers_of(project)
    return {**counts, **{name: proven[name] for name in ("blocking", "unproven")}}


def command(name: str, *arguments: str) -> str:
    out = StringIO()
    call_command(name, *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def _numbers(text: str) -> dict[str, int]:
    """Lines such as `trees finished: 12`."""
    found = re.findall(r"^([a-z][a-z :_]*): ([\d,]+)$", text, re.MULTILINE)
    return {name: int(number.replace(",", "")) for name, number in found}


def run(folder: Path, *, documents: int, say: Say) -> Counts:
    """All steps; what each came to, by its name."""
    counts: Counts = {}

    def tell(step: str, numbers: dict[str, int]) -> None:
        counts[step] = numbers
        shown = ", ".join(f"{name} {number:,}" for name, number in numbers.items())
        say(f"{step:<14}{shown}\n")

    pages = folder / "pages"
    pages.mkdir()
    write_documents(pages, documents)
    project, people = make_project()
    snippets = Snippet.objects.filter(document__project=project)
    command("ingest_documents", str(pages), f"--project={SLUG}", f"--index={pages}/index.json")
    tell("documents", {"loaded": project.documents.count(), "snippets": snippets.count()})
    settle_snippets(project, people.expert)
    write_questions(project, people)
    ready = snippets.filter(questions__state="accepted")
    left = snippets.count() - ready.count()
    tell("questions", {"accepted": ready.count(), "snippets left": left})
    tell("trees", grow_and_write(project))
    flagged = Tree.objects.filter(project=project).flagged()
    tell("redundant", {"trees for an expert": flagged.count()})
    disputed = decide_disputes(project, people.expert)
    tell("scenarios", {**scenarios(project), "disputed": disputed})
    tell("negatives", _negatives(project))
    command("make_splits", f"--project={SLUG}", "--ratios", "0.4", "0.3", "0.3")
    command("expand_utterances", f"--project={SLUG}")
    tell("utterances", _utterances(project))
    tell("verification", verify(project, people.expert))
    tell("proof", waive_the_rest(project, people.expert))
    audit = json.loads(command("audit_dataset", f"--project={SLUG}", "--json"))
    tell("audit", {name: audit[name] for name in ("trees", "utterances", "hard")})
    tell("release", _release(project, folder / "release"))
    return counts


def _negatives(project: Project) -> dict[str, int]:
    command("mine_negatives", f"--project={SLUG}", "--threshold=0.9")
    trees = Tree.objects.filter(project=project)
    return {
        kind: sum(getattr(tree, f"negative_{kind}").count() for tree in trees)
        for kind in ("questions", "scenarios")
    }


def _utterances(project: Project) -> dict[str, int]:
    rows = Utterance.objects.filter(project=project).in_force()
    return {
        **{kind.label.lower(): rows.filter(kind=kind).count() for kind in Utterance.Kind},
        **{split: rows.in_split(split).count() for split in ("train", "dev", "test")},
    }


def _release(project: Project, out: Path) -> dict[str, int]:
    """Of dev and test: utterances in the files, and in the database."""
    splits = ("dev", "test")
    command("export", f"--project={SLUG}", "--format=csv", f"--out={out}", "--splits", *splits)
    checked = command("check_export", str(out))
    rows = Utterance.objects.filter(project=project).in_force().in_splits(splits)
    in_files = re.findall(r"csv: ([\d,]+) in ", checked)
    return {
        "in the files": sum(int(number.replace(",", "")) for number in in_files),
        "in the dataset": rows.count(),
    }


def main() -> int:
    [documents] = arguments(6)
    with temporary_database(), tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(f"{documents:,} documents, {connection.vendor}\n")
        counts = run(Path(folder), documents=documents, say=sys.stdout.write)
    release = counts["release"]
    return int(release["in the files"] != release["in the dataset"])


if __name__ == "__main__":
    sys.exit(main())
