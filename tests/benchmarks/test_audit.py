"""How fast the chain grows with four processes writing, against what the disk allows; and how fast it is verified."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from bot.evidence.store.engine import connect
from bot.evidence.store.migrate import upgrade
from bot.evidence.store.tables import audit
from bylaw.audit.entry import START, after, draft, link
from bylaw.audit.verify import verify

ROOT = Path(__file__).parents[2]
PROCESSES, APPENDS = 4, 1_000
ENTRIES = 100_000

APPEND = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from bot.evidence.store.tables import audit
from bot.evidence.store.engine import connect
store = connect("sqlite:///store.db", Path(sys.argv[1]))
body = {
    "event": "reply", "session_id": "s" * 32, "actor": {"id": "ana", "type": "human"}, "kind": "policy",
    "query": "May I return a laptop that I bought 20 days ago?", "domain": "refund", "compliance_score": 1.0,
    "final_action": "answered", "level": None, "duration_ms": 5, "bundle_etag": "sha256:" + "e" * 64,
    "commit": "a" * 40, "reply": "b" * 64, "error": None,
    "artifacts": {"bundle": "a" * 64, "policy": "c" * 64, "reply": "d" * 64, "request": "e" * 64},
}
with store.reading() as connection:
    audit.tail(connection)
print("ready", flush=True)
sys.stdin.readline()
for n in range(int(sys.argv[2])):
    at = datetime.now(UTC)
    name = f"{sys.argv[3]}-{n}"
    drafted = audit.prepare({**body, "request_id": name})
    with store.writing() as connection:
        audit.append(connection, drafted, at, name)
"""


def syncs_a_second(path: Path) -> float:
    """What one writer gets who waits for the disk after each page, nothing else running here."""
    handle, count = os.open(path, os.O_CREAT | os.O_RDWR), 0
    started = time.perf_counter()
    while time.perf_counter() - started < 1:
        os.write(handle, b"x" * 4096)
        os.fdatasync(handle)
        count += 1
    os.close(handle)
    path.unlink()
    return count / (time.perf_counter() - started)


@pytest.mark.benchmark
def test_appends_a_second_by_four_processes(tmp_path, capsys):
    store = connect("sqlite:///store.db", tmp_path)
    upgrade(store)
    allowed = syncs_a_second(tmp_path / "probe")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", APPEND, str(tmp_path), str(APPENDS), str(n)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(PROCESSES)
    ]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    at = time.perf_counter()
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        assert process.wait() == 0
    rate = PROCESSES * APPENDS / (time.perf_counter() - at)
    with store.reading() as connection:
        found = audit.verify(connection)
    store.close()
    with capsys.disabled():
        print(f"\n{rate:,.0f} appends a second by {PROCESSES} processes, each synced; ", end="")
        print(
            f"the disk: {allowed:,.0f} syncs a second; load {os.getloadavg()[0]:.1f}; {found.entry_count} entries hold"
        )
    assert found.is_intact
    assert found.entry_count == PROCESSES * APPENDS


@pytest.mark.benchmark
def test_verifying_a_long_chain(capsys):
    def entries():
        tail = START
        for n in range(ENTRIES):
            made = link(tail, draft({"at": "2026-11-20T12:00:00.000000Z", "event": "reply", "n": n}, "salt"))
            tail = after(made)
            yield made

    made = list(entries())
    tracemalloc.start()
    verify(made)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    at = time.perf_counter()
    assert verify(made).is_intact
    rate = ENTRIES / (time.perf_counter() - at)
    with capsys.disabled():
        print(f"\n{rate:,.0f} entries a second verified, {peak / 1e6:.1f} MB; load {os.getloadavg()[0]:.1f}")
