"""Stage 3 of seed 000: contradictions found and resolved or escalated, and every other question asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import Facts, Ruleset, Variable
from ci.findings import Finding
from ci.loading.derived.record import Later, PolicyRecord, StageStatus
from ci.loading.load import Workspace
from ci.progress import Progress
from ci.proofs.answers import Answered, Concern, Reply, Row, Statuses, counted, of_policies, states
from ci.proofs.conflicts.conflict import Clash, clashes, shown
from ci.proofs.conflicts.conflict_findings import clash_findings, step
from ci.proofs.focus import Focus
from ci.proofs.inquiry import Inquiry
from ci.proofs.questions import graph
from ci.proofs.registry import ASKED, QUESTIONS
from ci.proofs.theory import Theory
from ci.proofs.unanswered import told_once


@dataclass(frozen=True)
class Proofs:
    """What the proofs found: records with their conflicts, findings, and the lattice's verdicts for the bundle.

    `clashes` are the pairs behind the conflicts, one by one: who joins several runs groups them anew. `statuses` say
    how every question was answered of everyone in focus. `evaluator` is the one that answered: it knows where each rule
    fires. What only a bundle writes is worked out when somebody reads it.
    """

    records: list[PolicyRecord]
    findings: list[Finding]
    clashes: tuple[Clash, ...]
    statuses: Statuses
    contradictions: Contradictions
    evaluator: Evaluator

    @property
    def answers(self) -> tuple[Answered, ...]:
        """Every question, counted."""
        return counted(self.statuses, ASKED)


def ruleset_of(workspace: Workspace, records: Sequence[PolicyRecord], variables: Mapping[str, Variable]) -> Ruleset:
    """The rules of all policies that take part, sorted by id."""
    taking_part = [record for record in records if record.in_logic]
    pairs = list(workspace.vocabulary.excluded_pairs())
    outcomes = workspace.vocabulary.outcomes
    return Ruleset(
        variables=variables,
        rules=tuple(sorted((rule for r in taking_part for rule in r.rules), key=lambda rule: rule.rule_id)),
        constraints=tuple(c for r in taking_part for c in r.constraints),
        overrides={r.policy.policy_id: frozenset(r.policy.overrides) for r in taking_part if r.policy.overrides},
        excludes=frozenset((*pairs, *((b, a) for a, b in pairs))),
        complete=tuple(sorted(name for name, outcome in outcomes.items() if outcome.complete)),
        outcomes=tuple(sorted(outcomes)),
        steps={r.policy.policy_id: r.steps for r in taking_part if r.steps},
    )


def prove(
    workspace: Workspace,
    records: Sequence[PolicyRecord],
    ruleset: Ruleset,
    at: int,
    words: Callable[[Facts], str],
    progress: Progress | None = None,
    focus: Focus | None = None,
) -> Proofs:
    """Ask every question about the set on *at* (an ordinal) and after it, as far as it concerns what is in *focus*."""
    budgets = workspace.rules.ci.proofs
    limits = (budgets.memory_mb, budgets.guard_pieces, budgets.neighbours)
    theory = Theory(ruleset, at, budgets.rlimit, budgets.timeout_ms, *limits)
    by_id = {record.policy.policy_id: record for record in records}
    inquiry = Inquiry(workspace, by_id, theory, words, progress, focus)
    told = _Told(focus)
    found = list(clashes(theory, _heard(progress), focus))
    told.question("conflict", _contradictions(inquiry, found))
    told.findings += clash_findings(inquiry, found)
    for question, ask in QUESTIONS.items():
        told.question(question, ask(inquiry))
    contradictions = Contradictions(inquiry, found)
    failed = {p for clash in found if clash.verdict.status == "UNKNOWN" for p in _policies(inquiry, clash)}
    return Proofs(
        records=[_judged(_drawn(record, told.statuses), contradictions, failed) for record in records],
        findings=told_once(inquiry, told.findings),
        clashes=tuple(found),
        statuses=told.statuses,
        contradictions=contradictions,
        evaluator=theory.evaluator,
    )


class _Told:
    """The findings of all questions, and what is known of everyone in focus."""

    def __init__(self, focus: Focus | None) -> None:
        self.findings: list[Finding] = []
        self.statuses: dict[Concern, Row] = {}
        self._focus = focus
        self._rows: dict[Row, Row] = {}  # each kept once: most policies have the same

    def question(self, question: str, replies: Iterable[Reply]) -> None:
        """Take note of everything that is answered to one question."""
        for concern, state in states(question, self._heard(replies)).items():
            if self._focus is None or self._focus.holds(concern):
                row = (*self.statuses.get(concern, ()), state)
                self.statuses[concern] = self._rows.setdefault(row, row)

    def _heard(self, replies: Iterable[Reply]) -> Iterator[Reply]:
        for reply in replies:
            self.findings += reply.findings
            yield reply


def _contradictions(inquiry: Inquiry, found: Sequence[Clash]) -> Iterator[Reply]:
    """Of every policy that takes part: nothing contradicts it, except for what was *found*."""
    for policy_id, record in inquiry.records.items():
        if record.in_logic:
            yield Reply(of_policies(policy_id), "PROVEN")
    contradicted: set[str] = set()
    for clash in found:
        if clash.verdict.status == "COUNTEREXAMPLE":
            contradicted.update(_policies(inquiry, clash))
        else:
            yield Reply(of_policies(*_policies(inquiry, clash)), clash.verdict.status, (), clash.verdict.reason)
    yield Reply(of_policies(*sorted(contradicted)), "COUNTEREXAMPLE")


def _heard(progress: Progress | None) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, of: progress("looking for conflicts", done, of)


class Contradictions:
    """What seed 000 writes of the pairs that were found, worked out when a bundle or a record is written."""

    def __init__(self, inquiry: Inquiry, found: Sequence[Clash]) -> None:
        self._inquiry, self._found = inquiry, found

    @cached_property
    def conflicts(self) -> list[dict[str, Any]]:
        """Every conflict, numbered, with a case that shows it."""
        shown_ = (shown(self._inquiry.theory, clash) for clash in self._found)
        numbered = enumerate(shown_, 1)
        return [_conflict(self._inquiry, clash, n) for n, clash in numbered if clash.verdict.facts is not None]

    @property
    def dominance(self) -> list[dict[str, Any]]:
        """Who is followed where both fire and one of the two wins."""
        return _dominance(self._inquiry, self._found)

    @property
    def escalations(self) -> list[dict[str, Any]]:
        """Whom to ask where neither wins."""
        return _escalations(self._inquiry, self._found)

    def of(self, policy_id: str) -> list[dict[str, Any]]:
        """Those in which the policy takes part."""
        return self._by_policy.get(policy_id, [])

    @cached_property
    def _by_policy(self) -> Mapping[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for conflict in self.conflicts:
            for policy_id in sorted({conflict["policy_a"]["id"], conflict["policy_b"]["id"]}):
                found[policy_id].append(conflict)
        return found


def _policies(inquiry: Inquiry, clash: Clash) -> tuple[str, ...]:
    one, two = inquiry.rule(clash.first).policy_id, inquiry.rule(clash.second).policy_id
    return (one,) if one == two else (one, two) if one < two else (two, one)


def _drawn(record: PolicyRecord, statuses: Statuses) -> PolicyRecord:
    """The record with the graph that its author wrote, where it was proved to give what the rules give."""
    row = statuses.get(("policy", record.policy.policy_id), ())
    if record.graph is None or not any(state[:2] == (graph.QUESTION, "PROVEN") for state in row):
        return record
    formal = record.enriched["formal"].and_({"decision_graph": record.graph.to_json()})
    return replace(record, enriched=record.enriched.and_({"formal": formal}))


def _judged(record: PolicyRecord, contradictions: Contradictions, failed: set[str]) -> PolicyRecord:
    if not record.in_logic:
        return record
    policy_id = record.policy.policy_id
    status: StageStatus = "failed" if policy_id in failed else "complete"
    return record.after("conflict_detection", status, conflicts=Later(lambda: contradictions.of(policy_id)))


def _conflict(inquiry: Inquiry, clash: Clash, number: int) -> dict[str, Any]:
    """The conflict in the shape of seed 000, stage 3."""
    one, two = inquiry.rule(clash.first), inquiry.rule(clash.second)
    sides = {
        key: {
            "id": rule.policy_id,
            "rule_id": rule.rule_id,
            "priority_level": inquiry.records[rule.policy_id].level.number,
            "priority_reason": inquiry.records[rule.policy_id].level.reason,
        }
        for key, rule in (("policy_a", one), ("policy_b", two))
    }
    case = inquiry.counterexample(clash.verdict) or {"facts": {}}
    if clash.winner is None:
        owners = sorted({inquiry.records[p].policy.metadata.owner for p in _policies(inquiry, clash)})
        level = inquiry.records[one.policy_id].level.number
        resolution: dict[str, Any] = {
            "method": "manual",
            "status": "pending_review",
            "escalated_to": " and ".join(owners),
            "reason": f"Same priority level ({level} vs {level}), requires human judgment",
        }
    else:
        winner, loser = (one, two) if clash.winner == clash.first else (two, one)
        reason = step(inquiry, winner.policy_id, loser.policy_id)
        method = "priority" if winner.level != loser.level else "override"
        resolution = {"method": method, "winner": winner.policy_id, "reason": reason}
    return {
        "conflict_id": f"CF-{number:03d}",
        "type": "logical",
        "detector": "smt",
        **sides,
        "counterexample": case["facts"],
        "severity": "high" if clash.winner is None else "medium",
        "resolution": resolution,
    }


def _dominance(inquiry: Inquiry, found: Sequence[Clash]) -> list[dict[str, Any]]:
    rules = {}
    for clash in found:
        if clash.winner is not None and clash.verdict.status == "COUNTEREXAMPLE":
            winner = inquiry.rule(clash.winner)
            loser = inquiry.rule(clash.second if clash.winner == clash.first else clash.first)
            mode = "priority" if winner.level != loser.level else "override"
            then = {"mode": mode, "enforce": winner.policy_id}
            pair = sorted((winner.policy_id, loser.policy_id))
            rules[(*pair, winner.policy_id)] = {"when": {"policies_fire": pair}, "then": then}
    return [rules[key] for key in sorted(rules)]


def _escalations(inquiry: Inquiry, found: Sequence[Clash]) -> list[dict[str, Any]]:
    open_ = [clash for clash in found if clash.winner is None and clash.verdict.status == "COUNTEREXAMPLE"]
    return [
        {
            "conflict_type": "logical",
            "policies": list(pair),
            "owners_to_notify": sorted({inquiry.records[p].policy.metadata.owner for p in pair}),
        }
        for pair in sorted({_policies(inquiry, clash) for clash in open_})
    ]
