"""A folder for Hugging Face's `datasets`: Parquet files and a README whose YAML describes them.

Two configurations, `utterances` and `trees`, each with a file per split; `dev` is called
`validation` there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from apps.exports.formats.card import write_card
from apps.exports.formats.checks import FieldError, FormatError, Increasing, path_of, same
from apps.exports.formats.croissant import check_croissant, write_croissant
from apps.exports.formats.files import Counted, locating, name_in
from apps.exports.formats.huggingface_card import Count, Counts, lines_of, read_card
from apps.exports.formats.huggingface_schema import CONFIGS, check_row
from apps.exports.formats.rows import (
    CLASSES,
    SPLITS,
    Cut,
    Found,
    NodeRow,
    Options,
    Source,
    TreeRow,
    UtteranceRow,
)
from apps.exports.formats.statistics import Statistics
from apps.scenarios.domain.turns import turns_as_json

NAME = "huggingface"
READERS = (
    "Hugging Face folder: Parquet, a dataset card and Croissant metadata. Read by the library "
    "datasets, by mlcroissant, and by anything that reads Parquet."
)
MARKS: tuple[str, ...] = ("utterances/*.parquet",)
CUT = Cut.WHOLE

ROWS = 1000
"""Of a row group: what is in memory at once."""

SPLIT_NAMES = {"train": "train", "dev": "validation", "test": "test"}


def write(source: Source, folder: Path, options: Options) -> None:
    counts: Counts = {config: {} for config in CONFIGS}
    seen = Statistics()
    for split in source.splits:
        rows = {
            "utterances": map(_utterance, seen.utterances(source.utterances(split), split)),
            "trees": map(_tree, seen.trees(source.trees(split))),
        }
        for config in CONFIGS:
            name = SPLIT_NAMES[split]
            path = folder / config / f"{name}.parquet"
            counts[config][name] = _write_parquet(path, rows[config], config)
    write_card(source, folder, seen, readers=READERS, more=lines_of(counts))
    write_croissant(source, folder, seen)


def _write_parquet(path: Path, rows: Iterable[dict[str, Any]], config: str) -> Count:
    pyarrow, parquet = _libraries()
    schema = _schema(config)
    path.parent.mkdir(parents=True, exist_ok=True)
    count = size = 0
    rows = iter(rows)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch := list(islice(rows, ROWS)):
            table = pyarrow.Table.from_pylist(batch, schema)
            writer.write_table(table)
            count, size = count + len(batch), size + table.nbytes
    return Count(count, size)


def _libraries() -> tuple[Any, Any]:
    """Loaded when they are needed: they take 55 MB of every process that has them."""
    import pyarrow  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    return pyarrow, parquet


def _schema(config: str) -> Any:
    return _libraries()[0].schema([(name, _type(kind)) for name, kind in CONFIGS[config].items()])


def _type(kind: Any) -> Any:
    pyarrow, _ = _libraries()
    if isinstance(kind, str):
        return pyarrow.type_for_alias(kind)
    item = pyarrow.struct([(name, _type(part)) for name, part in kind.items()])
    # The name that Parquet's own specification gives it: read back, it is the same type.
    return pyarrow.list_(pyarrow.field("element", item))


def _utterance(row: UtteranceRow) -> dict[str, Any]:
    return {
        "utterance_id": row.utterance_id,
        "tree_id": row.tree_id,
        "source_url": row.source_url,
        "snippet": row.snippet,
        "question": row.question,
        "scenario": row.scenario,
        "answer": row.answer,
        "history": turns_as_json(row.history),
        "evidence": turns_as_json(row.evidence),
        "answer_class": CLASSES.index(row.answer_class),
        "negative_question": row.kind == "negative_question",
        "negative_scenario": row.kind == "negative_scenario",
    }


def _tree(tree: TreeRow) -> dict[str, Any]:
    return {
        "tree_id": tree.tree_id,
        "source_url": tree.source_url,
        "snippet": tree.snippet,
        "question": tree.question,
        "nodes": [{key: getattr(node, key) for key in NodeRow.__slots__} for node in tree.nodes],
    }


def read(folder: Path) -> Iterator[Found]:
    counts: Counts = {}
    for config in CONFIGS:
        for split in SPLITS:
            path = folder / config / f"{SPLIT_NAMES[split]}.parquet"
            if path.exists():
                counted = Counted(_read_parquet(folder, path, config, split))
                yield from counted
                counts.setdefault(config, {})[SPLIT_NAMES[split]] = Count(counted.count)
    for config in CONFIGS:
        if config not in counts:
            raise FormatError(f"{config}/SPLIT.parquet", "", "missing: there is no such file")
    read_card(folder, counts)
    check_croissant(folder)


def _read_parquet(folder: Path, path: Path, config: str, split: str) -> Iterator[Found]:
    file = name_in(folder, path)
    order = Increasing("utterance_id" if config == "utterances" else "tree_id")
    pyarrow, parquet = _libraries()
    number = 0
    try:
        with parquet.ParquetFile(path) as stream:
            _check_schema(stream.schema_arrow, config, file)
            for batch in stream.iter_batches(ROWS):
                for value in batch.to_pylist():
                    number += 1
                    with locating(file, f"row {number}"):
                        check_row(config, value)
                        order.check(value[f"{config[:-1]}_id"])
                        found = _found(file, f"row {number}", split, config, value)
                    yield found
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        place = f"row {number + 1}" if number else ""
        raise FormatError(file, place, f"not Parquet, or damaged: {error}") from None


def _check_schema(found: Any, config: str, file: str) -> None:
    expected = _schema(config)
    with locating(file, ""):
        same(list(found.names), list(expected.names), "columns")
        for field in expected:
            same(str(found.field(field.name).type), str(field.type), field.name)


def _found(file: str, where: str, split: str, config: str, value: dict[str, Any]) -> Found:
    if config == "trees":
        nodes = tuple(NodeRow(**node) for node in value["nodes"])
        tree = TreeRow(value["tree_id"], value["source_url"], snippet=value["snippet"],
                       question=value["question"], nodes=nodes)  # fmt: skip
        return Found(file, where, split, value, trees=(tree,))
    row = UtteranceRow(
        value["utterance_id"], value["tree_id"], value["source_url"], value["snippet"],
        value["question"], value["scenario"], value["answer"], path_of(value["history"]),
        path_of(value["evidence"]), _kind(value),
    )  # fmt: skip
    same(CLASSES[value["answer_class"]], row.answer_class, "answer_class")
    shown = {**value, "answer_class": row.answer_class}
    return Found(file, where, split, shown, (row,))


def _kind(value: dict[str, Any]) -> str:
    if value["negative_question"] and value["negative_scenario"]:
        raise FieldError("negative_scenario", "cannot be true where negative_question is")
    if value["negative_question"] or value["negative_scenario"]:
        return "negative_question" if value["negative_question"] else "negative_scenario"
    return "scenario" if value["scenario"] else "plain"
