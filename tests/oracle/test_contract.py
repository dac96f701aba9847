"""The JSON of `check` and `decide`, field by field: names, types, exit codes, fingerprints, days and severities."""

import json

import pytest

from bylaw.canonical import canonical_json
from tests.oracle.conftest import AT, policy, written_out

FINDING = {
    "id": str,
    "severity": str,
    "message": str,
    "path": str,
    "line": int,
    "column": int,
    "policies": list,
    "counterexample": (dict, type(None)),
    "status": (str, type(None)),
    "help": (str, type(None)),
    "related": list,
    "fingerprint": str,
}
DECISION = {
    "outcomes": dict,
    "required": list,
    "prohibited": list,
    "permitted": list,
    "fired": list,
    "lost": list,
    "conflicts": list,
    "missing_facts": list,
    "path": list,
}
POLICIES = {
    "POL-REFUND-001": {"actions": [{"type": "required", "action": "full_refund", "requires": ["has_receipt"]}]},
    "POL-REFUND-002": {
        "conditions": [{"type": "amount_threshold", "value": 49.5}],
        "actions": [{"type": "required", "action": "reject"}],
    },
    "POL-PRIVACY-001": {
        "metadata": {"owner": "TBD", "priority": 5},
        "conditions": [{"type": "fact", "parameter": "ordered_on", "operator": ">", "value": "2026-01-31"}],
        "actions": [{"type": "required", "action": "store_credit"}],
        "exceptions": [{"description": "be kind"}],
    },
    "POL-SHIPPING-001": {
        "conditions": [{"type": "boolean_flag", "parameter": "gft", "value": True}],
        "actions": [{"type": "required", "action": "expedite"}],
    },
}


def findings(command, root, *words):
    _, out, _ = command("check", "--root", root, "--at", AT, "--format", "json", "--all", *words)
    return json.loads(out)["findings"]


def repository(root, policies=POLICIES, **row):
    return written_out({"policies": policies, **row}, root)


def prints(found):
    return {finding["fingerprint"]: finding["id"] for finding in found}


def test_a_finding_has_the_fields_of_the_contract(tmp_path, command):
    found = findings(command, repository(tmp_path))
    assert {f["id"] for f in found} >= {"conflict", "resolved-conflict", "unknown-fact", "missing-owner"}
    for finding in found:
        for name, kind in FINDING.items():
            assert isinstance(finding[name], kind), (name, finding)
        assert finding["severity"] in ("error", "warning", "notice")
        assert finding["status"] in (None, "PROVEN", "COUNTEREXAMPLE", "UNKNOWN", "SKIPPED")
        assert finding["line"] >= 1
        assert finding["column"] >= 1
        assert not finding["path"].startswith("/")
        assert (tmp_path / finding["path"]).is_file()
        for place in finding["related"]:
            assert {"path", "line", "column"} <= place.keys()
        if finding["counterexample"] is not None:
            assert isinstance(finding["counterexample"]["facts"], dict)


def test_every_counterexample_of_a_conflict_is_replayed_by_decide(tmp_path, command):
    root = repository(tmp_path, {k: v for k, v in POLICIES.items() if k != "POL-SHIPPING-001"})
    clashes = [f for f in findings(command, root) if f["id"] in ("conflict", "resolved-conflict")]
    assert len(clashes) == 3
    for finding in clashes:
        facts = json.dumps(finding["counterexample"]["facts"])
        _, out, _ = command("decide", "--root", root, "--facts", facts, "--at", AT, "--json")
        decision = json.loads(out)
        fired, lost = ({item["policy_id"] for item in decision[key]} for key in ("fired", "lost"))
        assert set(finding["policies"]) <= fired
        if finding["id"] == "conflict":
            assert finding["policies"] in [conflict["policies"] for conflict in decision["conflicts"]]
        else:
            assert lost & set(finding["policies"])


