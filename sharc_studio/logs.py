"""Structured logs: one JSON object a line, each with the id of its request or task."""

from typing import Any

import structlog

_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def logging_config(*, level: str, form: str) -> dict[str, Any]:
    """Django's LOGGING; `form` is `json` (for machines) or `console` (for people)."""
    structlog.configure(
        processors=[
            *_SHARED,
            structlog.processors.format_exc_info,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=False)
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.format_exc_info,
                    renderer,
                ],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "root": {"handlers": ["stderr"], "level": level},
        # The request middleware writes one line a request with its id; these would say it again.
        # kombu warns at each start that the file-system broker has no host, and trafilatura about
        # pages without a body, which the report of their job names.
        "loggers": {
            "django.server": {"level": "ERROR"},
            "axes": {"level": "WARNING"},
            "kombu.connection": {"level": "ERROR"},
            "trafilatura": {"level": "ERROR"},
        },
    }
