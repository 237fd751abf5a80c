"""What writers, checkers and experts see of a scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.projects import markdown
from apps.projects.models import Guideline, StateChange, Step
from apps.scenarios.domain.fact_sheet import Stated, questions_of
from apps.scenarios.domain.scenario_hints import copied_spans, scenario_hints
from apps.scenarios.models import Prompt, Scenario, ScenarioCheck
from apps.scenarios.scenario_forms import (
    LONGEST_SCENARIO,
    BackForm,
    CheckForm,
    ContradictForm,
    ScenarioForm,
    SheetForm,
)
from apps.scenarios.services.scenario_checks import SETTLED, sheet_now, votes_of
from apps.scenarios.services.scenario_work import prompt_of
from apps.snippets.domain.folding import fold
from apps.snippets.hints import ShownHint
from apps.snippets.models import Snippet
from apps.trees.models import Tree
from apps.trees.path_page import (
    RETURN_REASONS,
    WEEK,
    again_address,
    done_lately,
    done_since,
    ended_page,
)
from apps.trees.services.cuts import TAKEN_OUT
from apps.workers.models import Assignment, Kind

State = Assignment.State
NO_LONGER_WANTED = {TAKEN_OUT, SETTLED}
VOID = {
    Kind.SCENARIO: "The questions that you were shown have changed meanwhile, so this scenario is "
    "no longer wanted.",
    Kind.SCENARIO_CHECK: "This scenario has been settled meanwhile, so no more checks of it are "
    "wanted.",
}


def writer_page(work: Assignment, **refused: Any) -> dict[str, Any]:
    """What somebody writes a scenario on. The forms are those that came back refused, or fresh."""
    prompt = prompt_of(work)
    cards = [turn for _, turn in prompt.cards]
    tree = Tree.objects.with_source().get(pk=work.work_id)
    return {
        **_around(work, tree, Step.SCENARIOS),
        "prompt": prompt,
        "cards": cards,
        "form": ScenarioForm(initial=work.draft),
        "contradict_form": ContradictForm(cards=len(cards), initial=work.draft),
        "sent_back": _why_sent_back(work),
        "longest": LONGEST_SCENARIO,
        **refused,
    }


def _why_sent_back(work: Assignment) -> str:
    """Why the last scenario on these turns was sent back; "" when there was none."""
    before = Scenario.objects.filter(
        assignment__kind=Kind.SCENARIO, assignment__work_id=work.work_id,
        assignment__part=work.part, state=Scenario.State.SENT_BACK,
    )  # fmt: skip
    back = StateChange.objects.filter(
        object_type="scenario", to_state=Scenario.State.SENT_BACK, object_id__in=before.values("pk")
    )
    last = back.last()
    return last.reason if last else ""


def hints_page(work: Assignment, text: str, pasted: int, dismissed: set[str]) -> dict[str, Any]:
    """Hints on a text, and the text with its copied words marked."""
    tree = Tree.objects.with_source().get(pk=work.work_id)
    text = text[:LONGEST_SCENARIO]
    shown = [turn.follow_up_question for _, turn in prompt_of(work).cards]
    found = scenario_hints(
        text, shown=shown, first_question=tree.question.text,
        language=tree.question.snippet.document.language or tree.project.language, pasted=pasted,
    )  # fmt: skip
    hints = [ShownHint(hint.sentence, hint.about, None) for hint in found]
    return {
        "project": work.project,
        "hints": [hint for hint in hints if hint.key not in dismissed],
        "pieces": list(_pieces(text, copied_spans(text, shown))),
    }


def _pieces(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it is copied; nothing when none is."""
    last = 0
    for start, end in spans:
        yield text[last:start], False
        yield text[start:end], True
        last = end
    if spans:
        yield text[last:], False


# Checks -----------------------------------------------------------------------------------------


