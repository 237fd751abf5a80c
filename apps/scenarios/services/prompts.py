"""What a piece of scenario work shows: turns of one path, and one that belongs elsewhere.

Both are drawn from the seed of the tree and the number of the scenario, when the work is taken.
"""

import random
from collections.abc import Iterator
from hashlib import sha1

from django.db.models import Prefetch, Q

from apps.scenarios.domain.expansion import ExpansionError
from apps.scenarios.domain.fact_sheet import checked, questions_of
from apps.scenarios.domain.prompts import Run, place_among, prompt
from apps.scenarios.models import Prompt
from apps.scenarios.scenario_errors import PromptGoneError
from apps.snippets.domain.folding import fold
from apps.snippets.domain.languages import primary
from apps.snippets.models import Document
from apps.trees.domain import tree as domain
from apps.trees.models import Node, Tree, TreeQuerySet
from apps.workers.models import Assignment

TRIES = 20
"""Trees looked at, on each side of where the draw begins, for one that asks something else."""


def draw_prompt(lease: Assignment) -> Prompt:
    """Draws what the scenario of this lease is written on, and keeps it. The tree is locked; it is
    finished and asks something."""
    tree = Tree.objects.with_source().get(pk=lease.work_id)
    shape = tree.to_domain()
    run = prompt(shape, tree.seed, int(lease.part))
    assert run is not None  # noqa: S101 - a person can walk to an end of any such tree.
    seed = f"{tree.seed} {lease.part} {lease.round}"
    drawn = Prompt(assignment=lease, tree=tree, turns=_as_json(run))
    _put_in(drawn, _unrelated(tree, shape, seed), seed)
    drawn.save(force_insert=True)
    return drawn


def carry_prompt(before: Prompt, lease: Assignment) -> Prompt:
    """The same once more, for a lease that was taken again."""
    kept = {
        name: getattr(before, name)
        for name in (
            "tree_id", "turns", "unrelated_question", "unrelated_answer", "unrelated_node_id",
            "unrelated_place", "fits_at",
        )
    }  # fmt: skip
    return Prompt.objects.create(assignment=lease, **kept)


def facts_now(prompt: Prompt) -> domain.Path:
    """The turns of the prompt as the tree words them now. The tree is locked.

    Raises PromptGoneError when one of them was taken out, or nobody can be on them any more.
    """
    keys = [turn["node"] for turn in prompt.turns]
    texts = dict(Node.objects.live().filter(pk__in=keys).values_list("pk", "text"))
    if not all(key in texts for key in keys):
        raise PromptGoneError
    facts = [
        domain.Turn(texts[key], told.follow_up_answer)
        for key, told in zip(keys, prompt.path, strict=True)
    ]
    try:
        return checked(prompt.tree.to_domain(), facts)
    except ExpansionError as error:
        raise PromptGoneError from error


def _as_json(run: Run) -> list[dict[str, object]]:
    return [
        {
            "node": asked.key,
            "follow_up_question": asked.turn.follow_up_question,
            "follow_up_answer": asked.turn.follow_up_answer.value,
        }
        for asked in run
    ]


def _put_in(drawn: Prompt, node: Node | None, seed: str) -> None:
    if node is None:
        return
    chance = random.Random(f"{seed} answer")  # noqa: S311 - to be repeated
    drawn.unrelated_node = node
    drawn.unrelated_question = node.text
    drawn.unrelated_answer = chance.choice(list(domain.Answer))
    drawn.unrelated_place = place_among(drawn.turns, seed)


def _unrelated(tree: Tree, shape: domain.Tree, seed: str) -> Node | None:
    """A question of a finished tree of another source document, that this tree does not ask."""
    asked = questions_of(shape)
    chance = random.Random(f"{seed} question")  # noqa: S311 - to be repeated
    for other in _others(tree, seed):
        if found := [node for node in other.nodes.all() if fold(node.text) not in asked]:
            return chance.choice(found)
    return None


def _others(tree: Tree, seed: str) -> Iterator[Tree]:
    """Trees of other documents in its language with their questions, from anywhere on: their ids
    are as good as random numbers."""
    document = tree.question.snippet.document
    questions = Prefetch("nodes", Node.objects.live().questions().order_by("pk"))
    others: TreeQuerySet = Tree.objects.finished().filter(project=tree.project_id)
    others = others.exclude(question__snippet__document__source_url=document.source_url)
    others = others.filter(_in_language(document)).order_by("tree_id")
    others = others.prefetch_related(questions)
    start = sha1(seed.encode(), usedforsecurity=False).hexdigest()
    yield from others.filter(tree_id__gte=start)[:TRIES]
    yield from others.filter(tree_id__lt=start)[:TRIES]


def _in_language(document: Document) -> Q:
    """Of trees on documents in the same language; one that names none is in the project's."""
    usual = primary(document.project.language)
    mine = primary(document.language) or usual
    field = "question__snippet__document__language"
    same = Q(**{f"{field}__iexact": mine}) | Q(**{f"{field}__istartswith": f"{mine}-"})
    return same | Q(**{field: ""}) if mine == usual else same
