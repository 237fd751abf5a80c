"""Doors for Celery."""

from celery import shared_task
from django.utils import timezone

from apps.workers.services import leases


@shared_task(name="workers.expire_leases")
def expire_leases() -> int:
    return leases.expire_leases(timezone.now())