def check_form(work: Assignment, data: Any = None) -> CheckForm:
    """The facts of the scenario first, without their answers; then what else its tree asks."""
    scenario = Scenario.objects.select_related("tree", "prompt").get(pk=work.work_id)
    facts = [fact.follow_up_question for fact in scenario.facts.all()]
    told = {fold(question) for question in facts}
    asked = questions_of(scenario.tree.to_domain())
    others = [text for folded, text in asked.items() if folded not in told]
    return CheckForm(
        data, questions=facts + others, asked=len(facts), initial=work.draft,
        unrelated=scenario.prompt.unrelated_question if scenario.prompt else "",
    )  # fmt: skip


def check_page(work: Assignment, form: CheckForm) -> dict[str, Any]:
    scenario = Scenario.objects.get(pk=work.work_id)
    tree = Tree.objects.with_source().get(pk=scenario.tree_id)
    return {**_around(work, tree, Step.CHECKS), "scenario": scenario, "form": form}


def _around(work: Assignment, tree: Tree, step: Step) -> dict[str, Any]:
    snippet = tree.question.snippet
    return {
        "project": work.project,
        "assignment": work,
        "question": tree.question,
        "snippet": snippet,
        "rule": markdown.render(snippet.text),
        "guideline": Guideline.objects.filter(project=work.project, step=step).first(),
        "drafts_done": done_lately(work.worker),
        "done_this_week": done_since(work.project, work.worker, work.leased_at - WEEK),
        "return_reasons": RETURN_REASONS,
    }


def over_page(work: Assignment, *, now: datetime) -> dict[str, Any]:
    """Why work on a scenario, or on a check of one, is over."""
    steps = StateChange.objects.filter(object_type="assignment", object_id=work.pk)
    is_void = steps.filter(to_state=State.RELEASED, reason__in=NO_LONGER_WANTED).exists()
    context = ended_page(work, now=now)
    state = State.EXPIRED if work.state == State.LEASED else State(work.state)
    return {
        **context,
        "why": VOID[Kind(work.kind)] if is_void else context["why"],
        "again_address": again_address(
            work, state, "scenarios:scenario_again", Kind.SCENARIO, now=now
        ),
    }


# The expert -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SheetRow:
    """A question of the tree: what the writer was shown, what checkers read, what is a fact now."""

    question: str
    shown: str
    votes: list[tuple[str, int]]
    now: Stated
    field: Any

    @property
    def is_disputed(self) -> bool:
        return any(said != self.now for said, _ in self.votes)


def sheet_form(scenario: Scenario, data: Any = None) -> SheetForm:
    return SheetForm(
        data, questions=questions_of(scenario.tree.to_domain()), sheet=sheet_now(scenario)
    )


def sheet_page(scenario: Scenario, form: SheetForm, **more: Any) -> dict[str, Any]:
    """The fact sheet of a scenario, with all that an expert decides by."""
    checks = list(scenario.checks.select_related("checker"))
    sheet = sheet_now(scenario)
    snippet: Snippet = scenario.tree.question.snippet
    return {
        "project": scenario.tree.project,
        "scenario": scenario,
        "snippet": snippet,
        "rule": markdown.render(snippet.text),
        "rows": list(_rows(scenario, form, checks)),
        "lost": [fact for fact in scenario.facts.all() if _folded(fact) not in form.folded],
        "checks": checks,
        "form": form,
        "back_form": BackForm(initial={"seen": scenario.sheet_version}),
        "is_open": scenario.state != Scenario.State.SENT_BACK,
        "number_of_facts": sum(1 for said in sheet.values() if said is not Stated.NOT),
        **more,
    }


def _folded(fact: Any) -> str:
    return fold(fact.follow_up_question)


def _rows(scenario: Scenario, form: SheetForm, checks: list[ScenarioCheck]) -> Iterator[SheetRow]:
    sheet = sheet_now(scenario)
    shown = _shown(scenario.prompt)
    votes = [votes_of(check) for check in checks]
    for folded, (question, field) in zip(form.folded, form.groups(), strict=True):
        said = Counter(vote[folded].value for vote in votes if folded in vote)
        yield SheetRow(
            question, shown.get(folded, ""), said.most_common(), sheet[folded], field
        )  # fmt: skip


def _shown(prompt: Prompt | None) -> dict[str, str]:
    if prompt is None:
        return {}
    return {turn.folded[0]: turn.follow_up_answer.value for turn in prompt.path}
