"""Logs: one line an entry, as text or JSON, on standard error."""

import logging
import sys
from typing import Final

from pythonjsonlogger.json import JsonFormatter

LEVELS: Final = ("debug", "info", "warning", "error")
_STANDARD: Final = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime"}


class TextFormatter(logging.Formatter):
    """Puts an entry's extra fields behind its sentence, as name=value."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """Give the line without the traceback."""
        fields = [
            f"{name}={value}" for name, value in vars(record).items() if name not in _STANDARD
        ]
        return " ".join([super().formatMessage(record), *fields])


def set_up(form: str, level: str) -> None:
    """Send all logs to standard error.

    asyncio's own lines about sockets that died say what the gateway says better.
    """
    handler = logging.StreamHandler(sys.stderr)
    if form == "json":
        handler.setFormatter(
            JsonFormatter(
                "{asctime}{levelname}{name}{message}",
                style="{",
                rename_fields={"asctime": "time", "levelname": "level", "name": "logger"},
            )
        )
    else:
        handler.setFormatter(TextFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("asyncio").setLevel(logging.ERROR)
