"""What of the fields of a work form a person wrote, and did not choose or select."""

from collections.abc import Mapping

CHOSEN = frozenset({
    "turn", "reason", "span", "pasted", "own_words", "verdict", "unrelated", "contradicts",
})  # fmt: skip


def written(content: Mapping[str, str]) -> list[str]:
    """The texts, without those that are empty. A name with a hyphen is one of several choices."""
    texts = (text for name, text in content.items() if name not in CHOSEN and "-" not in name)
    return [text for text in texts if text.strip()]
