"""The page of what an expert has to settle: one flagged question with all that is needed for it."""

from dataclasses import dataclass

from django.db.models import Count
from django.utils.safestring import SafeString

from apps.projects.models import Project
from apps.trees.domain.changes import fingerprint
from apps.trees.domain.tree import Path, Question, Turn, questions
from apps.trees.markup import plain_outline
from apps.trees.models import Flag, FlagQuerySet, build

WHY = {
    Flag.Kind.ONE_ANSWER: "Whatever is answered, the outcome is the same. Either the question is "
    "needless, or one of the answers below it is wrong.",
    Flag.Kind.SAME_BRANCHES: "So the question changes nothing. "
    "Either it is needless, or one of the sides is wrong.",
    Flag.Kind.ASKED_TWICE: "The same question was asked before on this path; nobody answers it "
    "another way the second time.",
    Flag.Kind.NEAR: "A question before it on this path says nearly the same. They may still differ "
    "in what matters.",
}


@dataclass(frozen=True)
class Waiting:
    """How many questions wait for an expert, by reason."""

    kind: str
    label: str
    count: int


@dataclass(frozen=True)
class Settling:
    """A flag, with its question's path, the question that it repeats, and both of its branches."""

    flag: Flag
    why: str
    path: Path
    earlier: Turn | None
    yes: SafeString
    no: SafeString
    seen: str
    count: int


def waiting_flags(project: Project, kind: str = "") -> FlagQuerySet:
    flags = Flag.objects.open().filter(tree__project=project).order_by("pk")
    return flags.filter(kind=kind) if kind else flags


def counts_of(project: Project) -> list[Waiting]:
    """By reason, those that there are; one query."""
    rows = waiting_flags(project).order_by().values_list("kind").annotate(Count("pk"))
    counts = dict(rows)
    return [Waiting(kind, kind.label, counts[kind]) for kind in Flag.Kind if counts.get(kind.value)]


def next_flag(project: Project, *, kind: str, after: int) -> Flag | None:
    """The next one after this key, or else the first."""
    flags = with_details(waiting_flags(project, kind))
    return flags.filter(pk__gt=after).first() or flags.first()


def with_details(flags: FlagQuerySet) -> FlagQuerySet:
    """Each with what its page shows, in the same query."""
    return flags.select_related(
        "node__created_by", "other", "tree__question__snippet__document", "tree__project"
    )


def settling(flag: Flag) -> Settling | None:
    """None when the tree has lost the question meanwhile. One query."""
    rows = list(flag.tree.nodes.live())
    shape = build(rows)
    found = [one for one in questions(shape) if one[1].key == flag.node_id]
    if not found:
        return None
    path, question = found[0]
    below = [row for row in rows if row.place.startswith(flag.node.place)]
    return Settling(
        flag=flag,
        why=WHY[Flag.Kind(flag.kind)],
        path=path,
        earlier=_earlier(flag, path, question),
        yes=plain_outline(question.yes),
        no=plain_outline(question.no),
        seen=fingerprint((row.pk, str(row)) for row in below),
        count=len(below),
    )


def _earlier(flag: Flag, path: Path, question: Question) -> Turn | None:
    if flag.kind == Flag.Kind.ASKED_TWICE:
        return next((turn for turn in path if turn.folded[0] == question.folded), None)
    if flag.other is not None:
        return next((turn for turn in path if turn.follow_up_question == flag.other.text), None)
    return None
