"""manage.py simulate_workers --project SLUG --workers N [--until-done] [--seed N] [rates]"""

import argparse
import secrets
from collections.abc import Callable, Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.accounts.models import User
from apps.projects.commands import StudioCommand
from apps.projects.models import Project
from apps.trees.simulation.browser import does_answer
from apps.trees.simulation.hands import Hands
from apps.trees.simulation.page_hands import PageHands
from apps.trees.simulation.people import make_people, passwords
from apps.trees.simulation.run import Report, Run
from apps.trees.simulation.script import RATES, Rates
from apps.trees.simulation.service_hands import ServiceHands

MOST_PEOPLE = 500
HELP = {
    "returns": "gives the work back, before or after a few turns",
    "rejections": "rejects a turn of somebody else",
    "slow": "submits after the lease has run out",
    "double": "clicks twice at the same moment",
    "crashes": "goes away in the middle; half of them do not come back before the lease ends",
}


class Command(StudioCommand):
    help = (
        "Lets scripted people grow the project's trees, write scenarios and check each other's, "
        "through the services that the pages use, "
        "each in a thread: sim-0001, sim-0002, … with accounts that nobody can log in with. "
        "Without --until-done each does one piece of work. Through the pages (--http) they write "
        "and check scenarios, too."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--workers", required=True, type=_number_of_people, metavar="N")
        parser.add_argument(
            "--until-done", action="store_true",
            help="go on until all trees are finished; exit code 1 and the reason if they cannot be",
        )  # fmt: skip
        parser.add_argument(
            "--seed", metavar="N",
            help="the same choices again, and the same simulated users for trees that begin; "
            "with --workers 1 --double 0, the same trees",
        )  # fmt: skip
        parser.add_argument(
            "--http", type=_site, metavar="URL",
            help="through the pages of a server with this database, such as http://127.0.0.1:8000",
        )  # fmt: skip
        for name in RATES:
            default = getattr(Rates, name)
            parser.add_argument(
                f"--{name}", type=_rate, default=default, metavar="SHARE",
                help=f"share of the pieces of work in which somebody {HELP[name]} "
                f"(0 to 1; {default})",
            )  # fmt: skip

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project {options['project']}: there is no such project")
        if options["http"] and not does_answer(options["http"]):
            raise CommandError(
                f"--http {options['http']}: nothing answers there; start the server, or correct "
                "the address"
            )
        report = self._run(project, options)
        self._print(report)
        if wrong := "; ".join(_what_went_wrong(report)):
            raise CommandError(wrong)

    def _run(self, project: Project, options: dict[str, Any]) -> Report:
        people = make_people(project, options["workers"])
        seed = options["seed"] or ""
        if not (site := options["http"]):
            return self._work(
                options, project, people, lambda one: ServiceHands(project, one, seed)
            )
        with passwords(people) as drawn:
            return self._work(
                options, project, people,
                lambda one: PageHands(site, project, one, drawn[one.pk]),
            )  # fmt: skip

    def _work(
        self, options: dict[str, Any], project: Project, people: list[User],
        hands: Callable[[User], Hands],
    ) -> Report:  # fmt: skip
        run = Run(
            project=project,
            people=people,
            hands=hands,
            rates=Rates(**{name: options[name] for name in RATES}),
            seed=options["seed"] or secrets.token_hex(8),
            until_done=options["until_done"],
            progress=self.stderr.write,
        )
        return run()

    def _print(self, report: Report) -> None:
        self.stdout.write(f"trees finished: {report.trees:,}")
        self.stdout.write(f"live nodes: {report.nodes:,}")
        for what, number in report.counts.items():
            self.stdout.write(f"{what}: {number:,}")
        self.stdout.write(f"seconds: {report.seconds:.1f}")


def _what_went_wrong(report: Report) -> Iterator[str]:
    """What a reader can do something about comes before what follows from it."""
    if report.stuck:
        yield f"not done: {report.stuck}"
    if report.faults:
        yield "what must never be: " + "; ".join(report.faults)
    if report.before:
        yield "what must never be, and was so before this run: " + "; ".join(report.before)
    if report.submitted != report.counts.get("accepted", 0):
        yield f"{report.submitted:,} submits are stored, and not as many accepted"
    if report.failure:
        yield f"somebody met an error that is no refusal:\n{report.failure}"


def _number_of_people(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_PEOPLE:
        raise argparse.ArgumentTypeError(f"a number of people from 1 to {MOST_PEOPLE}")
    return int(text)


def _site(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError("an address that begins with http:// or https://")
    return text


def _rate(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("a share from 0 to 1")
    return share
