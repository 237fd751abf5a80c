"""The shape of what people send about documents, and what they look for among them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Q

from apps.projects.fields import WordsField, is_blank, show_limits
from apps.projects.forms import SettingsForm, language_tag
from apps.projects.models import Project, Split
from apps.projects.uploads import ManyFilesField
from apps.snippets.domain.extraction import Format, format_of
from apps.snippets.errors import DocumentRefusedError
from apps.snippets.models import Document, DocumentQuerySet, Snippet, SnippetQuerySet
from apps.snippets.services.ingest import (
    MAX_ATTRIBUTION,
    MAX_LICENCE,
    MAX_TITLE,
    MAX_URL,
    Details,
    refuse_url,
)
from apps.snippets.services.ingest_archives import is_archive

NO_SPLIT = "none"
SPLITS = [("", "Any"), *Split.choices, (NO_SPLIT, "In none yet")]
MAX_PASTED = 300_000
MAX_URLS = 500
_LEGIBLE = {"dir": "auto"}


# Adding documents ---------------------------------------------------------------------------


class DetailsForm(forms.Form):
    """What is the same for all documents of one upload."""

    language = forms.CharField(
        max_length=35,
        required=False,
        validators=[language_tag],
        help_text="Language tag, such as en, ja or ar. Left empty: what the page says, or else the "
        "language of the project.",
    )
    licence = WordsField(
        max_length=MAX_LICENCE,
        required=False,
        widget=forms.TextInput(attrs=_LEGIBLE),
        help_text="What allows us to use it, such as Open Government Licence v3.0.",
    )
    attribution = WordsField(
        max_length=MAX_ATTRIBUTION,
        required=False,
        widget=forms.TextInput(attrs=_LEGIBLE),
        help_text="Whom the licence wants to be named, and how. Left empty: title, source URL and "
        "day.",
    )
    retrieved_on = forms.DateField(
        label="Retrieved on",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="The day on which the page was as it is here.",
    )

    def details(self) -> Details:
        names = ("source_url", "title", "language", "licence", "attribution", "retrieved_on")
        return Details(**{name: self.cleaned_data[name] for name in names if name in self.fields})


def refuse_what_is_not_read(upload: UploadedFile[Any]) -> None:
    name = str(upload.name)
    if not (format_of(name) or is_archive(name)):
        raise forms.ValidationError(
            f"“{name}” is neither HTML (.html, .htm, .xhtml), Markdown (.md, .markdown) nor plain "
            "text (.txt, .text), and no zip archive of such files."
        )
    if (upload.size or 0) > settings.IMPORT_MAX_BYTES:
        raise forms.ValidationError(
            f"“{name}” has {upload.size:,} bytes; at most {settings.IMPORT_MAX_BYTES:,} are read. "
            "Split it, or ask who runs the studio to raise IMPORT_MAX_MEGABYTES."
        )


def _url_field(**options: Any) -> forms.CharField:
    return forms.CharField(
        label="Source URL",
        max_length=MAX_URL,
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "dir": "ltr"}),
        **options,
    )


def _title_field(**options: Any) -> forms.CharField:
    return WordsField(max_length=MAX_TITLE, widget=forms.TextInput(attrs=_LEGIBLE), **options)


class _WithUrl(DetailsForm):
    def clean_source_url(self) -> str:
        url = str(self.cleaned_data["source_url"])
        try:
            if url:
                refuse_url(url)
        except DocumentRefusedError as error:
            raise forms.ValidationError(str(error)) from error
        return url


class UploadForm(_WithUrl):
    documents = ManyFilesField(
        label="Files",
        help_text="HTML, Markdown or plain text; or zip archives of them. At most 500 at once: "
        "more go into a zip.",
        validators=[refuse_what_is_not_read],
    )
    source_url = _url_field(
        required=False, help_text="Of a single file. Several take theirs from the list below."
    )
    title = _title_field(
        required=False, help_text="Of a single file. Left empty: what the page says."
    )
    index = forms.FileField(
        label="List of sources",
        required=False,
        help_text="JSON: an array of objects with file, source_url, title, language, licence, "
        "attribution and retrieved_on. In a zip it is called index.json. What it says of a file "
        "comes before what stands here; a file without a source URL is known by its name alone.",
    )
    field_order = [
        "documents",
        "source_url",
        "title",
        "index",
        "language",
        "licence",
        "attribution",
        "retrieved_on",
    ]

    def clean(self) -> dict[str, Any]:
        files = self.cleaned_data.get("documents", [])
        is_one = len(files) == 1 and not is_archive(str(files[0].name))
        for name in ("source_url", "title"):
            if self.cleaned_data.get(name) and files and not is_one:
                self.add_error(name, "Only a single file has this one. Use the list of sources.")
        return self.cleaned_data


class PasteForm(_WithUrl):
    text = forms.CharField(
        max_length=MAX_PASTED,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "dir": "auto"}),
        help_text="Longer ones go up as a file.",
    )
    text_format = forms.ChoiceField(
        label="Format",
        choices=[(Format.TEXT, "Plain text"), (Format.MARKDOWN, "Markdown"), (Format.HTML, "HTML")],
        initial=Format.TEXT,
    )
    source_url = _url_field(help_text="The address that the text is from.")
    title = _title_field(
        required=False, help_text="Left empty: what the text says, or its first heading."
    )
    field_order = [
        "text", "text_format", "source_url", "title", "language", "licence", "attribution",
        "retrieved_on",
    ]  # fmt: skip

    def clean_text(self) -> str:
        text = str(self.cleaned_data["text"]).replace("\r\n", "\n")
        if is_blank(text):
            raise forms.ValidationError("There are only blanks in it.")
        return text


class FetchForm(DetailsForm):
    urls = forms.CharField(
        label="Addresses",
        widget=forms.Textarea(attrs={"rows": 6, "dir": "ltr", "inputmode": "url"}),
        help_text="One a line.",
    )
    field_order = ["urls", "language", "licence", "attribution", "retrieved_on"]

    def clean_urls(self) -> list[str]:
        urls = list(dict.fromkeys(str(self.cleaned_data["urls"]).split()))
        if len(urls) > MAX_URLS:
            raise forms.ValidationError(f"At most {MAX_URLS} at once; these are {len(urls):,}.")
        for url in urls:
            try:
                refuse_url(url)
            except DocumentRefusedError as error:
                raise forms.ValidationError(str(error)) from error
        return urls


class CorrectForm(_WithUrl):
    title = _title_field(required=False)
    source_url = _url_field(help_text="The same for all versions of the document.")
    field_order = ["title", "source_url", "language", "licence", "attribution", "retrieved_on"]


# Limits -------------------------------------------------------------------------------------


class LimitsForm(forms.ModelForm[Project]):
    class Meta:
        model = Project
        fields = ("max_list_items", "max_words", "long_lists")
        labels = SettingsForm.Meta.labels

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        show_limits(self, Project)


# Looking for --------------------------------------------------------------------------------


class _Filter(forms.Form):
    """Every field may be left out; one that makes no sense says so and filters nothing."""

    q = forms.CharField(
        label="Search",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"type": "search", "dir": "auto"}),
    )
    state = forms.ChoiceField(required=False)
    domain = forms.ChoiceField(required=False)
    split = forms.ChoiceField(choices=SPLITS, required=False)

    def __init__(self, data: Any, *, project: Project) -> None:
        super().__init__(data)
        self.documents = Document.objects.filter(project=project)
        self._offer("domain")

    def _offer(self, field: str) -> None:
        """What there is of it in the project."""
        found = self.documents.order_by(field).values_list(field, flat=True).distinct()
        choices = [("", "Any"), *((one, one) for one in found if one)]
        self.fields[field] = forms.ChoiceField(choices=choices, required=False)

    @property
    def is_used(self) -> bool:
        return any(self.cleaned_data.values())


class DocumentFilter(_Filter):
    TO_DO, SETTLED, WITHOUT = "to do", "settled", "without"

    language = forms.ChoiceField(required=False)

    def __init__(self, data: Any, *, project: Project) -> None:
        super().__init__(data, project=project)
        self._offer("language")
        self.fields["q"].widget.attrs["placeholder"] = "Title or source URL"
        self.fields["state"] = forms.ChoiceField(
            label="Snippets",
            choices=[("", "Any"), (self.TO_DO, "Some to look at"), (self.SETTLED, "All settled"),
                     (self.WITHOUT, "None")],
            required=False,
        )  # fmt: skip

    def filtered(self, documents: DocumentQuerySet) -> DocumentQuerySet:
        self.is_valid()
        chosen = self.cleaned_data.get
        if text := chosen("q"):
            said = Q(title__icontains=text) | Q(source_url__icontains=text)
            documents = documents.filter(said)
        for field in ("domain", "language"):
            if value := chosen(field):
                documents = documents.filter(**{field: value})
        if split := chosen("split"):
            documents = documents.filter(split="" if split == NO_SPLIT else split)
        match chosen("state"):
            case self.TO_DO:
                return documents.with_proposed_snippets()
            case self.SETTLED:
                return documents.with_all_snippets_settled()
            case self.WITHOUT:
                return documents.filter(snippets=None)
        return documents


class SnippetFilter(_Filter):
    reason = forms.ChoiceField(
        label="Discarded because",
        choices=[("", "Any"), *Snippet.DiscardReason.choices],
        required=False,
    )

    def __init__(self, data: Any, *, project: Project) -> None:
        super().__init__(data, project=project)
        self.fields["q"].widget.attrs["placeholder"] = "Words of a rule text"
        self.fields["state"] = forms.ChoiceField(
            choices=[("", "Any"), *Snippet.State.choices], required=False
        )

    def filtered(self, snippets: SnippetQuerySet) -> SnippetQuerySet:
        self.is_valid()
        chosen = self.cleaned_data.get
        if text := chosen("q"):
            snippets = snippets.filter(text__icontains=text)
        if state := chosen("state"):
            snippets = snippets.filter(state=state)
        if domain := chosen("domain"):
            snippets = snippets.filter(document__domain=domain)
        if split := chosen("split"):
            snippets = snippets.filter(document__split="" if split == NO_SPLIT else split)
        if reason := chosen("reason"):
            snippets = snippets.filter(discard_reason=reason)
        return snippets
