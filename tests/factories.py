"""Rows for tests: `make_tree(project, ASK)`; every argument has a likely default."""

import hashlib
import itertools
from typing import Any

from apps.accounts.models import User
from apps.projects.models import Guideline, Membership, Project, Role, Step
from apps.scenarios.models import Fact, Scenario, Utterance
from apps.snippets.models import Document, Question, Snippet
from apps.trees.domain import tree as domain
from apps.trees.domain.identifiers import tree_id
from apps.trees.models import Node, Tree

PASSWORD = "correct horse battery"
_numbers = itertools.count(1)


def make_user(username: str = "", **fields: Any) -> User:
    number = next(_numbers)
    user = User(username=username or f"person{number}", **fields)
    user.set_password(PASSWORD)
    user.save()
    return user


def make_project(slug: str = "", **fields: Any) -> Project:
    """Its finished trees need no scenarios, unless `fields` say so."""
    number = next(_numbers)
    defaults = {"name": f"Project {number}", "scenarios_per_finished_tree": 0}
    project = Project.objects.create(slug=slug or f"project-{number}", **{**defaults, **fields})
    Guideline.objects.bulk_create(Guideline(project=project, step=step) for step in Step)
    return project


def make_member(project: Project, role: Role, user: User | None = None) -> User:
    user = user or make_user()
    Membership.objects.create(project=project, user=user, role=role)
    return user


def make_document(project: Project, **fields: Any) -> Document:
    number = next(_numbers)
    defaults = {
        "source_url": f"https://office.example/page-{number}",
        "domain": "office.example",
        "title": f"Page {number}",
        "split": "dev",
    }
    return Document.objects.create(project=project, **{**defaults, **fields})


def make_snippet(document: Document, **fields: Any) -> Snippet:
    number = next(_numbers)
    defaults = {"position": number, "text": f"# Rule {number}\n\nYou can, if you may.",
                "state": Snippet.State.ACCEPTED}  # fmt: skip
    return Snippet.objects.create(document=document, **{**defaults, **fields})


def make_question(snippet: Snippet, **fields: Any) -> Question:
    return Question.objects.create(snippet=snippet, **{"text": "Can I?", **fields})


def make_tree(
    project: Project, shape: domain.Tree | None = None, *, question: Question | None = None,
    **fields: Any,
) -> Tree:  # fmt: skip
    """A tree with the nodes of `shape`; without a shape nobody has begun."""
    question = question or make_question(make_snippet(make_document(project)))
    finished = shape is not None and domain.is_finished(shape)
    defaults = {
        "tree_id": tree_id(question.snippet.text, question.text),
        "state": Tree.State.FINISHED if finished else Tree.State.GROWING,
        "max_depth": project.max_depth,
    }
    tree = Tree.objects.create(project=project, question=question, **{**defaults, **fields})
    if shape is not None:
        _make_nodes(tree, shape, parent=None, branch=Node.Branch.ROOT)
    return tree


def _make_nodes(tree: Tree, shape: domain.Tree, *, parent: Node | None, branch: str) -> None:
    if isinstance(shape, domain.OpenBranch):
        return
    if isinstance(shape, domain.FinalAnswer):
        Node.at(tree, parent, branch, kind=Node.Kind.ANSWER, answer=shape.answer).save()
        return
    node = Node.at(tree, parent, branch, kind=Node.Kind.QUESTION, text=shape.text)
    node.save()
    _make_nodes(tree, shape.yes, parent=node, branch=Node.Branch.YES)
    _make_nodes(tree, shape.no, parent=node, branch=Node.Branch.NO)


def make_scenario(tree: Tree, text: str = "", *facts: domain.Turn, **fields: Any) -> Scenario:
    text = text or f"My situation number {next(_numbers)}."
    scenario = Scenario.objects.create(tree=tree, text=text, text_sha1=sha1(text), **fields)
    Fact.objects.bulk_create(
        Fact(scenario=scenario, position=position, follow_up_question=fact.follow_up_question,
             follow_up_answer=fact.follow_up_answer)
        for position, fact in enumerate(facts)
    )  # fmt: skip
    return scenario


def make_utterance(tree: Tree, answer: str = "Yes", **fields: Any) -> Utterance:
    """A plain utterance at the tree's root, unless `fields` say otherwise."""
    defaults = {
        "utterance_id": sha1(f"utterance {next(_numbers)}"),
        "kind": Utterance.Kind.PLAIN,
        "question": tree.question.text,
        "answer_class": Utterance.class_of(answer),
        "node": tree.nodes.live().filter(parent=None).first(),
    }
    return Utterance.objects.create(
        project=tree.project, tree=tree, answer=answer, **{**defaults, **fields}
    )


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
