"""What authors are told about rules over time: a change that lets a second refund pass, and cases with a history."""

import copy
import json
import sys

import pytest

from bylaw.cli import bundle_for_root, main
from bylaw.guard import Guard
from tests.gate.conftest import write
from tests.gate.shop import REFUND, SHOP


@pytest.fixture
def bylaw(monkeypatch, capsys):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["bylaw", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return run


def test_a_removed_line_that_lets_a_second_refund_pass_is_proven_with_its_history(bylaw, tmp_path):
    head = copy.deepcopy(SHOP)
    head["policies"]["POL-REFUND-002"]["prohibited"] = ["store_credit"]  # one line gone: full_refund
    base, head = write(tmp_path / "base", SHOP), write(tmp_path / "head", head)
    code, out, _ = bylaw("diff", base, head, "--json")
    found = [one for one in json.loads(out)["changes"] if one["case"]["facts"].get("refunds_today")]
    assert code == 0 and {one.get("action") for one in found} == {"full_refund"}
    permitted = next(one for one in found if one["kind"] == "permitted")
    assert (permitted["before"], permitted["after"]) == (False, True)
    assert [one["action"] for one in permitted["case"]["history"]][-1] in ("full_refund", "store_credit")
    _, out, _ = bylaw("diff", base, head)
    assert "full_refund 1 hour ago, then full_refund now" in out


def test_recorded_calls_are_decided_anew_by_the_pull_request(bylaw, tmp_path, monkeypatch):
    base = write(tmp_path / "base", SHOP)
    head = copy.deepcopy(SHOP)
    head["policies"]["POL-REFUND-002"]["prohibited"] = ["store_credit"]  # a second full refund passes
    head["policies"]["POL-REFUND-001"]["when"][0]["value"] = 10  # and none after ten days
    write(tmp_path / "head", head)
    store = f"sqlite:///{tmp_path / 'store.db'}"
    guard = Guard.open(bundle_for_root(base), store=store)
    for n, days in enumerate((3, 3, 20)):
        said = {**REFUND, "customer_id": f"c{n}", "days": days}
        with guard.session(f"s{n}", actor="bot", facts={"confirmed": True}):
            for tool in ("verify", "issue_refund"):
                with guard.call(tool=tool, arguments=said):
                    pass
            guard.decide(tool="issue_refund", arguments=said)
    _, out, _ = bylaw("diff", base, tmp_path / "head", "--audit", store)
    assert "1 call of an agent would now be denied, 2 allowed, by this change" in out
    assert "full_refund: deny → allow: 2 calls, such as" in out


def test_a_call_that_was_refused_before_any_rule_was_asked_is_not_decided_anew(bylaw, tmp_path):
    base = write(tmp_path / "base", SHOP)
    head = copy.deepcopy(SHOP)
    del head["policies"]["POL-REFUND-002"], head["policies"]["POL-REFUND-003"]  # whatever is confirmed passes
    write(tmp_path / "head", head)
    store = f"sqlite:///{tmp_path / 'store.db'}"
    guard = Guard.open(bundle_for_root(base), store=store)
    with guard.session("s", facts={"confirmed": True}):
        for refused in ({"customer_id": "0017"}, {"amount": -1}, {"amount": "NaN"}):
            assert guard.decide(tool="issue_refund", arguments={**REFUND, **refused}).ruling == "deny"
        assert guard.decide(tool="issue_refund", arguments=REFUND).ruling == "deny"
    _, out, _ = bylaw("diff", base, tmp_path / "head", "--audit", store, "--json")
    told = json.loads(out)["recorded"]
    assert (told["answers"], told["different"]) == (1, 1), told


CASES = [
    ([], {"permitted": ["full_refund", "logout", "store_credit"]}, False),
    ([{"action": "verify_identity", "ago": "30 minutes"}], {"prohibited": ["disclose_pii"]}, True),
    ([{"action": "verify_identity", "ago": "1 hour"}], {"prohibited": ["disclose_pii"]}, True),
    ([{"action": "verify_identity", "ago": "61 minutes"}], {"prohibited": ["disclose_pii"]}, False),
    ([{"action": "verify_identity", "ago": "1 hour", "ok": False}], {"prohibited": ["disclose_pii"]}, False),
    (
        [
            {"action": "verify_identity", "ago": "1 hour"},
            {"action": "full_refund", "ago": "2 hours", "customer_id": "c"},
        ],
        {"prohibited": ["disclose_pii", "full_refund", "store_credit"]},
        True,
    ),
    (
        [{"action": "verify_identity", "ago": "1 hour"}, {"action": "logout", "ago": "30 minutes"}],
        {"prohibited": ["disclose_pii"]},
        False,
    ),
]


@pytest.mark.parametrize(("history", "expect", "holds"), CASES)
def test_a_case_may_tell_what_happened_instead_of_its_facts(bylaw, tmp_path, history, expect, holds):
    case = {"name": "c", "facts": {"days_since_purchase": 3, "confirmed": True, "has_receipt": False}}
    root = write(
        tmp_path, {**SHOP, "files": {"policies/refund/cases.yaml": [{**case, "expect": expect, "history": history}]}}
    )
    _, out, _ = bylaw("check", "--root", root, "--format", "json")
    failing = [one for one in json.loads(out)["findings"] if one["id"] == "failing-case"]
    assert (not failing) is holds, failing


def test_tools_are_held_against_the_policies(bylaw, tmp_path):
    root = write(tmp_path, SHOP)
    _, out, _ = bylaw("check", "--root", root, "--format", "json")
    found = [(one["id"], one["path"]) for one in json.loads(out)["findings"] if one["path"] == "rules/tools.yaml"]
    ids = ["unbound-fact", "uncallable-tool", "untyped-key"]
    assert sorted(found) == [(one, "rules/tools.yaml") for one in ids]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({}, ["customer_id"]),
        ({"customer_id": {"type": "integer"}}, []),
        ({"order_id": {"type": "integer"}}, ["customer_id"]),
        ({"customer_id": {"type": "text"}}, []),
    ],
)
def test_a_key_by_which_a_limit_counts_has_a_type(bylaw, tmp_path, keys, told):
    root = write(tmp_path, {**SHOP, "keys": keys})
    _, out, _ = bylaw("check", "--root", root, "--format", "json")
    found = [one for one in json.loads(out)["findings"] if one["id"] == "untyped-key"]
    assert [one["message"].split("`")[3] for one in found] == told, "no limit hangs on the order"
    assert all(one["path"] == "rules/tools.yaml" and one["line"] > 1 for one in found), found


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "integer", "pattern": "[0-9]+"},
        {"type": "text", "pattern": "(?=a)b"},
        {"type": "text", "pattern": "a)|(b"},
        {"type": "text", "pattern": ""},
        {"type": "number"},
        {},
    ],
)
def test_a_type_of_a_key_that_is_none_is_told_on_its_line(bylaw, tmp_path, wrong):
    root = write(tmp_path, {**SHOP, "keys": {"customer_id": wrong}})
    code, out, _ = bylaw("check", "--root", root, "--format", "json")
    found = [one for one in json.loads(out)["findings"] if one["id"] == "schema"]
    assert code == 1 and [(one["path"], one["line"] > 1) for one in found] == [("rules/tools.yaml", True)], found


def test_a_case_spells_keys_as_calls_have_to(bylaw, tmp_path):
    case = {"name": "c", "facts": {}, "expect": {}, "keys": {"customer_id": "0017"}}
    case["history"] = [{"action": "logout", "ago": "1 hour", "customer_id": "17"}]
    files = {"policies/refund/cases.yaml": [case]}
    root = write(tmp_path, {**SHOP, "files": files, "keys": {"customer_id": {"type": "integer"}}})
    _, out, _ = bylaw("check", "--root", root, "--format", "json")
    found = [one["message"] for one in json.loads(out)["findings"] if one["id"] == "type-mismatch"]
    assert len(found) == 1 and "a whole number like 17" in found[0]


def test_a_fact_of_history_is_explained_in_words(bylaw, tmp_path):
    _, out, _ = bylaw("explain", "refunds_today", "--root", write(tmp_path, SHOP))
    assert "how many full_refund or store_credit there were within 24 hours, for the same customer_id" in out
    _, out, _ = bylaw("explain", "identity_verified", "--root", tmp_path)
    assert "whether verify_identity happened within 1 hour, for the same customer_id, after the last logout" in out
