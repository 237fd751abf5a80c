"""Errors that a page, a job or a command shows as they are.

StudioError
  DocumentRefusedError
  IndexRefusedError
  NothingLoadedError
  BenchError
    NotOnYourBenchError
    DocumentTakenError
    SnippetChangedError
    NotInThisStateError
    QuestionStandsError
    EmptySnippetError
    LastSnippetError
    NothingToUndoError
    UndoRefusedError
  QuestionError
    SnippetNotWaitingError
    QuestionNotWaitingError
    QuestionNotAcceptedError
    TreeHasBegunError
"""

from typing import Any

from apps.projects.errors import StudioError


class DocumentRefusedError(StudioError):
    """One document cannot be taken; the others go on."""


class IndexRefusedError(StudioError):
    """The list of files and their sources cannot be read; nothing was written."""


class NothingLoadedError(StudioError):
    """No document came out of the files; nothing was written. `report` says why of each."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report
        super().__init__(
            "None of the files could be read; the lines above say why."
            if report["files"]
            else "There is no document in these files."
        )


class BenchError(StudioError):
    """A step on the snippet bench that changed nothing."""


class NotOnYourBenchError(BenchError):
    """The expert has given the document back, or never had it."""

    def __init__(self) -> None:
        super().__init__("This document is not on your bench. Take it first.")


class DocumentTakenError(BenchError):
    """One expert at a time."""

    def __init__(self, holder: object) -> None:
        super().__init__(f"{holder} is at work on this document now. Take it when it is free.")


class SnippetChangedError(BenchError):
    """The page was out of date."""

    def __init__(self) -> None:
        super().__init__(
            "This snippet has changed since you opened the page, so nothing was done. "
            "Here is how it is now."
        )


class NotInThisStateError(BenchError):
    """Such as a discarded snippet that is to be split."""

    def __init__(self, state: str) -> None:
        super().__init__(f"This snippet is {state}, where that cannot be done. Reopen it first.")


class QuestionStandsError(BenchError):
    """The snippet is the ground of a question, and of a tree perhaps."""

    def __init__(self) -> None:
        super().__init__("A question stands on this snippet, so the snippet stays as it is.")


class EmptySnippetError(BenchError):
    """A text, or a half of one, without a word."""

    def __init__(self, reason: str = "The text needs a word at least.") -> None:
        super().__init__(f"{reason} Nothing was changed.")


class LastSnippetError(BenchError):
    """There is nothing to merge with."""

    def __init__(self) -> None:
        super().__init__("No proposed or accepted snippet follows to merge with.")


class NothingToUndoError(BenchError):
    """No step of this expert is left among the last ones."""

    def __init__(self) -> None:
        super().__init__("There is no step of yours to undo in this document.")


class UndoRefusedError(BenchError):
    """Somebody's later change would be lost."""

    def __init__(self, action: str) -> None:
        super().__init__(
            f"Your last step ({action}) cannot be undone: "
            "what it changed has been changed by somebody else since."
        )


class QuestionError(StudioError):
    """Something about a first question that was not done."""


class SnippetNotWaitingError(QuestionError):
    """While the expert wrote, the snippet was reopened or discarded, or got a question."""

    def __init__(self) -> None:
        super().__init__(
            "This snippet does not wait for a question any more: somebody has changed it or asked "
            "one meanwhile. What you typed is kept."
        )


class QuestionNotWaitingError(QuestionError):
    """It was checked meanwhile, or is the checker's own."""

    def __init__(self) -> None:
        super().__init__("This question does not wait for your check any more.")


class QuestionNotAcceptedError(QuestionError):
    """Somebody else replaced it first."""

    def __init__(self) -> None:
        super().__init__(
            "This question is not the accepted one any more, so nothing was replaced. "
            "Look at the snippet's questions below."
        )


class TreeHasBegunError(QuestionError):
    """Follow-up questions were written for this very wording."""

    def __init__(self) -> None:
        super().__init__(
            "A tree has begun on this question, so the question stays as it is. "
            "Nothing was replaced."
        )
