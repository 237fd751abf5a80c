"""croissant.json: Croissant 1.1 with the RAI 1.0 vocabulary, for a Hugging Face folder.

Every Parquet file is a file with its SHA-256 and a record set with a field for each column; turns
and nodes are lists, with a sub-field for each part. The public validator says nothing when creator,
licence or address is missing, so the check here wants each of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from apps.exports.formats.about import About
from apps.exports.formats.card import (
    LIMITS,
    PROCESS,
    SHARC,
    WHAT,
    agreement,
    biases,
    citation,
    languages_of,
    licence_of,
    made,
    one_line,
    personal,
)
from apps.exports.formats.checks import (
    Check,
    FieldError,
    any_text,
    boolean,
    list_of,
    matching,
    object_of,
    one_of,
    same,
    text,
)
from apps.exports.formats.files import locating, open_to_write, parse_file
from apps.exports.formats.huggingface_schema import CLASS, CONFIGS, Features
from apps.exports.formats.rows import CLASSES, Source
from apps.exports.formats.statistics import Statistics

CROISSANT = "croissant.json"
CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
PARQUET = "application/x-parquet"

_TYPES = {"string": "sc:Text", "int32": "sc:Integer", "int64": "sc:Integer", "bool": "sc:Boolean"}
_CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs", "column": "cr:column", "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn", "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"}, "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract",
    "field": "cr:field", "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes",
    "isArray": "cr:isArray", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath",
    "key": "cr:key", "md5": "cr:md5", "name": {"@container": "@language"},
    "parentField": "cr:parentField", "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/", "recordSet": "cr:recordSet",
    "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/",
    "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField",
    "transform": "cr:transform",
}  # fmt: skip

_MEANINGS = {
    "utterance_id": "SHA-1 of the content, 40 hex digits.",
    "tree_id": "The tree of follow-up questions that the row belongs to.",
    "source_url": "Where the rule text is from.",
    "snippet": "The rule text, in Markdown.",
    "question": "What the user asks.",
    "scenario": "What the user tells of their situation; may be empty.",
    "answer": "Yes, No, Irrelevant, or the follow-up question to ask.",
    "history": "Follow-up questions that were asked, and the user's answers, oldest first.",
    "evidence": "Turns that the scenario answers; not part of a model's input.",
    CLASS: f"Class of the answer: {', '.join(f'{at} {name}' for at, name in enumerate(CLASSES))}.",
    "negative_question": "Whether the question is another tree's.",
    "negative_scenario": "Whether the scenario is another tree's.",
    "nodes": "The nodes of the tree, parents first.",
    "node_id": "Number of the node in its tree, from 0.",
    "parent_id": "Number of the node above; -1 at the root.",
    "edge": "The answer that leads here from the node above: Yes or No; empty at the root.",
    "kind": "question, or answer at a leaf.",
    "text": "The follow-up question, or Yes or No.",
    "span_start": "Where in the rule text the question comes from, in code points; may be null.",
    "span_end": "The end of that place, exclusive.",
    "follow_up_question": "The question.",
    "follow_up_answer": "Yes or No.",
}


def write_croissant(source: Source, folder: Path, seen: Statistics) -> None:
    """Into a folder that has its Parquet files already."""
    files = sorted(folder.glob("*/*.parquet"))
    value = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": one_line(source.title),
        "description": one_line(f"{source.about.description} {WHAT}"),
        "license": licence_of(source.about),
        "url": url_of(source),
        "creator": [{"@type": "sc:Organization", "name": name} for name in creators_of(source)],
        "datePublished": source.about.published_on,
        "version": source.about.version,
        "inLanguage": languages_of(source),
        "citeAs": " ".join(citation(source)),
        "keywords": ["rules", "conversational machine reading", "follow-up questions"],
        "isLiveDataset": False,
        **_responsible(source.about, seen),
        "distribution": [_file(folder, path) for path in files],
        "recordSet": [_record_set(folder, path) for path in files],
    }
    with open_to_write(folder / CROISSANT) as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def url_of(source: Source) -> str:
    """Where it is published; a name, until that is known."""
    return source.about.url or f"urn:sharc-studio:{source.name}"


def creators_of(source: Source) -> list[str]:
    return list(source.about.creators) or [f"The project “{one_line(source.title)}”"]


def _responsible(about: About, seen: Statistics) -> dict[str, Any]:
    protocol = [one_line(part) for part in made(about)]
    values: dict[str, Any] = {
        "rai:dataCollection": one_line(PROCESS) if about.has_collected else protocol[0],
        "rai:dataCollectionType": ["Web Scraping", "Manual Human Curator", "Experiments"],
        "rai:dataAnnotationProtocol": protocol,
        "rai:dataAnnotationPlatform": ["sharc_studio"],
        "rai:dataAnnotationAnalysis": agreement(about),
        "rai:dataBiases": biases(about) or ["Not measured: no audit was made."],
        "rai:dataLimitations": [one_line(LIMITS)],
        "rai:dataUseCases": [
            "Training and testing of models that ask back before they answer a question on a rule. "
            "Not meant for advice to people."
        ],
        "rai:personalSensitiveInformation": [personal(seen)],
        "rai:dataManipulationProtocol": f"The form of the records is that of {SHARC}",
    }
    return values


def _file(folder: Path, path: Path) -> dict[str, Any]:
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    name = path.relative_to(folder).as_posix()
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": path.name,
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": PARQUET,
        "sha256": sha256,
    }


def _record_set(folder: Path, path: Path) -> dict[str, Any]:
    config, name = path.parent.name, f"{path.parent.name}_{path.stem}"
    file = path.relative_to(folder).as_posix()
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"The {config} of the split {path.stem}.",
        "key": {"@id": f"{name}/{config[:-1]}_id"},
        "field": [_field(name, file, *one) for one in CONFIGS[config].items()],
    }


def _field(record_set: str, file: str, column: str, kind: str | Features) -> dict[str, Any]:
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{record_set}/{column}",
        "name": column,
        "description": _MEANINGS[column],
    }
    if isinstance(kind, str):
        return field | {"dataType": _TYPES[kind], "source": _extract(file, column)}
    parts = [_part(field["@id"], file, column, *one) for one in kind.items()]
    return field | {"repeated": True, "isArray": True, "arrayShape": "-1", "subField": parts}


def _part(above: str, file: str, column: str, name: str, kind: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{above}/{name}",
        "name": name,
        "description": _MEANINGS[name],
        "dataType": _TYPES[kind],
        "source": _extract(file, column) | {"transform": {"jsonPath": name}},
    }


def _extract(file: str, column: str) -> dict[str, Any]:
    return {"fileObject": {"@id": file}, "extract": {"column": column}}


# Reading back ------------------------------------------------------------------------------------

_URL = re.compile(r"(https?://|urn:)\S+")


def _address(value: Any, field: str) -> None:
    any_text(value, field)
    if not _URL.fullmatch(value):
        raise FieldError(field, "is no address: it must begin with https:// or urn:")


def _some(item: Check) -> Check:
    def check(value: Any, field: str) -> None:
        list_of(item)(value, field)
        if not value:
            raise FieldError(field, "empty")

    return check


def _anything(value: Any, field: str) -> None:
    """Follows from the schema, and is compared with it."""


_TEXTS = _some(text)
_FILE = object_of({
    "@type": one_of("cr:FileObject"), "@id": text, "name": text,
    "contentUrl": matching(r"(?!/)(?!.*\.\.)[\w./-]+", "a path in this folder"),
    "contentSize": matching(r"\d+ B", "a number of bytes"), "encodingFormat": one_of(PARQUET),
    "sha256": matching("[0-9a-f]{64}", "64 hex digits"),
})  # fmt: skip
_RECORD_SET = object_of({
    "@type": one_of("cr:RecordSet"), "@id": text, "name": text, "description": text,
    "key": object_of({"@id": text}), "field": _anything,
})  # fmt: skip
_MODEL = object_of({
    "@context": _anything, "@type": one_of("sc:Dataset"), "conformsTo": _anything, "name": text,
    "description": text, "license": text, "url": _address,
    "creator": _some(object_of({"@type": one_of("sc:Organization"), "name": text})),
    "datePublished": matching(r"\d{4}-\d\d-\d\d", "a day, such as 2024-05-31"),
    "version": matching(r"\d+\.\d+\.\d+", "a version, such as 1.0.0"), "inLanguage": _TEXTS,
    "citeAs": text, "keywords": _TEXTS, "isLiveDataset": boolean, "rai:dataCollection": text,
    "rai:dataCollectionType": _TEXTS, "rai:dataAnnotationProtocol": _TEXTS,
    "rai:dataAnnotationPlatform": _TEXTS, "rai:dataAnnotationAnalysis": _TEXTS,
    "rai:dataBiases": _TEXTS, "rai:dataLimitations": _TEXTS, "rai:dataUseCases": _TEXTS,
    "rai:personalSensitiveInformation": _TEXTS, "rai:dataManipulationProtocol": text,
    "distribution": _some(_FILE), "recordSet": _some(_RECORD_SET),
})  # fmt: skip


def check_croissant(folder: Path) -> None:
    """Raises FormatError where a required field is missing or does not fit the files."""
    value = parse_file(folder, CROISSANT)
    with locating(CROISSANT, ""):
        _MODEL(value, "")
        same(value["@context"], _CONTEXT, "@context")
        same(value["conformsTo"], CONFORMS_TO, "conformsTo")
        files = sorted(folder.glob("*/*.parquet"))
        for part, make in (("distribution", _file), ("recordSet", _record_set)):
            same(value[part], [make(folder, path) for path in files], part)
