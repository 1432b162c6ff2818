"""Lines of logs: what an operator must know; never prompts, replies or keys. docs/operating.md describes them."""

import logging
import os

from accounts.addresses import shown_path
from arenasite import environment

FORMATS = ("line", "json")


class PathFilter(logging.Filter):
    """Django writes the paths of requests down; of some, a part is a secret."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        path = getattr(request, "path", None)
        if path and isinstance(record.args, tuple):
            record.args = tuple(shown_path(request) if one == path else one for one in record.args)
        return True


def logging_settings() -> dict[str, object]:
    """As `LOGGING` has to be. Requests have lines of their own where the lines are for programs, which look after the
    size of the file, or where `ARENA_ACCESS_LOG` asks for them.
    """
    chosen = environment.one_of("ARENA_LOG_FORMAT", FORMATS)
    if chosen == "json":
        logging.captureWarnings(True)  # Python writes them as they are, over several lines
    tells_requests = environment.flag("ARENA_ACCESS_LOG", chosen == "json")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"paths": {"()": "arenasite.logs.PathFilter"}},
        "formatters": {
            "line": {"()": "accounts.logs.Readable"},
            "json": {"()": "accounts.logs.Json"},
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": chosen, "filters": ["paths"]}},
        "root": {"handlers": ["console"], "level": os.environ.get("ARENA_LOG_LEVEL", "INFO")},
        "loggers": {
            "arenasite.requests": {"level": "INFO" if tells_requests else "WARNING"},
            "httpx": {"level": "WARNING"},
            "daphne": {"level": "WARNING"},
            "rq.worker": {"level": "WARNING"},
            "django.channels.server": {"level": "WARNING"},
            "django.db.backends": {"level": "WARNING"},  # the parameters of a statement are what people wrote
        },
    }
