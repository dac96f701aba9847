"""A policy that is out to take the check down costs its own answers: what the others are told stays as it was."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.logic.formula.ir import Constraint, Ruleset, Source, Variable
from bylaw.logic.formula.terms import parse_term
from bylaw.logic.solver.sandbox import Cell
from ci.findings import Finding
from ci.loading.load import Workspace
from ci.pipeline import check
from ci.proofs.questions.invariant import core
from ci.proofs.theory import Theory

DATA = yaml.safe_load(Path(__file__).with_name("hostile.yaml").read_text(encoding="utf-8"))
HOSTILE = "POL-REFUND-666"
BIG = "9" * 40
DEEP = "(not (or (> x 3) " * 95 + "(= (* x x x) (* y y z))" + "))" * 95


def policy(row: dict[str, Any]) -> dict[str, str]:
    """The hostile policy as a file."""
    rules = [
        {"rule_id": f"R{n}", "consequent": "notify", "z3_expr": text.replace("{big}", BIG).replace("{deep}", DEEP)}
        for n, text in enumerate(row.get("rules", ()), 1)
    ]
    more = row.get("constraints_of", {"count": 0, "text": ""})
    texts = [*row.get("constraints", ()), *(more["text"].replace("{n}", str(n + 2)) for n in range(more["count"]))]
    constraints = [
        {"constraint_id": f"I{n}", "natural_language": "so it is", "z3_expr": text} for n, text in enumerate(texts, 1)
    ]
    written = {
        "policy_id": HOSTILE,
        "metadata": {"source": "s", "owner": "Mallory", "domain": "refund"},
        "actions": [{"type": "required", "action": "notify"}],
        "formal": {**({"logic_rules": rules} if rules else {}), **({"constraints": constraints} if texts else {})},
    }
    return {f"policies/refund/{HOSTILE}.yaml": json.dumps(written)}


def told(workspace: Workspace) -> list[Finding]:
    """The findings of a check, without those about words that nobody uses."""
    found = check(workspace, date(2026, 1, 1)).findings
    return [finding for finding in found if finding.id != "unused-word"]


@pytest.mark.parametrize("row", DATA["rows"], ids=[row["title"] for row in DATA["rows"]])
def test_the_innocent_are_told_what_they_were_told_before(
    row: dict[str, Any], workspace_of: Callable[..., Workspace]
) -> None:
    before = told(workspace_of(DATA["base"]))
    assert {finding.id for finding in before} == {"conflict", "redundant-rule"}
    after = told(workspace_of(DATA["base"], policy(row)))
    said = {(finding.id, finding.fingerprint, finding.message) for finding in after}
    assert {(finding.id, finding.fingerprint, finding.message) for finding in before} <= said
    hostile = [finding.id for finding in after if HOSTILE in finding.policies or HOSTILE in finding.at.path]
    assert "told" not in row or hostile == row["told"]
    blamed = [found[1] for finding in after if (found := re.search(r"hand-written rule `(R\d+)`", finding.message))]
    assert len(blamed) == len(set(blamed))
    assert set(row.get("open", ())) <= set(blamed)


def test_the_questions_behind_one_finding_are_counted_and_listed(workspace_of: Callable[..., Workspace]) -> None:
    row = {"rules": ["(= (+ (* x x x) (* y y y)) (* z z z))"]}
    (finding,) = [f for f in told(workspace_of(DATA["base"], policy(row))) if f.id == "unknown-answer"]
    assert (finding.at.route, finding.rules, finding.status) == (("formal", "logic_rules", 0), ("R1",), "UNKNOWN")
    assert f"; left open by it: {len(finding.members)} questions, for instance whether" in finding.message
    assert len(finding.related) == len(finding.members) - 1 > 0
    assert finding.help is not None and "simplify what was written by hand" in finding.help


def test_a_process_killed_in_the_middle_costs_one_answer_at_most(
    workspace_of: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever starts the solver's process finds it dead with its third question: the check goes on with another."""
    asked, pids = Cell.ask, list[int]()

    def ask(self: Cell, *question: Any) -> Any:
        if self.running is not None and len(pids) == 2:
            os.kill(self.running.process.pid, signal.SIGKILL)
        said = asked(self, *question)
        pids.append(self.running.process.pid if self.running is not None else 0)
        return said

    monkeypatch.setattr(Cell, "ask", ask)
    row = {"rules": ["(> (* x y) z)", "(> (* x y z) 9)"], "constraints": ["(> (* x y) (- z 1000))"]}
    before = told(workspace_of(DATA["base"]))
    after = told(workspace_of(DATA["base"], policy(row)))
    assert len(set(pids) - {0}) == 2
    assert {finding.message for finding in before} <= {finding.message for finding in after}


def test_where_no_core_is_found_within_the_limits_every_invariant_is_named() -> None:
    facts = {name: Variable(name, "integer", minimum=2) for name in "xyz"}
    texts = ["(= (+ (* x x x) (* y y y)) (* z z z))", "(> x 5)"]
    both = tuple(Constraint(f"I{n}", "P", parse_term(t, facts), t, Source("p.yaml")) for n, t in enumerate(texts))
    assert core(Theory(Ruleset(facts, (), both), 1, rlimit=1000), 1) == both
