"""An amount has one spelling on every door: what a tool might read as another number is no number, and denied."""

import json
import sys
from decimal import Decimal
from uuid import uuid4

import pytest

from bot.gate.passage import Passage
from bylaw.cli import main
from bylaw.gate.decision_point import MemoryDecisionPoint, call_of
from bylaw.gate.engine import Gate
from bylaw.guard import Guard
from tests.gate.shop import REFUND, SHOP
from tests.rows import each

# what one reader or another takes for a number
MISSPELT = [
    "9999/100", "1/2", "1_9_9", "1e2", "1E2", "150\n", "\n150", " 150", "150 ", "+5", "05", "00", "-05", ".5", "5.",
    "1.5.0", "1,5", "1.000,00", "0x10", "１５０", "١٥٠", "1٥0", "𝟏𝟓", "NaN", "nan", "Infinity", "-Infinity", "inf", "",
    "--5", "- 5", "−5", "5%", "$5", "5 USD", "1\u200b5", "1\x005", "½", "1" * 200, "true", "null", "1-1", "1+1",
]  # fmt: skip
NO_NUMBERS = [float("nan"), float("inf"), float("-inf"), True, [1], {"value": 1}, 10**5_000, Decimal("NaN")]
GOOD = [
    ("150", 150),
    ("0", 0),
    ("-0", 0),
    ("12.50", "12.5"),
    (150, 150),
    (1e2, 100),
    (Decimal("1e2"), 100),
    (0.1, "0.1"),
]
HOST = {"confirmed": True}


def refund(amount, customer="c1"):
    return {**REFUND, "amount": amount, "customer_id": customer}


@pytest.fixture
def gate(bundle):
    return Gate(bundle(SHOP))


@pytest.fixture
def point(gate):
    return MemoryDecisionPoint(lambda: gate)


def is_named(answer):
    return answer["decision"] == "deny" and "purchase_amount" in answer["reasons"][0]["text"]


def spelled(one):
    return ascii(one)[:40] if not isinstance(one, int) or abs(one) < 10**30 else "a very long number"


@each("amount", [*MISSPELT, *NO_NUMBERS], ids=spelled)
def test_an_argument_a_fact_of_the_session_and_a_fact_of_the_guard(point, amount):
    asked = call_of(tool="issue_refund", arguments=refund(amount), session={"id": "s", "facts": HOST})
    assert is_named(point.decide(asked).as_json())
    vouched = {"id": "s", "facts": {**HOST, "purchase_amount": amount}}
    assert is_named(point.decide(call_of(action="full_refund", session=vouched)).as_json())
    with Guard(point).session("s", facts=vouched["facts"]):
        assert is_named(Guard(point).decide("full_refund").as_json())


@each(("amount", "value"), GOOD, ids=spelled)
def test_what_is_spelled_in_the_one_way_counts_by_its_value(gate, point, amount, value):
    asked = call_of(tool="issue_refund", arguments=refund(amount), session={"id": "s", "facts": HOST})
    reads = point.decide(asked).reads
    assert reads is not None
    assert reads.facts["purchase_amount"] == gate.known({"purchase_amount": str(value)})["purchase_amount"]


@each("days", ["3", "3/1", "1e0", " 3", "3\n", 3.5, "３", True], ids=spelled)
def test_a_whole_number_is_a_number(point, days):
    asked = call_of(tool="issue_refund", arguments={**refund(20), "days": days}, session={"id": "s", "facts": HOST})
    answer = point.decide(asked)
    assert answer.ruling == "deny" and "days_since_purchase" in answer.reasons[0].text


@each("amount", ["9999/100", "1e2", "150\n", "１５０", "+5", "1_9_9"], ids=spelled)
def test_over_http_in_both_languages(shop, amount):
    session = {"id": uuid4().hex, "facts": HOST}
    assert is_named(shop.decide(tool="issue_refund", arguments=refund(amount), session=session))
    asked = {
        "subject": {"type": "agent", "id": "bot"},
        "action": {"name": "issue_refund"},
        "resource": {"type": "order", "id": "17"},
        "context": {**refund(amount), "session": session},
    }
    told = shop.post("/access/v1/evaluation", asked).json()
    assert told["decision"] is False and is_named(told["context"])
    both = shop.post("/access/v1/evaluations", {**asked, "evaluations": [{}, {"context": asked["context"]}]}).json()
    assert all(is_named(one["context"]) for one in both["evaluations"])


@each("body", [b'{"a": NaN}', b'{"a": Infinity}', b'{"a": -Infinity}'], ids=ascii)
def test_over_http_what_is_no_json_number_counts_for_nothing(shop, body):
    arguments = json.dumps(refund(0)).replace('"amount": 0', f'"amount": {body[6:-1].decode()}')
    asked = f'{{"tool": "issue_refund", "arguments": {arguments}, "session": {{"facts": {{"confirmed": true}}}}}}'
    import httpx

    told = httpx.post(
        f"{shop.address}/v2/decide", content=asked, headers={"Content-Type": "application/json"}, timeout=30
    )
    assert told.status_code in (400, 422) or is_named(told.json()), told.text


def run(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["bylaw", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0, *capsys.readouterr()


@each("amount", ["9999/100", "1e2", "150\n", "１５０", "+5", "NaN"], ids=spelled)
def test_in_the_terminal_and_through_the_proxy(monkeypatch, capsys, bundle_file, tmp_path, gate, point, amount):
    monkeypatch.chdir(tmp_path)
    file = str(bundle_file(SHOP))
    words = ("--bundle", file, "--tool", "issue_refund", "--arguments", json.dumps(refund(amount)), "--json")
    code, out, _ = run(monkeypatch, capsys, "decide", *words, "--session-facts", json.dumps(HOST))
    assert code == 1 and is_named(json.loads(out))
    facts = json.dumps({"purchase_amount": amount})
    code, out, err = run(monkeypatch, capsys, "decide", "--bundle", file, "--facts", facts)
    assert code == 2 and "purchase_amount" in err
    passage = Passage(point, lambda: gate, "bot", "s", HOST)
    params = {"name": "issue_refund", "arguments": refund(amount)}
    turn = passage.asked({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    assert turn.onward is None and "purchase_amount" in json.dumps(turn.back)


def test_what_a_bundle_and_a_store_hold_is_read_back(gate):
    third = gate.known({"purchase_amount": "5/72", "days_since_purchase": 3})
    assert gate.shown(third) == {"purchase_amount": "5/72", "days_since_purchase": 3}
    assert gate.known({"purchase_amount": "1/0"}) == {}, "what nobody can read is not there, and its sum is unknown"
