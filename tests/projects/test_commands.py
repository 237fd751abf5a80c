"""Every command of the studio refuses wrong options with one line and exit code 1."""

import pytest
from django.core.management import get_commands, load_command_class

from apps.projects.commands import StudioCommand

pytestmark = pytest.mark.once

OURS = sorted(name for name, app in get_commands().items() if app.startswith("apps."))


@pytest.mark.parametrize("name", OURS)
def test_an_option_that_is_none_is_refused_in_one_line(name, capsys):
    command = load_command_class(get_commands()[name], name)
    assert isinstance(command, StudioCommand)
    with pytest.raises(SystemExit) as end:
        command.run_from_argv(["manage.py", name, "--nonsense=1"])
    said = capsys.readouterr().err
    assert (end.value.code, said.count("\n")) == (1, 1)
    assert said.startswith("CommandError: ")
    assert "usage" not in said
