"""Errors that a page, a job or a command shows as they are.

StudioError
  ImportRefusedError
  ExportRefusedError
  ExportStorageError
  ExportFaultError
  SplitsRefusedError
"""

from collections.abc import Sequence

from apps.projects.errors import StudioError


class ImportRefusedError(StudioError):
    """The files do not fit, or do not fit what is here; nothing was written."""


class ExportRefusedError(StudioError):
    """What was asked for cannot be exported; nothing was written.

    `reasons` are all that there are to mend, one sentence each, for a page to list.
    """

    def __init__(self, said: str, reasons: Sequence[str] = ()) -> None:
        super().__init__(said)
        self.reasons = tuple(reasons) or (said,)


class ExportStorageError(StudioError):
    """Finished files cannot be kept, or cannot be had from where they are."""


class ExportFaultError(StudioError):
    """Files are not what their format says: which, where in it, and what is wrong there."""


class SplitsRefusedError(StudioError):
    """Documents cannot be moved between splits; nothing was written."""
