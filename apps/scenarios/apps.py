from django.apps import AppConfig


class ScenariosConfig(AppConfig):
    name = "apps.scenarios"
