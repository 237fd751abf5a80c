"""The shape of what people send to start an import or an export."""

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import FileExtensionValidator

from apps.exports.formats.registry import FORMATS
from apps.exports.formats.rows import Options
from apps.exports.services.exporting import MOST_SHARDS, Wanted
from apps.projects.models import Split
from apps.projects.uploads import ManyFilesField


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


def _described(name: str, readers: str) -> str:
    """Some formats are called what their own people call them."""
    return readers if readers.lower().startswith(f"{name}:") else f"{name}: {readers}"


class ExportForm(forms.Form):
    formats = forms.MultipleChoiceField(
        choices=[(name, _described(name, one.READERS)) for name, one in FORMATS.items()],
        initial=["sharc"],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one format."},
    )
    splits = forms.MultipleChoiceField(
        choices=Split.choices,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one split."},
    )
    seed = forms.IntegerField(
        min_value=0, initial=0, required=False,
        help_text="Of the order of conversational examples: the same number, the same order.",
    )  # fmt: skip
    shards = forms.IntegerField(
        min_value=1, max_value=MOST_SHARDS, initial=1, required=False,
        help_text="Files that the conversational examples of a split are spread over.",
    )  # fmt: skip
    anonymise = forms.BooleanField(
        required=False,
        help_text="Leaves out fields of imported records that ShARC does not have. Names, "
        "e-mail addresses and ids of people are in no export.",
    )
    allow_unverified = forms.BooleanField(
        label="Unverified ones, too",
        required=False,
        help_text="Also utterances of dev and test that no expert has verified. Then it is no "
        "release, and waits neither for the consistency proof nor for the audit.",
    )
    byte_order_mark = forms.BooleanField(
        label="For Excel",
        required=False,
        help_text="CSV files begin with a mark that tells Excel that they are UTF-8.",
    )

    def clean_splits(self) -> list[Split]:
        return [Split(split) for split in self.cleaned_data["splits"]]

    def wanted(self) -> Wanted:
        """What a valid form asks for."""
        data = self.cleaned_data
        options = Options(
            seed=data["seed"] or 0,
            shards=data["shards"] or 1,
            anonymise=data["anonymise"],
            byte_order_mark=data["byte_order_mark"],
        )
        return Wanted(data["formats"], data["splits"], options, data["allow_unverified"])
