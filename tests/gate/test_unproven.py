"""A prohibition with a misspelt fact, at every door: nothing is allowed that it may forbid, and its line is told."""

import asyncio
import copy
import json
import time

import httpx
import pytest

from bylaw.bundle import etag, parse, ruleset
from bylaw.canonical import canonical_json
from bylaw.cli import bundle_for_root
from bylaw.errors import BundleError
from bylaw.gate.bindings import Call
from bylaw.gate.decision_point import MemoryDecisionPoint
from bylaw.gate.engine import Gate
from bylaw.guard import Guard
from bylaw.logic.decide.evaluate import Evaluator
from tests.gate.conftest import compiled, serving, write
from tests.gate.doors import DESK, over_http

PAY = {
    "vocabulary": {
        "facts": {
            "suspended": {"type": "boolean", "label": "account suspended", "assertable": True},
            "score": {"type": "integer", "minimum": 0, "maximum": 100, "label": "risk score", "assertable": True},
        },
        "actions": {
            "pay": {"label": "pay the invoice"},
            "settle": {"same_as": "pay"},
            "hold": {"label": "hold the payment"},
        },
    },
    "policies": {
        "POL-PAYMENTS-001": {"permitted": ["pay", "hold"]},
        "POL-PAYMENTS-002": {
            "when": [{"parameter": "suspended", "value": True}, {"parameter": "skore", "operator": ">", "value": 3}],
            "prohibited": "pay",
            "metadata": {"owner": "Risk Office"},
        },
    },
    "tools": {"pay_invoice": {"action": "pay"}, "hold_payment": {"action": "hold"}},
}
PLACE = "policies/payments/POL-PAYMENTS-002.yaml"
CASE = {"suspended": True, "score": 9}
SUSPENDED = "May I pay the invoice? The account is suspended and the score is 9."


def mended():
    found = copy.deepcopy(PAY)
    found["policies"]["POL-PAYMENTS-002"]["when"][1]["parameter"] = "score"
    return found


def is_refused(document):
    (reason,) = document["reasons"]
    assert document["decision"] == "deny" and document["counterfactual"] is None and document["missing"] == []
    assert (reason["policy_id"], reason["path"]) == ("POL-PAYMENTS-002", PLACE) and reason["line"] > 1
    assert "cannot be read" in reason["text"] and "skore" in reason["text"]
    return True


@pytest.fixture(scope="module")
def served(tmp_path_factory, bundle_file):
    with serving(tmp_path_factory.mktemp("unproven"), bundle_file(PAY)) as server:
        yield server


# ---- the terminal ---------------------------------------------------------------------------------------------------


def test_the_terminal_denies_it_and_names_its_line(tmp_path, call):
    root = write(tmp_path, PAY)
    for named in (("--action", "pay"), ("--action", "settle"), ("--tool", "pay_invoice")):
        done = call("decide", "--root", root, *named, "--facts", json.dumps(CASE), "--json")
        assert done.code == 1 and is_refused(done.json)
    assert f"{PLACE}:" in call("decide", "--root", root, "--action", "pay", "--facts", "{}").out
    assert call("decide", "--root", root, "--action", "hold", "--facts", json.dumps(CASE)).code == 0
    decided = call("decide", "--root", root, "--facts", json.dumps(CASE), "--json").json
    assert decided["permitted"] == ["hold"]
    (told,) = decided["unproven"]
    assert (told["policy_id"], told["path"], told["actions"], told["outcomes"]) == (
        "POL-PAYMENTS-002",
        PLACE,
        ["pay"],
        [],
    )
    asked = call("ask", "--root", root, SUSPENDED)
    assert "cannot be read" in asked.out and "Please ask Risk Office." in asked.out
    assert "unproven" in call("explain", "--root", root, "POL-PAYMENTS-002").out
    assert f"{PLACE}:" in call("explain", "--root", root, "pay").out


