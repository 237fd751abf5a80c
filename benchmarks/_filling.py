"""A large project, made at once: 12 nodes, 3 scenarios and 20 utterances a tree."""

import itertools
from typing import Any

from benchmarks import _studio  # noqa: F401 - sets Django up

# isort: split
from apps.projects.models import Project
from apps.scenarios.models import Fact, Scenario, Utterance
from apps.snippets.models import Document, Question, Snippet
from apps.trees.models import Node, Tree

TREES_PER_DOCUMENT = 5
UTTERANCES_PER_TREE = 20
SCENARIOS_PER_TREE = 3
QUESTIONS = ("Are you over 18?", "Do you live in the district?", "Do you own the home?",
             "Is your income under the limit?", "Do you care for a child?")  # fmt: skip
BATCH = 2000
WORDS = ("claim", "grant", "district", "income", "child", "home", "carer", "pension", "permit")
SPLITS = ("train",) * 7 + ("dev", "test", "test")


def fill(count: int, *, growing_every: int = 9, with_utterances: bool = True) -> Project:
    """A project with so many trees. Every ninth (0: none) has an open branch; the last one has 255
    questions."""
    project = Project.objects.create(slug="large", name="Large")
    documents = bulk(Document, (
        Document(project=project, source_url=f"https://{n % 40}.example/{n}",
                 domain=f"{n % 40}.example", title=f"Page {n}", split=SPLITS[n % len(SPLITS)])
        for n in range(count // TREES_PER_DOCUMENT + 1)
    ))  # fmt: skip
    snippets = bulk(Snippet, (
        Snippet(document=documents[n // TREES_PER_DOCUMENT], position=n, state="accepted",
                text=f"# Rule {n}\n\n{text(n, 25)}:\n\n* {text(n + 1, 8)}\n* {text(n + 2, 8)}")
        for n in range(count)
    ))  # fmt: skip
    questions = bulk(Question, (
        Question(snippet=snippet, text=f"Can I get the {text(n, 3)}?")
        for n, snippet in enumerate(snippets)
    ))  # fmt: skip
    trees = bulk(Tree, (
        Tree(project=project, question=question, tree_id=f"{n:040x}", max_depth=8,
             state="growing" if growing_every and n % growing_every == 0 else "finished")
        for n, question in enumerate(questions)
    ))  # fmt: skip
    roots = fill_nodes(trees)
    if with_utterances:
        fill_utterances(project, trees, roots)
    deep = Tree.objects.order_by("-pk")[0]
    deep.nodes.all().delete()
    grow_full(deep, depth=8)
    return project


def fill_nodes(trees: list[Tree]) -> list[Node]:
    """Five questions and six or seven ends per tree: eleven or twelve nodes."""
    level: list[Node] = bulk(Node, (ask(tree, None, "", 0) for tree in trees))
    roots = level
    for number in range(1, len(QUESTIONS)):
        bulk(Node, (answer(node, "no", "No") for node in level))
        level = bulk(Node, (ask(node.tree, node, "yes", number) for node in level))
    bulk(Node, (answer(node, "yes", "Yes") for node in level))
    bulk(Node, (answer(node, "no", "No") for node in level if node.tree.state == "finished"))
    return roots


def grow_full(tree: Tree, *, depth: int) -> None:
    level = bulk(Node, [ask(tree, None, "", 0)])
    for number in range(1, depth):
        level = bulk(Node, (
            ask(tree, node, branch, number) for node in level for branch in ("yes", "no")
        ))  # fmt: skip
    bulk(Node, (answer(node, *end) for node in level for end in (("yes", "Yes"), ("no", "No"))))


def fill_utterances(project: Project, trees: list[Tree], roots: list[Node]) -> None:
    scenarios = bulk(Scenario, (
        Scenario(tree=tree, text=f"I {text(n, 20)}.", text_sha1=f"{n:040x}")
        for n, tree in enumerate(itertools.chain.from_iterable(
            itertools.repeat(tree, SCENARIOS_PER_TREE) for tree in trees))
    ))  # fmt: skip
    bulk(Fact, (
        Fact(scenario=scenario, position=0, follow_up_question=QUESTIONS[0], follow_up_answer="Yes")
        for scenario in scenarios
    ))  # fmt: skip
    kinds = ("yes", "Yes"), ("no", "No"), ("more", QUESTIONS[1])
    bulk(Utterance, (
        Utterance(project=project, utterance_id=f"{n * 7919 % 2**64:040x}", tree=tree,
                  kind="scenario", node=roots[n // UTTERANCES_PER_TREE],
                  question=f"Can I get the {text(n, 3)}?", scenario=f"I {text(n, 20)}.",
                  history=[], evidence=[], answer_class=kinds[n % 3][0], answer=kinds[n % 3][1])
        for n, tree in enumerate(itertools.chain.from_iterable(
            itertools.repeat(tree, UTTERANCES_PER_TREE) for tree in trees))
    ))  # fmt: skip


def ask(tree: Tree, parent: Node | None, branch: str, number: int) -> Node:
    wording = QUESTIONS[number % len(QUESTIONS)]
    return Node.at(tree, parent, branch, kind="question", text=wording)


def answer(parent: Node, branch: str, word: str) -> Node:
    return Node.at(parent.tree, parent, branch, kind="answer", answer=word)


def text(seed: int, length: int) -> str:
    return " ".join(WORDS[(seed * 7 + step * step) % len(WORDS)] for step in range(length))


def bulk(model: Any, rows: Any) -> list[Any]:
    return list(model.objects.bulk_create(rows, batch_size=BATCH))
