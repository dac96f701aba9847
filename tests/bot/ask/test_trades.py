"""A piano workshop and a pilot station, asked of time, values and conditions as people say them.

The questions were written before any was asked. What is right at once is counted; nothing is answered wrongly.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import duckdb
import pytest

from bot import app
from bot.conversation import Actor, Question
from bot.request.orchestrator import handle
from bot.settings import Settings
from ci.commands import fresh
from tests.bot.ask.test_unseen import HERE, is_gold, rows_of
from tests.bot.ask.unseen.trades import build

NOWS = {"pianos": datetime(2026, 3, 31, 9, 30, tzinfo=UTC), "harbour": datetime(2024, 2, 29, 9, 30, tzinfo=UTC)}
AT_ONCE = {"pianos": 32, "harbour": 31}  # of 34 and 32, beside 14 and 13 that must not run
LOCAL = """CREATE VIEW V AS SELECT *, (done_at AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Vienna')::date AS day
           FROM firm.shop.visits"""


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("trades") / "firm.duckdb"
    build(path)
    return path


@pytest.fixture(scope="module")
def golds(database):
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{database}' AS firm (READ_ONLY)")
        connection.execute(LOCAL)
        yield lambda row: [
            connection.execute(one.replace("shop.", "firm.shop.").replace("port.", "firm.port.")).fetchall()
            for one in (row["sql"], *row.get("alts", ()))
        ]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NOWS))
def test_a_firm_is_asked(name, database, golds, tmp_path):
    bundle = fresh.bundle(HERE / name, tmp_path, NOWS[name].date())
    settings = Settings(root=tmp_path, warehouse=f"duckdb://{database}")
    services = app.open_bot(settings, bundle, is_compiled_here=True).services()
    found, beside = Counter(), []
    for row in rows_of(name):
        id = services.new_id()
        question = Question(text=row["q"], actor=Actor(id="analyst"), asked_at=NOWS[name], session_id=id, request_id=id)
        reply = handle(question, services)
        if reply.status != "answered":
            found["none" if row.get("none") else "step"] += 1
            continue
        rows = [tuple(one) for one in reply.rows]
        is_right = not row.get("none") and is_gold(rows, golds(row))
        found["right"] += is_right
        beside += [] if is_right else [row["q"]]
    assert not beside
    assert found["right"] >= AT_ONCE[name], found
