"""What the server does with twice what it can: it goes on giving as many good answers, and tells the rest to come back.

First as many as eight clients can get, one after the other; then requests that start at twice that rate whether or not
earlier ones are answered, for a minute. A real `bylaw serve` on loopback; the clients share its processors, and what
else the machine does is told too. A table is printed; asserted is only what holds on any machine: nothing but 200 and
503 with `Retry-After`, and memory that does not grow.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from bylaw.cli import bundle_for_root
from tests.benchmarks.generate import generate
from tests.benchmarks.test_http import COMMON, question, serving

pytestmark = pytest.mark.benchmark

CLIENTS, WARM_SECONDS, SECONDS = 8, 10, 60
CONNECTIONS = 400


def request(n: int) -> bytes:
    body = json.dumps(question(n % COMMON)).encode()
    head = b"POST /v2/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


class Line:
    """One connection, opened again where it was closed."""

    def __init__(self, port: int) -> None:
        self.port, self.reader, self.writer = port, None, None

    async def ask(self, sent: bytes) -> tuple[str, bool]:
        """The status, and whether it said when to come back."""
        for attempt in range(2):
            try:
                if self.writer is None:
                    self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
                self.writer.write(sent)
                head = await self.reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                await self.reader.readexactly(length)
                return head[9:12].decode(), b"retry-after:" in head.lower()
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                self.writer = None
                if attempt:
                    return type(error).__name__, False
        raise AssertionError


async def closed(port: int, seconds: float) -> float:
    """Good answers a second that a few clients get who wait for each."""
    good, until = 0, time.perf_counter() + seconds

    async def one(first: int) -> None:
        nonlocal good
        line, n = Line(port), first
        while time.perf_counter() < until:
            status, _ = await line.ask(request(n))
            good += status == "200"
            n += CLIENTS

    await asyncio.gather(*(one(n) for n in range(CLIENTS)))
    return good / seconds


async def warmed(port: int) -> None:
    """Every question was asked twice."""
    line = Line(port)
    for n in range(2 * COMMON):
        assert (await line.ask(request(n)))[0] == "200"


async def opened(port: int, rate: float, seconds: float, watched: psutil.Process) -> tuple[Counter, list, list]:
    """What comes of requests that start *rate* times a second."""
    free: asyncio.LifoQueue[Line] = asyncio.LifoQueue()
    for _ in range(CONNECTIONS):
        free.put_nowait(Line(port))
    found, spent, memory = Counter(), [], []
    tasks, began, n = set(), time.perf_counter(), 100_000

    async def one(number: int) -> None:
        line, start = await free.get(), time.perf_counter()
        status, says_when = await line.ask(request(number))
        found[status if status != "503" or says_when else "503 without Retry-After"] += 1
        if status == "200":
            spent.append(time.perf_counter() - start)
        free.put_nowait(line)

    while (at := time.perf_counter() - began) < seconds:
        while n - 100_000 < at * rate:
            if len(tasks) < 5_000:
                task = asyncio.create_task(one(n))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            else:
                found["not started"] += 1
            n += 1
        if len(memory) < at / 5:
            memory.append(sum(one_.memory_info().rss for one_ in [watched, *watched.children()]) / 2**20)
        await asyncio.sleep(0.002)
    await asyncio.gather(*tasks)
    return found, sorted(spent), memory


def test_twice_the_capacity(tmp_path: Path) -> None:
    generate(tmp_path / "policies", 1_000, "shared")
    bundle = bundle_for_root(tmp_path / "policies")
    for workers in (1, 2):
        (root := tmp_path / str(workers)).mkdir()
        with serving(bundle, root, "--workers", str(workers)) as (port, process):
            asyncio.run(warmed(port))
            capacity = asyncio.run(closed(port, WARM_SECONDS))
            watched = psutil.Process(process.pid)
            found, spent, memory = asyncio.run(opened(port, 2 * capacity, SECONDS, watched))
        good = found["200"] / SECONDS
        print(
            f"\n{workers} processes, load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n"
            f"  closed loop, {CLIENTS} clients   {capacity:8.0f} good answers a second\n"
            f"  open loop at {2 * capacity:8.0f}/s   {good:8.0f} good answers a second ({good / capacity:.0%})\n"
            f"  answers                  {dict(found)}\n"
            f"  good answers             p50 {spent[len(spent) // 2] * 1000:.0f} ms, "
            f"p99 {spent[len(spent) * 99 // 100] * 1000:.0f} ms\n"
            f"  memory, MiB              {' '.join(f'{one:.0f}' for one in memory)}"
        )
        assert set(found) <= {"200", "503", "not started"}
        assert max(memory[-3:]) < 1.2 * memory[1] + 30
