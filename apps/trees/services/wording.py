"""What may stand as a follow-up question, whoever writes it."""

from apps.snippets.domain.folding import fold
from apps.trees.errors import EmptyQuestionError, LooksLikeAnswerError


def refuse_text(text: str) -> None:
    """Raises EmptyQuestionError or LooksLikeAnswerError."""
    if not fold(text):
        raise EmptyQuestionError
    if fold(text) in {"yes", "no"}:
        raise LooksLikeAnswerError
