"""What all commands of the studio share: wrong options are refused in one line, exit code 1."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser


class StudioCommand(BaseCommand):
    def create_parser(self, prog_name: str, subcommand: str, **named: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **named)
        parser.called_from_command_line = False  # else argparse itself: its usage, and exit code 2
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            super().run_from_argv(argv)
        except CommandError as error:  # of the options; Django has seen to all others
            if "--traceback" in argv:
                raise
            said = str(error).removeprefix("Error: ")
            self.stderr.write(f"CommandError: {said}; --help names all options")
            sys.exit(1)
