"""How long `bylaw stats` takes over 100,000 answers: counted in the database, in less than two seconds."""

from __future__ import annotations

import random
import time
from datetime import timedelta

import pytest

from bot.evidence.store.connection import insert
from bot.operate.quality import calibration, quality
from bot.operate.statistics import SECTIONS
from tests.bot.evidence.store.conftest import store, store_url  # noqa: F401
from tests.bot.operate.test_quality import NAMES, RULES, row
from tests.fakes.frame import NOON

pytestmark = pytest.mark.benchmark

COUNT = 100_000
OUTCOMES = ("accepted", "implicit", "timeout", "timeout", "timeout", "revised", "abandoned", None)


def answers():
    dice = random.Random(7)
    for n in range(COUNT):
        factors = {name: round(dice.random(), 4) for name in NAMES}
        asked = {"at": NOON - timedelta(minutes=n), "actor_id": f"u{n % 500}", "answer_ms": dice.randrange(5_000)}
        made = {"factors": factors, "error_likelihood": sum(factors.values()) / 4}
        yield row(n, dice.choice(OUTCOMES), **asked, **made, choice=n % 3 if n % 7 == 0 else None,
                  clarifies=f"r{n}" if n % 7 == 0 else None, correction_made=n % 97 == 0)  # fmt: skip


def test_every_section_together_takes_less_than_two_seconds(store):  # noqa: F811
    with store.writing() as connection:
        insert(connection, "query_log", list(answers()))
    took = {}
    with store.reading() as connection:
        for name, work in (
            ("answered", lambda: SECTIONS["answered"](connection, None)),
            ("uncovered", lambda: SECTIONS["uncovered"](connection, None)),
            ("quality", lambda: quality(connection, None, RULES)),
            ("calibration", lambda: calibration(connection, NOON, RULES)),
        ):
            started = time.perf_counter()
            assert work()
            took[name] = time.perf_counter() - started
    print(f"\n{store.dialect}: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in took.items()))
    assert sum(took.values()) < 2
