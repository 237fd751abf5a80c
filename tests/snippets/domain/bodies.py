"""Bodies for hypothesis: blocks of any kind, in scripts with and without spaces."""

from hypothesis import strategies as st

from apps.snippets.domain.blocks import Block, Body, bullet, heading, numbered, paragraph
from apps.snippets.domain.segmentation import Limits, LongLists
from apps.snippets.domain.words import has_words

# With what Markdown has marks for, what ends sentences, and letters of several scripts.
ALPHABET = "abAB1 .:;?!,#*-+_>|`~[]()\\'\"&<é日本語。、？ぁกا؟दा।\u200b"

lines = (
    st.one_of(
        st.text(ALPHABET, min_size=1, max_size=40),
        st.lists(
            st.sampled_from(
                [
                    "You",
                    "must",
                    "live",
                    "here.",
                    "If",
                    "not:",
                    "No.",
                    "5",
                    "* x",
                    "1. y",
                    "- z",
                    "#",
                ]
            ),
            min_size=1,
            max_size=30,
        ).map(" ".join),
    )
    .map(str.strip)
    .filter(bool)
)


def blocks() -> st.SearchStrategy[Block]:
    depths = st.integers(1, 4)
    return st.one_of(
        st.builds(heading, lines, st.integers(1, 6)),
        st.builds(paragraph, lines),
        st.builds(paragraph, lines),
        st.builds(bullet, lines, depths),
        st.builds(bullet, lines, depths, is_tight=st.booleans()),
        st.builds(numbered, lines, depths),
    )


bodies = st.lists(blocks(), max_size=12).map(lambda found: Body("", "", tuple(found)))
bodies_of_words = st.lists(blocks().filter(lambda block: has_words(block.text)), max_size=12).map(
    lambda found: Body("", "", tuple(found))
)

limits = st.builds(Limits, st.integers(1, 5), st.integers(1, 30), st.sampled_from(LongLists))
splitting_limits = st.builds(Limits, st.integers(1, 5), st.integers(1, 30))
