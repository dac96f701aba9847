"""Two firms whose questions were written before anything was asked of them: nothing is answered wrongly.

What is right at once is counted; the rest is one confirmation, choice or form away. A row that fails because its words
were not taken is no fault; one that is answered beside the point is.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from itertools import permutations
from pathlib import Path

import duckdb
import pytest
import yaml

from bot import app
from bot.conversation import Actor, Question
from bot.request.orchestrator import handle
from bot.settings import Settings
from ci.commands import fresh
from tests.bot.ask.unseen.hives import build
from tests.realworld.comparison import same

HERE = Path(__file__).with_name("unseen")
NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
AT_ONCE = {"observatory": 26, "honey": 36}  # of 36 and of 50


def rows_of(name):
    return yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("unseen") / "honey.duckdb"
    build(path)
    return path


@pytest.fixture(scope="module")
def ask(database):
    """`ask(name, text)` gives the reply of that firm's bot, and its index."""
    bots = {}

    def _ask(name, text):
        if name not in bots:
            place = database.parent / name
            place.mkdir()
            bundle = fresh.bundle(HERE / name, place, date(2026, 11, 20))
            data = f"duckdb://{database}" if name == "honey" else None
            bots[name] = app.open_bot(Settings(root=place, warehouse=data), bundle, is_compiled_here=True)
        services = bots[name].services()
        id = services.new_id()
        question = Question(text=text, actor=Actor(id="analyst"), asked_at=NOW, session_id=id, request_id=id)
        return handle(question, services), services.index

    return _ask


def outcome_of(row, reply, index):
    """`right`, `step` or `wrong`."""
    if row.get("none"):
        return "wrong" if reply.status in ("answered", "needs_fact") else "right"
    wanted = row.get("gives") or row.get("asks") or row["either"]
    if reply.status == "needs_fact":
        return "right" if "gives" not in row else "step"
    if reply.status != "answered":
        return "step"
    actions = index.vocabulary.actions
    labels = [str(actions[name].label) for name in wanted if name in actions]
    is_told = any(label in reply.text for label in labels)
    return "right" if is_told or "asks" in row or any(name.startswith("no_") for name in wanted) else "wrong"


@pytest.mark.slow
def test_an_observatory_is_asked(ask):
    found, beside = Counter(), []
    for row in rows_of("observatory"):
        outcome = outcome_of(row, *ask("observatory", row["q"]))
        found[outcome, bool(row.get("none"))] += 1
        beside += [row["q"]] if outcome == "wrong" else []
    assert not beside
    assert found["right", False] >= AT_ONCE["observatory"], found


def is_gold(rows, gold):
    """Are these the rows, with more columns, or with fewer where only the winner is named?"""
    wide, narrow = (rows, gold) if len(rows[0]) >= len(gold[0]) else (gold, rows)
    orders = permutations(range(len(wide[0])), len(narrow[0]))
    return any(same([tuple(one[i] for i in order) for one in wide], narrow, None) for order in orders)


@pytest.mark.slow
def test_a_honey_cooperative_is_asked(ask, database):
    found, beside = Counter(), []
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{database}' AS honey (READ_ONLY)")
        connection.execute("USE honey")
        for row in rows_of("honey"):
            golds = [connection.execute(one).fetchall() for one in (row.get("sql"), *row.get("alts", ())) if one]
            reply, _ = ask("honey", row["q"])
            if reply.status != "answered":
                found["step"] += 1
                continue
            rows = [tuple(one) for one in reply.rows]
            is_right = any(rows and gold and is_gold(rows, gold) for gold in golds)
            found["right"] += is_right
            beside += [] if is_right else [row["q"]]
    assert not beside
    assert found["right"] >= AT_ONCE["honey"], found
