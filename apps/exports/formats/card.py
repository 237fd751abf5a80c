"""README.md of an export: YAML that says what it is, a text for people, plots, and the sources."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from apps.exports.formats.about import About, Measured
from apps.exports.formats.csv_table import harmless, open_csv
from apps.exports.formats.files import open_to_write
from apps.exports.formats.plots import bars
from apps.exports.formats.rows import Source
from apps.exports.formats.statistics import LABELS, Statistics

CARD = "README.md"
SOURCES = "SOURCES.csv"
PLOTS = "plots"
NOT_STATED = "not stated"
SHARC = (
    "Marzieh Saeidi, Max Bartolo, Patrick Lewis, Sameer Singh, Tim Rocktäschel, Mike Sheldon, "
    "Guillaume Bouchard and Sebastian Riedel: Interpretation of Natural Language Rules in "
    "Conversational Machine Reading. EMNLP 2018."
)

_SIZES = ((1000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"),
          (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))  # fmt: skip


def statistics_of(source: Source) -> Statistics:
    """Counted in one pass over the trees."""
    seen = Statistics()
    for split in source.splits:
        for tree in seen.trees(source.trees(split)):
            seen.add_utterances(tree.utterances, split)
    return seen


def write_card(
    source: Source, folder: Path, seen: Statistics, *, readers: str, more: Iterable[str] = ()
) -> None:
    """README.md, plots/ and SOURCES.csv. `readers` says who reads the files beside them, `more` are
    further lines of YAML.
    """
    with open_to_write(folder / CARD) as stream:
        lines = [*_head(source, seen), *more]
        stream.write("---\n" + "".join(f"{line}\n" for line in lines) + "---\n\n")
        stream.write(text_of(source, seen, readers=readers))
    for name, (title, numbers) in seen.plots.items():
        with open_to_write(folder / PLOTS / f"{name}.svg") as stream:
            stream.write(bars(title, numbers))
    with open_csv(folder / SOURCES) as stream:
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow(("split", "source_url", "version", "title", "licence", "attribution"))
        for split in source.splits:
            for one in source.documents(split):
                cells = (split, one.source_url, str(one.version), one.title, one.licence,
                         one.attribution)  # fmt: skip
                writer.writerow(map(harmless, cells))


def flow(value: Any) -> str:
    """JSON is YAML, and quoted texts are never taken for anything else."""
    return json.dumps(value, ensure_ascii=True)


def licence_of(about: About) -> str:
    """Of the dataset: as stated, or else what its sources have."""
    named = [name for name in about.licences or {} if name]
    return about.licence or ", ".join(named) or NOT_STATED


def languages_of(source: Source) -> list[str]:
    """The tags of the documents' languages."""
    return list(source.about.languages) or [source.language]


def _head(source: Source, seen: Statistics) -> list[str]:
    head = {
        "license": "other",
        "license_name": licence_of(source.about),
        "language": list(dict.fromkeys(tag.split("-")[0] for tag in languages_of(source))),
        "pretty_name": source.title,
        "task_categories": ["question-answering", "text-generation"],
        "annotations_creators": ["crowdsourced", "expert-generated"]
        if source.about.has_collected
        else ["found"],
        "multilinguality": ["multilingual" if len(languages_of(source)) > 1 else "monolingual"],
        "size_categories": [_size(seen.count)],
    }
    return [f"{key}: {flow(value)}" for key, value in head.items()]


def _size(count: int) -> str:
    return next((name for most, name in _SIZES if count < most), "n>10M")


# The text ----------------------------------------------------------------------------------------


def text_of(source: Source, seen: Statistics, *, readers: str) -> str:
    about = source.about
    parts = [
        f"# {one_line(source.title)}",
        one_line(about.description) if about.description else "",
        WHAT,
        unverified(about),
        f"This folder: {readers}",
        "## How it was made", *made(about),
        "## Sizes", _label_table(seen), _sizes_in_words(about, seen),
        "".join(f"![{name}]({PLOTS}/{file}.svg)\n\n" for file, (name, _) in seen.plots.items()),
        "## Agreement and audit", *agreement(about), _audit_table(about),
        "## Fields", FIELDS,
        "## Personal data", personal(seen),
        "## Known limits", LIMITS,
        "## Licences", *_licences(about),
        "## How to cite", *citation(source),
    ]  # fmt: skip
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


WHAT = """\
Conversations about rules, in the manner of ShARC (EMNLP 2018): a rule text, a question on it that
cannot be answered as it stands, what the user tells of their situation, and what was asked and
answered so far. What is to be predicted is Yes, No, Irrelevant, or the follow-up question that has
to be answered first."""

PROCESS = """\
Rule texts are short pieces of public documents. Experts wrote a question on each. Annotators grew a
tree of yes/no follow-up questions that ends in answers: each path by another person, who first
checked what stood above it, with answers of a simulated user drawn at random. Others wrote
situations of users on parts of a path. Every node of a tree gives an utterance, without and with a
scenario. Questions and scenarios of other documents' trees are put in as negatives. Experts verify
utterances of dev and test. All of a source document is in one split."""

FIELDS = """\
`evidence` has the turns that the scenario answers; it must not be part of a model's input. An
Irrelevant utterance has the rule text and the tree of the one that it was put to; its question is
another tree's. Spans of the rule text count code points. `SOURCES.csv` says where each document is
from, under which licence, and whom to name. `MANIFEST.json` has the parameters of the export (among
them whether utterances were let through that no expert has verified), the number of utterances, and
the SHA-256 of each file."""

