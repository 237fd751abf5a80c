"""Why work that is left goes to nobody, in words."""

from collections.abc import Iterator
from datetime import datetime

from apps.accounts.models import User
from apps.projects.models import Project
from apps.trees.models import Node, Tree
from apps.trees.services.open_work import has_twin, waiting_questions
from apps.workers.models import WORKER_KINDS, Assignment
from apps.workers.services.qualification import barred_kinds


def is_done(project: Project) -> bool:
    """Whether all trees are finished, and no first question waits for one."""
    return not Tree.objects.growing().filter(project=project).exists() and not _waiting(project)


def _waiting(project: Project) -> int:
    """First questions without a tree; one that is asked of the same rule text gets none."""
    questions = waiting_questions(project)
    return sum(not has_twin(question, project=project) for question in questions)


def what_is_left(project: Project, people: list[User], *, now: datetime) -> str:
    """One line."""
    return "; ".join(_reasons(project, people, now)) or "no work is open, and nothing says why"


def _reasons(project: Project, people: list[User], now: datetime) -> Iterator[str]:
    held = Assignment.objects.lasting(now).filter(project=project, kind__in=WORKER_KINDS)
    others = held.exclude(worker__in=people)
    if last := others.order_by("-expires_at").first():
        yield (
            f"{_count(others.count(), 'piece of work is', 'pieces of work are')} in other people's "
            f"hands, until {last.expires_at:%Y-%m-%d %H:%M} UTC at the latest"
        )
    barred = sum(bool(barred_kinds(project, worker=one, now=now)) for one in people)
    if barred:
        who = _count(barred, "scripted person lacks", "scripted people lack")
        yield f"{who} the qualification that this project wants; give it to them, on its page"
    growing = Tree.objects.growing().filter(project=project)
    if trees := growing.count():
        yield (
            f"{_count(trees, 'tree is', 'trees are')} not finished: each of {len(people)} scripted "
            f"people wrote above {'its' if trees == 1 else 'their'} open branches, or had them or "
            "gave them back; take more --workers"
        )
    disputed = Node.objects.live().filter(tree__in=growing, disputed_at__isnull=False)
    if turns := disputed.count():
        yield _count(turns, "turn in dispute waits for a vote", "turns in dispute wait for votes")
    if waiting := _waiting(project):
        waits = _count(waiting, "first question waits for a tree", "first questions wait for trees")
        yield f"{waits}, and {_why_no_tree(project, trees, waiting)}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _why_no_tree(project: Project, trees: int, waiting: int) -> str:
    if trees >= project.active_trees:
        return f"the project lets {_count(project.active_trees, 'tree', 'trees')} grow at once"
    return f"everybody here wrote {'it' if waiting == 1 else 'them'} themselves"
