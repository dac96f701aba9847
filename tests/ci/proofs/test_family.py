"""What never wins, changes nothing, breaks an invariant, overrides idly or contradicts itself, told on its line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.decide.conflicts import contradicts
from bylaw.logic.formula.ir import Effect
from ci.findings import Finding
from ci.pipeline import run
from ci.proofs.questions.joint import JOINT, at_odds

HERE = Path(__file__).parent
ROWS = yaml.safe_load((HERE / "questions.yaml").read_text(encoding="utf-8"))
DAY = date(2026, 6, 15)


def _policy(id: str, parts: Mapping[str, Any]) -> str:
    lines = [
        f"policy_id: {id}",
        f"conditions: [{{type: fact, parameter: {parts['when']}}}]",
        f"actions: [{', '.join(f'{{type: required, action: {action}}}' for action in parts['actions'])}]",
        f"metadata: {{source: handbook, owner: Shop, domain: shop, {_metadata(parts)}}}",
    ]
    if "over" in parts:
        lines += [f"overrides: [{parts['over']}]", "reason: it was decided so"]
    if "audience" in parts:
        lines.append(f"audience: [{', '.join(parts['audience'])}]")
    if "except" in parts:
        condition = f"{{type: fact, parameter: {parts['except']}}}"
        lines.append(f"exceptions: [{{description: not then, conditions: [{condition}], action: none}}]")
    if "holds" in parts:
        lines += ["formal:", "  constraints:"]
        for name, text in parts["holds"].items():
            lines.append(f"    - {{constraint_id: {name}, type: invariant, expression: '{text}'}}")
    return "\n".join(lines) + "\n"


def _metadata(parts: Mapping[str, Any]) -> str:
    found = ["regulatory_linkage: [Directive 1]"] if parts.get("law") else []
    found += [f'effective_date: "{parts["from"]}"'] if "from" in parts else []
    found += [f'expiry_date: "{parts["until"]}"'] if "until" in parts else []
    return ", ".join(found)


def _found(root: Path, row: Mapping[str, Any]) -> list[Finding]:
    folder = root / "policies" / "shop"
    folder.mkdir(parents=True)
    words = ROWS["words"]
    if row.get("complete"):
        words = words.replace("refund: {}", "refund: {complete: true}")
    if "relations" in row:
        words = words[: words.index("relations:")] + f"relations:\n{row['relations']}\n"
    (folder.parent / "vocabulary.yaml").write_text(words)
    for id, parts in row["policies"].items():
        (folder / f"{id}.yaml").write_text(_policy(id, parts))
    if "cases" in row:
        (folder / "cases.yaml").write_text(row["cases"])
    ignored = {
        "unused-word",
        "not-yet-in-force",
        "expiring-policy",
        "inactive-policy",
        "dangling-reference",
        "unaskable",
    }
    if all(found["id"] != "resolved-conflict" for found in row["found"]):
        ignored.add("resolved-conflict")
    return [finding for finding in run(root, DAY, DAY).findings if finding.id not in ignored]


@pytest.mark.parametrize("row", ROWS["rows"], ids=lambda row: row["title"])
def test_the_questions_about_one_set_are_answered_as_by_hand(tmp_path: Path, row: Mapping[str, Any]) -> None:
    found = _found(tmp_path, row)
    assert [finding.id for finding in found] == [expected["id"] for expected in row["found"]]
    for finding, expected in zip(found, row["found"], strict=True):
        assert list(finding.policies) == expected["policies"]
        assert finding.message == expected.get("says", finding.message)
        assert finding.at.path == expected.get("at", finding.at.path)
        if "related" in expected:
            assert [place.path for place, _ in finding.related] == expected["related"]
        if "facts" in expected:
            assert finding.counterexample is not None
            assert finding.counterexample["facts"] == expected["facts"]
        if "day" in expected:
            assert finding.counterexample is not None
            assert finding.counterexample["at"] == expected["day"].isoformat()


# ---- two rules at most ----------------------------------------------------------------------------------------------

ACTIONS = ("a", "b", "c", "d")
OUTCOME = {"a": "x", "b": "x", "c": None, "d": None}


@st.composite
def _effects(draw: st.DrawFn) -> tuple[list[Effect], frozenset[tuple[str, str]], Mapping[str, list[str]]]:
    pairs = st.lists(st.tuples(st.sampled_from(ACTIONS), st.sampled_from(ACTIONS)).filter(lambda p: p[0] != p[1]))
    implies: dict[str, list[str]] = {}
    for one, other in draw(pairs):
        implies.setdefault(one, []).append(other)
    excludes = frozenset(both for one, other in draw(pairs) for both in ((one, other), (other, one)))
    kinds = st.tuples(st.sampled_from(("demanded", "prohibited", "permitted")), st.sampled_from(ACTIONS))
    return [_effect(kind, action, implies) for kind, action in draw(st.lists(kinds, max_size=5))], excludes, implies


def _effect(kind: str, action: str, implies: Mapping[str, list[str]]) -> Effect:
    if kind != "demanded":
        return Effect("prohibited" if kind == "prohibited" else "permitted", action)
    reached = [action]
    for one in reached:
        reached += sorted(set(implies.get(one, ())) - set(reached))
    takes = tuple((outcome, one) for one in reached[1:] if (outcome := OUTCOME[one]) is not None)
    return Effect("outcome" if OUTCOME[action] else "required", action, OUTCOME[action], tuple(reached[1:]), takes)


@given(_effects())
@settings(max_examples=400, deadline=None)
def test_effects_that_cannot_all_stand_have_two_that_cannot_or_one_alone(
    world: tuple[list[Effect], frozenset[tuple[str, str]], Mapping[str, list[str]]],
) -> None:
    effects, excludes, implies = world
    happening = {effect.action for effect in effects if effect.kind in ("outcome", "required")}
    while new := {other for one in happening for other in implies.get(one, ())} - happening:
        happening |= new
    prohibited = {effect.action for effect in effects if effect.kind == "prohibited"}
    permitted = {effect.action for effect in effects if effect.kind == "permitted"}
    is_impossible = (
        bool(prohibited & (happening | permitted))
        or sum(OUTCOME[action] == "x" for action in happening) > 1
        or any((one, other) in excludes for one in happening for other in happening)
    )
    by_two = any(contradicts(a, b, excludes) for n, a in enumerate(effects) for b in effects[n + 1 :])
    by_one = any(at_odds(effect, excludes) for effect in effects)
    assert is_impossible == (by_two or by_one)


def test_the_question_about_three_rules_is_skipped_and_says_why() -> None:
    assert JOINT.status == "SKIPPED" and JOINT.reason is not None and "two rules at most" in JOINT.reason
