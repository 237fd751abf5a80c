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
from apps.exports.formats.statistics import LABELS, Statistics


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


def write_card(source: Source, counts: Counts, seen: Statistics) -> str:
    return f"---\n{_yaml(source, counts)}---\n\n{_text(source, counts, seen)}"


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


def _text(source: Source, counts: Counts, seen: Statistics) -> str:
    title = " ".join(source.title.split())
    plots = "".join(f"![{name}](plots/{file}.svg)\n\n" for file, (name, _) in seen.plots.items())
    licences = ", ".join(source.licences) or "not stated; ask before you pass anything on"
    return _CARD_TEXT.format(
        title=title, labels=_label_table(seen), plots=plots, licences=licences,
        trees=sum(count.rows for count in counts["trees"].values()),
    )  # fmt: skip


_CARD_TEXT = """\
# {title}

Conversations about rules, in the manner of ShARC (Saeidi et al., EMNLP 2018): a rule text, a
question on it that cannot be answered as it stands, what the user tells of their situation, and
what was asked and answered so far. What is to be predicted is Yes, No, Irrelevant, or the follow-up
question that has to be answered first.

## How it was made

Rule texts are short pieces of public documents. Experts wrote a question on each; annotators grew a
tree of yes/no follow-up questions that ends in answers, each branch by another person who checked
what came before; others wrote situations of users. Every node of a tree gives an utterance, with
and without a scenario. Questions and scenarios of other documents' trees are put in as negatives.
Experts verify utterances of dev and test; `MANIFEST.json` says whether others were let through. All
of a source document is in one split. What was imported was made by who published it.

## Sizes

{labels}
There are {trees} trees.

{plots}## Fields

`evidence` has the turns that the scenario answers; it must not be part of a model's input. An
Irrelevant utterance has the rule text and the tree of the one that it was put to; its question is
another tree's. Nodes of `trees` have the place of the rule text that their question comes from, in
code points, where somebody marked it.

## Known limits

The answers follow from the rule texts as they were when they were collected; the law may have
changed. They are no advice. In trees without negated questions, the last answer often decides: test
whether a model reads more than that.

## Licences and citation

Licences of the sources: {licences}. The manner of collecting is that of Saeidi et al.,
"Interpretation of Natural Language Rules in Conversational Machine Reading", EMNLP 2018; cite it
beside this dataset.
"""


def _label_table(seen: Statistics) -> str:
    head = f"| split | {' | '.join(LABELS.values())} | all |\n|---|{'---|' * len(LABELS)}---|\n"
    rows = [
        f"| {split} | {' | '.join(str(classes[one]) for one in LABELS)} | {classes.total()} |\n"
        for split, classes in seen.classes.items()
    ]
    return head + "".join(rows)


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
