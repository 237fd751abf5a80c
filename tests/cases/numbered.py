"""Faults that people met in programs like this one, by number, and which test holds which.

A test says its number in its name (`test_case_7_…`) or at the start of its docstring ("Case 7: …",
"Cases 5 and 9"); a module's docstring speaks for the module.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from sharc_studio.environment import BASE_DIR

CASES = {
    1: "Of two who ask for the last piece of work, one gets it.",
    2: "Nothing left is never said while something needs somebody.",
    3: "A lease that ran out frees its work without a visit or a restart.",
    4: "A process that has been up for two days ends leases on time.",
    5: "Abandoned and skipped work does not count as done.",
    6: "The lease ends in the transaction of the submit.",
    7: "Who has too much open sees what, each with a button to give it back.",
    8: "An admin releases anybody's lease, and the log says so.",
    9: "Nobody gets a thing twice, nor their own work to check.",
    10: "A restart in the middle loses and repeats nothing.",
    11: "Each refusal has its own reason and sentence.",
    12: "An older draft never overwrites a newer one.",
    13: "The network goes while typing: nothing is lost, and it was said.",
    14: "Who leaves a page finds the draft when they come back.",
    15: "A session ends in the middle of a form: after log-in all is there.",
    16: "A double click, two tabs or a request sent again count once.",
    17: "Many writers at once: nobody reads that the database is locked.",
    18: "What comes after the lease ran out is kept, and the work comes back.",
    19: "A project is deleted by its name, and can be restored.",
    20: "The documented backup is restored, and counts are equal.",
    21: "A branch that was pruned or rejected is open again at once.",
    22: "From an empty project, workers bring trees to their end.",
    23: "Nothing is attached to what was taken out meanwhile.",
    24: "No exported path ends in a question.",
    25: "Not answered is not stored as No.",
    26: "A tree of 63 nodes stays readable, by keyboard alone.",
    27: "What is named is_, has_ or can_ changes nothing.",
    28: "A large export runs in the background, in constant memory, and can be tried again.",
    29: "Work on thousands of rows asks for some at a time.",
    30: "As many rows go out as belong to the dataset.",
    31: "Commas, quotes and line breaks in a cell survive.",
    32: "A cell is never a formula.",
    33: "Characters are characters, but where the format has escapes.",
    34: "Files are UTF-8 whatever the machine's locale is.",
    35: "Yes, then No, then Yes is one Yes.",
    36: "An export holds nobody's name, address or id.",
    37: "An import says what was read, created and skipped, and where it is wrong.",
    38: "A zip file is called .zip.",
    39: "Two projects of the same name both export.",
    40: "Each list takes a constant number of queries.",
    41: "The dashboard opens at once with 5,000 trees.",
    42: "Progress in three places is one number.",
    43: "Time on task is counted once.",
    44: "Answers of a qualification count towards nothing else.",
    48: "A span is the same text in the browser, the database and the export.",
    49: "What says nothing is refused on the server.",
    56: "Yes or No is one key.",
    57: "No key fires in a field, with a modifier, or destroys by itself.",
    58: "Keys are listed, and can be switched off.",
    59: "Yes and No are words, and what is saved is said.",
}

_IN_NAME = re.compile(r"test_case_(\d+)\w*?(?:_and_(\d+)\w*)?")
_IN_DOCSTRING = re.compile(r"[^.:]*?\bcases? (\d+(?:(?:, | and |, and )\d+)*)", re.IGNORECASE)


@cache
def named_cases() -> dict[int, list[str]]:
    """Case -> the tests that name it."""
    found: dict[int, list[str]] = defaultdict(list)
    for path in sorted((BASE_DIR / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        here = str(path.relative_to(BASE_DIR))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.FunctionDef):
                for number in _numbers_of(node):
                    found[number].append(f"{here}::{getattr(node, 'name', '')}")
    return dict(found)


def _numbers_of(node: ast.Module | ast.FunctionDef) -> Iterator[int]:
    if isinstance(node, ast.FunctionDef):
        if not node.name.startswith("test_"):
            return
        if in_name := _IN_NAME.fullmatch(node.name):
            yield from (int(number) for number in in_name.groups() if number)
    if said := _IN_DOCSTRING.match(ast.get_docstring(node) or ""):
        yield from map(int, re.findall(r"\d+", said[1]))
