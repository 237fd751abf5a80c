"""The pages of the verification in each state that looks different, for tests of all pages."""

from collections.abc import Iterator
from dataclasses import replace

from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project
from apps.scenarios.models import CorrectionDraft, Utterance
from apps.scenarios.services.proof import findings_of, prove, waive
from apps.scenarios.services.verification import accept, correct, drop
from apps.trees.domain.tree import Answer, Turn
from apps.trees.models import Tree
from tests.factories import make_scenario, make_utterance


def verification_visits(project: Project, reader: User) -> Iterator[tuple[str, str]]:
    """Names of URLs, with the state, and addresses."""

    def visit(name: str, *arguments: str, query: str = "", state: str = "") -> tuple[str, str]:
        address = reverse(f"scenarios:{name}", args=[project.slug, *arguments]) + query
        return f"scenarios:{name} {state}".strip(), address

    yield visit("consistency", state="not proven")
    tree = Tree.objects.filter(project=project, state="finished")[0]
    for state, utterance in _utterances(tree, reader).items():
        yield visit("verify", utterance.utterance_id, state=state)
    yield visit("verify_tree", tree.tree_id)
    yield visit("verification")
    for query in ("", "?reason=decides_early", "?reason=open_branch"):
        yield visit("consistency", query=query)
    yield visit("text_checks")
    yield visit("text_checks", query="?reason=not+on+one+path", state="nothing found")


def _utterances(tree: Tree, reader: User) -> dict[str, Utterance]:
    now = timezone.now()
    rows = list(Utterance.objects.filter(tree=tree, kind="scenario")[:5])
    accepted, corrected, dropped, gone, waits = rows
    accept(accepted, seen=1, by=reader, now=now)
    correct(
        corrected, replace(corrected.parts, scenario="It is so."), seen=1, by=reader, now=now,
        why="A special rule.",
    )  # fmt: skip
    drop(dropped, reason="It is odd.", seen=1, by=reader, now=now)
    Utterance.objects.filter(pk=gone.pk).update(gone_at=now)
    wrong, waived = make_utterance(tree, "Yes"), make_utterance(tree, "Is it another question?")
    question = tree.nodes.live().questions()[0].text
    make_scenario(tree, "Both.", Turn(question, Answer.YES), Turn(question, Answer.NO))
    prove(tree.project)
    CorrectionDraft.objects.create(
        utterance=wrong, by=reader, seen=2, version=1, saved_at=now,
        content={"part-answer": "Is it so?", "part-why": ""}, aside=[{"part-answer": "Is it?"}],
    )  # fmt: skip
    of_one = findings_of(tree.project).filter(utterance=waived)
    waive(of_one, reason="unknown_question", number=1, why="So.", by=reader, now=now)
    return {
        "accepted": accepted, "corrected": corrected, "dropped": dropped, "gone": gone,
        "waiting": waits, "wrong": wrong, "waived": waived,
    }  # fmt: skip
