"""The open branches of growing trees, for one worker: one query, written by hand.

Django takes longer to write it than the database to run it, and every worker who asks for work
waits for it. The trees come first in it, in their order, so that a look at the first rows ends
after the first trees, however many grow.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection

from apps.accounts.models import User
from apps.projects.models import Project

CHUNK = 51
"""Rows of one look: more than people who ask at the same moment, and than anybody counts."""

# A part is named as domain.places.slot_name names it. CROSS JOIN: SQLite keeps to that order.
_BRANCHES = """
SELECT tree.id, question.id, branch.name, (
    SELECT COUNT(*) FROM workers_assignment work
    WHERE work.kind = 'path' AND work.work_id = tree.id
        AND work.part = question.id || '-' || branch.name AND work.state = 'submitted'
)
FROM trees_tree tree
CROSS JOIN snippets_question first_question
CROSS JOIN trees_node question
CROSS JOIN (SELECT 'yes' AS name UNION ALL SELECT 'no') branch
WHERE tree.project_id = %(project)s AND tree.state = 'growing'
    AND first_question.id = tree.question_id
    AND (first_question.created_by_id IS NULL OR first_question.created_by_id <> %(worker)s)
    AND question.tree_id = tree.id
    AND question.kind = 'question' AND question.taken_out_at IS NULL
    AND NOT EXISTS (  -- nobody has continued it
        SELECT 1 FROM trees_node child
        WHERE child.parent_id = question.id AND child.branch = branch.name
            AND child.taken_out_at IS NULL
    )
    AND NOT EXISTS (  -- the worker wrote no turn above it
        SELECT 1 FROM trees_node above
        WHERE above.tree_id = tree.id AND above.created_by_id = %(worker)s
            AND above.taken_out_at IS NULL
            AND above.place = substr(question.place, 1, length(above.place))
    )
    AND NOT EXISTS (  -- no turn above it is in dispute
        SELECT 1 FROM trees_node above
        WHERE above.tree_id = tree.id AND above.disputed_at IS NOT NULL
            AND above.taken_out_at IS NULL
            AND above.place = substr(question.place, 1, length(above.place))
    )
    AND NOT EXISTS (  -- nobody has it in hand, and the worker never had it to its end
        SELECT 1 FROM workers_assignment work
        WHERE work.kind = 'path' AND work.work_id = tree.id
            AND work.part = question.id || '-' || branch.name
            AND (
                work.state = 'leased'
                OR (work.worker_id = %(worker)s AND work.state IN ('submitted', 'returned'))
            )
    )
    AND NOT EXISTS (  -- the worker wrote nothing there that was taken out
        SELECT 1 FROM trees_node written
        WHERE written.parent_id = question.id AND written.branch = branch.name
            AND written.created_by_id = %(worker)s
    )
"""
_UNDER = "    AND question.id = %(question)s\n"
_REOPENED = """
    AND EXISTS (  -- something that stood there was taken out
        SELECT 1 FROM trees_cut cut
        WHERE cut.parent_id = question.id AND cut.branch = branch.name AND cut.restored_at IS NULL
    )
"""
_IN_ORDER = """
ORDER BY tree.id, question.id, branch.name DESC
LIMIT %(limit)s OFFSET %(offset)s
"""


@dataclass(frozen=True)
class OpenBranch:
    """`round`: how often it was submitted before, after each of which it was opened again."""

    tree: int
    question: int
    branch: str
    round: int


def open_branches(project: Project, *, worker: User) -> Iterator[OpenBranch]:
    """The oldest trees first."""
    return _rows(_BRANCHES + _IN_ORDER, project=project.pk, worker=worker.pk)


def reopened_branches(project: Project, *, worker: User) -> Iterator[OpenBranch]:
    """Those where something stood before."""
    return _rows(_BRANCHES + _REOPENED + _IN_ORDER, project=project.pk, worker=worker.pk)


def branches_under(question: int, project: Project, *, worker: User) -> Iterator[OpenBranch]:
    """Those of one question."""
    sql = _BRANCHES + _UNDER + _IN_ORDER
    return _rows(sql, project=project.pk, worker=worker.pk, question=question)


def _rows(sql: str, **values: Any) -> Iterator[OpenBranch]:
    """In chunks, each looked up when it is wanted."""
    offset = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(sql, {**values, "limit": CHUNK, "offset": offset})
            rows = cursor.fetchall()
        yield from (OpenBranch(*row) for row in rows)
        if len(rows) < CHUNK:
            return
        offset += CHUNK
