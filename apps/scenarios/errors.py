"""Refusals about scenarios and utterances, each with its own sentence.

RefusalError
  VerificationError
    UtteranceChangedError
    UtteranceNotInForceError
    CorrectionBegunError
    DoesNotFollowError
    EvidenceOfNothingError
    SameAsBeforeError
    SaidAlreadyError
    NoScenarioHereError
    StaysIrrelevantError
    TreeChangedMeanwhileError
    NothingToWaiveError
    OtherNumberError
"""

from apps.projects.errors import RefusalError


class VerificationError(RefusalError):
    """A step of the verification that changed nothing."""


class UtteranceChangedError(VerificationError):
    """Another expert was first. `what` says who did what, when it is known."""

    def __init__(self, what: str = "") -> None:
        super().__init__(
            f"{what or 'The utterance has changed'} since this page was opened, so nothing was "
            "saved. Look at it as it is now, then decide again; what you typed is still in the "
            "form."
        )


class UtteranceNotInForceError(VerificationError):
    sentence = "This utterance was dropped or taken out. Put it back first, then change it."


class DoesNotFollowError(VerificationError):
    """`reason` is why, `expected` what the tree says instead."""

    def __init__(self, reason: str, expected: str | None) -> None:
        self.expected = expected
        more = f" The tree goes on with “{expected}”." if expected else ""
        super().__init__(
            f"The answer does not follow from the tree. {reason}{more} Correct it, or say below "
            "why it stays."
        )


class CorrectionBegunError(VerificationError):
    sentence = (
        "You have begun to correct this utterance, so it was not accepted as it is. Save the "
        "correction below, or throw it away, then accept."
    )


class EvidenceOfNothingError(VerificationError):
    sentence = (
        "It has evidence, and no scenario that says so. Empty the questions of the evidence, too, "
        "or write the scenario that they are read from."
    )


class SameAsBeforeError(VerificationError):
    sentence = "Nothing has changed. Change a part first, or accept the utterance as it is."


class SaidAlreadyError(VerificationError):
    """`utterance_id` is the one that says the same."""

    def __init__(self, utterance_id: str) -> None:
        self.utterance_id = utterance_id
        super().__init__(
            f"Utterance {utterance_id[:8]} of this tree says the same already, so the dataset "
            "would have it twice. Drop this one instead."
        )


class NoScenarioHereError(VerificationError):
    sentence = (
        "This utterance is one without a scenario. Leave the scenario empty; with a scenario it "
        "would be another utterance."
    )


class StaysIrrelevantError(VerificationError):
    sentence = (
        "Its question belongs to another tree, so its answer stays Irrelevant. If the rule text "
        "does answer it, drop the utterance."
    )


class TreeChangedMeanwhileError(VerificationError):
    sentence = (
        "Utterances of this tree have changed since the page was opened, so none was accepted. "
        "Look at them as they are now, then accept them."
    )


class NothingToWaiveError(VerificationError):
    sentence = "There is nothing to waive any more: it was mended, or waived by somebody else."


class OtherNumberError(VerificationError):
    """`seen` stood on the page, `now` are there."""

    def __init__(self, seen: int, now: int) -> None:
        super().__init__(
            f"There are {now:,} of them now, and not {seen:,} as on your page, so none was waived. "
            "Look at them as they are now, then waive them."
        )
