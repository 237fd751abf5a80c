"""What a person typed into a form that nobody read, since they were logged out or it was stale."""

from django.http import QueryDict

# What forms send along and nobody types.
_SENT_ALONG = {
    "csrfmiddlewaretoken", "next", "seen", "key", "node_key", "kind", "slot", "seconds", "position",
    "version", "span", "last",
    "typed_name", "typed_text",
}  # fmt: skip


def typed_texts(form: QueryDict) -> list[tuple[str, str]]:
    """Each with the name of its field, without passwords and tokens."""
    typed = [
        (name.replace("_", " "), text)
        for name, texts in form.lists()
        if name not in _SENT_ALONG and "password" not in name
        for text in texts
        if isinstance(text, str) and text.strip()
    ]
    return typed + carried_texts(form)


def carried_texts(form: QueryDict) -> list[tuple[str, str]]:
    """Those that the log-in page was shown with, and sends along."""
    names, texts = form.getlist("typed_name"), form.getlist("typed_text")
    return list(zip(names, texts, strict=False))
