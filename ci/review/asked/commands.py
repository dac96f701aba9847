"""What a comment asks of bylaw: `/bylaw why …`, `/bylaw diff`, `/bylaw accept …`, read strictly.

A comment is a stranger's text. Only one that begins with `/bylaw` asks for anything, and what is not one of the three
forms is answered with how they are written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

USAGE = """\
/bylaw why {"has_receipt": true, "days_since_purchase": 12}
/bylaw why a name of a case
/bylaw diff
/bylaw accept FINDING at COMMIT until 2026-12-31 because REASON"""
LONGEST = 20_000  # of a comment that is looked at
_LONGEST_NUMBER = 40
_MOST_FACTS = 500
_WORD = re.compile(r"/bylaw(?:\s+|$)")
_ACCEPT = re.compile(
    r"(?P<finding>[0-9a-f]{6,16}|[a-z]+(?:-[a-z]+)*)\s+at\s+(?P<head>[0-9a-f]{7,40})"
    r"\s+until\s+(?P<until>\d{4}-\d{2}-\d{2})\s+because\s+(?P<because>\S.*)",
    re.ASCII,
)
LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class Why:
    """What holds in a case: given as facts, or by the name of one in `cases.yaml`."""

    facts: dict[str, Any] | None = None
    case: str = ""


@dataclass(frozen=True, slots=True)
class Diff:
    """Which cases change outcome."""


@dataclass(frozen=True, slots=True)
class Accept:
    """A finding is accepted for a while, as it was seen at the commit `head`. `finding` is (the beginning of) its
    fingerprint, or its id.
    """

    finding: str
    head: str
    until: date
    because: str


@dataclass(frozen=True, slots=True)
class Misunderstood:
    """What is wrong with a comment that asks for something."""

    why: str


Command = Why | Diff | Accept | Misunderstood


def parse(text: str) -> Command | None:
    """What *text* asks for; None when it asks for nothing."""
    text = text.replace("\r\n", "\n").strip()
    begun = _WORD.match(text)
    if begun is None:
        return None
    if len(text) > LONGEST:
        return Misunderstood(f"the comment is longer than {LONGEST:,} letters")
    verb, _, rest = text[begun.end() :].replace("\t", " ").partition(" ")
    verb, broken, more = verb.partition("\n")
    rest = (more + " " + rest if broken else rest).strip()
    match verb:
        case "why":
            return _why(rest)
        case "diff":
            return Diff() if not rest else Misunderstood("`diff` takes nothing behind it")
        case "accept":
            return _accept(rest)
        case "":
            return Misunderstood("nothing stands behind `/bylaw`")
        case _:
            return Misunderstood("that is none of the commands")


def _why(rest: str) -> Command:
    if not rest:
        return Misunderstood("`why` asks about a case: facts as JSON, or the name of a case")
    if not rest.startswith("{"):
        if "\n" in rest:
            return Misunderstood("the name of a case stands on one line")
        return Why(case=rest)
    try:
        facts = json.loads(
            rest, parse_float=_number, parse_int=_number, parse_constant=_refused, object_pairs_hook=_once
        )
    except (ValueError, RecursionError):
        return Misunderstood("the facts are not a JSON object that names each fact once")
    if len(facts) > _MOST_FACTS or any(isinstance(value, dict | list) for value in facts.values()):
        return Misunderstood("each fact has one value, and there are not more of them than a case has")
    return Why(facts=facts)


def _accept(rest: str) -> Command:
    found = _ACCEPT.fullmatch(rest)
    if found is None:
        return Misunderstood(
            "`accept` needs a finding, `at` the commit that you saw, `until` a day, and `because` of a reason, "
            "on one line"
        )
    if len(found["because"]) > LONGEST_REASON:
        return Misunderstood(f"the reason is longer than {LONGEST_REASON} letters")
    try:
        until = date.fromisoformat(found["until"])
    except ValueError:
        return Misunderstood("there is no such day")
    return Accept(found["finding"], found["head"], until, found["because"].strip())


def _number(digits: str) -> int | Decimal:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError("no fact is that large")
    return Decimal(digits) if re.search(r"[.eE]", digits) else int(digits)


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a fact is named twice")
    return found
