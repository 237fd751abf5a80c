"""Where each kind of work goes on: by the names of addresses, as its app stands above this one."""

from django.urls import NoReverseMatch, reverse

from apps.workers.models import Assignment, Kind

_PAGES = {
    Kind.SNIPPETS: ("snippets:bench", "work_id"),
    Kind.QUESTION: ("snippets:question_work", "pk"),
    Kind.QUESTION_CHECK: ("snippets:question_check", "pk"),
}


def page_of_work(assignment: Assignment) -> str:
    """Its address; empty for a kind of work that has no page yet."""
    name, key = _PAGES.get(Kind(assignment.kind), ("", "pk"))
    try:
        return reverse(name, args=[assignment.project.slug, getattr(assignment, key)])
    except NoReverseMatch:
        return ""
