"""A form's field for several files."""

from typing import Any

from django import forms


class _ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """One file or more; each is checked as a single one would be."""

    widget = _ManyFilesInput

    def clean(self, data: Any, initial: Any = None) -> Any:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(ManyFilesField, self).clean(file, initial) for file in files or [None]]
