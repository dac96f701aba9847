"""The contract of holding by example: rows written before anything was built, and what becomes of each item."""

import json
from datetime import date, datetime
from pathlib import Path

from bot.ask.ground import ground_for
from bylaw.hold.hold import hold
from bylaw.hold.item import read_items
from tests.beside import beside
from tests.compiled import index_of

SHARED = beside("realworld", "hold")
ROWS = beside("realworld", "hold", "rows.jsonl")


def test_each_item_becomes_what_its_row_says():
    roots = {"gym": SHARED / "gym", "demo": Path(__file__).parents[2]}
    wrong = []
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        today = datetime.fromisoformat(row["at"]).date() if "at" in row else date(2026, 11, 28)
        index = index_of(roots[row["root"]])
        ground = ground_for(index, row["kind"], today, "anonymous", row.get("query", ""), row.get("facts"))
        reading = hold(row["text"], read_items(row["items"], row["kind"]), ground)
        left = {one.text for one in (*reading.residue, *reading.not_used)}
        statuses = [one.status for one in reading.held]
        if statuses != row["expect"] or not left >= set(row["residue"]) or left & set(row["not_residue"]):
            wrong.append((row["id"], statuses, sorted(left)))
    assert not wrong
