"""Tells whether something has changed since it was last looked at."""

import json
from hashlib import sha1
from typing import Any


def fingerprint(*parts: Any) -> str:
    """40 hex digits of plain values (what JSON has): equal parts give equal ones, others others."""
    text = json.dumps(parts, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return sha1(text.encode(), usedforsecurity=False).hexdigest()