def test_a_decision_has_the_fields_of_the_contract(tmp_path, command):
    root = repository(tmp_path, {k: v for k, v in POLICIES.items() if k != "POL-SHIPPING-001"})
    facts = {"has_receipt": True, "purchase_amount": 49.75, "ordered_on": "2026-02-01"}
    code, out, _ = command("decide", "--root", root, "--facts", json.dumps(facts), "--at", AT, "--json")
    decision = json.loads(out)
    assert code == 0
    for name, kind in DECISION.items():
        assert isinstance(decision[name], kind), name
    assert decision["outcomes"]["refund"] == {
        "action": "store_credit",
        "policy_id": "POL-PRIVACY-001",
        "rule_id": "R-PRIVACY-001a",
    }
    assert [set(item) for key in ("fired", "lost") for item in decision[key]] == [
        {"policy_id", "rule_id", "action"}
    ] * 5
    assert {item["policy_id"] for item in decision["lost"]} == {"POL-REFUND-001", "POL-REFUND-002"}


def test_standard_output_is_one_document_and_nothing_else(tmp_path, command):
    root = repository(tmp_path)
    for words in (("check", "--format", "json"), ("decide", "--facts", "{}", "--json")):
        _, out, _ = command(*words, "--root", root, "--at", AT)
        assert isinstance(json.loads(out), dict)


def test_fingerprints_are_stable_when_lines_move(tmp_path, command):
    root = repository(tmp_path)
    before = findings(command, root)
    for file in root.rglob("*.yaml"):
        file.write_text("# moved\n\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    after = findings(command, root)
    assert prints(before) == prints(after)
    assert [f["line"] + 2 for f in before] == [f["line"] for f in after]


def test_fingerprints_are_stable_when_an_unrelated_policy_is_added(tmp_path, command):
    root = repository(tmp_path, words={"outcomes": {"refund": {"complete": True}}})
    before = findings(command, root)
    assert "gap" in {finding["id"] for finding in before}
    more = {"actions": [{"type": "required", "action": "notify_owner", "requires": ["gift"]}]}
    for id_ in ("POL-ABC-001", "POL-SHIPPING-009"):
        file = root / "policies" / "more" / f"{id_}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(policy(id_, more)), encoding="utf-8")
    after = prints(findings(command, root))
    assert {k: v for k, v in prints(before).items() if v != "unused-word"}.items() <= after.items()


def test_fingerprints_of_different_findings_differ(tmp_path, command):
    found = findings(command, repository(tmp_path))
    assert len(prints(found)) == len(found)


def test_the_day_of_check_is_that_of_at(tmp_path, command):
    ending = {
        "POL-REFUND-001": {**POLICIES["POL-REFUND-001"], "metadata": {"expiry_date": "2026-06-14"}},
        "POL-REFUND-002": {**POLICIES["POL-REFUND-002"], "metadata": {"tags": ["temporary"]}},
    }
    root = repository(tmp_path, ending)
    for day, ids in (("2026-06-14", {"conflict"}), ("2026-06-15", set())):
        _, out, _ = command("check", "--root", root, "--at", day, "--format", "json")
        found = {f["id"] for f in json.loads(out)["findings"]} & {"conflict", "resolved-conflict"}
        assert found == ids, day


@pytest.mark.parametrize(("severity", "code"), [("error", 1), ("warning", 0), ("notice", 0), ("off", 0)])
def test_severities_of_the_repository_decide_the_exit_code(tmp_path, command, severity, code):
    two = {id_: POLICIES[id_] for id_ in ("POL-REFUND-001", "POL-REFUND-002")}
    root = repository(tmp_path, two, files={"rules/ci.yaml": f"severities: {{conflict: '{severity}'}}\n"})
    ended, out, _ = command("check", "--root", root, "--at", AT, "--format", "json")
    found = [f["severity"] for f in json.loads(out)["findings"] if f["id"] == "conflict"]
    assert ended == code
    assert found == ([] if severity == "off" else [severity])


def test_two_checks_of_one_repository_print_the_same_bytes(tmp_path, command):
    root = repository(tmp_path)
    assert canonical_json(findings(command, root)) == canonical_json(findings(command, root))