def test_what_a_policy_says_is_told_with_what_cannot_be_read(tmp_path, call):
    root = write(tmp_path, PAY)
    told = call("ask", "--root", root, "What does POL-PAYMENTS-001 say?").out
    assert "allowed: pay the invoice" in told and "This may not be all" in told and f"{PLACE}:" in told
    asked = call("ask", "--root", root, "May I pay by POL-PAYMENTS-001?").out
    assert "allowed" not in asked.casefold() and "Is it one of these?" in asked  # a policy is no action to do
    other = call("ask", "--root", root, "May I ride the horse?").out
    assert "do not cover this" in other and f"{PLACE}:" in other


def test_what_is_asked_in_words_of_a_rule_that_cannot_be_read_gets_no_other_answer(tmp_path, call):
    """A question names the outcome of a sound rule and a duty of the unread one: "a refund in cash"."""
    shop = {
        "vocabulary": {
            "facts": {"receipt": {"type": "boolean", "phrases": {"true": ["with receipt"]}}},
            "actions": {
                "refund": {"outcome": "money", "label": "refund"},
                "in_cash": {"label": "pay in cash", "phrases": ["in cash"]},
            },
            "outcomes": {"money": {"label": "what they get"}},
        },
        "policies": {
            "POL-SHOP-001": {"when": [{"parameter": "receipt", "value": True}], "required": "refund"},
            "POL-SHOP-002": {"when": [{"parameter": "recipt", "value": True}], "prohibited": "in_cash"},
        },
    }
    root = write(tmp_path, shop)
    items = [
        {"kind": "asks", "name": "refund", "quote": "refund"},
        {"kind": "asks", "name": "in_cash", "quote": "in cash"},
        {"kind": "fact", "name": "receipt", "value": True, "quote": "with receipt"},
    ]
    for more in ((), ("--kind", "policy", "--items", json.dumps(items))):
        asked = call("ask", "--root", root, "May I get a refund in cash with receipt?", *more)
        assert "POL-SHOP-002.yaml:" in asked.out and "cannot be read" in asked.out
        assert "Yes" not in asked.out and "Why:" not in asked.out
    assert "Why:" in call("ask", "--root", root, "May I get a refund with receipt?").out


def test_no_case_is_written_of_what_nobody_decided(tmp_path, call):
    root = write(tmp_path, PAY)
    done = call("cases", "--missing", "--write", "--root", root)
    assert "cannot be read" in done.err
    cases = root / "policies/payments/cases.yaml"
    assert not cases.exists() or "pay:" not in cases.read_text()


def test_compile_stops_whatever_is_waived_and_goes_on_where_it_is_allowed(tmp_path, call):
    severities = {"rules/ci.yaml": "severities: {unknown-fact: off}\n"}
    root, out = write(tmp_path / "root", {**PAY, "files": severities}), tmp_path / "out"
    done = call("compile", "--root", root, "-o", out)
    assert done.code == 1 and not out.exists() and f"{PLACE}:" in done.err and "--allow-errors" in done.err
    done = call("compile", "--root", root, "-o", out, "--allow-errors")
    assert done.code == 0 and f"{PLACE}:" in done.err
    told = json.loads((out / "compiled_policy_bundle.json").read_text())["bundle_metadata"]["unproven"]
    assert [one["path"] for one in told] == [PLACE]
    (root / "rules" / "roles.yaml").write_text("roles: [")
    done = call("compile", "--root", root, "-o", tmp_path / "none", "--allow-errors")
    assert done.code == 1 and not (tmp_path / "none").exists() and "rules/roles.yaml" in done.err


def test_a_contradiction_and_a_failing_case_do_not_stop_compile(tmp_path, call):
    torn = mended()
    torn["policies"]["POL-PAYMENTS-003"] = {"required": "pay"}
    cases = "- {name: wrong, facts: {suspended: true, score: 9}, expect: {permitted: [pay]}}\n"
    root = write(tmp_path / "root", {**torn, "files": {"policies/payments/cases.yaml": cases}})
    done = call("compile", "--root", root, "-o", tmp_path / "out")
    assert done.code == 1 and "conflict" in done.err and "failing-case" in done.err
    assert (tmp_path / "out" / "compiled_policy_bundle.json").exists()


