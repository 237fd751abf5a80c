"""Reads our exports with other people's libraries: a table of what each of them saw.

Usage: python -m tests.exports.consumers.read_exports FOLDER, in an environment with
requirements-consumers.txt. Needs no network and nothing of the studio. Ends with 1 when a consumer
refuses what it should take, or takes what it should refuse.
"""

import csv
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tests.exports.consumers.common import SPLITS, gold, must
from tests.exports.consumers.croissant import croissant_mlcroissant
from tests.exports.consumers.evaluation import evaluation_spacy

DATA = Path(os.environ.get("SHARC_STUDIO_DATA") or Path.cwd().parent / "shared" / "data")
MODULE = "tests.exports.consumers.read_exports"
CLASSES = ["yes", "no", "irrelevant", "more"]
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TF_CPP_MIN_LOG_LEVEL": "3",
               "UNITXT_DEFAULT_VERBOSITY": "error", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
               "HF_HOME": tempfile.mkdtemp(prefix="consumers-")}  # fmt: skip


def multiqa_jsonschema(folder: Path) -> str:
    path = DATA / "multiqa_jsonschema.json"
    if not path.exists():
        return f"left out: there is no {path}"
    jsonschema = import_module("jsonschema")
    validator = jsonschema.Draft7Validator(json.loads(path.read_text()))
    contexts = qas = 0
    for file in sorted((folder / "multiqa").glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            header = json.loads(next(stream))["header"]
            for line in stream:
                context = json.loads(line)
                validator.validate(context)
                contexts, qas = contexts + 1, qas + len(context["qas"])
        must(header["number_of_qas"] <= qas, "the header counts more questions")
    must(qas == sum(map(len, gold(folder).values())), f"{qas} questions")
    return f"{contexts:,} contexts with {qas:,} questions are valid"


def huggingface_datasets(folder: Path) -> str:
    datasets = import_module("datasets")
    seen = []
    for config in ("utterances", "trees"):
        loaded = load(datasets, folder / "huggingface", config)
        seen.append(f"{config} { ({split: len(loaded[split]) for split in loaded}) }")
        if config == "utterances":
            compare(folder, loaded)
    return "; ".join(seen)


def load(datasets: Any, folder: Path, config: str) -> Any:
    with tempfile.TemporaryDirectory() as cache:
        loaded = datasets.load_dataset(str(folder), config, cache_dir=cache)
        return {split: loaded[split].with_format(None)[:] and loaded[split] for split in loaded}


def compare(folder: Path, loaded: Any) -> None:
    for split, records in gold(folder).items():
        rows = loaded[SPLITS[split]]
        must(rows.features["answer_class"].names == CLASSES, "other names of classes")
        must([row["utterance_id"] for row in rows] == [one["utterance_id"] for one in records],
             "other utterances")  # fmt: skip
        for row, record in zip(rows, records, strict=True):
            for key in ("snippet", "question", "scenario", "answer", "history"):
                must(row[key] == record[key], f"{key} of {row['utterance_id']}")


def huggingface_faults(folder: Path) -> str:
    """Wrong counts, types and file names must not pass."""
    datasets = import_module("datasets")
    changes: list[tuple[str, str, str]] = [
        ("count", '"num_examples": ', '"num_examples": 9'),
        ("type", '"name": "scenario", "dtype": "string"', '"name": "scenario", "dtype": "bool"'),
        ("file name", "utterances/validation.parquet", "utterances/valid.parquet"),
    ]
    seen = []
    for what, before, after in changes:
        with tempfile.TemporaryDirectory() as aside:
            broken = Path(aside) / "broken"
            shutil.copytree(folder / "huggingface", broken)
            card = (broken / "README.md").read_text("utf-8")
            must(before in card, f"the card has no {before}")
            (broken / "README.md").write_text(card.replace(before, after), "utf-8")
            seen.append(f"{what} ({refusal(datasets, broken)})")
    return f"refused: {', '.join(seen)}"


def refusal(datasets: Any, folder: Path) -> str:
    """The name of the error."""
    try:
        load(datasets, folder, "utterances")
    except Exception as error:
        return type(error).__name__
    raise AssertionError("a faulty card was taken")


def conversational_datasets(folder: Path) -> str:
    datasets = import_module("datasets")
    count, columns = 0, set[str]()
    # File by file: examples with more turns have more columns, and the library fixes them by the
    # first file.
    for file in sorted((folder / "conversational-json").glob("*-of-*.json")):
        with tempfile.TemporaryDirectory() as cache:
            loaded = datasets.load_dataset("json", data_files=str(file), cache_dir=cache)["train"]
            count, columns = count + len(loaded), columns | {*loaded.column_names}
    must(count == sum(map(len, gold(folder).values())), f"{count} examples")
    return f"{count:,} examples, columns {', '.join(sorted(columns))}"


NAMES = ["context", "response", "utterance_id", "tree_id", "source_url", "snippet", "scenario"]


def tfrecord_tfrecord(folder: Path) -> str:
    """A reader that has nothing to do with TensorFlow."""
    reader = import_module("tfrecord.reader")
    count = 0
    for file in sorted((folder / "conversational-tfrecord").glob("*.tfrecord")):
        twin = folder / "conversational-json" / f"{file.stem}.json"
        with twin.open(encoding="utf-8") as stream:
            examples = reader.tfrecord_loader(str(file), None, dict.fromkeys(NAMES, "byte"))
            for example, line in zip(examples, stream, strict=True):
                expected = json.loads(line)
                for name in NAMES:
                    must(bytes(example[name]).decode() == expected[name], f"{file}: {name}")
                count += 1
    return f"{count:,} examples equal the JSON"


def tfrecord_tensorflow(folder: Path) -> str:
    tf = import_module("tensorflow")
    names = NAMES
    spec = {name: tf.io.FixedLenFeature([], tf.string) for name in names}
    count = 0
    for file in sorted((folder / "conversational-tfrecord").glob("*.tfrecord")):
        twin = folder / "conversational-json" / f"{file.stem}.json"
        with twin.open(encoding="utf-8") as stream:
            for data, line in zip(tf.data.TFRecordDataset(str(file)), stream, strict=True):
                expected = json.loads(line)
                parsed = tf.io.parse_single_example(data, spec)
                for name in names:
                    must(parsed[name].numpy().decode() == expected[name], f"{file}: {name}")
                example = tf.train.Example.FromString(data.numpy())
                found = {name: feature.bytes_list.value[0].decode()
                         for name, feature in example.features.feature.items()}  # fmt: skip
                must(found == expected, f"{file}: {expected['utterance_id']}")
                count += 1
    return f"{count:,} examples: parse_single_example and Example.FromString equal the JSON"


def unitxt_card(folder: Path) -> str:
    inside = folder / "unitxt"
    (card,) = inside.glob("cards/*.json")
    os.environ["UNITXT_CATALOGS"] = str(inside)
    before = Path.cwd()
    os.chdir(inside)  # the card names its files from the export's folder on
    try:
        return run_unitxt(inside, card.stem, folder)
    finally:
        os.chdir(before)


def run_unitxt(inside: Path, name: str, folder: Path) -> str:
    unitxt = import_module("unitxt")
    import_module("unitxt.settings_utils").get_settings().allow_unverified_code = True
    import_module("unitxt.register").register_local_catalog(str(inside))
    loaded = unitxt.load_dataset(card=f"cards.{name}", template=f"templates.{name}")
    seen = []
    for split, records in gold(folder).items():
        rows = loaded[SPLITS[split]]
        must(len(rows) == len(records), f"{len(rows)} rows of {split}")
        answers = {one["utterance_id"]: one["answer"] for one in records}
        predictions = [row["references"][0] for row in rows]
        must(sorted(predictions) == sorted(answers.values()), "other references")
        results = unitxt.evaluate(predictions=predictions, data=rows)
        score = results.global_scores["accuracy"]
        must(score == 1.0, f"gold as predictions scores {score}")
        seen.append(f"{split} {len(rows):,}")
    return f"{', '.join(seen)}: gold as predictions has accuracy 1.0"


def csv_pandas(folder: Path) -> str:
    pandas = import_module("pandas")
    count = 0
    for split, records in gold(folder).items():
        path = folder / "csv" / f"utterances_{split}.csv"
        table = pandas.read_csv(path, keep_default_na=False, dtype=str)
        must(list(table["utterance_id"]) == [one["utterance_id"] for one in records], "other ids")
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        must(list(table["snippet"]) == [row["snippet"] for row in rows], "other rule texts")
        must(not any(cell[:1] in "=+-@\t\r" for row in rows for cell in row.values() if cell),
             "a formula")  # fmt: skip
        count += len(table)
    return f"{count:,} rows, no cell is a formula"


def mnbvc_datasets(folder: Path) -> str:
    datasets = import_module("datasets")
    seen = []
    for name in ("dialogue", "forum", "qa", "text"):
        files = sorted(map(str, (folder / f"mnbvc-{name}").glob("*.jsonl")))
        with tempfile.TemporaryDirectory() as cache:
            loaded = datasets.load_dataset("json", data_files=files, cache_dir=cache)["train"]
            seen.append(f"{name} {len(loaded):,}")
    return f"lines with the same columns throughout: {', '.join(seen)}"


CONSUMERS: list[tuple[str, str, Callable[[Path], str]]] = [
    ("multiqa", "jsonschema", multiqa_jsonschema),
    ("conversational-json", "datasets", conversational_datasets),
    ("conversational-tfrecord", "tfrecord", tfrecord_tfrecord),
    ("conversational-tfrecord", "tensorflow-cpu", tfrecord_tensorflow),
    ("mnbvc", "datasets", mnbvc_datasets),
    ("unitxt", "unitxt", unitxt_card),
    ("huggingface", "datasets", huggingface_datasets),
    ("huggingface", "datasets", huggingface_faults),
    ("huggingface", "mlcroissant", croissant_mlcroissant),
    ("predictions", "spacy", evaluation_spacy),
    ("csv", "pandas", csv_pandas),
]


EITHER = ("tensorflow-cpu", "tfrecord")
"""The first that is installed: one process cannot have both, each brings the same messages."""


def is_installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def rows(project: Path) -> Iterator[tuple[bool, str]]:
    chosen = next(filter(is_installed, EITHER))
    for format_name, package, consume in CONSUMERS:
        if package in EITHER and package != chosen:
            continue
        line = f"| {project.name} | {format_name} | {package} {version(package)} |"
        try:
            yield True, f"{line} {consume(project)} |"
        except Exception as error:
            yield False, f"{line} FAILED: {type(error).__name__}: {error} |"


def main(folder: Path) -> int:
    if (folder / "sharc").is_dir():
        return read_project(folder)
    print("| project | format | consumer | what was seen |\n|---|---|---|---|", flush=True)
    projects = sorted(path for path in folder.iterdir() if (path / "sharc").is_dir())
    # A process for each: unitxt remembers files by names that are the same in all exports.
    commands = [[sys.executable, "-m", MODULE, str(project)] for project in projects]
    ends = [subprocess.run(command, check=False).returncode for command in commands]
    return 0 if ends and not any(ends) else 1


def read_project(project: Path) -> int:
    all_well = True
    for is_well, line in rows(project):
        print(line, flush=True)
        all_well = all_well and is_well
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
