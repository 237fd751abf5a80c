"""Errors that a page, a job or a command shows as they are.

StudioError
  ImportRefusedError
  ExportRefusedError
  SplitsRefusedError
"""

from apps.projects.errors import StudioError


class ImportRefusedError(StudioError):
    """The files do not fit, or do not fit what is here; nothing was written."""


class ExportRefusedError(StudioError):
    """What was asked for cannot be exported; nothing was written."""


class SplitsRefusedError(StudioError):
    """Documents cannot be moved between splits; nothing was written."""
