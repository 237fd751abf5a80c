"""What all readers of our exports need."""

import json
from pathlib import Path
from typing import Any

SPLITS = {"train": "train", "dev": "validation", "test": "test"}
OUR_SPLITS = {theirs: ours for ours, theirs in SPLITS.items()}


def gold(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The utterances by split, from the ShARC export."""
    files = sorted((folder / "sharc").glob("*/json/sharc_*.json"))
    return {path.stem.removeprefix("sharc_"): json.loads(path.read_text()) for path in files}


def must(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)
