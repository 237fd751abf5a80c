"""Who has which document on the snippet bench: one expert at a time.

Who takes a document holds the lock of its project meanwhile. Without it, two could count different
rounds of one document, and both get it.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef

from apps.accounts.models import User
from apps.projects.models import Project
from apps.snippets.errors import DocumentTakenError, NotOnYourBenchError
from apps.snippets.models import Document, DocumentQuerySet, Snippet
from apps.workers.models import Assignment, KeptText, Kind
from apps.workers.services.leases import Work, expire_leases, lease_first, return_work
from apps.workers.services.submits import submit

State = Assignment.State


def lease_on(document: Document, now: datetime) -> Assignment | None:
    """The running lease of the document, whoever has it."""
    of_document = Assignment.objects.of_work(Kind.SNIPPETS, document.pk)
    return of_document.leased().filter(expires_at__gt=now).select_related("worker").first()


def document_in_hand(project: Project, *, expert: User, now: datetime) -> Document | None:
    """The document that the expert took last and still has."""
    mine = Assignment.objects.leased().filter(
        project=project, worker=expert, kind=Kind.SNIPPETS, expires_at__gt=now
    )
    key = mine.order_by("-pk").values_list("work_id", flat=True).first()
    return None if key is None else Document.objects.without_texts().get(pk=key)


def given_back(project: Project, expert: User) -> list[Document]:
    """Documents that wait for somebody, and are not handed to this expert again unasked."""
    waiting = waiting_documents(project).filter(_returned_by(expert))
    return list(waiting.without_texts().order_by("pk"))


@transaction.atomic
def take_next(project: Project, *, expert: User, now: datetime) -> Document | None:
    """The document in hand or else the next one, leased; None when none waits.

    Started documents come first, then in the order of their keys.
    """
    _lock(project)
    if in_hand := document_in_hand(project, expert=expert, now=now):
        return in_hand
    # A generator: it looks for documents only when overdue leases have ended.
    lease = lease_first(_works(project, expert), project=project, worker=expert, now=now)
    if lease is None:
        return None
    _bring_draft(lease)
    return Document.objects.without_texts().get(pk=lease.work_id)


@transaction.atomic
def take(document: Document, *, expert: User, now: datetime) -> Assignment:
    """This document, if nobody has it: also one that is settled, or that the expert gave back.

    Raises DocumentTakenError.
    """
    _lock(document.project)
    expire_leases(now)
    work = Work(Kind.SNIPPETS, document.pk, round=_rounds(document.pk))
    if other := lease_on(document, now):
        if other.worker_id == expert.pk:
            return other
        raise DocumentTakenError(other.worker)
    lease = lease_first([work], project=document.project, worker=expert, now=now)
    if lease is None:
        raise NotOnYourBenchError
    _bring_draft(lease)
    return lease


def hold(document: Document, *, expert: User, now: datetime) -> Assignment:
    """The expert's lease, locked for the rest of the transaction; its time begins anew.

    A lease that ran out is taken again, if nobody else has the document. Raises
    DocumentTakenError and NotOnYourBenchError.
    """
    mine = Assignment.objects.of_work(Kind.SNIPPETS, document.pk).filter(worker=expert)
    running = mine.leased().filter(expires_at__gt=now)
    lease = running.select_for_update(of=("self",)).first()
    if lease is None:
        last = mine.order_by("-pk").first()
        if last is None or last.state not in {State.LEASED, State.EXPIRED}:
            raise NotOnYourBenchError
        lease = take(document, expert=expert, now=now)
    lease.expires_at = now + timedelta(minutes=document.project.lease_minutes)
    lease.save(update_fields=["expires_at"])
    return lease


@transaction.atomic
def put_down(document: Document, *, expert: User, reason: str, now: datetime) -> bool:
    """Ends the expert's lease. True: all snippets are settled. False: it waits for another."""
    lease = hold(document, expert=expert, now=now)
    if document.snippets.proposed().exists():
        return_work(lease, reason=reason, now=now)
        return False
    submit(
        lease.pk, worker=expert, key=f"bench-{lease.pk}", content={}, take=_settled, now=now
    )  # fmt: skip
    return True


def forget_draft(lease: Assignment, name: str) -> None:
    """What was typed under this name has arrived."""
    if name in lease.draft:
        lease.draft = {key: text for key, text in lease.draft.items() if key != name}
        lease.save(update_fields=["draft"])


def keep_text(document: Document, *, expert: User, text: str, now: datetime) -> None:
    """What the expert typed for a step that was refused, with their last lease of the document."""
    last = Assignment.objects.of_work(Kind.SNIPPETS, document.pk).filter(worker=expert).last()
    if last is not None:
        KeptText.objects.create(
            assignment=last, reason=KeptText.Reason.LEASE_ENDED, content={"text": text}, kept_at=now
        )


def _settled(lease: Assignment) -> dict[str, int]:
    of_document = Snippet.objects.filter(document=lease.work_id)
    return {state: of_document.filter(state=state).count() for state in ("accepted", "discarded")}


def _lock(project: Project) -> None:
    # NO KEY: rows that point to the project can be added meanwhile.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def waiting_documents(project: Project) -> DocumentQuerySet:
    """Those with a snippet to settle that nobody has. Of a page, only its newest version."""
    leases = Assignment.objects.leased().of_work(Kind.SNIPPETS, OuterRef("pk"))
    proposed = Snippet.objects.proposed().filter(document=OuterRef("pk"))
    documents = Document.objects.filter(Exists(proposed), ~Exists(leases), project=project)
    return documents.newest()


def _returned_by(expert: User) -> Exists:
    of_document = Assignment.objects.of_work(Kind.SNIPPETS, OuterRef("pk"))
    return Exists(of_document.filter(worker=expert, state=State.RETURNED))


def _works(project: Project, expert: User) -> Iterator[Work]:
    settled = Snippet.objects.filter(document=OuterRef("pk"), settled_at__isnull=False)
    waiting = waiting_documents(project).exclude(_returned_by(expert))
    in_order = waiting.annotate(is_started=Exists(settled)).order_by("-is_started", "pk")
    for key in in_order.values_list("pk", flat=True):
        yield Work(Kind.SNIPPETS, key, round=_rounds(key))


def _rounds(document_id: int) -> int:
    """How often the document was opened again: a lease that somebody ended counts, too."""
    ended = [State.SUBMITTED, State.RETURNED]
    return Assignment.objects.of_work(Kind.SNIPPETS, document_id).filter(state__in=ended).count()


def _bring_draft(lease: Assignment) -> None:
    """What the expert was typing when an earlier lease of the document ran out."""
    earlier = Assignment.objects.of_work(Kind.SNIPPETS, lease.work_id).filter(
        worker=lease.worker, pk__lt=lease.pk
    )
    last = earlier.order_by("-pk").first()
    if last and last.draft:
        lease.draft, lease.draft_version = last.draft, last.draft_version
        lease.draft_saved_at = last.draft_saved_at
        lease.save(update_fields=["draft", "draft_version", "draft_saved_at"])
