"""A changelog told to people, in text or Markdown, and to machines. All tellings hold the same facts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import click

from ci.changelog.entries import Changelog, Entry, PolicyChange, Shift, in_english
from ci.proofs.versions.shared import WordChange
from ci.report.changes import remarks
from ci.report.markup import inert
from ci.report.visible import visible

MOST_SHIFTS = 5  # kinds of cases of one policy that are told; `bylaw diff` lists them all


def text(log: Changelog) -> str:
    """For a terminal, with colours for `click.echo` to keep or strip."""
    blocks = []
    for (domain, owner), policies in _grouped(log):
        lines = [click.style(f"{visible(domain)}: {visible(owner)}", bold=True)]
        for change in policies:
            lines.append(f"  {visible(change.policy_id)} ({visible(change.paper.source)})")
            lines += [f"    - {visible(line)}" for line in _lines(log, change)]
        blocks.append("\n".join(lines))
    notes = [visible(line) for line in _notes(log)]
    if log.comparison.decisions:
        told = (f"  - {visible(one)}" for one in log.comparison.decisions)
        blocks.append("\n".join([click.style("Decisions", bold=True), *told]))
    return "\n\n".join([*blocks, *(["\n".join(notes)] if notes else [])])


def markdown(log: Changelog) -> str:
    """For a release or a page; whatever a file says does nothing in it."""
    lines: list[str] = []
    for (domain, owner), policies in _grouped(log):
        lines += [f"## {inert(domain)}: {inert(owner)}", ""]
        for change in policies:
            lines += [f"**{inert(change.policy_id)}** ({inert(change.paper.source)})", ""]
            lines += [*(f"- {inert(line)}" for line in _lines(log, change)), ""]
    if log.comparison.decisions:
        lines += ["## Decisions", "", *(f"- {inert(one)}" for one in log.comparison.decisions), ""]
    return "\n".join([*lines, *(inert(line) for line in _notes(log))]).rstrip("\n")


def document(log: Changelog) -> str:
    """One JSON document."""
    told = log.comparison
    return json.dumps(
        {
            "base": told.names[0],
            "head": told.names[1],
            "at": told.at.isoformat(),
            "groups": [
                {"domain": domain, "owner": owner, "policies": [_policy(change) for change in policies]}
                for (domain, owner), policies in _grouped(log)
            ],
            "reworded": list(log.reworded),
            "texts": list(log.comparison.texts),
            "decisions": list(log.comparison.decisions),
            "words": [_word(word) for word in told.found.shared.words],
            "only_comments_in": told.remark_count,
            "nothing_else_changes": log.is_proved,
        },
        indent=2,
        sort_keys=True,
        ensure_ascii=False,
    )


def _grouped(log: Changelog) -> Iterator[tuple[tuple[str, str], list[PolicyChange]]]:
    for key, policies in groupby(log.policies, key=lambda change: (change.paper.domain, change.paper.owner)):
        yield key, list(policies)


def _lines(log: Changelog, change: PolicyChange) -> Iterator[str]:
    yield from map(_entry, change.entries)
    yield from map(_shift, change.shifts[:MOST_SHIFTS])
    if len(change.shifts) > MOST_SHIFTS:
        yield f"and {len(change.shifts) - MOST_SHIFTS} more kinds of cases: `bylaw diff` lists them all"
    if not change.shifts and log.is_proved:
        yield "no case is decided differently because of it"


def _entry(entry: Entry) -> str:
    return entry.words if entry.since is None else f"from {in_english(entry.since)}, {entry.words}"


def _shift(shift: Shift) -> str:
    since = "" if shift.since is None else f"from {in_english(shift.since)}: "
    until = "" if shift.until is None else f" (until {in_english(shift.until)})"
    return f"{since}{shift.where}: {shift.after} instead of {shift.before}{until}"


def _notes(log: Changelog) -> Iterator[str]:
    words = [_word(word)["words"] for word in log.comparison.found.shared.words]
    if words:
        yield f"Words: {'; '.join(words)}."
    yield from (f"{line}." for line in log.comparison.texts)
    if log.reworded:
        yield f"Worded differently, decided as before: {', '.join(log.reworded)}."
    if not log.policies and log.is_proved:
        no_case = log.reworded or log.comparison.texts
        what = "No case is decided differently" if no_case else "No policy changes"
        yield f"{what}{remarks(log.comparison.remark_count)}."
    elif log.is_proved:
        yield "No other case is decided differently: proved."
    else:
        why = "; ".join(dict.fromkeys(limit.reason for limit in log.comparison.found.unknown))
        yield f"Whether other cases are decided differently is not known: {why}."


def _word(word: WordChange) -> dict[str, Any]:
    values = f": {', '.join(word.values)}" if word.values else ""
    what = {"value": "values of the fact", "domain": "the range of the fact"}.get(word.what, word.what)
    return {"what": word.what, "name": word.name, "words": f"{what} `{word.name}` {word.change}{values}"}


def _policy(change: PolicyChange) -> dict[str, Any]:
    return {
        "policy_id": change.policy_id,
        "source": change.paper.source,
        "changes": [{"kind": entry.kind, "words": entry.words, "from": _iso(entry.since)} for entry in change.entries],
        "cases": [
            {
                "where": shift.where,
                "before": shift.before,
                "after": shift.after,
                "from": _iso(shift.since),
                "until": _iso(shift.until),
            }
            for shift in change.shifts
        ],
    }


def _iso(day: Any) -> str | None:
    return None if day is None else day.isoformat()
