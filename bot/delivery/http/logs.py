"""Logs as one JSON object a line, in the envelope of seed 002 (B5). That somebody asked is logged, never what."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

_FIELDS = ("request_id", "snapshot_etag", "stage", "latency_ms", "meta")


class JsonLines(logging.Formatter):
    """A record as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever was logged."""
        said = {
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z"),
            "level": record.levelname,
            "service": record.name,
            "message": record.getMessage(),
            **{field: value for field in _FIELDS if (value := getattr(record, field, None)) is not None},
        }
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=False, default=str)


def to_stderr(level: int = logging.INFO) -> None:
    """Send every logger of this process through JsonLines to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    # what no line says is not looked up for each (docs.python.org/3/howto/logging.html#optimization)
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("alembic.runtime.plugins").setLevel(logging.WARNING)  # six lines of every start that say nothing
