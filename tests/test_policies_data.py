"""The repository's own policies, read with plain pyyaml: what must hold however the checker changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from tests.rows import each

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "policies"

# Policies that no case can show at work, and why.
WITHOUT_CASE = {
    "POL-IMP-DISCOUNT-001": "nobody has validated it, so it decides nothing",
}
SEED_CONDITIONS = {
    "time_window",
    "amount_threshold",
    "customer_tier",
    "product_category",
    "geographic",
    "boolean_flag",
    "role_requirement",
    "fact",
}
ACTION_TYPES = {"required", "prohibited", "permitted", "fallback", "conditional", "discovered_pattern"}


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


VOCABULARY = _read(FOLDER / "vocabulary.yaml")
FILES = sorted(FOLDER.glob("*/POL-*.yaml"))
POLICIES = {path: _read(path) for path in FILES}
CASE_FILES = sorted(FOLDER.glob("*/cases.yaml"))
CASES = [(path, case) for path in CASE_FILES for case in _read(path)]


def _conditions(node: Any) -> list[dict[str, Any]]:
    """Every condition in *node*, at any depth, trees and exceptions included."""
    if isinstance(node, list):
        return [found for item in node for found in _conditions(item)]
    if not isinstance(node, dict):
        return []
    nested = ("conditions", "when", "any_of", "all_of", "not", "exceptions", "actions")
    here = [node] if node.get("type") in SEED_CONDITIONS else []
    return here + [found for key in nested if key in node for found in _conditions(node[key])]


def _actions(policy: dict[str, Any]) -> list[str]:
    """Every action that *policy* names, exceptions included."""
    named = [action["action"] for action in policy["actions"]]
    todo = list(policy.get("exceptions", ()))
    while todo:
        exception = todo.pop()
        named += [
            name for name in (exception.get("action"), *exception.get("replaces", ())) if name not in (None, "none")
        ]
        todo += exception.get("exceptions", ())
    return named


def _quotes(node: Any) -> list[str]:
    if isinstance(node, list):
        return [quote for item in node for quote in _quotes(item)]
    if isinstance(node, dict):
        own = [node["source_text"]] if node.get("source_text") else []
        return own + [quote for value in node.values() for quote in _quotes(value)]
    return []


def test_there_are_enough_policies_domains_and_cases() -> None:
    assert len(FILES) >= 28
    assert len({path.parent.name for path in FILES}) >= 6
    assert len(CASES) >= 65


def test_ids_are_unique() -> None:
    counts = Counter(policy["policy_id"] for policy in POLICIES.values())
    assert [name for name, count in counts.items() if count > 1] == []


@each("path", FILES, ids=lambda path: path.stem)
def test_a_policy_lies_where_its_id_says(path: Path) -> None:
    policy = POLICIES[path]
    domain = policy["metadata"]["domain"]
    implicit = "IMP-" if policy["origin"] == "implicit" else ""
    assert policy["policy_id"] == path.stem
    assert path.stem.rsplit("-", 1)[0] == f"POL-{implicit}{domain.upper()}"
    assert path.parent.name == domain


@each("path", FILES, ids=lambda path: path.stem)
def test_a_policy_says_where_it_comes_from(path: Path) -> None:
    policy = POLICIES[path]
    metadata = policy["metadata"]
    assert metadata["source"].strip()
    assert metadata["owner"].strip().upper() not in ("", "TBD")
    assert metadata["effective_date"]
    assert isinstance(metadata["regulatory_linkage"], list)
    # What was mined from a log has no text that could be quoted.
    assert bool(_quotes(policy)) == (policy["origin"] == "explicit")


@each("path", [*FILES, *CASE_FILES, FOLDER / "vocabulary.yaml"], ids=lambda path: path.name)
def test_the_first_line_points_the_editor_at_the_schema(path: Path) -> None:
    kind = path.stem if path.stem in ("cases", "vocabulary") else "policy"
    up = "../" * (len(path.relative_to(ROOT).parts) - 1)
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first == f"# yaml-language-server: $schema={up}bylaw/schemas/{kind}.schema.json"
    assert (path.parent / first.partition("=")[2]).resolve().is_file()


def test_every_kind_of_condition_and_action_is_used() -> None:
    kinds = {condition["type"] for condition in _conditions(list(POLICIES.values()))}
    assert kinds == SEED_CONDITIONS
    types = {action["type"] for policy in POLICIES.values() for action in policy["actions"]}
    assert types == ACTION_TYPES


def test_every_fact_of_a_case_is_declared_and_in_its_domain() -> None:
    for path, case in CASES:
        for name, value in case["facts"].items():
            fact = VOCABULARY["facts"].get(name)
            assert fact is not None, f"{path}: {case['name']}: {name}"
            if fact["type"] == "enum":
                assert value in fact["values"], f"{path}: {case['name']}: {name}"
            if fact["type"] == "boolean":
                assert isinstance(value, bool), f"{path}: {case['name']}: {name}"


def test_every_expectation_names_an_outcome_or_a_list_of_actions() -> None:
    for path, case in CASES:
        for name, value in case["expect"].items():
            if name in ("required", "prohibited", "permitted"):
                assert set(value) <= set(VOCABULARY["actions"]), f"{path}: {case['name']}"
                assert value == sorted(set(value)), f"{path}: {case['name']}: {name} is not sorted"
            else:
                assert name in VOCABULARY["outcomes"], f"{path}: {case['name']}"
                assert value is None or VOCABULARY["actions"][value]["outcome"] == name, f"{path}: {case['name']}"


def test_case_names_are_unique_within_a_domain() -> None:
    counts = Counter((path.parent.name, case["name"]) for path, case in CASES)
    assert [name for name, count in counts.items() if count > 1] == []


@each("path", FILES, ids=lambda path: path.stem)
def test_a_case_speaks_of_what_the_policy_does(path: Path) -> None:
    """Some case of the policy's domain expects one of its actions, or the policy is listed with a reason."""
    policy = POLICIES[path]
    same = {name: action.get("same_as", name) for name, action in VOCABULARY["actions"].items()}
    named = {same[name] for name in _actions(policy)}
    expected: set[str] = set()
    for case_path, case in CASES:
        if case_path.parent == path.parent:
            for value in case["expect"].values():
                expected |= set(value) if isinstance(value, list) else {value}
    assert bool(named & expected) or policy["policy_id"] in WITHOUT_CASE


