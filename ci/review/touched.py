"""The policies that a pull request touches: how each decides, and how much of them their cases show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any

from bylaw.authored.labels import labels
from ci.cases import tried
from ci.coverage.goals import items
from ci.coverage.measure import Reading
from ci.coverage.missing import survey
from ci.coverage.words import Report
from ci.pipeline import Run
from ci.proofs.theory import Theory
from ci.record import PolicyRecord
from ci.review.document import Covered, GraphNode, PolicyGraph, clipped

MOST_NODES = 200  # of a graph that is sent
MOST_SURVEYED = 30  # touched policies up to which their cases are looked for: more is no review but an import


def touched(records: Iterable[PolicyRecord], paths: Iterable[str]) -> list[PolicyRecord]:
    """The records of the files at *paths* that take part in the logic, in the order of their files."""
    wanted = set(paths)
    return sorted((r for r in records if r.path in wanted and r.in_logic), key=lambda record: record.path)


def graphs(records: Iterable[PolicyRecord]) -> Iterator[PolicyGraph]:
    """The decision graph of each policy."""
    for record in records:
        graph: dict[str, Any] = record.enriched["formal"]["decision_graph"]
        nodes, terminals = graph["nodes"], graph["terminals"]
        is_small = max(len(nodes), len(terminals)) <= MOST_NODES and not graph.get("truncated")
        short = {name: clipped(name, 300) for name in (*nodes, *terminals)}
        told = nodes.items() if is_small else ()
        yield PolicyGraph(
            policy_id=clipped(record.policy.policy_id, 300),
            path=record.path,
            nodes=[
                GraphNode(name=short[name], yes=short.get(node["true"], ""), no=short.get(node["false"], ""))
                for name, node in told
            ],
            terminals=[short[name] for name in terminals] if is_small else [],
            node_count=max(len(nodes), MOST_NODES + 1) if not is_small else len(nodes),
        )


def surveyed(run: Run, records: Sequence[PolicyRecord]) -> Report:
    """What the cases show of these policies, and the cases that are missing for them."""
    wanted = {record.policy.policy_id for record in records}
    proofs = run.workspace.rules.ci.proofs
    theory = Theory(run.ruleset, run.at.toordinal(), proofs.rlimit, proofs.timeout_ms, proofs.memory_mb)
    rules = [i for i, rule in enumerate(run.ruleset.rules) if rule.policy_id in wanted]
    day: date = run.workspace.commit_date or run.at
    found = survey(Reading(theory), items(theory, rules), tried(run.workspace, run.ruleset, day))
    threshold = float(run.workspace.rules.ci.case_coverage_threshold)
    return Report(found, theory, labels(run.workspace.vocabulary), threshold, day.toordinal())


def covered(report: Report) -> Covered:
    """How many of the things that cases can show are shown."""
    done, count = report.survey.coverage.tally()
    return Covered(covered=done, count=count)
