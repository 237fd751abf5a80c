"""Settings of every installation: read from the environment, listed in .env.example."""

import django_stubs_ext
from csp.constants import NONE, SELF

from sharc_studio import environment
from sharc_studio.environment import BASE_DIR
from sharc_studio.logs import logging_config

django_stubs_ext.monkeypatch()

SECRET_KEY = environment.secret("SECRET_KEY")
DEBUG = environment.flag("DEBUG", default=False)
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", ["127.0.0.1", "localhost"])
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS", [])
VAR_DIR = environment.folder("VAR_DIR", BASE_DIR / "var")

INSTALLED_APPS = [
    "apps.accounts",
    "apps.projects",
    "apps.workers",
    "apps.snippets",
    "apps.trees",
    "apps.scenarios",
    "apps.exports",
    "apps.desk",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_htmx",
    "django_structlog",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.middleware.LogInFirst",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.desk.middleware.FormsHaveNoPage",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "sharc_studio.urls"
WSGI_APPLICATION = "sharc_studio.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {
    "default": environment.database("DATABASE_URL", f"sqlite:///{VAR_DIR / 'studio.sqlite3'}")
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# People -------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "desk:home"
LOGOUT_REDIRECT_URL = "accounts:login"

# A name and an address together are locked: one forgetful person does not lock out an office,
# and a stranger who guesses names cannot lock their owners out.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = environment.number("LOGIN_FAILURE_LIMIT", 8, at_least=1)
AXES_COOLOFF_TIME = environment.number("LOGIN_COOLOFF_HOURS", 1, at_least=1)
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "accounts/locked.html"
AXES_DISABLE_ACCESS_LOG = True

# What leaves the server -----------------------------------------------------------------------

HTTPS = environment.flag("HTTPS", default=False)
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

# Files ----------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "sharc_studio" / "static"]
STATIC_ROOT = VAR_DIR / "static"
MEDIA_ROOT = VAR_DIR / "files"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
IMPORT_MAX_BYTES = environment.number("IMPORT_MAX_MEGABYTES", 512, at_least=1) * 1_000_000
DOCUMENT_MAX_BYTES = environment.number("DOCUMENT_MAX_MEGABYTES", 5, at_least=1) * 1_000_000
ARCHIVE_MAX_BYTES = environment.number("ARCHIVE_MAX_MEGABYTES", 512, at_least=1) * 1_000_000
ARCHIVE_MAX_FILES = environment.number("ARCHIVE_MAX_FILES", 5000, at_least=1)
FETCH_ALLOWED_HOSTS = environment.words("FETCH_ALLOWED_HOSTS", [])
FETCH_TIMEOUT_SECONDS = environment.number("FETCH_TIMEOUT_SECONDS", 20, at_least=1)
EXPORT_BUCKET = environment.text("EXPORT_BUCKET", "")
EXPORT_LINK_SECONDS = environment.number("EXPORT_LINK_MINUTES", 60, at_least=1) * 60
AWS_ENDPOINT_URL = environment.address("AWS_ENDPOINT_URL", "")
AWS_DEFAULT_REGION = environment.text("AWS_DEFAULT_REGION", "")
# Where boto3 itself looks for them; no others have to do with them.
environment.goes_with("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
environment.goes_with("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID")
# Each file of an upload is an open file of the process until the request ends.
DATA_UPLOAD_MAX_NUMBER_FILES = 500

# Work -----------------------------------------------------------------------------------------

# Where a worker's next piece of work comes from: what finishes trees comes first.
WORK_SOURCES = [
    "apps.trees.services.open_work.reannotations",
    "apps.trees.services.open_work.started_branches",
    "apps.trees.services.open_work.node_checks",
    "apps.scenarios.services.scenario_checks.scenario_checks",
    "apps.scenarios.services.scenario_work.scenarios",
    "apps.trees.services.open_work.new_trees",
]

# What scripted people do (simulate_workers) of the work that trees do not know.
SIMULATED_WORK = {
    "scenario": "apps.scenarios.services.simulated.write",
    "scenario check": "apps.scenarios.services.simulated.check",
}

# Called when a question of a tree is worded anew, in the same transaction.
FOLLOW_WORDING = "apps.scenarios.services.wordings.follow_wording"

# Called when somebody leaves a project or gets another role in it.
FREE_WORK_OF_MEMBER = "apps.workers.services.leaving.free_work"

# Time and language ----------------------------------------------------------------------------

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

# Background work --------------------------------------------------------------------------------

CELERY_BROKER_URL = environment.broker("CELERY_BROKER_URL", "filesystem://")
if CELERY_BROKER_URL == "filesystem://":
    _queue = environment.folder("CELERY_QUEUE_DIR", VAR_DIR / "queue")
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_queue),
        "data_folder_out": str(_queue),
        "control_folder": str(_queue / "control"),
    }
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Jobs are watched and cancelled through their rows. Remote control would be a queue by the name of
# the machine, that RabbitMQ refuses to a worker whose killed forerunner it has not missed yet.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")
CELERY_BEAT_SCHEDULE = {
    "requeue-lost-jobs": {"task": "projects.requeue_lost_jobs", "schedule": 30.0},
    "expire-leases": {"task": "workers.expire_leases", "schedule": 15.0},
    "clean-up-exports": {"task": "exports.clean_up", "schedule": 600.0},
    "look-for-near-questions": {"task": "trees.look_for_near_questions", "schedule": 20.0},
}
JOB_LOST_AFTER_SECONDS = environment.number("JOB_LOST_AFTER_SECONDS", 300, at_least=5)

# Logs ---------------------------------------------------------------------------------------------

LOGGING = logging_config(
    level=environment.text(
        "LOG_LEVEL", "INFO", one_of=("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
    ),
    form=environment.text("LOG_FORMAT", "json", one_of=("json", "console")),
)
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False
