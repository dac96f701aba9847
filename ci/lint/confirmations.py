"""Decisions whose `confirmation` names a check: CI sees whether they are still kept.

What people look at (texts) is theirs; what only rows show is asked in `ci.measured.confirmations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from bylaw.authored.confirmation import Confirmation
from bylaw.authored.context import Metric
from bylaw.authored.decisions import Decision
from bylaw.authored.policies import Policy
from ci.findings import SEVERITIES, Finding, Place
from ci.loading.load import Workspace
from ci.loading.present import present
from ci.loading.schema.nearest import did_you_mean

UNKEPT = "unkept-decision"
OF_EVERYTHING = ("policy", "case", "no_finding")  # what no part of a repository knows alone
HELP = "see to it that it holds again, or decide anew: supersede the decision, or correct what confirms it"


def each_check(workspace: Workspace, *kinds: str) -> Iterator[tuple[Decision, Confirmation, Place]]:
    """The checks of decisions that hold, of these *kinds* (all where none is named), and where they are written."""
    for id, one in workspace.decisions.decisions.items():
        path = workspace.decisions.sources.get(id, "")
        for number, confirmation in enumerate(one.confirmation if one.stands else ()):
            check = confirmation.check
            if check is not None and (not kinds or check[0] in kinds):
                yield one, confirmation, _place(workspace, path, number, check[0])


def unknown_confirmations(workspace: Workspace) -> Iterator[Finding]:
    """What confirms a decision is there: the policy, the case, the metric, the query, the finding's id."""
    context = workspace.context
    known: Mapping[str, Iterable[str]] = {
        "policy": workspace.policy_ids,
        "case": {entry.case.name for entry in workspace.cases},
        "metric": context.metrics,
        "query": [name for name, query in context.verified_queries.items() if query.sql is not None],
        "no_finding": SEVERITIES,
    }
    for one, confirmation, place in each_check(workspace, *known):
        kind, name = confirmation.check or ("", "")
        if name not in known[kind] and not workspace.is_lost(name):
            what = f"{kind.replace('no_', '')}{' with `sql`' if name in context.verified_queries else ''}"
            message = f"decision `{one.id}` is confirmed by the {what} `{name}`, which is not there"
            yield Finding("dangling-reference", message, place, help=did_you_mean(name, known[kind]) or HELP)


def unkept_decisions(workspace: Workspace) -> Iterator[Finding]:
    """A decision that holds is kept, as far as what confirms it can be seen without asking anything."""
    asked = list(each_check(workspace, "metric", "path", "no_path"))
    there = present(workspace.root, {one.path or one.no_path or "" for _, one, _ in asked} - {""})
    for one, confirmation, place in asked:
        kind, name = confirmation.check or ("", "")
        if kind == "metric":
            why = _redefined(workspace, confirmation)
        else:
            is_there = name in there
            why = None if is_there is (kind == "path") else f"`{name}` is {'' if is_there else 'not '}there"
        if why is not None:
            yield unkept(one, place, kind, name, why)


def unkept_by(findings: Iterable[Finding], workspace: Workspace) -> Iterator[Finding]:
    """The decisions that are kept no more by what a check of everything found: policies out of force, failing cases,
    ids of *findings* that must not be. Of policies *workspace* needs those alone that confirm a decision.
    """
    policies = {file.policy.policy_id: file.policy for file in workspace.policies}
    failing: dict[tuple[str, str], Finding] = {}
    for finding in sorted(findings, key=lambda one: (one.at.path, one.message)):
        failing.setdefault(("no_finding", finding.id), finding)
        if finding.id == "failing-case" and finding.rules:
            failing.setdefault(("case", finding.rules[0]), finding)
    for one, confirmation, place in each_check(workspace, *OF_EVERYTHING):
        kind, name = confirmation.check or ("", "")
        if (found := failing.get((kind, name))) is not None:
            yield unkept(one, place, kind, name, found.message, ((found.at, "found here"),))
        elif kind == "policy" and name in policies and (state := _not_in_force(policies[name], workspace.at)):
            yield unkept(one, place, kind, name, f"the policy `{name}` {state}")


def unkept(
    one: Decision, place: Place, kind: str, name: str, why: str, related: tuple[tuple[Place, str], ...] = ()
) -> Finding:
    """The finding that *one* is not kept; *why* is what is so instead."""
    message = f"the decision `{one.id}` is no longer kept: {why}"
    return Finding(UNKEPT, message, place, (), (one.id, kind, name), HELP, related)


def definition_of(metric: Metric) -> str:
    """What a metric counts, in the words of `bylaw explain`: `sum(amount) of orders, only rows where paid`."""
    only = f", only rows where {metric.filter}" if metric.filter else ""
    match metric.type:
        case "ratio":
            return f"{metric.numerator} / {metric.denominator}{only}"
        case "derived":
            names = ", ".join(f"{one.name} as {one.alias}" if one.alias else one.name for one in metric.inputs)
            return f"{metric.expr} of {names}{only}"
        case "cumulative":
            span = f" over {metric.window}" if metric.window else ""
            return f"the running {metric.metric}{span}{only}"
    return f"{metric.agg}({metric.expr or '*'}) of {metric.entity}{only}"


def _not_in_force(policy: Policy, at: date | None) -> str | None:
    metadata = policy.metadata
    if policy.draft:
        return "is a draft"
    if not policy.is_active:
        return "is not confirmed by anybody"
    if at is not None and metadata.expiry_date is not None and metadata.expiry_date < at:
        return f"ended on {metadata.expiry_date}"
    if at is not None and metadata.effective_date is not None and metadata.effective_date > at:
        return f"is in force from {metadata.effective_date} on"
    return None


def _redefined(workspace: Workspace, confirmation: Confirmation) -> str | None:
    metric = workspace.context.metrics.get(confirmation.metric or "")
    if metric is None:
        return None
    written, now = (" ".join(text.split()) for text in (confirmation.defined_as or "", definition_of(metric)))
    return None if written == now else f"the metric `{metric.name}` is defined as `{now}`, and no more as `{written}`"


def _place(workspace: Workspace, path: str, number: int, kind: str) -> Place:
    """The value of a check as it is written: alone, or one of a list."""
    source = workspace.sources.get(path)
    written = source.data.get("confirmation") if source is not None and isinstance(source.data, dict) else None
    return Place(path, ("confirmation", number, kind) if isinstance(written, list) else ("confirmation", kind))
