"""Pages of long lists."""

from __future__ import annotations

from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)


def page_of(
    listed: QuerySet[Row], shown: QuerySet[Row], *, asked: str | None, size: int
) -> Page[Row]:
    """The page of `listed` that was asked for, or the nearest there is, with rows from `shown`.

    `listed` is filtered and ordered, `shown` has all that a row shows. Keys are looked up before
    rows: on the way to a late page the database passes over keys, and joins nothing.
    """
    page: Any = Paginator(listed.values_list("pk", flat=True), size).get_page(asked)
    keys = list(page.object_list)
    rows = shown.in_bulk(keys)
    page.object_list = [rows[key] for key in keys if key in rows]
    found: Page[Row] = page
    return found
