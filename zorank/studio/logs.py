"""The format of the server's log: lines of text, or one JSON object a line."""

from __future__ import annotations

import json
import logging
from typing import Any

from zorank.errors import InvalidInput

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("text", "json")
TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class JsonFormatter(logging.Formatter):
    """Writes a record as JSON in one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def log_config(level: str = "warning", form: str = "text") -> dict[str, Any]:
    """Return the configuration of all loggers of the server, for `logging.config`."""
    for name, given, known in (("level", level, LEVELS), ("format", form, FORMATS)):
        if given not in known:
            choices = ", ".join(known)
            raise InvalidInput(f"there is no log {name} {given!r}; choose one of {choices}")
    formatter = {"()": JsonFormatter} if form == "json" else {"format": TEXT}
    logger = {"handlers": ["stderr"], "level": level.upper(), "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"default": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "default"}},
        "loggers": {"uvicorn": logger, "zorank": logger},
    }