def test_a_file_of_cases_that_cannot_be_read_decides_nothing(tmp_path, call):
    root = write(tmp_path, {**mended(), "files": {"policies/payments/cases.yaml": "- {name: ["}})
    assert call("decide", "--root", root, "--action", "hold", "--facts", "{}").code == 0


# ---- in process -----------------------------------------------------------------------------------------------------


def test_a_guard_denies_it_until_the_bundle_is_mended(tmp_path):
    bundle = compiled(tmp_path / "one", PAY)
    guard = Guard.open(bundle)
    assert is_refused(guard.decide("pay", facts=CASE).as_json())
    assert guard.decide("hold", facts=CASE).is_allowed
    assert is_refused(guard.decide(tool="pay_invoice", facts=CASE).as_json())
    time.sleep(0.01)
    bundle.write_text(compiled(tmp_path / "two", mended()).read_text())
    assert not guard.decide("pay", facts=CASE).is_allowed
    assert guard.decide("pay", facts={"suspended": False, "score": 9}).is_allowed
    bundle.write_text(compiled(tmp_path / "one", PAY).read_text())
    assert is_refused(guard.decide("pay", facts={"suspended": False, "score": 9}).as_json())


def test_shadow_says_what_enforcing_had_said(tmp_path):
    shown = copy.deepcopy(PAY)
    shown["tools"]["pay_invoice"]["mode"] = "shadow"
    found = Guard.open(compiled(tmp_path, shown)).decide(tool="pay_invoice", facts=CASE)
    assert found.is_allowed and found.as_json()["would"] == "deny"


def test_a_bundle_that_keeps_silent_about_it_is_no_way_out(bundle_file):
    """Nobody can take it out of a bundle that is signed; of one that is not, what is left still denies."""
    document = json.loads(bundle_file(PAY).read_text())
    del document["bundle_metadata"]["unproven"]
    with pytest.raises(BundleError, match="does not match its etag"):
        parse(canonical_json(document))
    document["bundle_metadata"]["etag"] = etag(document)
    gate = Gate(parse(canonical_json(document)))
    found = MemoryDecisionPoint(lambda: gate).decide(Call(action="pay", facts=CASE))
    assert found.decision == "deny" and "POL-PAYMENTS-002" in found.why


def test_a_bundle_of_before_still_opens(bundle_file):
    text = bundle_file(mended()).read_text()
    assert not json.loads(text)["bundle_metadata"].keys() & {"unproven", "unread"}
    assert parse(text).bundle_metadata.unproven == []


def test_who_may_not_read_the_rule_hears_that_there_is_one(tmp_path):
    hidden = write(tmp_path, {**PAY, "files": {"rules/roles.yaml": "roles: {boss: {}}\nusers: {ann: [boss]}\n"}})
    path = hidden / PLACE
    path.write_text(json.dumps({**json.loads(path.read_text()), "audience": ["boss"]}))
    guard = Guard.open(bundle_for_root(hidden))
    (mine,) = guard.decide("pay", facts=CASE, actor="ann").reasons
    (theirs,) = guard.decide("pay", facts=CASE, actor="bob").reasons
    assert mine.path == PLACE and (theirs.path, theirs.line) == (None, None) and "skore" not in theirs.text


# ---- over HTTP ------------------------------------------------------------------------------------------------------


def test_http_denies_it_and_says_how_many_rules_cannot_be_read(served):
    assert is_refused(served.decide(action="pay", facts=CASE))
    assert is_refused(served.decide(tool="pay_invoice", facts=CASE))
    assert served.decide(action="hold", facts=CASE)["decision"] == "allow"
    assert is_refused(Guard.open(server=served.address).decide("pay", facts=CASE).as_json())
    ready = httpx.get(f"{served.address}/readyz")
    assert (ready.status_code, ready.json()["unproven"]) == (200, 1)
    assert "POL-PAYMENTS" not in ready.text


