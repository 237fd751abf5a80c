"""The YAML in the card of a Hugging Face folder: which files there are, and what is in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from apps.exports.formats.card import CARD, flow
from apps.exports.formats.checks import FieldError, same
from apps.exports.formats.files import decoded, locating
from apps.exports.formats.huggingface_schema import CLASS, CONFIGS
from apps.exports.formats.rows import CLASSES


class Count(NamedTuple):
    """Rows of a file, and what they take in memory: without it, `datasets` heeds neither."""

    rows: int
    size: int = 0


Counts = dict[str, dict[str, Count]]
"""By configuration and split."""

_SIZE = re.compile(r'(?<="num_bytes": )\d+')


def lines_of(counts: Counts) -> list[str]:
    """YAML: which files there are, and what is in them."""
    return [
        "configs:",
        *(line for config in CONFIGS for line in _config(config, counts)),
        "dataset_info:",
        *(line for config in CONFIGS for line in _info(config, counts)),
    ]


def _config(config: str, counts: Counts) -> list[str]:
    files = [
        {"split": split, "path": f"{config}/{split}.parquet"} for split in counts[config]
    ]  # fmt: skip
    default = ["  default: true"] if config == "utterances" else []
    return [f"- config_name: {config}", *default, "  data_files:",
            *(f"  - {flow(one)}" for one in files)]  # fmt: skip


def _info(config: str, counts: Counts) -> list[str]:
    features = [_feature(name, kind) for name, kind in CONFIGS[config].items()]
    splits = [
        {"name": split, "num_bytes": count.size, "num_examples": count.rows}
        for split, count in counts[config].items()
    ]
    return [f"- config_name: {config}", "  features:", *(f"  - {flow(one)}" for one in features),
            "  splits:", *(f"  - {flow(one)}" for one in splits)]  # fmt: skip


def _feature(name: str, kind: Any) -> dict[str, Any]:
    if name == CLASS:
        names = {str(index): label for index, label in enumerate(CLASSES)}
        return {"name": name, "dtype": {"class_label": {"names": names}}}
    if isinstance(kind, dict):
        return {"name": name, "list": [_feature(*part) for part in kind.items()]}
    return {"name": name, "dtype": kind}


def read_card(folder: Path, counts: Counts) -> None:
    """Raises FormatError where the card does not say what is there."""
    with locating(CARD, ""):
        try:
            card = decoded((folder / CARD).read_bytes())
        except OSError as error:
            raise FieldError("", error.strerror or "cannot be read") from None
        found = re.match(r"(?s)---\n(.*?\n)---\n", card)
        if not found:
            raise FieldError("", "does not begin with YAML between two lines ---")
    lines = found[1].splitlines()
    for config in CONFIGS:
        for part in (_config(config, counts), _info(config, counts)):
            _find(part, lines)


def _find(part: list[str], lines: list[str]) -> None:
    """Refuses when the lines do not stand there one after the other."""
    starts = [at for at, line in enumerate(lines) if line == part[0] and lines[at + 1] == part[1]]
    with locating(CARD, ""):
        if not starts:
            raise FieldError(part[0].strip("- "), "missing, or its first field is")
    for offset, expected in enumerate(part):
        with locating(CARD, f"line {starts[0] + offset + 2}"):
            at = starts[0] + offset
            found = _SIZE.sub("0", lines[at]) if at < len(lines) else ""
            same(found, expected, part[0].strip("- "))
