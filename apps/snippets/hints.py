"""Hints on a first question, with the project's other questions found by the database."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha1
from itertools import pairwise

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from apps.snippets.domain.folding import fold
from apps.snippets.domain.question_hints import Code, hints
from apps.snippets.domain.words import tokens
from apps.snippets.fields import sha1_of_folded
from apps.snippets.models import Question, Snippet

CANDIDATES = 100
"""Questions that are compared word by word: those that have most of the longest words."""
TERMS = 5
LONGEST_QUESTION = 1000

WORDS = {
    Code.NO_QUESTION_MARK: "There is no question mark.",
    Code.ANSWERED_OUTRIGHT: "The rule text answers it outright, with nothing left to ask:",
    Code.NOT_YES_OR_NO: "Yes or No cannot answer a question that begins with",
    Code.SAME_AS_EXISTING: "The same question is there already:",
    Code.CLOSE_TO_EXISTING: "Close to a question that is there already:",
}


@dataclass(frozen=True)
class ShownHint:
    """`about` is what it points to; `question` the existing question, when it is one."""

    words: str
    about: str
    question: int | None

    @property
    def key(self) -> str:
        """The same as long as it says the same: for a hint that the expert has dismissed."""
        return sha1(f"{self.words}{self.about}".encode(), usedforsecurity=False).hexdigest()[:12]


def hints_on(text: str, snippet: Snippet) -> list[ShownHint]:
    """What to think about in this wording of the snippet's question. Two queries."""
    text = text[:LONGEST_QUESTION]
    if not fold(text):
        return []
    existing = dict(_existing(text, snippet))
    language = snippet.document.language or snippet.document.project.language
    return [
        ShownHint(WORDS[hint.code], hint.about, existing.get(hint.about))
        for hint in hints(text, snippet.text, existing, language)
    ]


def _existing(text: str, snippet: Snippet) -> Iterator[tuple[str, int]]:
    """Other questions in force of the project, the very same one last: texts and keys."""
    questions = Question.objects.in_force().exclude(snippet=snippet)
    questions = questions.filter(snippet__document__project=snippet.document.project_id)
    yield from _alike(questions, text).values_list("text", "pk")
    yield from questions.filter(folded_sha1=sha1_of_folded(text)).values_list("text", "pk")[:1]


def _alike(questions: QuerySet[Question], text: str) -> QuerySet[Question]:
    terms = [Q(text__icontains=term) for term in _terms(text)]
    shared = sum(
        (Case(When(term, then=1), default=0, output_field=IntegerField()) for term in terms),
        start=Value(0),
    )
    return (
        questions.annotate(shared=shared)
        .filter(shared__gt=0)
        .order_by("-shared", "-pk")[:CANDIDATES]
    )


def _terms(text: str) -> list[str]:
    """The longest words; pairs of letters where words are written together."""
    pieces = [match[0] for match in tokens(text)]
    words = {word for piece in pieces for word in fold(piece).split() if len(word) > 1}
    pairs = {a + b for a, b in pairwise(pieces) if len(a) == len(b) == 1 and (a + b).isalnum()}
    return sorted(words | pairs, key=lambda term: (-len(term), term))[:TERMS]
