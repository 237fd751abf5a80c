#!/usr/bin/env python
"""Django's command line."""

import io
import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sharc_studio.settings")
    # A terminal that lacks a letter must not end a command that has done its work.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    execute_from_command_line(sys.argv)
