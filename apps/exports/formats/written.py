"""What of a source a format writes: some leave utterances out, or have splits of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from apps.exports.formats import or_sharc
from apps.exports.formats.about import About
from apps.exports.formats.conversational import examples, split_by_hash, splits_of
from apps.exports.formats.registry import IN_FILES
from apps.exports.formats.rows import DocumentRow, IsWanted, Options, Source, TreeRow, UtteranceRow


def written(source: Source, name: str, options: Options) -> Source:
    """The source as the format writes it: for its card and its counts."""
    by_hash = name in IN_FILES and options.split_by_hash
    return Written(source, name, options) if by_hash or _may_leave_out(name, options) else source


def _may_leave_out(name: str, options: Options) -> bool:
    asked = options.only_follow_ups or options.min_length or options.max_length
    return name == or_sharc.NAME or (name in IN_FILES and bool(asked))


def count_classes(source: Source) -> dict[str, dict[str, int]]:
    """Utterances by split and class, those classes that there are."""
    counts = {
        split: Counter(row.answer_class for row in source.utterances(split))
        for split in source.splits
    }
    return {split: dict(sorted(classes.items())) for split, classes in counts.items()}


@dataclass(frozen=True)
class Written:
    """A source over another one. Documents are there whole, also where their utterances are not."""

    whole: Source
    format: str
    options: Options

    @property
    def name(self) -> str:
        return self.whole.name

    @property
    def title(self) -> str:
        return self.whole.title

    @property
    def language(self) -> str:
        return self.whole.language

    @property
    def about(self) -> About:
        return self.whole.about

    @property
    def splits(self) -> Sequence[str]:
        return splits_of(self.whole, self.options) if self._by_hash else self.whole.splits

    def only(self, split: str) -> Source:
        return replace(self, whole=self.whole.only(split))

    def count(self, split: str) -> int:
        return sum(1 for _ in self.utterances(split))

    def utterances(self, split: str, wanted: IsWanted | None = None) -> Iterator[UtteranceRow]:
        for stored in self._stored(split):
            rows = self.whole.utterances(stored, wanted)
            yield from (row for row in rows if self._is_in(row, split) and self._is_kept(row))

    def trees(self, split: str) -> Iterator[TreeRow]:
        for stored in self._stored(split):
            for tree in self.whole.trees(stored):
                kept = tuple(row for row in tree.utterances if self._is_kept(row))
                if kept and self._is_in(tree, split):
                    yield replace(tree, utterances=kept)

    def documents(self, split: str) -> Iterator[DocumentRow]:
        for stored in self._stored(split):
            yield from (one for one in self.whole.documents(stored) if self._is_in(one, split))

    @property
    def _by_hash(self) -> bool:
        return self.format in IN_FILES and self.options.split_by_hash

    def _stored(self, split: str) -> Sequence[str]:
        """The source's splits in which those of `split` are."""
        return self.whole.splits if self._by_hash else [split]

    def _is_in(self, row: UtteranceRow | TreeRow | DocumentRow, split: str) -> bool:
        return not self._by_hash or split_by_hash(row.source_url) == split

    def _is_kept(self, row: UtteranceRow) -> bool:
        if self.format == or_sharc.NAME:
            return or_sharc.is_kept(row)
        return any(True for _ in examples(row, self.options))
