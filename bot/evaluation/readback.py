"""`bylaw check --context`: what a context can answer without a model, told to people or as one JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, Literal

from bot.analytics.answerable import VERDICTS, Answerable, Row, answerable
from bylaw.bundle import read
from bylaw.canonical import canonical_json

_SHOWN = 12  # kinds of questions that are not read as what they mean, each with one example


def told(bundle: Path, today: date, format_: Literal["text", "json"]) -> tuple[str, bool]:
    """What to print, and whether every verified query is read as what it says."""
    found = answerable(read(bundle).context, today)
    holds = all(row.verdict == "right" for row in found.rows if row.asked.template == "verified")
    return (f"{canonical_json(_document(found))}\n" if format_ == "json" else _text(found)), holds


def _document(found: Answerable) -> dict[str, Any]:
    return {
        "questions": len(found.rows),
        **{verdict.replace(" ", "_"): found.count(verdict) for verdict in VERDICTS},
        "not_right": [_row(row) for row in found.rows if row.verdict != "right"],
        "clashes": [{"phrase": one.phrase, "kind": one.kind, "meant": list(one.meant)} for one in found.clashes],
    }


def _row(row: Row) -> dict[str, Any]:
    asked = row.asked
    told = {"question": asked.text, "about": asked.about, "template": asked.template, "verdict": row.verdict}
    return told | {"said": row.said, "help": row.help}


def _text(found: Answerable) -> str:
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Answerable) -> Iterator[str]:
    if not found.rows:
        yield "context/ declares no metric and no verified query that says what it means: there is nothing to ask"
    else:
        counts = ", ".join(f"{found.count(verdict)} {verdict}" for verdict in VERDICTS)
        yield f"{len(found.rows)} questions written from the names in context/ and read back: {counts}"
    for verdict, title in (
        ("something else", "Read as something else (an answer would be wrong, and nobody is asked):"),
        ("asked back", "Asked back (people get a form, or choose what is meant):"),
    ):
        rows = [row for row in found.rows if row.verdict == verdict]
        if rows:
            yield from ("", title, *_examples(rows))
    if found.clashes:
        yield from ("", "Names that several things share (give each a name of its own, or people are asked each time):")
        yield from (f"  `{one.phrase}` is {one.kind} {' and '.join(one.meant)}" for one in found.clashes)


def _examples(rows: list[Row]) -> Iterator[str]:
    """One question for each record and what was said of it, what comes up most first."""
    kinds = Counter((row.asked.about, row.said.split("`")[0]) for row in rows)
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        first.setdefault((row.asked.about, row.said.split("`")[0]), row)
    for kind, count in kinds.most_common(_SHOWN):
        row = first[kind]
        more = f" (and {count - 1} like it)" if count > 1 else ""
        yield f"  {row.asked.text}{more}"
        yield f"    {row.asked.about}: {row.said}{f'; {row.help}' if row.help else ''}"
    if len(kinds) > _SHOWN:
        yield f"  … and {len(kinds) - _SHOWN} kinds more: `--format json` has all"
