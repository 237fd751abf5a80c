"""croissant.json of the Hugging Face folder, read with the public library."""

import logging
import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.exports.consumers.common import OUR_SPLITS, gold, must


def croissant_mlcroissant(folder: Path) -> str:
    """No warning, and every record that there is, with its nested parts."""
    inside = folder / "huggingface"
    dataset = opened(inside)
    seen = []
    for record_set in dataset.metadata.record_sets:
        config, split = record_set.id.split("_")
        rows = [plain(row, record_set.id) for row in dataset.records(record_set.id)]
        if config == "utterances":
            compare_rows(rows, gold(folder)[OUR_SPLITS[split]])
        must(all(row[f"{config[:-1]}_id"] for row in rows), f"{record_set.id} without ids")
        seen.append(f"{record_set.id} {len(rows):,}")
    return f"no warning; {', '.join(seen)}; refused: {broken_croissant(inside)}"


def opened(inside: Path) -> Any:
    """Refuses what the library only warns of, in its issues or in its log."""
    mlcroissant = import_module("mlcroissant")
    said = Said()
    log = logging.getLogger("absl")
    log.addHandler(said)
    try:
        dataset = mlcroissant.Dataset(jsonld=str(inside / "croissant.json"))
    finally:
        log.removeHandler(said)
    issues = dataset.metadata.ctx.issues
    must(not issues.errors, f"errors: {issues.errors}")
    must(not issues.warnings, f"warnings: {issues.warnings}")
    must(not said.lines, f"logged: {said.lines}")
    return dataset


class Said(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def plain(value: Any, above: str) -> Any:
    """Text arrives as bytes, and names with the name of the record set before them."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [plain(one, above) for one in value]
    if isinstance(value, dict):
        return {key.rpartition("/")[2]: plain(one, above) for key, one in value.items()}
    return value


def compare_rows(rows: list[Any], records: list[dict[str, Any]]) -> None:
    must(len(rows) == len(records), f"{len(rows)} rows")
    for row, record in zip(rows, records, strict=True):
        for key in ("utterance_id", "snippet", "question", "scenario", "answer", "history"):
            must(row[key] == record[key], f"{key} of {record['utterance_id']}")


def broken_croissant(inside: Path) -> str:
    """Records of a file that is not the one that was hashed must not be read."""
    with tempfile.TemporaryDirectory() as aside:
        broken = Path(aside) / "broken"
        shutil.copytree(inside, broken)
        path = broken / "croissant.json"
        text = path.read_text("utf-8")
        start = text.index('"sha256": "') + len('"sha256": "')
        path.write_text(text[:start] + "0" * 64 + text[start + 64 :], "utf-8")
        try:
            dataset = opened(broken)
            for record_set in dataset.metadata.record_sets:
                list(dataset.records(record_set.id))
        except Exception as error:
            return f"another hash ({type(error).__name__})"
    raise AssertionError("a file with another hash was read")
