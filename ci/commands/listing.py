"""`bylaw list KIND`: the words and records of a repository, one line each, with the place where each is written.

A kind is a row of KINDS: its columns, and a function from the workspace to its rows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bylaw.authored.vocabulary import Fact
from ci.loading.load import Workspace

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing that can be listed: the heads of its columns, and its rows in the order of their names."""

    columns: Row
    rows: Callable[[Workspace], Iterator[Row]]


def rows(workspace: Workspace, kind: str) -> list[Row]:
    """The rows of *kind*, one of KINDS."""
    return list(KINDS[kind].rows(workspace))


def table(kind: str, found: Sequence[Row]) -> str:
    """Rows as aligned text under the heads of their columns; one sentence where there are none."""
    if not found:
        return f"no {kind} are declared here"
    lines = [KINDS[kind].columns, *found]
    widths = [max(len(line[n]) for line in lines) for n in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def document(kind: str, found: Sequence[Row]) -> str:
    """Rows as one JSON document."""
    names = KINDS[kind].columns
    records: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in found]
    return json.dumps({"kind": kind, "count": len(records), kind: records}, indent=2, ensure_ascii=False)


def _facts(workspace: Workspace) -> Iterator[Row]:
    for name, fact in sorted(workspace.vocabulary.facts.items()):
        yield name, fact.type, _domain(fact), fact.label or "", _word(workspace, "facts", name)


def _domain(fact: Fact) -> str:
    """What the fact can be, in a few words: its values, or its bounds and unit."""
    if fact.values:
        return ", ".join(fact.values)
    low, high = ("" if bound is None else str(bound) for bound in (fact.minimum, fact.maximum))
    bounds = f"{low}…{high}" if low or high else ""
    return " ".join(part for part in (bounds, fact.unit or "") if part)


def _actions(workspace: Workspace) -> Iterator[Row]:
    for name, action in sorted(workspace.vocabulary.actions.items()):
        meant = f"same as {action.same_as}" if action.same_as else action.outcome or ""
        yield name, meant, action.label or "", _word(workspace, "actions", name)


def _outcomes(workspace: Workspace) -> Iterator[Row]:
    vocabulary = workspace.vocabulary
    for name, outcome in sorted(vocabulary.outcomes.items()):
        actions = sorted(one for one, action in vocabulary.actions.items() if action.outcome == name)
        yield name, "yes" if outcome.complete else "no", ", ".join(actions), _word(workspace, "outcomes", name)


def _policies(workspace: Workspace) -> Iterator[Row]:
    for file in sorted(workspace.policies, key=lambda file: file.policy.policy_id):
        data = file.policy.metadata
        since, until = (day.isoformat() if day else "" for day in (data.effective_date, data.expiry_date))
        yield file.policy.policy_id, data.domain, data.owner, since, until, file.path


def _domains(workspace: Workspace) -> Iterator[Row]:
    policies = Counter(file.policy.metadata.domain for file in workspace.policies)
    cases = Counter(entry.path.split("/")[1] for entry in workspace.cases if entry.path.count("/") > 1)
    for name in sorted(policies):
        yield name, str(policies[name]), str(cases[name])


def _owners(workspace: Workspace) -> Iterator[Row]:
    owned: dict[str, list[str]] = {}
    for file in workspace.policies:
        owned.setdefault(file.policy.metadata.owner, []).append(file.policy.policy_id)
    for name, policies in sorted(owned.items()):
        yield name, str(len(policies)), ", ".join(sorted(policies))


def _cases(workspace: Workspace) -> Iterator[Row]:
    for entry in workspace.cases:
        line = workspace.line(entry.path, (entry.index,))
        yield entry.case.name, ", ".join(sorted(entry.case.expect)), f"{entry.path}:{line}"


def _entities(workspace: Workspace) -> Iterator[Row]:
    for name, entity in sorted(workspace.context.entities.items()):
        yield name, entity.base_table.qualified, entity.description or "", _record(workspace, "entities", name)


def _metrics(workspace: Workspace) -> Iterator[Row]:
    for name, metric in sorted(workspace.context.metrics.items()):
        yield name, metric.type, metric.description or "", _record(workspace, "metrics", name)


def _gotchas(workspace: Workspace) -> Iterator[Row]:
    for name, gotcha in sorted(workspace.context.gotchas.items()):
        yield name, gotcha.severity, gotcha.trap, _record(workspace, "gotchas", name)


def _glossary(workspace: Workspace) -> Iterator[Row]:
    for name, term in sorted(workspace.context.glossary.items()):
        yield name, ", ".join(term.synonyms), str(term.means), _record(workspace, "glossary", name)


def _queries(workspace: Workspace) -> Iterator[Row]:
    for name, query in sorted(workspace.context.verified_queries.items()):
        yield name, query.question, query.verified_by or "", _record(workspace, "verified_queries", name)


def _decisions(workspace: Workspace) -> Iterator[Row]:
    for name, one in sorted(workspace.decisions.decisions.items()):
        where = workspace.decisions.sources.get(name, "")
        yield name, one.status, str(one.decided_on or "undated"), one.option, where


def _word(workspace: Workspace, section: str, name: str) -> str:
    path = workspace.path_of_word(section, name)
    return f"{path}:{workspace.line(path, (section, name))}"


def _record(workspace: Workspace, section: str, name: str) -> str:
    return workspace.context.paths.get(f"{section}/{name}", "")


KINDS: Mapping[str, Kind] = {
    "facts": Kind(("fact", "type", "values", "label", "where"), _facts),
    "actions": Kind(("action", "outcome", "label", "where"), _actions),
    "outcomes": Kind(("outcome", "complete", "actions", "where"), _outcomes),
    "policies": Kind(("policy", "domain", "owner", "from", "until", "where"), _policies),
    "domains": Kind(("domain", "policies", "cases"), _domains),
    "owners": Kind(("owner", "count", "policies"), _owners),
    "cases": Kind(("case", "expects", "where"), _cases),
    "entities": Kind(("entity", "table", "description", "where"), _entities),
    "metrics": Kind(("metric", "type", "description", "where"), _metrics),
    "gotchas": Kind(("gotcha", "severity", "trap", "where"), _gotchas),
    "glossary": Kind(("term", "synonyms", "means", "where"), _glossary),
    "queries": Kind(("query", "question", "verified by", "where"), _queries),
    "decisions": Kind(("decision", "status", "day", "option", "where"), _decisions),
}
