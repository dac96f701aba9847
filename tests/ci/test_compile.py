"""Records and workspace → the bundle's sections, as the seeds name them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bylaw.bundle import parse
from bylaw.bundle_logic import ruleset
from bylaw.errors import BylawError, UsageError
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import decide
from bylaw.logic.formula.codec import decode
from ci import pipeline
from ci.loading.load import Workspace

DAY = date(2026, 6, 15)
FILES = {
    "policies/vocabulary.yaml": """\
facts:
  has_receipt: {type: boolean, label: has the receipt}
  days: {type: integer, unit: days, minimum: 0}
  price: {type: decimal, unit: USD, minimum: 0.5, maximum: 1000}
  signed_on: {type: date, minimum: "2020-01-01"}
  region: {type: enum, values: {US: [], EU: []}}
actions:
  full_refund: {outcome: refund}
  reject: {outcome: refund}
  verify: {}
  escalate: {}
  disclose_pii: {}
outcomes: {refund: {label: what comes back, complete: false}}
relations: {implies: {verify: [escalate]}}
""",
    "policies/refund/POL-REFUND-001.yaml": """\
policy_id: POL-REFUND-001
conditions:
  - {type: fact, parameter: days, operator: "<=", value: 30}
  - {type: fact, parameter: price, operator: ">", value: 99.9}
actions:
  - {type: required, action: full_refund, source_text: Within 30 days.}
  - {type: prohibited, action: disclose_pii, requires: [no_receipt]}
formal:
  constraints: [{constraint_id: C-1, type: invariant, expression: price <= 1000}]
audience: []
metadata: {source: Returns §1, owner: Returns Team, domain: refund, effective_date: 2026-01-01, expiry_date: 2026-12-31}
""",
    "policies/refund/POL-REFUND-002.yaml": """\
policy_id: POL-REFUND-002
conditions: [{type: fact, parameter: region, operator: in, value: [EU]}]
actions:
  - {type: required, action: verify}
  - {type: required, action: reject}
metadata: {source: Returns §2, owner: Legal, domain: refund, regulatory_linkage: [EU law]}
""",
    "policies/refund/POL-REFUND-003.yaml": """\
policy_id: POL-REFUND-003
actions: [{type: required, action: nothing_known}]
metadata: {source: Returns §3, owner: Legal, domain: refund}
""",
    "policies/refund/POL-IMP-REFUND-001.yaml": """\
policy_id: POL-IMP-REFUND-001
actions: [{type: discovered_pattern, action: full_refund}]
discovery: {human_validated: false}
metadata: {source: log, owner: TBD, domain: refund}
""",
}


@pytest.fixture
def done(workspace_of: Callable[..., Workspace]) -> pipeline.Run:
    return pipeline.check(workspace_of(FILES), DAY)


@pytest.fixture
def document(done: pipeline.Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(pipeline.bundle_text(done))
    return found


def test_the_facts_have_the_types_of_the_seed(document: dict[str, Any]) -> None:
    shown = {name: {k: v for k, v in fact.items() if v is not None} for name, fact in document["variables"].items()}
    assert shown == {
        "has_receipt": {"type": "bool"},
        "days": {"type": "int", "minimum": "0", "unit": "days"},
        "price": {"type": "float", "minimum": "0.5", "maximum": "1000", "unit": "USD"},
        "signed_on": {"type": "date", "minimum": "2020-01-01"},
        "region": {"type": "enum", "values": ["US", "EU"]},
    }


def test_a_rule_is_its_guard_its_effect_and_its_place(document: dict[str, Any]) -> None:
    rules = {rule["rule_id"]: rule for rule in document["conditional_rules"]}
    assert list(rules) == ["R-REFUND-001a", "R-REFUND-001b", "R-REFUND-002a", "R-REFUND-002b"]
    first = rules["R-REFUND-001a"]
    assert first["conditions"] == {
        "all": [{"var": "days", "op": "<=", "value": 30}, {"var": "price", "op": ">", "value": "99.9"}]
    }
    assert first["effect"] == {
        "kind": "outcome",
        "action": "full_refund",
        "outcome": "refund",
        "implied": [],
        "implied_takes": [],
    }
    assert first["source"] == {
        "policy_id": "POL-REFUND-001",
        "path": "policies/refund/POL-REFUND-001.yaml",
        "line": 6,
        "source_text": "Within 30 days.",
    }
    assert first["metadata"] == {
        "domain": "refund",
        "owner": "Returns Team",
        "priority_level": 5,
        "audience": [],
        "origin": "action",
        "effective_date": "2026-01-01",
        "expiry_date": "2026-12-31",
    }
    assert rules["R-REFUND-002a"]["effect"]["implied"] == ["escalate"]
    assert rules["R-REFUND-002a"]["metadata"]["priority_level"] == 1


def test_prohibitions_and_invariants_are_constraints(document: dict[str, Any]) -> None:
    ban, invariant = document["constraints"]
    assert (ban["constraint_id"], ban["constraint"], ban["scope"]) == ("C-REFUND-001b", "NOT(disclose_pii)", "refund")
    assert ban["formula"] is None
    (rule,) = (one for one in document["conditional_rules"] if one["rule_id"] == "R-REFUND-001b")
    assert ban["conditions"] == rule["conditions"]
    assert (invariant["constraint_id"], invariant["constraint"]) == ("C-1", "price <= 1000")
    assert invariant["formula"] == {"var": "price", "op": "<=", "value": 1000}


BAN = """policy_id: POL-REFUND-009
conditions: [{type: fact, parameter: price, operator: ">", value: 100}]
actions:
  - {type: required, action: full_refund, requires: [has_receipt]}
  - {type: prohibited, action: disclose_pii%s}
