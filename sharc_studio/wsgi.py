"""What gunicorn serves."""

import gc
import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sharc_studio.settings")

application = get_wsgi_application()

# All views are imported now, not while the first person waits. What is there by now stays for good:
# the garbage collector need not look through it, which took some request 0.15 s now and then.
import_module(settings.ROOT_URLCONF)
gc.collect()
gc.freeze()
