"""An export in pieces that need nothing of each other, so that several workers can write it.

Which pieces there are follows from source and options alone, never from the number of workers; and
each piece writes files of its own. So it does not matter who writes which, or how often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from apps.exports.formats.conversational import splits_of
from apps.exports.formats.registry import FORMATS, IN_FILES
from apps.exports.formats.rows import Cut, Options, Source

MOST_PIECES = 16
"""Of one split: each reads all ids of it, so with more files a piece is several files."""


@dataclass(frozen=True)
class Piece:
    """A format, or one split of it, or some files of that: those from `first` to before `end`."""

    format: str
    split: str = ""
    first: int = 0
    end: int = 0

    @property
    def name(self) -> str:
        """For people: what is being written."""
        return f"{self.format}, {self.split}" if self.split else self.format

    def size(self, source: Source, options: Options) -> int:
        """About how many utterances go by while it is written."""
        of_split = self.split in source.splits and not options.split_by_hash
        total = sum(map(source.count, [self.split] if of_split else source.splits))
        return -(-total * (self.end - self.first) // options.shards) if self.end else total

    def write(self, source: Source, folder: Path, options: Options) -> None:
        """Writes its files into a folder of the format."""
        if self.end:
            numbers = range(self.first, self.end)
            IN_FILES[self.format].write_files(source, folder, options, self.split, numbers)
        else:
            wanted = source.only(self.split) if self.split else source
            FORMATS[self.format].write(wanted, folder, options)


def pieces(formats: Sequence[str], source: Source, options: Options) -> list[Piece]:
    """The longest first, so that nobody waits long for the last one."""
    found = [piece for name in formats for piece in _pieces_of(name, source, options)]
    return sorted(found, key=lambda piece: -piece.size(source, options))


def _pieces_of(name: str, source: Source, options: Options) -> Iterator[Piece]:
    cut = FORMATS[name].CUT
    if cut is Cut.WHOLE:
        yield Piece(name)
    elif cut is Cut.BY_SPLIT:
        yield from (Piece(name, split) for split in source.splits)
    else:
        step = -(-options.shards // MOST_PIECES)
        for split in splits_of(source, options):
            for first in range(0, options.shards, step):
                yield Piece(name, split, first, min(first + step, options.shards))
