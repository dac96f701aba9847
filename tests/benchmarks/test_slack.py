"""How soon Slack is told that what it sent was taken: 50 events a second, then a burst, at 1,000 policies.

A real `bylaw serve --slack http` against the loopback Slack, which shares its processors. Each event is kept and synced
before it is acknowledged, and answered after. Printed, not asserted: machines differ.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bylaw.cli import bundle_for_root
from tests.benchmarks.generate import generate
from tests.benchmarks.test_http import question, serving
from tests.fakes.slack import payloads
from tests.fakes.slack.server import FakeSlack

pytestmark = pytest.mark.benchmark

RATE, SECONDS, BURST = 50, 10, 100


def sent(slack: FakeSlack, moments: Iterable[float]) -> list[float]:
    """Seconds to the acknowledgement of one event at each of *moments*, which are seconds from now; inf for none."""

    def send(k: int, at: float) -> float:
        time.sleep(max(0.0, started + at - time.perf_counter()))
        said, ts = str(question(k)["text"]), slack.next_ts()
        slack.told("UANA", "D1", said, ts, None)
        event = payloads.message(said, "UANA", "D1", ts)
        before = time.perf_counter()
        is_taken = slack.attempt(event).status == 200
        return time.perf_counter() - before if is_taken else math.inf

    started = time.perf_counter()
    with ThreadPoolExecutor(BURST) as pool:
        return sorted(pool.map(send, *zip(*enumerate(moments), strict=True)))


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as fake:
        fake.channel("D1", "UANA")
        yield fake


def test_acknowledgements(slack: FakeSlack, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate(tmp_path / "set", 1_000, "shared")
    env = {"API_URL": slack.api, "BOT_TOKEN": slack.bot_token, "SIGNING_SECRET": slack.secret}
    given = {f"BYLAW_SLACK_{name}": value for name, value in env.items()}
    with serving(bundle_for_root(tmp_path / "set"), tmp_path, "--slack", "http", **given) as (port, _):
        slack.request_url = f"http://127.0.0.1:{port}/slack/events"
        sent(slack, [0.0])
        rows = {
            f"{RATE} events a second": sent(slack, [n / RATE for n in range(RATE * SECONDS)]),
            f"{BURST} events at once": sent(slack, [0.0] * BURST),
        }
        asked, answered = 1 + RATE * SECONDS + BURST, len(slack.posts("D1"))
    with capsys.disabled():
        print(f"\n{'acknowledged':<24}{'p50':>9}{'p95':>9}{'p99':>9}  ms; ", end="")
        print(f"{answered} of {asked} answered meanwhile; load {os.getloadavg()[0]:.1f}")
        for title, spent in rows.items():
            print(f"{title:<24}" + "".join(f"{1_000 * spent[int(len(spent) * s)]:>9.1f}" for s in (0.5, 0.95, 0.99)))
