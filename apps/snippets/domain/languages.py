"""Language tags (BCP 47)."""


def primary(tag: str) -> str:
    """The language without script and region: "pt" of "pt-BR"."""
    return tag.replace("_", "-").partition("-")[0].casefold()
