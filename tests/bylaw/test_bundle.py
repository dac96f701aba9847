"""The one door between the wings: what is written is read back the same, and whatever was touched is refused whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bylaw.bundle import CompiledPolicyBundle, dump, etag, parse, read, ruleset
from bylaw.bundle_logic import read_logic
from bylaw.canonical import canonical_json
from bylaw.errors import BundleError
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.sealed import CONTEXT, RULES, read_sealed

Document = dict[str, Any]
Spoil = Callable[[Document], Any]


@pytest.fixture(scope="module")
def text(company: Any) -> str:
    found: str = company.bundle.read_text(encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def bundle(text: str) -> CompiledPolicyBundle:
    return parse(text)


def stamped(document: Document) -> str:
    """The document as somebody would write it who knows how an etag is made."""
    document["bundle_metadata"]["etag"] = etag(document)
    return canonical_json(document) + "\n"


def test_a_bundle_read_back_is_written_the_same(text: str, bundle: CompiledPolicyBundle) -> None:
    assert dump(bundle) == text
    assert parse(dump(bundle)) == bundle


def test_its_text_is_canonical(text: str) -> None:
    assert text == canonical_json(json.loads(text)) + "\n"
    assert text.count("\n") == 1


def test_it_holds_the_sections_of_the_contract(text: str) -> None:
    document = json.loads(text)
    assert set(document) >= {
        *("schema_version", "variables", "conditional_rules", "constraints", "decision_nodes", "compiled_paths"),
        *("dominance_rules", "escalations", "priority_lattice", "bundle_metadata"),
        *("vocabulary", "outcomes", "graphs", "layers", "conflicts", "context", "decisions", "rules"),
    }
    metadata = document["bundle_metadata"]
    assert metadata["policy_count"] == 10
    assert metadata["active_policy_count"] == 9
    assert metadata["rule_count"] == len(document["conditional_rules"])
    assert metadata["constraint_count"] == len(document["constraints"])
    assert metadata["path_count"] == len(document["compiled_paths"])
    assert metadata["etag"] == etag(document)


def test_every_rule_says_where_it_was_written(company: Any, bundle: CompiledPolicyBundle) -> None:
    for rule in bundle.conditional_rules:
        lines = (company.root / rule.source.path).read_text(encoding="utf-8").splitlines()
        assert rule.action in " ".join(lines[rule.source.line - 1 : rule.source.line + 2])
        assert rule.source.policy_id == rule.policy_id
        assert rule.action == rule.effect.action


def test_anybody_can_work_out_the_etag_of_an_unsigned_bundle(text: str) -> None:
    document = json.loads(text)
    said = document["bundle_metadata"].pop("etag")
    rest = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert said == f"sha256:{sha256(rest.encode()).hexdigest()}"


def test_the_etag_covers_everything_but_itself(text: str) -> None:
    document = json.loads(text)
    before = etag(document)
    document["bundle_metadata"]["etag"] = "anything"
    assert etag(document) == before
    document["bundle_metadata"]["source_commit"] = "0" * 40
    assert etag(document) != before


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_byte_changed_is_refused(data: st.DataObject, text: str) -> None:
    raw = bytearray(text.rstrip("\n").encode())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] = data.draw(st.integers(32, 126).filter(lambda byte: byte != raw[at]))
    with pytest.raises(BundleError):
        parse(raw.decode("utf-8", "replace"))


@given(share=st.floats(0, 0.999))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_end_cut_off_is_refused(share: float, text: str) -> None:
    with pytest.raises(BundleError):
        parse(text[: int(len(text) * share)])


SPOILED: list[tuple[str, Spoil, str]] = [
    ("another schema version", lambda d: d.update(schema_version="2.0"), "schema version `2.0`"),
    ("no schema version", lambda d: d.pop("schema_version"), "schema version `None`"),
    ("a section gone", lambda d: d.pop("graphs"), "`graphs`: Field required"),
    ("a section nobody knows", lambda d: d.update(extra={}), "does not fit"),
    ("a section named in two lines", lambda d: d.update({"a\nb": {}}), "`a b`: Extra inputs"),
    ("a section of another kind", lambda d: d.update(conditional_rules={}), "does not fit"),
    ("a path to no rule", lambda d: d["compiled_paths"][0].update(rule_id="R-NOBODY"), "`R-NOBODY`"),
    ("an outcome nobody declares", lambda d: d["outcomes"].pop("late_fee"), "`late_fee`"),
    ("a fact nobody declares", lambda d: d["variables"].pop("hours_late"), "hours_late"),
    (
        "two rules of one id",
        lambda d: d["conditional_rules"].append(d["conditional_rules"][0]),
        "two rules that share an id",
    ),
    ("a guard that is none", lambda d: d["conditional_rules"][0].update(conditions={"all": 7}), "not a formula"),
    ("a date that is none", lambda d: d["conditional_rules"][0]["metadata"].update(effective_date="soon"), "soon"),
    ("a bound that is none", lambda d: d["variables"]["rider_age"].update(maximum="old"), "not a number"),
    ("an effect nobody knows", lambda d: d["conditional_rules"][0]["effect"].update(kind="suggested"), "does not fit"),
    ("a rule without its place", lambda d: d["conditional_rules"][0].pop("source"), "does not fit"),
    ("a value of a type no fact has", lambda d: d["variables"]["rider_age"].update(type="text"), "does not fit"),
    (
        "rules of the machine that are none",
        lambda d: d["rules"].pop("priorities"),
        "`rules.priorities`: Field required",
    ),
]


@pytest.mark.parametrize(("spoil", "says"), [row[1:] for row in SPOILED], ids=[row[0] for row in SPOILED])
def test_a_bundle_that_does_not_hold_together_is_refused_even_with_its_etag(spoil: Spoil, says: str, text: str) -> None:
    document = json.loads(text)
    spoil(document)
    with pytest.raises(BundleError, match=says.replace("(", "\\(")) as refused:
        parse(stamped(document), "the/bundle.json")
    assert "`the/bundle.json`" in refused.value.message
    assert "\n" not in refused.value.message


def test_the_logic_alone_is_the_logic_of_the_whole(text: str, bundle: CompiledPolicyBundle, tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_text(text, encoding="utf-8")
    logic = read_logic(path)
    assert ruleset(logic) == ruleset(bundle)
    assert {name: getattr(bundle, name) for name in type(logic).model_fields} == dict(logic)


def test_a_part_of_a_sealed_bundle_is_that_of_the_whole(
    text: str, bundle: CompiledPolicyBundle, tmp_path: Path
) -> None:
    path = tmp_path / "bundle.json"
    path.write_text(text, encoding="utf-8")
    for section in ("context", "decisions", "rules"):
        whole, sealed = getattr(bundle, section), getattr(read_sealed(path), section)
        named = {"context": CONTEXT, "rules": RULES}.get(section, {})
        assert named.keys() <= type(whole).model_fields.keys()
        assert {name: getattr(sealed, name) for name in type(whole).model_fields} == dict(whole)
        assert sealed.model_copy() == whole
    assert read_sealed(path).business == bundle.business


@pytest.mark.parametrize("spoil", [row[1] for row in SPOILED[2:6:3]], ids=[row[0] for row in SPOILED[2:6:3]])
def test_the_logic_alone_is_refused_too(spoil: Spoil, text: str, tmp_path: Path) -> None:
    document, path = json.loads(text), tmp_path / "bundle.json"
    spoil(document)
    for spelled in (canonical_json(document), stamped(document)):  # once of another etag, once not of its kind
        path.write_text(spelled, encoding="utf-8")
        with pytest.raises(BundleError):
            read_logic(path)
        with pytest.raises(BundleError):
            read_sealed(path)


def test_a_case_is_decided_by_a_bundle_of_others_only_where_all_of_it_holds_together(
    text: str, tmp_path: Path, bylaw: Any
) -> None:
    document, path = json.loads(text), tmp_path / "bundle.json"
    document["rules"].pop("priorities")
    path.write_text(stamped(document), encoding="utf-8")
    refused = bylaw("decide", "--bundle", path, "--facts", "{}")
    assert (refused.code, "`rules.priorities`" in refused.err) == (2, True)


@pytest.mark.parametrize("section", ["alternatives", "proposals"])
def test_a_bundle_from_before_a_section_of_rules_was_there_is_still_read(section: str, text: str) -> None:
    document = json.loads(text)
    del document["rules"]["autonomy"][section]
    assert getattr(parse(stamped(document)).rules.autonomy, section) is None


def test_whoever_cannot_read_it_says_why(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="there is no bundle at"):
        read(tmp_path / "nowhere.json")
    with pytest.raises(BundleError, match="cannot be read"):
        read(tmp_path)
    (tmp_path / "binary.json").write_bytes(b"\xff")
    with pytest.raises(BundleError, match="cannot be read"):
        read(tmp_path / "binary.json")


CASES: list[dict[str, Any]] = [
    {},
    {"hours_late": 5},
    {"hours_late": 7, "bike_type": "cargo"},
    {"hours_late": 2, "is_member": True},
    {"has_booking": True, "rider_age": 13},
    {"is_damaged": True, "damage_cost": 50},
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_bundle_decides_what_the_repository_decides(
    case: dict[str, Any], company: Any, bundle: CompiledPolicyBundle
) -> None:
    from datetime import date

    from ci.pipeline import run

    day = date(2026, 6, 1)
    own = run(company.root, day, day).ruleset
    read_back = ruleset(bundle)
    facts = {name: own.variables[name].read(value) for name, value in case.items()}
    assert Evaluator(read_back).decide(facts, day.toordinal()) == Evaluator(own).decide(facts, day.toordinal())


def test_the_logic_survives_whole(company: Any, bundle: CompiledPolicyBundle) -> None:
    from datetime import date

    from ci.pipeline import run

    own = run(company.root, date(2026, 6, 1), date(2026, 6, 1)).ruleset
    assert ruleset(bundle) == own
