"""Errors that a person reads: one sentence that says what is wrong, where, and what to do."""


class StudioError(Exception):
    """The root of every error that a page, a job or a command shows as it is."""


class RefusalError(StudioError):
    """A step that changed nothing. Its class has the sentence, or somebody says a better one."""

    sentence = ""

    def __init__(self, sentence: str = "") -> None:
        super().__init__(sentence or self.sentence)


class JobCancelledError(StudioError):
    """Somebody stopped the job, or another worker took it over: what runs must end."""


class LastAdminError(StudioError):
    """A project keeps at least one admin."""


class ShortNameTakenError(StudioError):
    """A project that was deleted has the short name; it may come back."""


class GuidelineChangedError(StudioError):
    """Two people wrote the same guidelines; the second must see the first one's text."""
