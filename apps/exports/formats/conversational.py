"""Examples of "conversational datasets" (Henderson et al. 2019), shuffled over shards.

An example is texts only: `context` is the latest turn, `context/0` the one before, and so on, and
`response` is what is said next. Turns, oldest first: scenario (if any), question, follow-up
question, its answer, ... The examples of a split are shuffled by a seed, with a few thousand in
memory at a time.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from hashlib import md5, sha256
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from apps.exports.formats.checks import FieldError, FormatError, any_text, hex40, parse_json, text
from apps.exports.formats.files import as_json, locating, name_in, split_files
from apps.exports.formats.rows import SPLITS, Found, Options, Source, UtteranceRow
from apps.trees.domain.tree import Answer, Turn
from apps.trees.domain.tree import Path as Turns

EXTRA = ("utterance_id", "tree_id", "source_url", "snippet", "scenario")
IN_MEMORY = 5000
_MOST_BUCKETS = 400  # open files at once

Example = dict[str, str]
Record = tuple[str, Example]
"""Where it stands in its file, and the example."""


def examples(row: UtteranceRow, options: Options) -> Iterator[Example]:
    """The utterance's example, or none where the options leave it out."""
    if options.only_follow_ups and row.answer_class != "more":
        return
    *before, context = turn_texts(row)
    if options.fold_context:
        before, context = [], "\n".join([row.snippet, *before, context])
    if not all(_has_wanted_length(one, options) for one in (context, row.answer)):
        return
    older = {f"context/{number}": one for number, one in enumerate(reversed(before))}
    extra = {name: getattr(row, name) for name in EXTRA}
    yield {**dict(reversed(older.items())), "context": context, "response": row.answer, **extra}


def turn_texts(row: UtteranceRow) -> list[str]:
    opening = [row.scenario, row.question] if row.scenario else [row.question]
    told = [(turn.follow_up_question, turn.follow_up_answer.value) for turn in row.history]
    return opening + [part for turn in told for part in turn]


def _has_wanted_length(one: str, options: Options) -> bool:
    shortest, longest = options.min_length, options.max_length
    return not (shortest and len(one) < shortest) and not (longest and len(one) > longest)


def split_by_hash(source_url: str) -> str:
    """The format's own way to split: by a hash of the key, whatever else there is."""
    digest = int(md5(source_url.encode(), usedforsecurity=False).hexdigest(), 16)
    value = (1 + digest % 4096) / 4096
    return "train" if value < 0.7 else "dev" if value < 0.8 else "test"


WriteExample = Callable[[BinaryIO, Example], None]


def write_shards(
    source: Source, folder: Path, options: Options, suffix: str, write_example: WriteExample
) -> None:
    """SPLIT-00000-of-00010 and so on, each with its part of the split's examples."""
    for split in splits_of(source, options):
        numbers = range(options.shards)
        write_some(source, folder, options, split, numbers, (suffix, write_example))


def splits_of(source: Source, options: Options) -> Sequence[str]:
    return SPLITS if options.split_by_hash else source.splits


def write_some(
    source: Source, folder: Path, options: Options, split: str, numbers: range,
    how: tuple[str, WriteExample],
) -> None:  # fmt: skip
    """Only the files with these numbers: they are the same without the others."""
    suffix, write_example = how
    for number, part in _shuffled(source, folder, options, split, numbers):
        name = f"{split}-{number:05d}-of-{options.shards:05d}.{suffix}"
        with (folder / name).open("wb") as stream:
            for example in part:
                write_example(stream, example)


def _shuffled(
    source: Source, folder: Path, options: Options, split: str, numbers: range
) -> Iterator[tuple[int, Iterator[Example]]]:
    """The examples of each file, in the order of hashes of seed and id.

    Sorted in buckets: each bucket is a file that holds a range of the hashes.
    """
    each = _buckets_each(source, options, len(numbers))
    with TemporaryDirectory(dir=folder) as aside:
        buckets = [Path(aside) / str(number) for number in range(len(numbers) * each)]
        with ExitStack() as opened:
            streams = [opened.enter_context(path.open("wb")) for path in buckets]
            for rank, example in _ranked(source, options, split, numbers):
                place = int(rank, 16) * options.shards * each >> 64
                stream = streams[place - numbers.start * each]
                stream.write(f"{rank} {as_json(example)}\n".encode())
        for at, number in enumerate(numbers):
            yield number, _in_order(buckets[at * each : (at + 1) * each])


