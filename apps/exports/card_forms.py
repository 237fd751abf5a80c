"""What an admin says for the dataset card."""

from django import forms

from apps.exports.models import DatasetCard


class CardForm(forms.ModelForm[DatasetCard]):
    url = forms.URLField(
        label="Address", required=False, max_length=500, assume_scheme="https",
        widget=forms.URLInput(attrs={"dir": "ltr"}),
        help_text="Where it is, or will be, published.",
    )  # fmt: skip

    class Meta:
        model = DatasetCard
        fields = (
            "description", "creators", "url", "licence", "citation", "version", "published_on",
            "pay",
        )  # fmt: skip
        widgets = {
            name: forms.Textarea(attrs={"rows": 3, "dir": "auto"})
            for name in ("description", "creators", "citation", "pay")
        } | {
            "published_on": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
            "licence": forms.TextInput(attrs={"dir": "auto"}),
        }

    def clean_creators(self) -> str:
        names = str(self.cleaned_data["creators"]).splitlines()
        return "\n".join(" ".join(name.split()) for name in names if name.strip())
