"""The Celery application: `celery -A sharc_studio worker`, and one `… beat`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sharc_studio.settings")

app = Celery("sharc_studio")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
