from django import forms
from django.contrib.auth.forms import AuthenticationForm, UsernameField

from apps.accounts.models import User


class LogInForm(AuthenticationForm):
    username = UsernameField(
        label="User name", max_length=150, widget=forms.TextInput(attrs={"autofocus": True})
    )
    error_messages = {
        "invalid_login": "This user name and password do not belong together. "
        "Both are case-sensitive.",
        "inactive": "This account is closed.",
    }


class ProfileForm(forms.ModelForm[User]):
    class Meta:
        model = User
        fields = ["name", "keys_off"]
        help_texts = {"name": "How you appear to the others in your projects."}
