"""The tiny company with random slips of the keyboard: whatever is written, the trip ends, and its bundle reads back."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from bylaw.bundle import parse, ruleset
from bylaw.logic.decide.evaluate import Evaluator
from ci import pipeline
from ci.findings import SEVERITIES
from ci.report import jsonl, text

DAY = date(2026, 6, 1)
TOKEN = re.compile(r"[A-Za-z_][\w-]*|\d+(?:\.\d+)?")
WORDS = (
    *("null", "true", "-1", "0", '""', "[]", "{}", "1.5", "general", "all", "none", "within_window", "not", "in"),
    *("required", "prohibited", "permitted", "fallback", "conditional", "between", "2026-01-01", "9" * 30, ".inf"),
    *("[1, 2]", "[2, 1]", "{a: b}", "all_of", "any_of", "exceptions", "overrides", "formal", "!!x y", "*a", "~"),
)


def slipped(written: str, rng: random.Random) -> str:
    """The text with one slip: a word for another, a line lost, doubled or shifted, a character too many."""
    lines = written.split("\n")
    at = rng.randrange(len(lines))
    match rng.randrange(7):
        case 0 if ":" in lines[at]:
            lines[at] = f"{lines[at].split(':', 1)[0]}: {rng.choice(WORDS)}"
        case 1:
            del lines[at]
        case 2:
            lines[at:at] = lines[rng.randrange(len(lines)) :][: rng.randrange(1, 6)]
        case 3:
            lines[at] = " " * rng.randrange(1, 4) + lines[at]
        case 4 if written:
            i = rng.randrange(len(written))
            return written[:i] + rng.choice(" :-{}[],\"'#&*!|>%@`\n\tx0") + written[i + rng.randrange(2) :]
        case _:
            tokens = list(TOKEN.finditer(written))
            if tokens:
                token = rng.choice(tokens)
                other = rng.choice((rng.choice(tokens)[0], rng.choice(WORDS)))
                return written[: token.start()] + other + written[token.end() :]
    return "\n".join(lines)


def survives(root: Path) -> pipeline.Run:
    """The whole trip over *root*: every finding has a place and can be shown, every bundle reads back the same."""
    done = pipeline.run(root, DAY, DAY)
    shown = json.loads(jsonl.render(done.findings, done.workspace.sources))["findings"]
    assert text.render(done.findings, done.workspace.sources)
    for finding in shown:
        assert finding["id"] in SEVERITIES
        assert finding["line"] >= 1
        assert finding["column"] >= 1
        assert (root / finding["path"]).exists()
    if not done.stopping(allows_errors=True):
        bundle = parse(pipeline.bundle_text(done))
        there = {record.policy.policy_id for record in done.proofs.records}
        known = {id: others & there for id, others in done.deciding.overrides.items() if others & there}
        assert ruleset(bundle) == replace(
            done.deciding, overrides=known
        )  # of a policy that is not there nothing is said
    return done


def lost(before: pipeline.Run, after: pipeline.Run) -> list[str]:
    """The actions of rules that are gone, though nobody took them out: their file cannot be read, or not all of it.

    A file says its domain; an action that only readable policies of other domains name is theirs.
    """
    unread = {finding.at.path for finding in after.findings if finding.severity == "error"}
    there = {(rule.policy_id, rule.effect.action) for rule in after.ruleset.rules}
    unread -= {record.path for record in after.proofs.records if record.in_logic}
    gone = [
        rule.effect.action
        for rule in before.ruleset.rules
        if rule.source.path in unread
        and rule.holds_on(DAY.toordinal())
        and (rule.policy_id, rule.effect.action) not in there
    ]
    rules = Evaluator(after.deciding).unproven
    others = {name for rule in after.ruleset.rules for name in (rule.effect.action, *rule.effect.implied)}
    there_still = set(after.workspace.vocabulary.actions) - others
    return [action for action in gone if action in there_still and not rules.about(action, DAY.toordinal())]


def hurt(root: Path, seed: int) -> None:
    rng = random.Random(seed)
    files = sorted(root.rglob("*.yaml"))
    for _ in range(rng.randrange(1, 4)):
        path = rng.choice(files)
        path.write_text(slipped(path.read_text(encoding="utf-8"), rng), encoding="utf-8")


@pytest.mark.parametrize("seed", range(60))
def test_a_slip_ends_in_findings(seed: int, company_copy: Path) -> None:
    before = pipeline.run(company_copy, DAY, DAY)
    hurt(company_copy, seed)
    assert not lost(before, survives(company_copy))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1_000, 1_600))
def test_many_slips_end_in_findings(seed: int, company_copy: Path) -> None:
    hurt(company_copy, seed)
    survives(company_copy)


def test_an_outcome_nobody_declares_keeps_its_actions_out_of_the_bundle(company_copy: Path) -> None:
    words = company_copy / "policies/vocabulary.yaml"
    words.write_text(words.read_text().replace("no_fee: {outcome: late_fee", "no_fee: {outcome: late_fees"))
    done = survives(company_copy)
    assert [f.message for f in done.findings if f.id == "dangling-reference"] == [
        "the action `no_fee` has the outcome `late_fees`, which no vocabulary declares"
    ]
    assert not [finding for finding in done.findings if finding.id == "unknown-action"]
    assert "no_fee" not in {rule.effect.action for rule in done.ruleset.rules}