def test_authzen_says_false_with_the_line(served):
    one = {
        "subject": {"type": "user", "id": "ann"},
        "action": {"name": "pay"},
        "resource": {"type": "invoice", "id": "1"},
        "context": CASE,
    }
    for path, body in (
        ("/access/v1/evaluation", one),
        ("/access/v1/evaluations", {"evaluations": [one, {**one, "action": {"name": "hold"}}]}),
    ):
        answered = served.post(path, body).json()
        first, *rest = answered.get("evaluations", [answered])
        assert first["decision"] is False and is_refused(first["context"])
        assert all(other["decision"] is True for other in rest)


def test_a_question_is_not_answered_yes_or_no(served):
    reply = served.post("/v2/query", {"text": SUSPENDED}).json()
    assert reply["status"] == "escalated" and f"{PLACE}:" in reply["text"] and "Risk Office" in reply["text"]
    assert not reply["outcomes"] and [one["path"] for one in reply["citations"]] == [PLACE]


@pytest.mark.parametrize(
    ("said", "kind"), [("Yes, you may pay the invoice.", "gives"), ("No, you may not pay the invoice.", "denies")]
)
def test_an_answer_that_gives_or_denies_it_is_impossible(served, said, kind):
    body = {"text": SUSPENDED, "response": said, "facts": CASE}
    for claims in ([{"kind": kind, "action": "pay", "quote": said}], None):
        found = served.post("/v2/enforce", body if claims is None else {**body, "claims": claims}).json()
        assert (found["verdict"], found["action"], found["delivered"]) == ("impossible", "escalate", None)
        assert found["escalation"]["owners"] == ["Risk Office"]
        assert any(one["path"] == PLACE for one in found["violations"])


def test_an_answer_about_something_else_is_judged_as_ever(served):
    said = "You may hold the payment."
    claims = [{"kind": "gives", "action": "hold", "quote": said}]
    body = {"text": "May I hold the payment?", "response": said, "claims": claims}
    assert served.post("/v2/enforce", body).json()["verdict"] == "valid"


def test_guidance_gives_nothing_of_it(served):
    found = served.post("/v2/guidance", {"text": SUSPENDED}).json()
    (told,) = found["unproven"]
    assert (told["path"], told["actions"], told["owner"]) == (PLACE, ["pay"], "Risk Office")
    assert "pay" not in [one["action"] for one in (*found["permitted"], *found["required"])]
    assert {rule["status"] for one in found["policies"] for rule in one["rules"] if rule["action"] == "pay"} == {"open"}


# ---- MCP ------------------------------------------------------------------------------------------------------------


def test_a_tool_behind_the_proxy_is_not_called(bundle_file, tmp_path):
    broken = copy.deepcopy(DESK)
    broken["policies"]["POL-REFUND-009"] = {
        "when": [{"parameter": "skore", "operator": ">", "value": 3}],
        "prohibited": "verify_identity",
    }

    async def conversation(door):
        async with door.client() as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            stopped = await client.call_tool("verify", {"customer_id": "c1"})
            other = await client.call_tool("sign_out", {"customer_id": "c1"})
            return listed, stopped, other

    with over_http(bundle_file(broken), tmp_path, mode="legacy") as door:
        listed, stopped, other = asyncio.run(conversation(door))
        assert not any(one.startswith("verify") for one in door.done)
    assert "verify" not in listed and "sign_out" in listed
    assert stopped.is_error and "POL-REFUND-009.yaml:" in stopped.content[0].text
    assert not other.is_error


# ---- what rules join ------------------------------------------------------------------------------------------------


def test_every_rule_of_a_room_is_in_doubt(bundle):
    """What implies it, excludes it, or answers the same outcome may come out otherwise."""
    repository = copy.deepcopy(PAY)
    repository["vocabulary"]["actions"] |= {"ship": {}, "wrap": {}, "store": {}, "log": {}}
    repository["vocabulary"]["relations"] = {"implies": {"ship": ["pay"]}, "excludes": [["ship", "store"]]}
    repository["policies"]["POL-PAYMENTS-003"] = {"required": ["ship", "log"], "permitted": ["wrap", "store"]}
    found = bundle(repository)
    rules = Evaluator(ruleset(found)).unproven
    touched = {name for name in found.vocabulary.actions if rules.about(found.vocabulary.canonical(name), 1)}
    assert touched == {"pay", "settle", "ship", "store"}
