"""What started a run is read from GitHub's payload, and nothing of it is taken for more than it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from bylaw.errors import UsageError
from ci.review.event import Event, Spoken, read_event

ROWS = yaml.safe_load(Path(__file__).with_name("event.yaml").read_text(encoding="utf-8"))


def environ(tmp_path: Path, name: str, data: bytes) -> dict[str, str]:
    path = tmp_path / "event.json"
    path.write_bytes(data)
    return {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path), "GITHUB_REPOSITORY": "c/d"}


@pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])
def test_read_event(row, tmp_path):
    given = environ(tmp_path, row["name"], json.dumps(row["sends"]).encode())
    if "wrong" in row:
        with pytest.raises(UsageError, match=f"first at `{row['wrong']}`"):
            read_event(given)
        return
    told = dict(row["event"])
    if "spoken" in told:
        told["spoken"] = Spoken(*told["spoken"])
    assert read_event(given) == Event(**told)


def test_outside_github_nothing_happened():
    assert read_event({}) == Event()


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_told(tmp_path, data):
    with pytest.raises(UsageError, match="not as GitHub sends it"):
        read_event(environ(tmp_path, "push", data))


def test_a_payload_that_is_not_there_is_told(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_event({"GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": str(tmp_path / "none")})
