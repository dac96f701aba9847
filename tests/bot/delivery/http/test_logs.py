"""A log line is one JSON object, whatever was logged."""

from __future__ import annotations

import json
import logging

from bot.delivery.http.logs import JsonLines
from tests.rows import each


def line(message, *arguments, error=None, **extra):
    info = (type(error), error, None) if error else None
    record = logging.LogRecord("bylaw.http", logging.INFO, "f.py", 1, message, arguments, info)
    record.__dict__.update(extra)
    record.created = 1_795_176_000.5
    text = JsonLines().format(record)
    assert "\n" not in text
    return json.loads(text)


def test_the_fields_of_the_envelope_are_there():
    assert line("request %s", "done", request_id="r1", stage="render", latency_ms=0, meta={"status": 200}) == {
        "timestamp": "2026-11-20T12:00:00.500000Z",
        "level": "INFO",
        "service": "bylaw.http",
        "message": "request done",
        "request_id": "r1",
        "stage": "render",
        "latency_ms": 0,
        "meta": {"status": 200},
    }


@each("message", ["two\nlines", 'a "quote"', "ü \N{GRINNING FACE}", "\x1b[31m"])
def test_no_message_breaks_the_line(message):
    assert line(message)["message"] == message


def test_an_error_is_on_the_same_line_and_a_strange_value_is_text():
    said = line("broke", error=KeyError("x"), meta={"what": {1, 2} and object})
    assert "KeyError" in said["error"]
    assert said["meta"] == {"what": "<class 'object'>"}
