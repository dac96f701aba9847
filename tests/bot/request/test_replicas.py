"""Eight processes on one database: every answer is settled once and told once, however the work falls."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from bot.evidence.store.tables import audit, deliveries
from bot.lifecycle import State
from bot.request.scheduler import tick
from bylaw.audit.verify import verify
from tests.bot.evidence.store.conftest import store_url  # noqa: F401
from tests.fakes.frame import NOON, question
from tests.fakes.levels import level_services

ROOT = Path(__file__).parents[3]
REPLICAS = 8
TICKING = """
import sys
from datetime import datetime
from pathlib import Path
from bot.request.scheduler import tick
from tests.fakes.levels import level_services
root, url, at = sys.argv[1:]
served = level_services(Path(root), url, clock=lambda: datetime.fromisoformat(at))
print(tick(served, served.clock())["timers"])
"""


@pytest.mark.parametrize(
    "count",
    [pytest.param(600, marks=pytest.mark.slow), pytest.param(10_000, marks=pytest.mark.benchmark)],
)
def test_replicas_settle_every_answer_once(store_url, tmp_path, count):  # noqa: F811
    served = level_services(tmp_path, store_url)
    from bot.request.orchestrator import handle

    with ThreadPoolExecutor(4) as asking:
        list(
            asking.map(
                lambda n: handle(question(f"r{n}", f"level {2 + n % 4}", session_id=f"s{n}"), served), range(count)
            )
        )
    started = time.perf_counter()
    later = (NOON + timedelta(days=8)).isoformat()
    command = [sys.executable, "-c", TICKING, str(tmp_path), store_url, later]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(REPLICAS)]
    done = [int(one.communicate(timeout=500)[0]) for one in running]
    took = time.perf_counter() - started
    assert (sum(done), tick(served, NOON + timedelta(days=8))["timers"]) == (count, 0)
    with served.store.reading() as connection:
        ended = {
            row["state"]: row["n"] for row in connection.all("SELECT state, count(*) AS n FROM requests GROUP BY state")
        }
        entries = list(audit.entries(connection))
        notices = [one for _, one in deliveries.notices(connection, NOON) if one["to"] == "ana"]
    assert verify(entries).is_intact
    events = Counter(entry.body["event"] for entry in entries)
    assert ended == {State.CLOSE: count / 2, State.ABANDONED: count / 4, State.EXPIRED: count / 4}
    assert events == {"reply": count, "timeout": count / 2, "abandoned": count / 4, "expired": count / 4}
    assert len(notices) == len({one["about"] for one in notices}) == count / 2
    served.store.close()
    print(f"\n{store_url.partition(':')[0]}: {REPLICAS} replicas settled {count} answers in {took:.1f} s: {done}")
