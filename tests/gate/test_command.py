"""`bylaw decide` for one call: the same answers as everywhere, and an exit code for scripts."""

import json
import sys

import pytest

from bylaw.cli import main
from tests.gate.shop import REFUND


@pytest.fixture
def decide(monkeypatch, capsys, bundle_file, tmp_path):
    from tests.gate.shop import SHOP

    def run(*words, root=tmp_path):
        monkeypatch.chdir(root)
        monkeypatch.setattr(sys, "argv", ["bylaw", "decide", "--bundle", str(bundle_file(SHOP)), *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return run


CONFIRMED = ("--session-facts", '{"confirmed": true}')


def test_an_action_and_a_tool_are_decided(decide):
    code, out, _ = decide("--action", "disclose_pii", "--facts", "{}", "--json")
    assert (code, json.loads(out)["decision"]) == (1, "deny")
    code, out, _ = decide("--tool", "verify", "--facts", '{"customer_id": "c"}', "--json")
    assert (code, json.loads(out)["decision"]) == (0, "allow")
    code, out, _ = decide("--tool", "issue_refund", "--arguments", json.dumps(REFUND), *CONFIRMED)
    assert (
        code == 1
        and out.startswith("deny\n")
        and "to do first: verify_identity" in out
        and "POL-REFUND-003.yaml:" in out
    )


def test_the_same_call_gives_the_same_bytes(decide):
    words = ("--action", "full_refund", "--facts", '{"has_receipt": true}', "--at", "2026-11-20T12:00:00Z", "--json")
    assert decide(*words) == decide(*words)


def test_a_session_remembers_and_the_facts_of_an_agent_do_not_count(decide):
    told = ("--tool", "verify", "--facts", '{"customer_id": "c"}', "--session", "s", "--json")
    assert json.loads(decide(*told)[1])["decision"] == "allow"
    code, out, _ = decide(
        "--tool", "issue_refund", "--facts", json.dumps(REFUND | {"customer_id": "c"}), *CONFIRMED, "--json"
    )
    found = json.loads(out)
    assert code == 1 and "pending" in found["reasons"][0]["text"], "the verification has not ended"
    _, out, _ = decide(
        "--action", "close_account", "--facts", '{"confirmed": true, "identity_verified": true}', "--json"
    )
    assert json.loads(out)["not_taken"] == ["confirmed", "identity_verified"]


@pytest.mark.parametrize(
    "words",
    [(), ("--action", "a", "--tool", "b"), ("--action", "a", "--facts", "["), ("--action", "a", "--at", "soon")],
)
def test_wrong_usage_is_said(decide, words):
    assert decide(*words)[0] == 2
