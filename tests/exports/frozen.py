"""A project as an export's writers see it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from apps.exports.services.snapshot import Snapshot, open_snapshot, take_snapshot
from apps.projects.models import Project, Split


def unheard(number: int) -> None:
    assert number > 0


@contextmanager
def frozen(project: Project, splits: Sequence[Split]) -> Iterator[Snapshot]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot"
        take_snapshot(project, splits, path, unheard, allow_unverified=True)
        with open_snapshot(path, unheard) as source:
            yield source
