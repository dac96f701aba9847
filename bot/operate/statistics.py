"""`bylaw stats`: what the store knows of the questions so far. One section a question that somebody asks of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.evidence.store.columns import moment, told

if TYPE_CHECKING:
    from bot.evidence.store.connection import Connection

Section = Callable[["Connection", datetime | None], dict[str, Any]]
_MOST_EXAMPLES = 3


@dataclass(frozen=True)
class _Missing:
    """A question that no rule covered: the words of it that nothing speaks of, and whom it was sent to."""

    text: str
    words: tuple[str, ...]
    owners: tuple[str, ...]
    at: datetime


def answered(connection: Connection, since: datetime | None) -> dict[str, Any]:
    """How many questions there were, by kind and by how they ended."""
    later = "" if since is None else "WHERE at >= :since"
    query = f"SELECT kind, status, count(*) AS count FROM query_log {later} GROUP BY kind, status ORDER BY kind, status"
    ended = connection.all(query, {"since": since})
    return {"questions": sum(one["count"] for one in ended), "ended": ended}


def uncovered(connection: Connection, since: datetime | None) -> dict[str, Any]:
    """The missing policies: questions that no rule covers, those about the same together, the most asked first."""
    together: dict[tuple[str, ...], list[_Missing]] = defaultdict(list)
    for one in _missing(connection, since):
        together[tuple(sorted(one.words)) or (one.text.casefold(),)].append(one)
    policies = [_policy(words, asked) for words, asked in together.items()]
    policies.sort(key=lambda one: (-one["count"], one["words"]))
    return {"questions": sum(one["count"] for one in policies), "missing": policies}


def _policy(words: Sequence[str], asked: Sequence[_Missing]) -> dict[str, Any]:
    texts = Counter(one.text for one in asked)
    owners = sorted({owner for one in asked for owner in one.owners})
    examples = [text for text, _ in sorted(texts.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_EXAMPLES]]
    last = max(one.at for one in asked).isoformat()
    return {"words": list(words), "count": len(asked), "owners": owners, "questions": examples, "last_asked": last}


def _missing(connection: Connection, since: datetime | None) -> Iterator[_Missing]:
    later = "" if since is None else " AND log.at >= :since"
    for row in connection.all(f"{_MISSING}{later} ORDER BY log.at, log.log_id", {"since": since}):
        found = ((told(row["reply"]) or {}).get("meta") or {}).get("uncovered")
        if isinstance(found, dict):
            words, owners = tuple(found.get("words", ())), tuple(found.get("owners", ()))
            yield _Missing(row["natural_language"], words, owners, moment(row["at"]))


# whoever picked a topic that was offered missed no policy
_MISSING = """SELECT log.natural_language, log.at, requests.reply
    FROM query_log AS log JOIN requests ON log.request_id = requests.request_id
    WHERE (log.status = 'refused' OR (log.status = 'needs_choice' AND NOT EXISTS (
        SELECT 1 FROM query_log AS later WHERE later.clarifies = log.request_id AND later.status <> 'refused')))"""


def gate(connection: Connection, since: datetime | None) -> dict[str, Any]:
    """What the gate decided about calls of agents."""
    from bot.gate.statistics import gate as counted

    return counted(connection, since)


def refinement(connection: Connection, since: datetime | None) -> dict[str, Any]:
    """What the bounded loop did, and what people made of its recommendations."""
    from bot.operate.refinement import refinement as counted

    return counted(connection, since)


SECTIONS: Mapping[str, Section] = {"answered": answered, "uncovered": uncovered, "gate": gate, "refinement": refinement}


def in_words(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """The sections for people."""
    return "\n".join(line for name, found in sections.items() for line in _LINES[name](found))


def _answered_lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"{found['questions']} {'question' if found['questions'] == 1 else 'questions'}"
    for one in found["ended"]:
        yield f"  {one['count']:>6}  {one['kind']}: {one['status'].replace('_', ' ')}"


def _uncovered_lines(found: Mapping[str, Any]) -> Iterator[str]:
    if not found["missing"]:
        yield "no question was without a rule"
        return
    yield f"missing policies, by how often they were asked for ({found['questions']} questions):"
    for one in found["missing"]:
        yield f"  {one['count']:>6}  {', '.join(one['words'])}"
        yield from (f"          “{text}”" for text in one["questions"])
        whom = ", ".join(one["owners"]) or "nobody is named as owner"
        yield f"          to ask: {whom}; last asked {one['last_asked'][:10]}"


def _quality_lines(found: Mapping[str, Any]) -> Iterator[str]:
    from bot.operate.quality import lines

    yield "what people made of the answers:"
    yield from lines(found)


def _calibration_lines(found: Mapping[str, Any]) -> Iterator[str]:
    from bot.operate.quality import calibration_lines

    yield "the weights of the risk factors:"
    yield from calibration_lines(found)


def _gate_lines(found: Mapping[str, Any]) -> Iterator[str]:
    from bot.gate.statistics import lines

    yield from lines(found)


def _refinement_lines(found: Mapping[str, Any]) -> Iterator[str]:
    from bot.operate.refinement import lines

    yield from lines(found)


_LINES: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "answered": _answered_lines,
    "uncovered": _uncovered_lines,
    "gate": _gate_lines,
    "refinement": _refinement_lines,
    "quality": _quality_lines,
    "calibration": _calibration_lines,
}
