"""rules.json as typed values. Its keys are the studio's own words."""

import json
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

_FILE = Path(__file__).with_name("rules.json")


class Person(TypedDict):
    username: str
    name: str
    role: str


class Turn(TypedDict):
    follow_up_question: str
    follow_up_answer: str


class ScenarioText(TypedDict):
    text: str
    by: str
    facts: list[Turn]


class FirstQuestion(TypedDict):
    text: str
    by: str


class Branch(TypedDict, total=False):
    """A follow-up question (`ask`), a final answer (`answer`), or an open branch (`open`)."""

    ask: str
    span: str
    yes: "Branch"
    no: "Branch"
    answer: str
    by: str
    open: bool


class SnippetText(TypedDict):
    text: str
    state: str
    discard_reason: NotRequired[str]
    question: FirstQuestion | None
    tree: Branch | None
    scenarios: list[ScenarioText]


class Source(TypedDict):
    title: str
    source_url: str
    language: str
    licence: str
    retrieved_on: str
    split: str
    snippets: list[SnippetText]


class ProjectText(TypedDict):
    slug: str
    name: str
    language: str
    guidelines: dict[str, str]


class Demo(TypedDict):
    project: ProjectText
    people: list[Person]
    documents: list[Source]


@cache
def demo() -> Demo:
    content: Demo = json.loads(_FILE.read_text(encoding="utf-8"))
    return content
