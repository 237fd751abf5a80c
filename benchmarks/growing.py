"""How long many scripted workers take to grow many trees, with all their nuisances.

Each worker is a thread with a connection of its own, and never pauses. Afterwards all rows are
looked at for what must never be: a tree that is not full, two nodes on one branch, somebody who
went on below or checked their own turn, work that went to too many, a lease that is left. Works on
a temporary database of the kind that DATABASE_URL names; 64 workers on PostgreSQL, 20 on SQLite.
Usage: python -m benchmarks.growing [trees] [workers]
"""

import sys
from collections.abc import Callable

from benchmarks._studio import arguments, temporary_database

# isort: split
from django.db import connection

from apps.projects.models import Project
from apps.snippets.models import Document, Question, Snippet
from apps.trees.simulation.people import make_people
from apps.trees.simulation.run import Report, Run
from apps.trees.simulation.script import Rates
from apps.trees.simulation.service_hands import ServiceHands
from apps.workers.models import Assignment

RATES = Rates(returns=0.05, rejections=0.08, slow=0.05, double=0.1, crashes=0.08)
SEED = "growing"
HALVES: dict[str, dict[str, int]] = {
    "a rejection counts at once": {},
    "a rejection counts when two of three say so": {"rejection_votes": 2, "rejection_voters": 3},
}


def make_project(trees: int, **votes: int) -> Project:
    project = Project.objects.create(
        slug=f"growing-{Project.objects.count()}", name="Growing", max_depth=3, active_trees=50,
        scenarios_per_finished_tree=0,
        **votes,
    )  # fmt: skip
    document = Document.objects.create(
        project=project, source_url="https://office.example/", domain="office.example",
        title="Grants",
    )  # fmt: skip
    for number in range(trees):
        text = (
            f"# Grant {number}\n\nYou can claim grant {number} if you are over 18. "
            f"You cannot claim it if you have left the district."
        )
        snippet = Snippet.objects.create(
            document=document, position=number, text=text, state=Snippet.State.ACCEPTED
        )
        Question.objects.create(snippet=snippet, text="Can I claim the grant?")
    return project


def grow(project: Project, workers: int, say: Callable[[str], object]) -> Report:
    return Run(
        project=project,
        people=make_people(project, workers),
        hands=lambda person: ServiceHands(project, person, SEED),
        rates=RATES,
        seed=SEED,
        until_done=True,
        progress=say,
    )()


def print_report(report: Report, say: Callable[[str], object]) -> None:
    say(f"{'trees finished':<28}{report.trees:>8,}\n{'live nodes':<28}{report.nodes:>8,}\n")
    for what, number in report.counts.items():
        say(f"{what:<28}{number:>8,}\n")
    say(f"{'rows submitted':<28}{report.submitted:>8,}\n")
    say(f"{'leases left':<28}{Assignment.objects.leased().count():>8,}\n")
    say(f"{'seconds':<28}{report.seconds:>8.1f}\n")
    for line in (*report.faults, report.stuck, report.failure):
        say(f"{line}\n" if line else "")


def progress(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def is_proof(report: Report) -> bool:
    left = Assignment.objects.leased().exists()
    wrong = report.failure or report.faults or report.stuck or left
    return not wrong and report.submitted == report.counts["accepted"]


def main() -> int:
    trees, workers = arguments(300, 64 if connection.vendor == "postgresql" else 20)
    with temporary_database():
        sys.stdout.write(f"growing, {connection.vendor}: {trees:,} trees, {workers} workers\n")
        proofs = []
        for half in HALVES:
            sys.stdout.write(f"-- {half}\n")
            report = grow(make_project(trees // 2, **HALVES[half]), workers, progress)
            print_report(report, sys.stdout.write)
            proofs.append(is_proof(report))
    return 0 if all(proofs) else 1


if __name__ == "__main__":
    sys.exit(main())
