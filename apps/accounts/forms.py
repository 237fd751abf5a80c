from django import forms
from django.contrib.auth.forms import AuthenticationForm

from apps.accounts.models import User


class LogInForm(AuthenticationForm):
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