metadata: {source: s, owner: Desk, domain: refund}
"""


@pytest.mark.parametrize(
    ("requires", "scope", "below", "told"),
    [("", "refund", [], ["taken-conditions"]), (", requires: []", "always", ["disclose_pii"], ["unused-condition"])],
)
def test_a_prohibition_means_the_same_in_check_bundle_and_decide(
    requires: str, scope: str, below: list[str], told: list[str], tmp_path: Path
) -> None:
    (tmp_path / "policies/refund").mkdir(parents=True)
    (tmp_path / "policies/vocabulary.yaml").write_text(
        "facts: {price: {type: decimal, minimum: 0}, has_receipt: {type: boolean}}\n"
        "actions: {full_refund: {outcome: refund}, disclose_pii: {}}\noutcomes: {refund: {}}\n"
    )
    (tmp_path / "policies/refund/POL-REFUND-009.yaml").write_text(BAN % requires)
    done = pipeline.run(tmp_path, date(2026, 6, 1), date(2026, 6, 1))
    assert [one.id for one in done.findings] == told
    bundle = parse(pipeline.bundle_text(done))
    (ban,) = bundle.constraints
    rules = ruleset(bundle)
    for price, forbidden in ((100, below), (101, ["disclose_pii"])):
        facts = {"price": price}
        assert list(decide(rules, facts, 1).prohibited) == forbidden
        holds = ban.conditions is None or truth(decode(ban.conditions, rules.variables), facts)
        assert holds is bool(forbidden)
    assert (ban.constraint, ban.scope) == ("NOT(disclose_pii)", scope)
    assert list(decide(rules, {}, 1).prohibited) == below


def test_who_wins_is_written_down(document: dict[str, Any]) -> None:
    assert document["dominance_rules"] == [
        {
            "when": {"policies_fire": ["POL-REFUND-001", "POL-REFUND-002"]},
            "then": {"mode": "priority", "enforce": "POL-REFUND-002"},
        }
    ]
    assert document["escalations"] == []
    (conflict,) = document["conflicts"]
    assert conflict["resolution"]["winner"] == "POL-REFUND-002"
    assert set(conflict) >= {"conflict_id", "type", "detector", "policy_a", "policy_b", "counterexample", "severity"}


def test_every_policy_is_listed_with_how_far_it_came(document: dict[str, Any]) -> None:
    states = {name: policy["processing_status"]["formalization"] for name, policy in document["policies"].items()}
    assert states == {
        "POL-IMP-REFUND-001": "complete",
        "POL-REFUND-001": "complete",
        "POL-REFUND-002": "complete",
        "POL-REFUND-003": "failed",
    }
    assert [name for name, policy in document["policies"].items() if not policy["is_active"]] == ["POL-IMP-REFUND-001"]
    assert sorted(document["graphs"]) == ["POL-REFUND-001", "POL-REFUND-002"]
    assert sorted(document["layers"]) == sorted(states)
    metadata = document["bundle_metadata"]
    counts = {key: metadata[key] for key in ("policy_count", "active_policy_count", "rule_count", "constraint_count")}
    assert counts == {"policy_count": 4, "active_policy_count": 2, "rule_count": 4, "constraint_count": 2}


def test_a_policy_that_is_text_only_goes_to_the_default_layer(done: pipeline.Run, document: dict[str, Any]) -> None:
    layer = document["layers"]["POL-REFUND-003"]
    assert layer["primary_layer"] == done.workspace.rules.layers.default_layer


def test_paths_lead_to_the_actions_of_their_rules(document: dict[str, Any]) -> None:
    actions = {rule["rule_id"]: rule["action"] for rule in document["conditional_rules"]}
    assert {path["rule_id"] for path in document["compiled_paths"]} == set(actions)
    for path in document["compiled_paths"]:
        assert path["leaf_action"].removeprefix("not:") == actions[path["rule_id"]]
    assert document["decision_nodes"] == ["has_receipt", "region", "days", "price"]
    asked = {step["var"] for path in document["compiled_paths"] for step in path["path"]}
    assert asked <= set(document["decision_nodes"])


def test_records_keep_what_was_written_and_only_add(done: pipeline.Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert pipeline.write(done, out) == out / "compiled_policy_bundle.json"
    assert sorted(path.name for path in (out / "policies").iterdir()) == [
        *("POL-IMP-REFUND-001.json", "POL-REFUND-001.json", "POL-REFUND-002.json", "POL-REFUND-003.json"),
    ]
    for file in done.workspace.policies:
        record = json.loads((out / "policies" / f"{file.policy.policy_id}.json").read_text())
        written = done.workspace.sources[file.path].data
        assert {key: record[key] for key in written if key not in ("processing_status", "formal")} == json.loads(
            json.dumps({key: value for key, value in written.items() if key != "formal"}, default=float)
        )
        assert record["origin"] == ("implicit" if "-IMP-" in record["policy_id"] else "explicit")
        assert {"schema_version", "processing_status", "policy_id"} <= set(record)
        assert set(record["processing_status"]) == {
            *("extraction", "formalization", "conflict_detection", "layer_assignment"),
        }
    assert parse((out / "compiled_policy_bundle.json").read_text()).bundle_metadata.policy_count == 4


def test_the_numbers_of_a_record_are_numbers(done: pipeline.Run) -> None:
    record = next(record for record in done.proofs.records if record.policy.policy_id == "POL-REFUND-001").to_json()
    assert record["conditions"][1]["value"] == 99.9
    assert all(type(score) is float for score in record["layer_assignment"]["scores"].values())


def test_the_same_workspace_gives_the_same_text(workspace_of: Callable[..., Workspace], done: pipeline.Run) -> None:
    again = pipeline.check(workspace_of(dict(reversed(FILES.items()))), DAY)
    assert pipeline.bundle_text(again) == pipeline.bundle_text(done)


@pytest.mark.parametrize("inside", [".", "policies", "policies/refund/out", "context", "rules/x"])
def test_nothing_is_written_where_the_next_check_would_read_it(inside: str, done: pipeline.Run) -> None:
    target = done.workspace.root / inside
    with pytest.raises(UsageError, match="into the repository it is compiled from"):
        pipeline.write(done, target)
    assert not (target / "compiled_policy_bundle.json").exists()


def test_a_folder_beside_the_policies_is_fine(done: pipeline.Run) -> None:
    root = done.workspace.root
    pipeline.write(done, root / ".bylaw")
    pipeline.write(done, root / "policies_compiled")
    assert (root / "policies_compiled" / "compiled_policy_bundle.json").exists()


def test_what_cannot_be_written_is_said(done: pipeline.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written: not a directory"):
        pipeline.write(done, tmp_path / "file" / "out")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pipeline, "write_atomically", full)
    with pytest.raises(BylawError, match="could not be written: no space left on device") as failed:
        pipeline.write(done, tmp_path / "out")
    assert failed.value.exit_code == 3


def test_building_goes_on_without_a_policy_and_not_without_rules(
    workspace_of: Callable[..., Workspace], tmp_path: Path
) -> None:
    root = workspace_of(FILES, {"policies/refund/POL-REFUND-009.yaml": "policy_id: [\n"}).root
    done, path = pipeline.build(root, tmp_path / "out", DAY)
    (told,) = [one for one in json.loads(path.read_text())["bundle_metadata"]["unproven"] if "009" in one["path"]]
    assert (told["path"], told["policy_id"]) == ("policies/refund/POL-REFUND-009.yaml", "POL-REFUND-009")
    assert done.stopping(allows_errors=False)
    (root / "rules").mkdir()
    (root / "rules" / "roles.yaml").write_text("roles: [\n")
    with pytest.raises(UsageError, match="1 of its files cannot be read"):
        pipeline.build(root, tmp_path / "none", DAY)
    assert not (tmp_path / "none").exists()