def _buckets_each(source: Source, options: Options, files: int) -> int:
    """Of how many buckets a file is put together, so that each of them fits into memory."""
    total = sum(map(source.count, source.splits))
    return max(1, min(-(-total // (options.shards * IN_MEMORY)), _MOST_BUCKETS // files))


def _ranked(
    source: Source, options: Options, split: str, numbers: range
) -> Iterator[tuple[str, Example]]:
    def is_in_files(utterance_id: str) -> bool:
        return int(_rank(utterance_id, options.seed), 16) * options.shards >> 64 in numbers

    for stored in source.splits if options.split_by_hash else [split]:
        for row in source.utterances(stored, is_in_files):
            if options.split_by_hash and split_by_hash(row.source_url) != split:
                continue
            for example in examples(row, options):
                yield _rank(row.utterance_id, options.seed), example


def _rank(utterance_id: str, seed: int) -> str:
    return sha256(f"{seed}:{utterance_id}".encode()).hexdigest()[:16]


def _in_order(buckets: Iterable[Path]) -> Iterator[Example]:
    for bucket in buckets:
        with bucket.open("rb") as stream:
            lines = sorted(stream)
        for line in lines:
            yield parse_json(line[17:].decode())


def read_shards(
    folder: Path, suffix: str, read_file: Callable[[BinaryIO, str], Iterator[Record]]
) -> Iterator[Found]:
    seen: dict[str, list[str]] = {}
    for split, path in split_files(folder, f"{{split}}-*-of-*.{suffix}"):
        file = name_in(folder, path)
        seen.setdefault(split, []).append(file)
        with path.open("rb") as stream:
            for where, example in read_file(stream, file):
                with locating(file, where):
                    row = _checked(example)
                yield Found(file, where, split, example, (row,))
    for split, files in seen.items():
        _check_names(split, files, suffix)


def _check_names(split: str, files: list[str], suffix: str) -> None:
    total = int(re.sub(r".*-of-(\d+)\..*", r"\1", files[0]))
    for number in range(total):
        name = f"{split}-{number:05d}-of-{total:05d}.{suffix}"
        if name not in files:
            raise FormatError(name, "", "missing: a shard of this split is not there")
    if len(files) != total:
        raise FormatError(files[-1], "", f"the split {split} must have {total} shards")


def _checked(example: Example) -> UtteranceRow:
    older = _older(example)
    for name in (*EXTRA, "context", "response", *older):
        if name not in example:
            raise FieldError(name, "missing")
    for name, value in example.items():
        if name not in (*EXTRA, "context", "response", *older):
            raise FieldError(name, "the format has no such field")
        any_text(value, name)
        if name != "scenario":
            text(value, name)
    hex40(example["utterance_id"], "utterance_id")
    hex40(example["tree_id"], "tree_id")
    return _row(example, [*(example[name] for name in reversed(older)), example["context"]])


def _older(example: Example) -> list[str]:
    """`context/0`, `context/1`, ... without gaps."""
    names: list[str] = []
    for number in count():
        if f"context/{number}" not in example:
            return names
        names.append(f"context/{number}")
    raise AssertionError("unreachable")


def _row(example: Example, said: list[str]) -> UtteranceRow:
    """The utterance; without question and turns where all of them are folded into `context`."""
    if len(said) == 1 and said[0].startswith(example["snippet"] + "\n"):
        return UtteranceRow(
            example["utterance_id"], example["tree_id"], example["source_url"],
            example["snippet"], scenario=example["scenario"], answer=example["response"],
        )  # fmt: skip
    if example["scenario"] and said.pop(0) != example["scenario"]:
        raise FieldError("scenario", "is not the oldest turn")
    if not said:
        raise FieldError("context", "there is no question")
    return UtteranceRow(
        example["utterance_id"], example["tree_id"], example["source_url"], example["snippet"],
        said[0], example["scenario"], example["response"], _history(said[1:]),
    )  # fmt: skip


def _history(said: list[str]) -> Turns:
    answers = said[1::2]
    if len(said) % 2 or not {*answers} <= {*Answer}:
        raise FieldError("context", "after the question, every second turn must be Yes or No")
    return tuple(
        Turn(question, Answer(answer)) for question, answer in zip(said[::2], answers, strict=True)
    )
