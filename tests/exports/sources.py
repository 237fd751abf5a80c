"""Datasets in memory, for formats: made by hand, and by hypothesis."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha1

from hypothesis import strategies as st

from apps.exports.formats.about import About
from apps.exports.formats.rows import (
    SPLITS,
    DocumentRow,
    IsWanted,
    NodeRow,
    TreeRow,
    UtteranceRow,
)
from apps.scenarios.domain.expansion import expand_plain
from apps.scenarios.domain.identifiers import utterance_id
from apps.trees.domain import tree as domain
from apps.trees.domain.identifiers import tree_id
from apps.trees.domain.tree import Answer, Path, Turn
from tests.strategies import final_answers, trees

CREATED = datetime(2024, 3, 5, 14, 6, 7, tzinfo=UTC)
ODD = [
    "👩‍👧 é", "עברית? كلام!", "a\u2028b\u2029c\x85d", "“quotes” 'and' \"quotes\"", "=1+1", "'=x",
    "-5", "@here", "\ttab", "\rreturn", "two\nlines\r\nthree", "back\\slash \\n", 
    "日本語のルール。",
    "a,b;c", "นี่คือภาษาไทย", "हिन्दी में", "<b>&amp;</b>", "{brace} %s", "null", "123", "2024-01-01",
]  # fmt: skip

texts = st.sampled_from(ODD) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=12
).filter(lambda text: any(map(str.isalnum, text)))


ABOUT = About(
    creators=("Bus Institute",), url="https://buses.example/data", trees=3, documents=1, hosts=1,
    licences={"CC BY-SA 3.0": 1}, languages=("en-GB",), people={"grew trees": 2},
    published_on="2024-03-05",
)  # fmt: skip


@dataclass(frozen=True)
class ListSource:
    """Trees with their utterances by split, as a `Source`."""

    stored: dict[str, list[TreeRow]]
    name: str = "buses"
    title: str = "Rules of “buses”: 1"
    language: str = "en-GB"
    about: About = ABOUT
    splits: Sequence[str] = field(default=())

    def __post_init__(self):
        object.__setattr__(self, "splits", self.splits or tuple(self.stored))

    def only(self, split: str) -> "ListSource":
        return replace(self, splits=(split,))

    def count(self, split: str) -> int:
        return sum(1 for _ in self.utterances(split))

    def utterances(self, split: str, wanted: IsWanted | None = None) -> Iterator[UtteranceRow]:
        rows = [row for tree in self.trees(split) for row in tree.utterances]
        asked = (row for row in rows if wanted is None or wanted(row.utterance_id))
        yield from sorted(asked, key=lambda row: row.utterance_id)

    def trees(self, split: str) -> Iterator[TreeRow]:
        yield from sorted(self.stored.get(split, []), key=lambda tree: tree.tree_id)

    def documents(self, split: str) -> Iterator[DocumentRow]:
        for url in sorted({tree.source_url for tree in self.trees(split)}):
            of_url = [tree for tree in self.trees(split) if tree.source_url == url]
            snippets = tuple(dict.fromkeys(tree.snippet for tree in of_url))
            yield DocumentRow(url, 1, of_url[0].title, CREATED, snippets)


def tree_row(
    shape: domain.Tree, *, snippet: str, question: str, url: str, title: str = "",
    scenarios: Sequence[tuple[str, str, Path]] = (), irrelevant: Sequence[str] = (),
    span: tuple[int, int] | None = None,
) -> TreeRow:  # fmt: skip
    """A tree with all its utterances. `scenarios` are kind, text and evidence."""
    tree = TreeRow(tree_id(snippet, question), url, title, snippet, question, CREATED,
                   tuple(node_rows(shape, span)))  # fmt: skip
    rows = [_row(tree, "plain", "", (), one.history, one.answer) for one in expand_plain(shape)]
    for kind, text, evidence in scenarios:
        for one in expand_plain(shape):
            rows.append(_row(tree, kind, text, evidence, one.history, one.answer))
    for asked in irrelevant:
        other = replace(tree, question=asked)
        rows.append(_row(other, "negative_question", "", (), (), "Irrelevant"))
    unique = {row.utterance_id: replace(row, tree_id=tree.tree_id) for row in rows}
    return replace(tree, utterances=tuple(unique[one] for one in sorted(unique)))


def _row(
    tree: TreeRow, kind: str, scenario: str, evidence: Path, history: Path, answer: str
) -> UtteranceRow:
    return UtteranceRow(
        utterance_id(tree.snippet, tree.question, scenario, history, answer), tree.tree_id,
        tree.source_url, tree.snippet, tree.question, scenario, answer, history, evidence, kind,
        CREATED,
    )  # fmt: skip


def node_rows(shape: domain.Tree, span: tuple[int, int] | None = None) -> Iterator[NodeRow]:
    """Parents first, YES before NO; every question with the same span."""
    numbers: dict[Path, int] = {}
    start, end = span or (None, None)
    for number, (path, node) in enumerate(domain.nodes(shape)):
        numbers[path] = number
        parent = numbers[path[:-1]] if path else -1
        edge = path[-1].follow_up_answer.value if path else ""
        said = domain.next_text(node) or ""
        if isinstance(node, domain.Question):
            yield NodeRow(number, parent, edge, "question", said, start, end)
        else:
            yield NodeRow(number, parent, edge, "answer", said)


@st.composite
def tree_rows(draw: st.DrawFn) -> TreeRow:
    shape = _storable(draw(trees(final_answers)))
    snippet = draw(texts | texts.map(lambda text: f"# {text}\n\n* {text}\n* {text}"))
    turns = st.tuples(texts, st.sampled_from(Answer)).map(lambda pair: Turn(*pair))
    evidence = st.lists(turns, max_size=2).map(tuple)
    scenarios = st.lists(
        st.tuples(st.sampled_from(["scenario", "negative_scenario"]), texts, evidence),
        max_size=2, unique_by=lambda one: one[1],
    )  # fmt: skip
    end = draw(st.none() | st.integers(1, len(snippet)))
    return tree_row(
        shape,
        snippet=snippet,
        question=draw(texts),
        url=draw(texts.map(lambda text: f"https://a.example/{text}") | texts),
        title=draw(st.just("") | texts),
        scenarios=draw(scenarios),
        irrelevant=draw(st.lists(texts, max_size=2, unique=True)),
        span=None if end is None else (draw(st.integers(0, end - 1)), end),
    )


def _storable(shape: domain.Tree) -> domain.Tree:
    """No database keeps NUL in a text."""
    if not isinstance(shape, domain.Question):
        return shape
    text = shape.text.replace("\x00", "\N{BULLET}")
    return domain.Question(text, _storable(shape.yes), _storable(shape.no))


@st.composite
def sources(draw: st.DrawFn) -> ListSource:
    rows = draw(st.lists(tree_rows(), min_size=1, max_size=3, unique_by=lambda tree: tree.tree_id))
    seen: set[str] = set()
    stored: dict[str, list[TreeRow]] = {}
    for tree in rows:
        kept = tuple(row for row in tree.utterances if row.utterance_id not in seen)
        seen.update(row.utterance_id for row in kept)
        split = draw(st.sampled_from(["train", "dev", "test"]))
        if kept:
            stored.setdefault(split, []).append(replace(tree, utterances=kept))
    ordered = {str(split): stored[split] for split in SPLITS if split in stored}
    return ListSource(ordered)


OVER_60 = "Are you over 60?"
STUDENT = "Are you a student?"
RULE = "# Bus pass\n\nYou get a pass if you are:\n\n* over 60\n* a student"


def bus_source(**fields) -> ListSource:
    """The tree "over 60, or else a student", with a scenario, and two negatives; split dev."""
    yes, no = domain.FinalAnswer(Answer.YES), domain.FinalAnswer(Answer.NO)
    shape = domain.Question(OVER_60, yes, domain.Question(STUDENT, yes, no))
    start = RULE.index("over 60")
    tree = tree_row(
        shape, snippet=RULE, question="Can I get a pass?", url="https://buses.example/pass",
        title="Bus passes", span=(start, start + len("over 60")),
        scenarios=[("scenario", "I turned 70 in May.", (Turn(OVER_60, Answer.YES),)),
                   ("negative_scenario", "My bees are calm.", ())],
        irrelevant=["Can I keep bees?"],
    )  # fmt: skip
    return ListSource(**{"stored": {"dev": [tree]}, **fields})


def hex_id(text: str) -> str:
    return sha1(text.encode(), usedforsecurity=False).hexdigest()
