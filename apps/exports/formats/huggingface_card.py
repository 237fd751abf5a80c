"""README.md of a Hugging Face folder: YAML that says what is there, then a text for people."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from apps.exports.formats.checks import FieldError, same
from apps.exports.formats.files import decoded, locating
from apps.exports.formats.huggingface_schema import CLASS, CONFIGS
from apps.exports.formats.rows import CLASSES, Source


class Count(NamedTuple):
    """Rows of a file, and what they take in memory: without it, `datasets` heeds neither."""

    rows: int
    size: int = 0


Counts = dict[str, dict[str, Count]]
"""By configuration and split."""

_SIZES = ((1000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"),
          (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))  # fmt: skip
_CARD = "README.md"
_SIZE = re.compile(r'(?<="num_bytes": )\d+')


def write_card(source: Source, counts: Counts) -> str:
    return f"---\n{_yaml(source, counts)}---\n\n{_text(source, counts)}"


def _yaml(source: Source, counts: Counts) -> str:
    head = {
        "license": "other",
        "license_name": ", ".join(source.licences) or "not stated",
        "language": [source.language.split("-")[0]],
        "pretty_name": source.title,
        "task_categories": ["question-answering", "text-generation"],
        "annotations_creators": ["crowdsourced", "expert-generated"],
        "multilinguality": ["monolingual"],
        "size_categories": [_size(sum(count.rows for count in counts["utterances"].values()))],
    }
    lines = [f"{key}: {_flow(value)}" for key, value in head.items()]
    lines += ["configs:", *(line for config in CONFIGS for line in _config(config, counts))]
    lines += ["dataset_info:", *(line for config in CONFIGS for line in _info(config, counts))]
    return "".join(f"{line}\n" for line in lines)


def _flow(value: Any) -> str:
    """JSON is YAML, and quoted texts are never taken for anything else."""
    return json.dumps(value, ensure_ascii=True)


def _size(count: int) -> str:
    return next((name for most, name in _SIZES if count < most), "n>10M")


def _config(config: str, counts: Counts) -> list[str]:
    files = [
        {"split": split, "path": f"{config}/{split}.parquet"} for split in counts[config]
    ]  # fmt: skip
    default = ["  default: true"] if config == "utterances" else []
    return [f"- config_name: {config}", *default, "  data_files:",
            *(f"  - {_flow(one)}" for one in files)]  # fmt: skip


def _info(config: str, counts: Counts) -> list[str]:
    features = [_feature(name, kind) for name, kind in CONFIGS[config].items()]
    splits = [
        {"name": split, "num_bytes": count.size, "num_examples": count.rows}
        for split, count in counts[config].items()
    ]
    return [f"- config_name: {config}", "  features:", *(f"  - {_flow(one)}" for one in features),
            "  splits:", *(f"  - {_flow(one)}" for one in splits)]  # fmt: skip


def _feature(name: str, kind: Any) -> dict[str, Any]:
    if name == CLASS:
        names = {str(index): label for index, label in enumerate(CLASSES)}
        return {"name": name, "dtype": {"class_label": {"names": names}}}
    if isinstance(kind, dict):
        return {"name": name, "list": [_feature(*part) for part in kind.items()]}
    return {"name": name, "dtype": kind}


def _text(source: Source, counts: Counts) -> str:
    rows = "".join(
        f"| {config} | {split} | {count.rows} |\n"
        for config, splits in counts.items()
        for split, count in splits.items()
    )
    title = re.sub(r"\s+", " ", source.title)
    return (
        f"# {title}\n\n"
        "Conversations about rules, in the manner of ShARC (Saeidi et al., EMNLP 2018): a rule "
        "text, a question on it that cannot be answered as it stands, what the user tells of "
        "their situation, and what was asked and answered so far. What is to be predicted is "
        "Yes, No, Irrelevant, or the follow-up question that has to be answered first.\n\n"
        "| configuration | split | rows |\n|---|---|---|\n"
        f"{rows}\n"
        "`evidence` has the turns that the scenario answers; it must not be part of a model's "
        "input. Nodes of `trees` have the place of the rule text that their question comes from, "
        "in code points, where somebody marked it.\n"
    )


def read_card(folder: Path, counts: Counts) -> None:
    """Raises FormatError where the card does not say what is there."""
    with locating(_CARD, ""):
        try:
            card = decoded((folder / _CARD).read_bytes())
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
    with locating(_CARD, ""):
        if not starts:
            raise FieldError(part[0].strip("- "), "missing, or its first field is")
    for offset, expected in enumerate(part):
        with locating(_CARD, f"line {starts[0] + offset + 2}"):
            at = starts[0] + offset
            found = _SIZE.sub("0", lines[at]) if at < len(lines) else ""
            same(found, expected, part[0].strip("- "))
