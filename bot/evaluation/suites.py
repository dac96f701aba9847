"""One suite, asked question by question, each in a conversation of its own: what the bot did, and was it right?

What counts as right is said by the question alone. Rows are equal when the same values stand in the same rows,
whatever the columns are called and in whatever order they come; more columns than were asked for do no harm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import permutations
from typing import Any

from bot.conversation import Actor, AnswerKind, Question, Reply
from bylaw.authored.machines.suites import Expected, Suite, SuiteQuestion
from bylaw.warehouses.port import Warehouse

Say = Callable[[Question], tuple[Reply, AnswerKind | None]]  # the reply, and who was asked for it: nobody is None
_DID: Mapping[str, Expected] = {
    "answered": "answer",
    "needs_choice": "clarify",
    "needs_fact": "clarify",
    "pending": "clarify",
}
_DIGITS = 9  # of a number that two ways of computing it must share
_WIDEST = 6  # columns of golden rows that are looked for among those of an answer


@dataclass(frozen=True, slots=True)
class Graded:
    """What became of one question: what the bot did, whether that was right, and why not. `route`: who was asked."""

    question: SuiteQuestion
    did: Expected
    is_right: bool
    why: str
    reply: Reply
    route: str = "unknown"
    is_held_out: bool = False


def run(suite: Suite, say: Say, warehouse: Warehouse | None) -> Iterator[Graded]:
    """Ask every question of *suite*. *warehouse* runs the SQL of those that give no rows."""
    for number, question in enumerate(suite.questions, 1):
        user = Actor(id=question.user or suite.user)
        session = f"{suite.name}-{number}"
        said = [*question.after, question.ask]
        replies = [
            say(Question(text=text, actor=user, asked_at=suite.at, session_id=session, request_id=f"{session}-{turn}"))
            for turn, text in enumerate(said, 1)
        ]
        yield replace(grade(question, *replies[-1], warehouse), is_held_out=suite.held_out or question.held_out)


def grade(
    question: SuiteQuestion, reply: Reply, route: AnswerKind | None, warehouse: Warehouse | None = None
) -> Graded:
    """Was *reply*, given by the answerer *route*, right?"""
    did = "form" if reply.form is not None else _DID.get(reply.status, "refuse")
    asked = route or "unknown"
    why = _wrong_route(question, reply, asked)
    why = why or _wrong_deed(question, did) or _wrong_rows(question, reply, warehouse)
    return Graded(question, did, not why, why, reply, asked)


def _wrong_route(question: SuiteQuestion, reply: Reply, route: str) -> str:
    if question.route is None:
        return ""
    if route != question.route:
        return f"went to {route}, not to {question.route}"
    reached = _reached(reply)
    missed = [name for name in question.reaches if not any(_names(name, found) for found in reached)]
    return f"did not reach {', '.join(missed)}" if missed else ""


def _reached(reply: Reply) -> set[str]:
    """What the reply rests on: cited records, bound words, and the choices it offers."""
    cited = [citation.id.rpartition("/")[2] for citation in reply.citations]
    bound = [binding.name for binding in reply.bindings if binding.kind in ("metric", "entity")]
    return {*cited, *bound, *(choice.value for choice in reply.choices)}


def _names(name: str, found: str) -> bool:
    """Is *found* meant by *name*? A policy may be named by the beginning of its id: `POL-REFUND`."""
    return found == name or (name.startswith("POL-") and found.startswith(f"{name}-"))


def _wrong_deed(question: SuiteQuestion, did: Expected) -> str:
    is_open = did == "form" and question.expect in ("clarify", "refuse")  # nothing was answered, and a way on shown
    if question.is_routing or did == question.expect or is_open:
        return ""
    return f"did {did}, should {question.expect}"


def _wrong_rows(question: SuiteQuestion, reply: Reply, warehouse: Warehouse | None) -> str:
    golden: Sequence[Sequence[Any]] | None = question.rows
    if golden is None and question.sql is not None and warehouse is not None:
        golden = warehouse.run(question.sql, 10_000).rows
    if golden is None or same_rows(golden, reply.rows, question.ordered):
        return ""
    return f"gave {_shown(reply.rows)}, not {_shown(golden)}"


def same_rows(golden: Sequence[Sequence[Any]], given: Sequence[Sequence[Any]], is_ordered: bool = False) -> bool:
    """Do some columns of *given*, in some order, hold exactly the rows of *golden*?"""
    if len(golden) != len(given):
        return False
    if not golden:
        return True
    wanted = [tuple(map(plain, row)) for row in golden]
    held = [tuple(map(plain, row)) for row in given]
    width = len(wanted[0])
    if width > min(len(held[0]), _WIDEST):
        return False
    for columns in permutations(range(len(held[0])), width):
        taken = [tuple(row[i] for i in columns) for row in held]
        if taken == wanted if is_ordered else Counter(taken) == Counter(wanted):
            return True
    return False


def plain(cell: Any) -> Hashable:
    """A value as it is compared: numbers to nine digits, a day like the moment it begins, `true` like 1."""
    if isinstance(cell, bool | int | float | Decimal):
        return _rounded(Decimal(str(cell)) if isinstance(cell, float) else Decimal(cell))
    if isinstance(cell, datetime):
        return plain(cell.replace(tzinfo=None).isoformat())
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, str):
        return cell.removesuffix("T00:00:00").removesuffix(" 00:00:00")
    return str(cell) if cell is not None else None


def _rounded(number: Decimal) -> Hashable:
    if not number.is_finite():
        return str(number)
    short = Decimal(f"{number:.{_DIGITS - 1}e}")
    return short.normalize() + 0  # no negative zero


def _shown(rows: Sequence[Sequence[Any]]) -> str:
    shown = "; ".join(", ".join(str(cell) for cell in row) for row in rows[:3])
    return f"{shown or 'no rows'}{f' … ({len(rows)} rows)' if len(rows) > 3 else ''}"
