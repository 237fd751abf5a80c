"""Errors that a page, a job or a command shows as they are.

StudioError
  DocumentRefusedError
  IndexRefusedError
"""

from apps.projects.errors import StudioError


class DocumentRefusedError(StudioError):
    """One document cannot be taken; the others go on."""


class IndexRefusedError(StudioError):
    """The list of files and their sources cannot be read; nothing was written."""
