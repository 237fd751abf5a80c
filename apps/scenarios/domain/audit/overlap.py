"""Words that give an answer away: copied questions, and Irrelevant by overlap alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from apps.scenarios.domain.audit.rows import IRRELEVANT, Row, Share, share
from apps.snippets.domain.similarity import terms

COPIED_TERMS = 4
"""So many terms in a row that are a question's are copied from it."""


def copied_questions(rows: Iterable[Row]) -> Share:
    """Of the scenarios with evidence, those that copy a run of terms from one of its questions."""
    asked: dict[str, set[str]] = {}
    for row in rows:
        if row.scenario and row.evidence:
            questions = asked.setdefault(row.scenario, set())
            questions.update(turn.follow_up_question for turn in row.evidence)
    return share([copies_any(scenario, asked[scenario]) for scenario in sorted(asked)])


def copies_any(text: str, questions: Iterable[str], run: int = COPIED_TERMS) -> bool:
    """Whether `run` terms in a row, or a whole shorter question, stand in the text as well."""
    said = runs(terms(text), run)
    return any(_shared(text, question, said, run) for question in questions)


def _shared(text: str, question: str, said: set[tuple[str, ...]], run: int) -> bool:
    words = terms(question)
    if len(words) >= run:
        return not said.isdisjoint(runs(words, run))
    return bool(words) and tuple(words) in runs(terms(text), len(words))


def runs(words: Sequence[str], length: int) -> set[tuple[str, ...]]:
    """All runs of so many words."""
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


@dataclass(frozen=True)
class ByOverlap:
    """How well the best threshold on the share of a question's words that the rule text has tells
    Irrelevant from the rest: balanced accuracy, 0.5 for a coin. None without both kinds."""

    threshold: float | None
    balanced_accuracy: float | None


def irrelevant_by_overlap(rows: Iterable[Row], rule_texts: Mapping[str, str]) -> ByOverlap:
    """`rule_texts` by tree. One row for each question of a tree."""
    words = {tree: set(terms(text)) for tree, text in rule_texts.items()}
    seen = {(row.tree, row.question, row.label == IRRELEVANT) for row in rows}
    scored = sorted(
        (_overlap(question, words[tree]), is_irrelevant) for tree, question, is_irrelevant in seen
    )
    negatives = sum(is_irrelevant for _, is_irrelevant in scored)
    others = len(scored) - negatives
    if not negatives or not others:
        return ByOverlap(None, None)
    return _best(scored, negatives, others)


def _overlap(question: str, rule: set[str]) -> float:
    asked = set(terms(question))
    return len(asked & rule) / len(asked) if asked else 0.0


def _best(scored: list[tuple[float, bool]], negatives: int, others: int) -> ByOverlap:
    """Irrelevant is called what has at most the threshold."""
    best = ByOverlap(0.0, 0.5)
    found = wrong = 0
    for place, (overlap, is_irrelevant) in enumerate(scored):
        found += is_irrelevant
        wrong += not is_irrelevant
        if place + 1 < len(scored) and scored[place + 1][0] == overlap:
            continue
        accuracy = (found / negatives + (others - wrong) / others) / 2
        if accuracy > (best.balanced_accuracy or 0):
            best = ByOverlap(overlap, accuracy)
    return best
