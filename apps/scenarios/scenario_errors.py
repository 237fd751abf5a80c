"""Refusals of scenario work, of its checks and of fact sheets, each with its code and sentence.

RefusalError
  ScenarioError
    FitsFirstError
    EmptyScenarioError
    SameScenarioError
    PromptGoneError
    ChooseTwoError
    ScenarioNotWaitingError
    SettledAlreadyError
    SheetChangedError
    NotOneSituationError
"""

from apps.projects.errors import RefusalError


class ScenarioError(RefusalError):
    """A step that changed nothing. `code` is for programs."""

    code = "scenario_refused"


class FitsFirstError(ScenarioError):
    code = "fits_first"
    sentence = "First say whether any two of the cards contradict each other; then write."


class EmptyScenarioError(ScenarioError):
    code = "empty_scenario"
    sentence = "Write the scenario first: there is no word in it."


class SameScenarioError(ScenarioError):
    code = "same_scenario"
    sentence = (
        "Somebody has written this very text for this rule already. Tell it in other words, or "
        "tell another person’s situation."
    )


class PromptGoneError(ScenarioError):
    """The tree has changed, and nobody can be in this situation any more."""

    code = "prompt_gone"
    sentence = (
        "The questions that you were shown have changed meanwhile, so this scenario is no longer "
        "wanted. What you typed is kept under My work."
    )


class ChooseTwoError(ScenarioError):
    code = "choose_two"
    sentence = "Choose the two cards that contradict each other: two, not more and not fewer."


class ScenarioNotWaitingError(ScenarioError):
    """The scenario was settled while somebody checked it."""

    code = "scenario_not_waiting"
    sentence = (
        "This scenario has been settled meanwhile, so no more checks of it are wanted. What you "
        "typed is kept under My work."
    )


class SettledAlreadyError(ScenarioError):
    code = "settled_already"
    sentence = "Another expert was faster. Load the page again to see how it stands now."


class SheetChangedError(ScenarioError):
    code = "sheet_changed"
    sentence = (
        "Another expert has decided on this scenario since you opened the page, so nothing was "
        "saved. Here is how it stands now; decide again if it is wrong."
    )


class NotOneSituationError(ScenarioError):
    """The sheet says what no one person can be asked and answer so; `why` names it."""

    code = "not_one_situation"

    def __init__(self, why: str) -> None:
        super().__init__(f"Not saved. {why}")
