"""Refusals of the work engine and of the qualification test, each with its reason and sentence.

StudioError
  WorkError
    NotYourWorkError
    LeaseEndedError
    StaleDraftError
    NotAMemberError
    TooManyOpenError
  RefusalError
    QualificationError
      NotToBeTakenError
      UnansweredError
      NoDraftError
      EmptyTestError
      NoTestError
      OnlyWorkersError
"""

from apps.projects.errors import RefusalError, StudioError


class WorkError(StudioError):
    """Something about a piece of work in a person's hands. `code` is for programs."""

    code = "work_refused"


class NotYourWorkError(WorkError):
    """The assignment is another person's, or there is none."""

    code = "not_your_work"

    def __init__(self) -> None:
        super().__init__("This work is not yours. Take new work from the start page.")


class LeaseEndedError(WorkError):
    """The lease is over; what was typed is kept."""

    code = "lease_ended"

    def __init__(self) -> None:
        super().__init__(
            "The time for this work has run out, or it was given back. What you typed is kept."
        )


class StaleDraftError(WorkError):
    """A newer draft is here, saved from another tab or device; `version` and `content` are its."""

    code = "stale_draft"

    def __init__(self, version: int, content: object) -> None:
        self.version = version
        self.content = content
        super().__init__(
            "A newer draft of this work was saved from another window. Yours is kept beside it."
        )


class NotAMemberError(WorkError):
    """Somebody took the worker out of the project."""

    code = "not_a_member"

    def __init__(self) -> None:
        super().__init__("You are not a member of this project any more. Ask its admin.")


class TooManyOpenError(WorkError):
    """The worker holds as much as one person may."""

    code = "too_many_open"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"You have {most} pieces of work open, which is as many as one person may have here. "
            "Finish or give back one of them first."
        )


class QualificationError(RefusalError):
    """A step around the qualification test that changed nothing. `code` is for programs."""

    code = "qualification_refused"


class NotToBeTakenError(QualificationError):
    """The person may not begin the test now."""

    code = "test_not_to_be_taken"


class UnansweredError(QualificationError):
    code = "test_unanswered"
    sentence = "Some questions are not answered yet, so the test was not submitted. Answer them."


class NoDraftError(QualificationError):
    """Somebody has published or discarded it meanwhile."""

    code = "no_draft_of_test"
    sentence = (
        "The test is not being changed any more: somebody has published or discarded the new "
        "version. Press “Change the test” first."
    )


class EmptyTestError(QualificationError):
    code = "empty_test"
    sentence = "There is no question in this test. Add one, then publish it."


class NoTestError(QualificationError):
    code = "no_test"
    sentence = "Publish a test first: without one nobody could get the qualification."


class OnlyWorkersError(QualificationError):
    code = "only_workers"
    sentence = "Experts and admins need no qualification: they do all work as they are."
