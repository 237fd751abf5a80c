from django.apps import AppConfig


class SnippetsConfig(AppConfig):
    name = "apps.snippets"