LIMITS = """\
The answers follow from the rule texts as they were when they were collected; the law may have
changed. They are no advice. In trees without negated questions the last answer often decides: test
whether a model reads more than that. Only yes/no questions are asked; a rule that needs an amount,
a date or a list is left out or cut down. What an annotator overlooked in a rule, the tree lacks."""


def made(about: About) -> list[str]:
    """Paragraphs: the process, as far as it was followed here, by how many, and for what pay."""
    if not about.has_collected:
        return ["All trees were imported: they were made by who published them, and are given as "
                "they came."]  # fmt: skip
    parts = [PROCESS]
    if about.imported_trees:
        parts.append(f"Of {about.trees:,} trees, {about.imported_trees:,} were imported: they were "
                     "made by who published them.")  # fmt: skip
    if people := [f"{number:,} {work}" for work, number in (about.people or {}).items() if number]:
        parts.append(f"People: {', '.join(people)}. One person may have done several kinds of "
                     "work.")  # fmt: skip
    parts.append(f"Pay: {one_line(about.pay)}" if about.pay else "Pay: not stated.")
    return parts


def unverified(about: About) -> str:
    """A paragraph, where it must be said that nobody answers for this."""
    if not about.unverified:
        return ""
    return (
        f"**This is no release.** No expert has verified {about.unverified:,} of the "
        f"{about.held_back:,} utterances of dev and test that it was made from; they were let "
        "through all the same."
    )


def agreement(about: About) -> list[str]:
    """Sentences on what people said of each other's work."""
    parts = [" ".join(about.agreement) or "Agreement was not measured."]
    verified = {state: number for state, number in (about.verified or {}).items() if number}
    if verified:
        states = ", ".join(f"{number:,} {state}" for state, number in verified.items())
        parts.append(f"Verification of utterances of dev and test: {states}.")
    if about.inconsistent:
        parts.append(
            f"Answers that do not follow from their tree: {about.inconsistent:,}; for "
            f"{about.waived:,} of them somebody has written down why they stay."
        )
    return parts


def biases(about: About) -> list[str]:
    """The audit in sentences."""
    return [f"{one.label}: {percent(one.value)}" for one in about.audit if one.value is not None]


def personal(seen: Statistics) -> str:
    found = ", ".join(f"{number:,} {what}" for what, number in seen.personal.items())
    return (
        "Names, e-mail addresses and ids of annotators are in no file. Scenarios are made-up "
        "situations. Questions, scenarios and answers were searched for patterns of "
        f"e-mail addresses and telephone numbers; found: {found}. Nothing else was searched for."
    )


def citation(source: Source) -> list[str]:
    about = source.about
    by = f"{', '.join(about.creators)}: " if about.creators else ""
    own = one_line(about.citation) or (
        f"{by}{one_line(source.title)}. Version {about.version}, {about.published_on[:4]}."
    )
    where = f" {source.about.url}" if source.about.url else ""
    return [f"{own}{where}", f"The manner of collecting is that of: {SHARC}"]


def _label_table(seen: Statistics) -> str:
    head = f"| split | {' | '.join(LABELS.values())} | all |\n|---|{'---:|' * len(LABELS)}---:|\n"
    rows = [
        f"| {split} | {' | '.join(f'{classes[one]:,}' for one in LABELS)} | {classes.total():,} |\n"
        for split, classes in seen.classes.items()
    ]
    return head + "".join(rows)


def _sizes_in_words(about: About, seen: Statistics) -> str:
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in seen.kinds.items())
    return (
        f"There are {seen.depths.total():,} trees from {about.documents:,} documents of "
        f"{about.hosts:,} hosts. Utterances by kind: {kinds}."
    )


def _audit_table(about: About) -> str:
    what = "What the utterances give away to a model that does not read the rule"
    if not about.audit:
        return f"{what} was not measured."
    head = f"{what}, measured on {about.audited:,} utterances:\n\n"
    rows = "".join(_audit_row(one) for one in about.audit)
    return f"{head}| figure | value | limit |\n|---|---:|---|\n{rows}"


def _audit_row(one: Measured) -> str:
    of = "" if one.of is None else f" ({one.hits:,} of {one.of:,})"
    value = "nothing to measure" if one.value is None else f"{percent(one.value)}{of}"
    limit = "none" if one.most is None else percent(one.most)
    if one.is_over:
        limit += f", passed: {cell(one.waiver) if one.waiver else 'not waived'}"
    return f"| {cell(one.label)} | {value} | {limit} |\n"


def _licences(about: About) -> list[str]:
    counted = about.licences or {}
    rows = "".join(f"| {cell(name or NOT_STATED)} | {number:,} |\n"
                   for name, number in counted.items())  # fmt: skip
    parts = [f"The dataset: {one_line(about.licence)}." if about.licence else
             "For the dataset as a whole no licence is stated; ask before you pass it on.",
             f"Its sources, one by one in `{SOURCES}`:",
             f"| licence | documents |\n|---|---:|\n{rows}"]  # fmt: skip
    if counted.get(""):
        parts.append("Where none is stated, the documents came with an imported dataset, whose own "
                     "licence counts.")  # fmt: skip
    return parts


def percent(share: float | None) -> str:
    return NOT_STATED if share is None else f"{share * 100:.1f} %"


def one_line(text: str) -> str:
    return " ".join(text.split())


def cell(text: str) -> str:
    """In a table of Markdown."""
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|")
