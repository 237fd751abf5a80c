"""Refusals about growing trees, each with its own code and sentence.

RefusalError
  GrowingError
    BranchGoneError
    StalePageError
    EmptyQuestionError
    LooksLikeAnswerError
    SpanMissingError
    SpanOutsideError
    DepthReachedError
    PathEndedError
    PathNotEndedError
    CheckFirstError
    NothingToUndoError
    NotYoursToRejectError
    NodeGoneError
    CutNotInForceError
    BranchOccupiedError
    FlagSettledError
    BranchHeldError
    TreeChangedError
    SameAsBeforeError
    BranchDisputedError
    NotQualifiedError
"""

from apps.projects.errors import RefusalError


class GrowingError(RefusalError):
    """A step on a tree that changed nothing. `code` is for programs."""

    code = "growing_refused"


class BranchGoneError(GrowingError):
    """Turns above the branch were taken out, or it was continued."""

    code = "branch_gone"
    sentence = (
        "The turns that you went on from have changed meanwhile, so nobody can go on from here. "
        "What you typed is kept under My work."
    )


class StalePageError(GrowingError):
    """Another window of the same person has gone on."""

    code = "stale_page"
    sentence = (
        "You went on with this path in another window. Here is how it stands now; what you typed "
        "is kept under My work."
    )


class EmptyQuestionError(GrowingError):
    code = "empty_question"
    sentence = "Write a question first; there is no letter or digit in this one."


class LooksLikeAnswerError(GrowingError):
    code = "looks_like_answer"
    sentence = "This is an answer, not a question. Give the final answer with the buttons."


class SpanMissingError(GrowingError):
    code = "span_missing"
    sentence = "Select the words of the rule text that your question comes from; they are wanted."


class SpanOutsideError(GrowingError):
    code = "span_outside"
    sentence = "The words that you selected are not in the rule text. Select them anew."


class DepthReachedError(GrowingError):
    """`most` is the limit that the tree began with."""

    code = "depth_reached"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"A path of this tree has at most {most} question{'s' * (most != 1)}. "
            "Give the final answer."
        )


class PathEndedError(GrowingError):
    code = "path_ended"
    sentence = "This path has its final answer. Take that back first, or submit the path."


class PathNotEndedError(GrowingError):
    code = "path_not_ended"
    sentence = "A path ends with a final answer. Give it, Yes or No, then submit."


class CheckFirstError(GrowingError):
    code = "check_first"
    sentence = "Say first whether everything so far is right."


class NothingToUndoError(GrowingError):
    code = "nothing_to_undo"
    sentence = "There is no turn of yours to take back."


class NotYoursToRejectError(GrowingError):
    code = "not_yours_to_reject"
    sentence = "You can reject a turn that another person wrote, on the path before you."


class NodeGoneError(GrowingError):
    code = "node_gone"
    sentence = "This part of the tree was taken out meanwhile. Here is the tree as it is now."


class CutNotInForceError(GrowingError):
    code = "cut_restored"
    sentence = "These nodes are back in the tree already."


class BranchOccupiedError(GrowingError):
    code = "branch_occupied"
    sentence = (
        "The branch has been continued meanwhile, or what is above it was taken out. Take out what "
        "stands there, or restore what is above it first."
    )


class FlagSettledError(GrowingError):
    code = "flag_settled"
    sentence = "Somebody has settled this already, or the tree has changed."


class BranchHeldError(GrowingError):
    code = "branch_held"
    sentence = "This person cannot get the branch: they wrote above it, or have had it before."


class TreeChangedError(GrowingError):
    code = "tree_changed"
    sentence = (
        "This part of the tree has changed since the page was opened. Here it is as it is now: "
        "look at it, then decide again."
    )


class SameAsBeforeError(GrowingError):
    code = "same_as_before"
    sentence = "It says this already. Change it first."


class BranchDisputedError(GrowingError):
    code = "branch_disputed"
    sentence = (
        "Somebody rejected a turn above this branch, and others look at that first. Give the "
        "branch away when it is settled."
    )


class NotQualifiedError(GrowingError):
    code = "not_qualified"
    sentence = (
        "This person lacks the qualification that paths need here. Give the branch to somebody "
        "else, or ask an admin to give them the qualification first."
    )
