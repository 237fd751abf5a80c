"""The demo project of `make run`; loading it again changes nothing."""

from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.desk.demo.loader import load_demo
from apps.projects.commands import StudioCommand
from apps.projects.errors import StudioError


class Command(StudioCommand):
    help = "Makes the demo project and its people, once; a demo that was deleted stays deleted."

    def handle(self, **options: Any) -> None:
        try:
            project = load_demo(now=timezone.now())
        except StudioError as error:
            raise CommandError(str(error)) from error
        if project is None:
            self.stdout.write("The demo was loaded before; nothing changed.")
        else:
            self.stdout.write(f"Made the demo project “{project.name}” ({project.slug}).")
