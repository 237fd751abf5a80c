"""The part of an HTML page that is its body.

Finding it is trafilatura's work. Its output is not taken as it is: it leaves out lists of links,
lists in tables and sentences that come twice, and in rules these matter. What it keeps tells where
the body is; all that stands there is read. Nothing is fetched.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import takewhile
from typing import Any

from lxml import etree, html

from apps.snippets.domain.blocks import Body, Kind
from apps.snippets.domain.html_blocks import HEADINGS, Found, read_element

# Never a part of the body, whatever is in it.
_FURNITURE = {
    "audio", "button", "canvas", "datalist", "dialog", "embed", "footer", "iframe", "input",
    "label", "map", "meter", "nav", "noscript", "object", "option", "progress", "script", "search",
    "select", "style", "svg", "template", "textarea", "title", "video",
}  # fmt: skip
_FURNITURE_ROLES = {
    "alertdialog", "banner", "complementary", "contentinfo", "dialog", "doc-endnotes",
    "doc-footnote", "menu", "menubar", "navigation", "search", "toolbar",
}  # fmt: skip
# Classes that no page gives to its body.
_CERTAIN_CLASSES = re.compile(
    r"(?<!\S)(?:[\w-]*[-_])?(?:cookie-?(?:banner|bar|consent|notice)|breadcrumbs?|feedback"
    r"|pagination|share-links|skip-link)(?!\S)",
    re.IGNORECASE,
)
# Classes that some pages give to a part of the body, too. Ids are no sign: they repeat headings.
_FURNITURE_CLASSES = re.compile(
    r"(?<![^\W_])(?:advert\w*|banner|breadcrumbs?|comments?|consent|cookies?|feedback|footer|menu"
    r"|nav|navbar|navigation|newsletter|pagination|pager|promo|related|share|sharing|sidebar"
    r"|skip|skiplink|social|sponsored|subscribe|survey)(?![^\W_])",
    re.IGNORECASE,
)
# A page's notes go with the small numbers that lead to them: out of place they say nothing.
_NOTES = re.compile(r"(?<![\w-])(?:footnotes|endnotes)(?![\w-])")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CONTAINERS = {"html", "body", "main", "article", "section", "div", "form", "center"}
# What can be many elements deep, where its nesting is not needed to read it in order.
_NESTING = re.compile(
    r"</?(?:article|blockquote|center|div|dl|font|form|ol|section|span|table|tbody|td|tr|ul|[abiu]"
    r"|em|strong)\b[^>]*>",
    re.IGNORECASE,
)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")
# The parser stops there, and browsers do not: pages with more below exist.
_END = re.compile(r"</(?:html|body)\s*>", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[\W_]+")
_MOSTLY = 0.5
_DEEPEST = 200
"""Elements inside each other. Trafilatura recurses into lists: it is not asked about more."""


def html_body(text: str) -> Body:
    tree = _tree(_END.sub("", _XML_DECLARATION.sub("", text.replace("\0", ""))))
    if tree is None:
        return Body("", "", ())
    title, language = _title(tree), tree.get("lang") or tree.get("xml:lang") or ""
    _remove_furniture(tree)
    scope = _scope(tree)
    found = _in_body(scope, read_element(scope))
    return Body(title, language.strip(), tuple(one.block for one in found))


def _tree(text: str) -> Any:
    """None for a text without anything in it."""
    if not text.strip():
        return None
    tree, is_whole = _parsed(text)
    return tree if is_whole else _parsed(_NESTING.sub("<p>", text))[0]


def _parsed(text: str) -> tuple[Any, bool]:
    """The tree, and whether all is in it: the parser stops at elements 2,048 deep."""
    parser = html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True
    )
    tree = etree.fromstring(text.encode("utf-8", "replace"), parser)
    return tree, all(error.type_name != "ERR_RESOURCE_LIMIT" for error in parser.error_log)


def _title(tree: Any) -> str:
    element = next(tree.iter("title"), None)
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _scope(tree: Any) -> Any:
    """What the page itself calls its main part, or all of it."""
    mains = [one for one in tree.iter() if one.tag == "main" or one.get("role") == "main"]
    return mains[0] if len(mains) == 1 else next(tree.iter("body"), tree)


def _in_body(scope: Any, found: Sequence[Found]) -> list[Found]:
    """What stands where trafilatura sees the body, if it sees most of what is no link."""
    kept = _kept_by_library(scope) if _depth(scope) <= _DEEPEST else set()
    seen = [one for one in found if _squeezed(one.block.text) in kept]
    found = _without_suspects(found, seen, scope)
    if not seen or _weight(seen) < _MOSTLY * _weight(found):
        return found
    titles = [one for one in found if one.block.kind == Kind.HEADING and one.block.level == 1]
    body = _common([_containers(one.element, scope) for one in (*seen, *titles)])
    return [one for one in found if body in _containers(one.element, scope)]


def _kept_by_library(scope: Any) -> set[str]:
    from trafilatura import bare_extraction  # noqa: PLC0415 - 0.7 s that only pages need

    document = bare_extraction(
        deepcopy(scope), fast=True, favor_recall=True, include_comments=False, with_metadata=False
    )
    body = getattr(document, "body", None)
    if body is None:
        return set()
    texts = (text for element in body.iter("p", "head", "item") for text in _texts(element))
    return {_squeezed(text) for text in texts}


def _texts(element: Any) -> Iterator[str]:
    """Its whole text, and its lines."""
    yield "".join(element.itertext())
    yield element.text or ""
    for child in element.iterchildren():
        yield child.tail or ""


def _squeezed(text: str) -> str:
    return _NOT_LETTERS.sub("", text)


def _weight(found: Iterable[Found]) -> float:
    """Letters outside of links. Tables do not count: their rows are not written as they stood."""
    return sum(
        len(one.block.text) * (1 - one.linked) for one in found if one.element.tag != "table"
    )


def _without_suspects(found: Sequence[Found], seen: Sequence[Found], scope: Any) -> list[Found]:
    """Without what has a class of page furniture, where trafilatura sees no body in most of it."""
    suspects = [_suspect(one.element, scope) for one in found]
    all_weight: dict[Any, float] = defaultdict(float)
    for one, suspect in zip(found, suspects, strict=True):
        all_weight[suspect] += len(one.block.text)
    for one in seen:
        all_weight[_suspect(one.element, scope)] -= len(one.block.text) / _MOSTLY
    return [
        one
        for one, suspect in zip(found, suspects, strict=True)
        if suspect is None or all_weight[suspect] <= 0
    ]


def _suspect(element: Any, scope: Any) -> Any:
    """The outermost element around `element` that may be page furniture."""
    within = takewhile(lambda above: above is not scope, _and_above(element))
    return next((above for above in reversed(list(within)) if _is_suspect(above)), None)


def _is_suspect(element: Any) -> bool:
    return element.tag == "aside" or bool(_FURNITURE_CLASSES.search(element.get("class") or ""))


def _and_above(element: Any) -> Iterator[Any]:
    yield element
    yield from element.iterancestors()


def _containers(element: Any, scope: Any) -> list[Any]:
    """From `scope` down to the element that `element` stands in."""
    inner = takewhile(lambda above: above is not scope, element.iterancestors())
    return [scope, *reversed([above for above in inner if above.tag in _CONTAINERS])]


def _common(paths: Sequence[Sequence[Any]]) -> Any:
    common = paths[0]
    for path in paths:
        same = takewhile(lambda pair: pair[0] is pair[1], zip(common, path, strict=False))
        common = [one for one, _ in same]
    return common[-1]


def _depth(scope: Any) -> int:
    depth = deepest = 0
    for event, _ in etree.iterwalk(scope, events=("start", "end")):
        depth += 1 if event == "start" else -1
        deepest = max(deepest, depth)
    return deepest


def _remove_furniture(tree: Any) -> None:
    for element in list(tree.iter()):
        if element is tree:
            continue
        if _is_picture(element):
            _drop_caption(element)
            _drop(element)
        elif _is_furniture(element):
            _drop(element)


def _is_picture(element: Any) -> bool:
    if element.tag != "figure" or next(element.iter("img", "svg", "canvas", "video"), None) is None:
        return False
    return next(element.iter("p", "li", "table", "blockquote", "pre"), None) is None


def _drop_caption(picture: Any) -> None:
    """A heading right above a picture is its caption: what comes below is not about it."""
    above = picture.getprevious()
    if above is not None and above.tag in HEADINGS and not (above.tail or "").strip():
        _drop(above)


def _drop(element: Any) -> None:
    """Without the text that follows it, which lxml keeps with it."""
    parent = element.getparent()
    before = element.getprevious()
    tail = element.tail or ""
    if before is not None:
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(element)


def _is_furniture(element: Any) -> bool:
    return (
        element.tag in _FURNITURE
        or (element.get("role") or "").lower() in _FURNITURE_ROLES
        or bool(_NOTES.search(element.get("class") or ""))
        or bool(_CERTAIN_CLASSES.search(element.get("class") or ""))
        or element.get("hidden", "until-found") != "until-found"
        or element.get("aria-hidden") == "true"
        or bool(_HIDDEN.search(element.get("style") or ""))
        or _is_page_header(element)
        or _is_note_mark(element)
        or _is_jump(element)
    )


def _is_page_header(element: Any) -> bool:
    return element.tag == "header" and next(element.iterancestors("main", "article"), None) is None


def _is_note_mark(element: Any) -> bool:
    """The small number that leads to a footnote, or the arrow that leads back."""
    if element.tag not in {"a", "sup"}:
        return False
    link = element if element.tag == "a" else next(element.iterchildren("a"), None)
    return (
        link is not None
        and (link.get("href") or "").startswith("#")
        and not any(map(str.isalpha, "".join(element.itertext())))
    )


def _is_jump(element: Any) -> bool:
    """An entry of a table of contents, or "Back to top"."""
    if element.tag not in {"li", "p"} or len(element) != 1 or (element.text or "").strip():
        return False
    (link,) = element
    is_all = not (link.tail or "").strip()
    return is_all and link.tag == "a" and (link.get("href") or "").startswith("#")
