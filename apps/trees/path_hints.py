"""Hints on a follow-up question, with what the path and the rule text say."""

from apps.snippets.hints import ShownHint
from apps.trees.domain.follow_up_hints import follow_up_hints
from apps.trees.path_forms import LONGEST_QUESTION
from apps.trees.services.walks import Walk


def hints_on(text: str, walk: Walk) -> list[ShownHint]:
    """What to think about in this wording of the walk's next question."""
    snippet = walk.tree.question.snippet
    found = follow_up_hints(
        text[:LONGEST_QUESTION],
        asked=[turn.follow_up_question for turn in walk.turns()],
        rule_text=snippet.text,
        language=snippet.document.language or walk.tree.project.language,
        threshold=walk.tree.project.near_question_threshold,
    )
    return [ShownHint(hint.sentence, hint.about, None) for hint in found]
