"""manage.py audit_dataset --project SLUG [--json]"""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.projects.commands import StudioCommand
from apps.projects.models import Project
from apps.scenarios.services.audit import Judged, Scope, audit_here, judge, why_unknown


class Command(StudioCommand):
    help = (
        "Measures what the utterances of a project give away to somebody who never reads the "
        "rule, against what a release may reach."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--tree", metavar="ID", help="only this tree")
        parser.add_argument("--worker", metavar="NAME",
                            help="only trees in which this person wrote")  # fmt: skip
        parser.add_argument("--batch", type=int, metavar="JOB",
                            help="only trees on documents that this job brought in; its number "
                            "stands in its address")  # fmt: skip
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project {options['project']}: there is no such project")
        scope = _scope(project, options)
        job = audit_here(project, scope, author=None, progress=self._progress)
        judged = judge(project, job.report)
        if options["json"]:
            limits = {one.figure["code"]: one for one in judged}
            for figure in job.report["figures"]:
                one = limits[figure["code"]]
                figure.update(limit=one.most, limit_is_own=one.is_own, waiver=one.waiver,
                              blocks=one.blocks)  # fmt: skip
            self.stdout.write(json.dumps(job.report, ensure_ascii=False, indent=2))
            return
        self.stdout.write(
            f"{job.report['utterances']:,} utterances of {job.report['trees']:,} finished trees; "
            f"{job.report['hard']:,} that no partial model gets right"
        )
        for one in judged:
            self.stdout.write(_line(one))

    def _progress(self, step: str, done: int, total: int) -> None:
        self.stderr.write(step)


def _scope(project: Project, options: dict[str, Any]) -> Scope:
    for name in ("tree", "worker"):
        if options[name] == "":
            raise CommandError(f"--{name}: is empty")
    batch = options["batch"]
    if batch is not None and not 0 < batch < 2**31:
        raise CommandError(f"--batch {batch}: is no number of a job")
    scope = Scope(options["tree"] or "", options["worker"] or "", batch or 0)
    if not scope.is_all and (reason := why_unknown(project, scope)):
        raise CommandError(f"--{reason}")
    return scope


def _line(one: Judged) -> str:
    figure = one.figure
    value = "nothing to measure" if figure["value"] is None else f"{figure['value']:.1%}"
    counted = "" if figure["of"] is None else f" ({figure['hits']:,} of {figure['of']:,})"
    limit = ""
    if one.most is not None:
        word = "within" if one.passes else "waived" if one.waiver else "over"
        limit = f"; {word} the {'project’s own' if one.is_own else 'usual'} limit of {one.most:.0%}"
    return f"{figure['label']}: {value}{counted}{limit}"
