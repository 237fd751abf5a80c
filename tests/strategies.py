"""Hypothesis strategies for the values of the domain."""

from hypothesis import strategies as st

from apps.trees.domain.tree import (
    Answer,
    FinalAnswer,
    OpenBranch,
    Path,
    Question,
    Tree,
    Turn,
    nodes,
)

MAX_DEPTH = 8
MAX_QUESTIONS = 16

answers = st.sampled_from(Answer)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
"""Texts in any script, without lone surrogates: those have no UTF-8."""

spellings = st.sampled_from(["{}", "{}?", " {} !", "\N{LEFT DOUBLE QUOTATION MARK}{}?"])
"""Ways to write one question that are the same after folding."""

final_answers = st.builds(FinalAnswer, answers)
leaves_or_open = st.one_of(final_answers, st.builds(OpenBranch))


@st.composite
def respelled(draw: st.DrawFn, text: str) -> str:
    return draw(spellings).format(text)


@st.composite
def trees(draw: st.DrawFn, ends: st.SearchStrategy[Tree] = final_answers) -> Tree:
    """Trees of any shape up to `MAX_DEPTH`, from one leaf on.

    No path asks a question twice; different branches often ask the same one, in other spellings.
    """
    subjects = draw(st.lists(texts, min_size=1, max_size=3))
    pool = [f"{subjects[number % len(subjects)]} {number}" for number in range(MAX_DEPTH)]
    left = draw(st.integers(0, MAX_QUESTIONS))

    def grow(unasked: list[str], levels: int) -> Tree:
        nonlocal left
        if not left or not levels or draw(st.integers(0, 4)) == 0:
            return draw(ends)
        left -= 1
        text = draw(st.sampled_from(unasked))
        rest = [other for other in unasked if other != text]
        spelled = draw(spellings).format(text)
        return Question(spelled, grow(rest, levels - 1), grow(rest, levels - 1))

    return grow(pool, MAX_DEPTH)


def unfinished_trees() -> st.SearchStrategy[Tree]:
    """Trees that may have open branches anywhere, the root included."""
    return trees(leaves_or_open)


@st.composite
def facts_of(draw: st.DrawFn, tree: Tree) -> Path:
    """Some turns of one path of the tree, in any order and spelling. The tree has a question."""
    path = draw(st.sampled_from([path for path, _ in nodes(tree) if path]))
    turns = draw(st.lists(st.sampled_from(path), min_size=1, unique=True))
    return tuple(
        Turn(draw(respelled(turn.follow_up_question)), turn.follow_up_answer) for turn in turns
    )


@st.composite
def trees_with_facts(draw: st.DrawFn) -> tuple[Tree, Path]:
    """A tree with at least one question, and facts that lie on one of its paths."""
    tree = draw(unfinished_trees().filter(lambda tree: isinstance(tree, Question)))
    return tree, draw(facts_of(tree))


def full_tree(depth: int) -> Tree:
    """Every path asks `depth` questions; each question of the tree is another one."""
    level: list[Tree] = [FinalAnswer(list(Answer)[index % 2]) for index in range(2**depth)]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [
            Question(f"Question {len(level)} {index}?", yes, no)
            for index, (yes, no) in enumerate(pairs)
        ]
    return level[0]


def chain(depth: int) -> Tree:
    """A tree that asks on after each YES, and ends in No after each NO."""
    tree: Tree = FinalAnswer(Answer.YES)
    for level in reversed(range(depth)):
        tree = Question(f"Question {level}?", tree, FinalAnswer(Answer.NO))
    return tree
