"""What becomes of each claim: by rows, and held against all completions of a case, decided one by one."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from bot.claims.judge import Found, judge
from bot.claims.models import read_claims
from bot.enforcement.assemble import case_of
from bot.enforcement.judged.reading import situation
from bot.index import BundleIndex
from bot.request.cases import read_facts
from bylaw.logic.formula.ir import Value
from tests.compiled import TODAY
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("statuses.yaml").read_text(encoding="utf-8"))
TICKETS: dict[str, tuple[Value, ...]] = {
    "fare_class": ("saver", "flex"),
    "hours_until_departure": (23, 24, 25),
    "is_cancelled_by_us": (True, False),
}


def found(
    index: BundleIndex, facts: dict[str, Value], text: str, claims: list[Any], by: Any = "given", query: str = ""
) -> Found:
    case = case_of(query or "What do I get?", TODAY, {}, index, index.evaluator, facts)
    return judge(text, read_claims(claims), replace(situation(case, text), decided=None), by)


@each("row", ROWS, ids=lambda row: row["text"])
def test_each_claim_gets_its_status_and_the_policy_that_decides(
    row: dict[str, Any], repositories: dict[str, BundleIndex]
) -> None:
    index = repositories[row["root"]]
    judged = found(index, read_facts(row["facts"], index), row["text"], row["claims"], query=row.get("query", ""))
    assert judged.verdict == row["verdict"]
    assert list(judged.missing) == row.get("missing", [])
    assert judged.verdict != "valid" or judged.objections == ()
    for one, expected in zip(judged.reading.claims, row["claimed"], strict=True):
        kind, status, *policy = expected.split()
        assert (one.kind, one.status) == (kind, status)
        assert kind == "source" or [one.policy_id] == (policy or [None])
        assert (one.path is None) is (one.line is None)
        assert status in ("valid", "unread") or any(one.quote in said for said in judged.objections)
        assert kind == "source" or (one.path is not None) is bool(policy)
        if kind == "source" and status == "invalid":
            assert ("no such policy" in one.why) is (one.policy_id not in index.bundle.policies)


def test_what_is_claimed_is_valid_iff_every_completion_of_the_case_has_it(repositories: dict[str, BundleIndex]) -> None:
    index, chance = repositories["ferry"], random.Random(4)
    actions = ("refund_fare", "travel_voucher", "no_refund")
    for _ in range(60):
        told = {name: chance.choice(values) for name, values in TICKETS.items() if chance.random() < 0.5}
        whens = {name: chance.choice(values) for name, values in TICKETS.items() if chance.random() < 0.3}
        action, kind = chance.choice(actions), chance.choice(("gives", "denies"))
        known = told | whens
        ranges = [(known[name],) if name in known else values for name, values in TICKETS.items()]
        taken = {
            index.evaluator.decide(dict(zip(TICKETS, row, strict=True)), TODAY.toordinal())
            .outcomes["cancellation"]
            .action
            == action
            for row in itertools.product(*ranges)
        }
        expected = "satisfiable" if len(taken) > 1 else "valid" if taken == {kind == "gives"} else "invalid"
        conditions = [{"fact": name, "operator": "==", "value": value} for name, value in whens.items()]
        claim = {"kind": kind, "quote": "It is so.", "action": action, "when": conditions}
        judged = found(index, told, "It is so.", [claim], by="template")
        assert [one.status for one in judged.reading.claims] == [expected], (told, claim)
