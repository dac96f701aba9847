"""Every complaint of pydantic becomes one finding, at its route, in the author's words."""

from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from bylaw.authored.context import Entity
from bylaw.authored.decisions import Decision, Transition
from bylaw.authored.machines.rules import RULE_FILES
from bylaw.authored.policies import Case, Policy
from bylaw.authored.vocabulary import Vocabulary
from ci.findings import Finding
from ci.loading.schema.schema_findings import LONGEST, clip, described, fitted, shown, spoken
from ci.loading.source import read
from tests.rows import each

HERE = Path(__file__).parent
ROWS: list[dict[str, Any]] = read("schema_findings.yaml", (HERE / "schema_findings.yaml").read_bytes()).data
MODELS: dict[str, type[BaseModel]] = {
    "policy": Policy,
    "vocabulary": Vocabulary,
    "decision": Decision,
    "transition": Transition,
    "entity": Entity,
}
POLICY = {
    "policy_id": "POL-A-001",
    "actions": [{"type": "required", "action": "x"}],
    "metadata": {"source": "s", "owner": "o", "domain": "a"},
}


def fits_row(finding: Finding, row: dict[str, Any]) -> None:
    assert finding.id == "schema"
    assert finding.at.path == "some/file.yaml"
    assert (list(finding.at.route), finding.at.on_key) == (row["at"], row.get("key", False))
    if "says" in row:
        assert finding.message == row["says"]
    else:
        assert finding.message.startswith(row["starts"])
    if "help" in row:
        # of a long list of known keys the suggestion is enough
        assert finding.help is not None
        assert finding.help == row["help"] or finding.help.startswith(f"{row['help']} ")


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_what_does_not_fit_is_told_in_the_authors_words(row: dict[str, Any]) -> None:
    model = MODELS[row.get("model", "policy")]
    data = row["data"] if "data" in row else {**POLICY, **row["policy"]}
    record, findings = fitted(model, data, "some/file.yaml")
    assert record is None
    assert len(findings) == len(row["told"]), [finding.message for finding in findings]
    for finding, expected in zip(findings, row["told"], strict=True):
        fits_row(finding, expected)


def test_what_fits_is_a_record_without_findings() -> None:
    record, findings = fitted(Policy, POLICY, "a.yaml")
    assert record is not None
    assert record.policy_id == "POL-A-001"
    assert findings == []


def test_findings_about_a_policy_name_it() -> None:
    _, findings = fitted(Policy, {**POLICY, "sccope": {}}, "a.yaml")
    assert [finding.policies for finding in findings] == [("POL-A-001",)]
    _, findings = fitted(Policy, {"policy_id": 5}, "a.yaml")
    assert {finding.policies for finding in findings} == {()}


def test_a_record_inside_a_list_has_its_position_in_front() -> None:
    _, findings = fitted(Case, {"name": "n", "facts": {}}, "cases.yaml", (3,))
    assert [finding.at.route for finding in findings] == [(3,)]
    _, findings = fitted(Case, {"name": "n", "facts": {"a": []}, "expect": {}}, "cases.yaml", (3,))
    assert [finding.at.route for finding in findings] == [(3, "facts", "a")]


def test_huge_values_are_clipped() -> None:
    _, findings = fitted(Policy, {**POLICY, "origin": "x" * 10_000, "y" * 10_000: 1}, "a.yaml")
    assert all(len(finding.message) < 200 for finding in findings)
    assert "…" in findings[0].message


@each(
    ("value", "words"),
    [
        (None, "empty"),
        (True, "`true`"),
        (3, "the number `3`"),
        (Decimal("1.10"), "the number `1.10`"),
        ("two\nlines", "the text `two lines`"),
        ([], "a list"),
        ({}, "a mapping"),
    ],
)
def test_a_value_is_described_as_people_see_it(value: object, words: str) -> None:
    assert described(value) == words


def test_scalars_are_spelt_as_yaml_spells_them() -> None:
    assert [shown(False), shown(7), shown("a")] == ["false", "7", "a"]
    assert len(clip("x" * 1000)) == LONGEST


def test_a_route_is_spoken_with_dots_and_brackets() -> None:
    assert spoken(()) == "the file"
    assert spoken(("conditions", 1, "value", 0)) == "`conditions[1].value[0]`"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PARTS = (
    "conditions",
    "actions",
    "exceptions",
    "formal",
    "metadata",
    "scope",
    "type",
    "not",
    "any_of",
    "value",
    "facts",
)
NEAR = st.dictionaries(st.sampled_from(PARTS) | st.text(max_size=4), JSON, max_size=4)


@settings(max_examples=200, deadline=None)
@given(
    model=st.sampled_from([Policy, Case, Vocabulary, Entity, Decision, Transition, *RULE_FILES.values()]),
    data=JSON | NEAR | st.dictionaries(st.sampled_from(PARTS), st.lists(NEAR, max_size=3) | NEAR, max_size=4),
)
def test_any_data_is_a_record_or_has_a_finding(model: type[BaseModel], data: Any) -> None:
    record, findings = fitted(model, data, "a.yaml")
    assert (record is None) == bool(findings)
    for finding in findings:
        for word in ("pydantic", "Input", "function-", "union", "NoneType", model.__name__ + "."):
            assert word not in finding.message
