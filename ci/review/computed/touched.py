"""The policies that a pull request touches: how each decides, and how much of them their cases show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from bylaw.authored.labels import labels
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.formula.codec import decode
from bylaw.logic.formula.ir import Variable
from bylaw.logic.words.prose import Labels, sentence
from ci.coverage.cases import tried
from ci.coverage.goals import Item, items
from ci.coverage.measure import Coverage, Reading, Tried
from ci.coverage.missing import hints, reached, survey
from ci.coverage.words import Report
from ci.loading.derived.record import PolicyRecord
from ci.loading.derived.variables import variables
from ci.pipeline import Run
from ci.proofs.theory import Theory
from ci.review.computed.document import Covered, GraphNode, PolicyGraph, clipped, escaped_path
from ci.review.computed.speech import Speech

MOST_NODES = 200  # of a graph that is sent
MOST_SURVEYED = 30  # touched policies up to which their cases are looked for: more is no review but an import


def touched(records: Iterable[PolicyRecord], paths: Iterable[str]) -> list[PolicyRecord]:
    """The records of the files at *paths* that take part in the logic, in the order of their files."""
    wanted = set(paths)
    return sorted((r for r in records if r.path in wanted and r.in_logic), key=lambda record: record.path)


def graphs(records: Iterable[PolicyRecord], words: Vocabulary, speech: Speech) -> Iterator[PolicyGraph]:
    """The decision graph of each policy, its questions and ends in *words* of people."""
    known, spoken = variables(words), labels(words)
    for record in records:
        graph: dict[str, Any] = record.enriched["formal"]["decision_graph"]
        nodes, terminals = graph["nodes"], graph["terminals"]
        is_small = max(len(nodes), len(terminals)) <= MOST_NODES and not graph.get("truncated")
        asked = {name: _asked(node.get("test"), known, spoken, name) for name, node in nodes.items()}
        short = _apart({**asked, **{name: speech.terminal(name) for name in terminals}})
        told = nodes.items() if is_small else ()
        yield PolicyGraph(
            policy_id=clipped(record.policy.policy_id, 300),
            path=escaped_path(record.path),
            nodes=[
                GraphNode(name=short[name], yes=short.get(node["true"], ""), no=short.get(node["false"], ""))
                for name, node in told
            ],
            terminals=[short[name] for name in terminals] if is_small else [],
            node_count=max(len(nodes), MOST_NODES + 1) if not is_small else len(nodes),
        )


def _asked(test: Any, known: Mapping[str, Variable], spoken: Labels, name: str) -> str:
    """A question of a graph as a clause; one that only people understand as it is written."""
    if test is None:
        return name
    try:
        return sentence(decode(test, known), spoken)
    except (KeyError, ValueError):
        return name


def _apart(words: Mapping[str, str]) -> dict[str, str]:
    """*words*, or the name itself where two would be called the same."""
    count = Counter(words.values())
    return {name: clipped(said if count[said] == 1 else name, 300) for name, said in words.items()}


def surveyed(
    run: Run, records: Sequence[PolicyRecord], base: Run, old: Sequence[PolicyRecord]
) -> tuple[Report, Covered]:
    """What the cases show of these policies, and the cases that are missing for them; how much they showed before.

    What shows a goal now mostly shows it in the *base* too, so hardly anything is looked for twice.
    """
    now, then = _reading(run), _reading(base)
    found = survey(now, _items(now, records), _cases(run))
    before = reached(then, _items(then, old), _cases(base), hints(now, found))
    threshold = float(run.workspace.rules.ci.case_coverage_threshold)
    report = Report(found, now.theory, labels(run.workspace.vocabulary), threshold, _own_day(run).toordinal())
    return report, covered(before)


def covered(coverage: Coverage) -> Covered:
    """How many of the things that cases can show are shown."""
    done, count = coverage.tally()
    return Covered(covered=done, count=count)


def _reading(run: Run) -> Reading:
    proofs = run.workspace.rules.ci.proofs
    return Reading(Theory(run.ruleset, run.at.toordinal(), proofs.rlimit, proofs.timeout_ms, proofs.memory_mb))


def _items(reading: Reading, records: Iterable[PolicyRecord]) -> tuple[Item, ...]:
    wanted = {record.policy.policy_id for record in records}
    return items(reading.theory, [i for i, rule in enumerate(reading.rules) if rule.policy_id in wanted])


def _own_day(run: Run) -> date:
    return run.workspace.commit_date or run.at


def _cases(run: Run) -> list[Tried]:
    return tried(run.workspace, run.ruleset, _own_day(run))