@each("outcome", sorted(VOCABULARY["outcomes"]))
def test_every_answer_of_an_outcome_is_expected_by_a_case(outcome: str) -> None:
    answers = {name for name, action in VOCABULARY["actions"].items() if action.get("outcome") == outcome}
    expected = {case["expect"].get(outcome) for _, case in CASES}
    assert answers <= expected


def test_the_words_of_the_seed_are_declared() -> None:
    facts, actions = VOCABULARY["facts"], VOCABULARY["actions"]
    assert {"has_receipt", "days_since_purchase", "purchase_amount", "product_category", "customer_tier"} <= set(facts)
    assert {"online", "in-store"} <= set(facts["channel"]["values"])
    assert set(facts["region"]["values"]) == {"US", "EU", "APAC"}
    assert "electronics" in facts["product_category"]["values"]
    assert "VIP" in facts["customer_tier"]["values"]
    assert {"full_refund", "store_credit", "reject", "auto_approve_refund", "disclose_pii", "verify_identity"} <= set(
        actions
    )
    assert {"vip_status", "amount_over_200"} <= set(VOCABULARY["terms"])


def test_every_declared_action_is_used() -> None:
    used = {name for policy in POLICIES.values() for name in _actions(policy)}
    for groups in VOCABULARY["relations"]["implies"].values():
        used |= set(groups)
    assert set(VOCABULARY["actions"]) - used == set()


def test_exactly_one_implicit_policy_is_active_and_one_is_not() -> None:
    implicit = [policy for policy in POLICIES.values() if policy["origin"] == "implicit"]
    assert sorted(policy["discovery"]["human_validated"] for policy in implicit) == [False, True]


def test_an_override_gives_its_reason_and_names_a_policy() -> None:
    ids = {policy["policy_id"] for policy in POLICIES.values()}
    overriding = [policy for policy in POLICIES.values() if policy.get("overrides")]
    assert overriding
    for policy in overriding:
        assert policy["reason"].strip()
        assert set(policy["overrides"]) <= ids


def test_the_words_of_the_demo_question_can_be_read() -> None:
    """I bought a TV 20 days ago and lost the receipt."""
    facts = VOCABULARY["facts"]
    assert "tv" in facts["product_category"]["values"]["electronics"]
    assert "{value} days ago" in facts["days_since_purchase"]["phrases"]
    assert "lost the receipt" in facts["has_receipt"]["phrases"]["false"]
    assert facts["purchase_amount"]["ask"]


def test_no_word_reads_as_two_values_of_one_fact() -> None:
    for name, fact in VOCABULARY["facts"].items():
        words = fact.get("values", {}) or (fact.get("phrases", {}) if fact["type"] == "boolean" else {})
        counts = Counter(word.casefold() for synonyms in words.values() for word in synonyms)
        assert [word for word, count in counts.items() if count > 1] == [], name


def test_every_policy_folder_has_an_owner_who_reviews() -> None:
    owners = (ROOT / ".github" / "CODEOWNERS").read_text(encoding="utf-8")
    assert [path.name for path in FOLDER.iterdir() if path.is_dir() and f"/policies/{path.name}/ " not in owners] == []
