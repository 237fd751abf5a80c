"""Errors that a page, a job or a command shows as they are.

StudioError
  ImportRefusedError
  ExportRefusedError
  ExportStorageError
  ExportFaultError
  SplitsRefusedError
"""

from apps.projects.errors import StudioError


class ImportRefusedError(StudioError):
    """The files do not fit, or do not fit what is here; nothing was written."""


class ExportRefusedError(StudioError):
    """What was asked for cannot be exported; nothing was written."""


class ExportStorageError(StudioError):
    """Finished files cannot be kept, or cannot be had from where they are."""


class ExportFaultError(StudioError):
    """Files are not what their format says: which, where in it, and what is wrong there."""


class SplitsRefusedError(StudioError):
    """Documents cannot be moved between splits; nothing was written."""
