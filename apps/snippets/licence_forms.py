"""What an admin says about the licence of a host's documents."""

from django import forms

from apps.projects.fields import WordsField
from apps.snippets.services.ingest import MAX_ATTRIBUTION, MAX_HOST, MAX_LICENCE


class LicenceForm(forms.Form):
    domain = forms.CharField(max_length=MAX_HOST, required=False)
    licence = WordsField(
        max_length=MAX_LICENCE, error_messages={"required": "Say which licence it is."}
    )
    attribution = forms.CharField(max_length=MAX_ATTRIBUTION, required=False)
    replace = forms.BooleanField(required=False)
