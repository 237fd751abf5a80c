"""The shape of what people send to start an import or an export."""

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import FileExtensionValidator

from apps.exports.services.exporting import FORMATS
from apps.projects.models import Split
from apps.projects.uploads import ManyFilesField

FORMAT_READERS = {
    "sharc": "ShARC JSON: a file for each split and the two lists of negatives. Read by ShARC's "
    "own evaluator and by models for its task.",
}


def refuse_too_large(upload: UploadedFile) -> None:  # type: ignore[type-arg]
    if (upload.size or 0) > settings.IMPORT_MAX_BYTES:
        raise forms.ValidationError(
            f"“{upload.name}” has {upload.size:,} bytes; at most {settings.IMPORT_MAX_BYTES:,} are "
            "read. Split the file, or ask who runs the studio to raise IMPORT_MAX_MEGABYTES."
        )


class ImportForm(forms.Form):
    utterances = ManyFilesField(
        label="Files with utterances",
        help_text="ShARC JSON: an array, or one utterance a line. All of it is imported, or "
        "nothing when something in it is wrong.",
        validators=[refuse_too_large, FileExtensionValidator(["json", "jsonl"])],
    )
    negative_questions = forms.FileField(
        label="List of irrelevant questions",
        required=False,
        help_text="Ids of utterances whose question is another tree's, one a line.",
        validators=[refuse_too_large],
    )
    negative_scenarios = forms.FileField(
        label="List of irrelevant scenarios",
        required=False,
        help_text="Ids of utterances whose scenario is another tree's. Without it they are taken "
        "for scenarios of their own tree.",
        validators=[refuse_too_large],
    )
    split = forms.ChoiceField(
        required=False,
        choices=[("", "What the names say, such as sharc_dev.json"), *Split.choices],
        help_text="All of a source document is in one split.",
    )

    def clean_split(self) -> Split | None:
        split = self.cleaned_data["split"]
        return Split(split) if split else None


class ExportForm(forms.Form):
    format = forms.ChoiceField(
        choices=[(name, FORMAT_READERS[name]) for name in FORMATS],
        initial=FORMATS[0],
        widget=forms.RadioSelect,
    )
    splits = forms.MultipleChoiceField(
        choices=Split.choices,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one split."},
    )

    def clean_splits(self) -> list[Split]:
        return [Split(split) for split in self.cleaned_data["splits"]]
