"""Settings, URLs and the Celery application of the studio."""

from sharc_studio.celery import app as celery_app

__all__ = ["celery_app"]
