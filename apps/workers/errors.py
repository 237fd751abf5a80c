"""Refusals of the work engine, each with its own reason and sentence.

StudioError
  WorkError
    NotYourWorkError
    LeaseEndedError
    StaleDraftError
"""

from apps.projects.errors import StudioError


class WorkError(StudioError):
    """Something about a piece of work in a person's hands."""


class NotYourWorkError(WorkError):
    """The assignment is another person's, or there is none."""

    def __init__(self) -> None:
        super().__init__("This work is not yours. Take new work from the start page.")


class LeaseEndedError(WorkError):
    """The lease is over; what was typed is kept."""

    def __init__(self) -> None:
        super().__init__(
            "The time for this work has run out, or it was given back. What you typed is kept."
        )


class StaleDraftError(WorkError):
    """A newer draft is here, saved from another tab or device; `version` and `content` are its."""

    def __init__(self, version: int, content: object) -> None:
        self.version = version
        self.content = content
        super().__init__(
            "A newer draft of this work was saved from another window. Yours is kept beside it."
        )
