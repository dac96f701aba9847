"""How good the answers are, by what people made of them: the figures of seed 004, 1.4, counted in the database.

An answer failed where somebody put it in other words, corrected it or said that it was bad. One that nobody has said
anything about yet is not counted either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.evidence.store.columns import stamp
from bot.evidence.store.connection import Connection
from bot.lifecycle import TAKEN, Outcome
from bot.operate.calibration import Sums, proposed
from bylaw.authored.machines.risk import Risk

_FACTORS = ("ambiguity", "complexity", "novelty", "source_risk")
_HIDDEN = "—"
_BAR = 30  # letters of a plot

_IS_ANSWER = "(kind = 'data' AND status = 'answered' AND autonomy_level IS NOT NULL)"
# what is null would be neither equal nor different
_SAID, _BECAME = "coalesce(feedback, '')", "coalesce(outcome, '')"
_FAILED = f"({_BECAME} = '{Outcome.REVISED.value}' OR correction_made OR {_SAID} = 'negative')"
_TAKING = ", ".join(f"'{outcome.value}'" for outcome, is_taken in TAKEN.items() if is_taken)
_TAKEN = f"{_BECAME} IN ({_TAKING})"
_ENDED = f"({_FAILED} OR {_TAKEN} OR {_BECAME} = '{Outcome.ABANDONED.value}')"
_WELL = f"({_TAKEN} AND NOT {_FAILED})"
_COUNTS = f"({_IS_ANSWER} AND {_ENDED})"
# what is counted, and of what
_PARTS: Mapping[str, tuple[str, str]] = {
    "clarification_precision": ("choice > 0", "choice IS NOT NULL"),
    "post_clarification_acceptance": (_WELL, f"{_COUNTS} AND clarifies IS NOT NULL"),
    "incorrect_first_answers": (_FAILED, f"{_COUNTS} AND revises IS NULL"),
    "acceptance": (_WELL, _COUNTS),
    "explicit_acceptance": (f"{_BECAME} = '{Outcome.ACCEPTED.value}'", _COUNTS),
}


def _sum(condition: str) -> str:
    return f"coalesce(sum({_as_number(condition)}), 0)"


def _as_number(condition: str) -> str:
    return f"CASE WHEN {condition} THEN 1 ELSE 0 END"


def quality(connection: Connection, since: datetime | None, rules: Risk) -> dict[str, Any]:
    """The figures, each with how many answers it is counted from, and its goal."""
    columns = [f"{_sum(f'{one} AND {of}')} AS {name}, {_sum(of)} AS {name}_of" for name, (one, of) in _PARTS.items()]
    row = _row(connection, ", ".join(columns), since)
    found = {name: _rate(int(row[name]), int(row[f"{name}_of"]), getattr(rules.goals, name, None)) for name in _PARTS}
    return {
        "figures": {**found, "time_to_first_answer": _time(connection, since, rules)},
        "corrections_applied": _applied(connection, since, rules),
        "by_month": _by_month(connection, since),
        "memory": _memory(connection, since),
    }


def calibration(connection: Connection, now: datetime, rules: Risk) -> dict[str, Any]:
    """Do likely errors happen more often, and which weights would the errors of the last days give?"""
    since = now - timedelta(days=rules.calibration.window_days)
    columns = ["count(*) AS n", f"{_sum(_FAILED)} AS failures"]
    for name in _FACTORS:
        value = _factor(name, connection.dialect)
        parts = {"x": value, "xx": f"{value} * {value}", "xf": f"{value} * {_as_number(_FAILED)}"}
        columns += [f"coalesce(sum({sum_}), 0) AS {name}_{part}" for part, sum_ in parts.items()]
    row = _row(connection, ", ".join(columns), since, f"{_COUNTS} AND factors IS NOT NULL")
    count, failures = int(row["n"]), int(row["failures"])
    sums = {
        name: Sums(count, failures, *(float(row[f"{name}_{part}"]) for part in ("x", "xx", "xf"))) for name in _FACTORS
    }
    weights = rules.factor_weights()
    is_enough = failures >= rules.calibration.minimum_failures
    bounds = (rules.bounds.minimum, rules.bounds.maximum)
    rate = rules.calibration.learning_rate
    return {
        "window_days": rules.calibration.window_days,
        "answers": count,
        "failures": failures,
        "minimum_failures": rules.calibration.minimum_failures,
        "correlations": {name: None if (r := one.correlation) is None else round(r, 4) for name, one in sums.items()},
        "weights": dict(weights),
        "proposed": proposed(weights, sums, rate, bounds) if is_enough else None,
        "likelihood": _likelihood(connection, since),
    }


def _factor(name: str, dialect: str) -> str:
    said = f"json_extract(factors, '$.{name}')" if dialect == "sqlite" else f"factors ->> '{name}'"
    return f"CAST({said} AS DOUBLE PRECISION)"


def _likelihood(connection: Connection, since: datetime) -> list[dict[str, Any]]:
    """How often answers failed, by how likely that was said to be."""
    # SQLite may be built without `floor`; to cut off is the same where nothing is negative
    tenth = (
        "CAST(error_likelihood * 10 AS INTEGER)" if connection.dialect == "sqlite" else "floor(error_likelihood * 10)"
    )
    columns = f"{tenth} AS tenth, count(*) AS n, {_sum(_FAILED)} AS failures"
    which = f"{_COUNTS} AND error_likelihood IS NOT NULL"
    return [
        {
            "from": int(row["tenth"]) / 10,
            "to": (int(row["tenth"]) + 1) / 10,
            "answers": row["n"],
            "failures": int(row["failures"]),
            "rate": round(int(row["failures"]) / row["n"], 4),
        }
        for row in _rows(connection, columns, since, which, f" GROUP BY {tenth} ORDER BY {tenth}")
    ]


def _time(connection: Connection, since: datetime | None, rules: Risk) -> dict[str, Any]:
    """How long people wait for a first answer."""
    is_timed = "status = 'answered' AND answer_ms IS NOT NULL AND revises IS NULL"
    goal = rules.goals.time_to_first_answer_seconds
    within = _sum(f"answer_ms <= {int(goal * 1000)}")
    row = _row(connection, f"count(*) AS n, {within} AS within", since, is_timed)
    count = int(row["n"])

    def at(share: float) -> int | None:
        if not count:
            return None
        behind = f" ORDER BY answer_ms LIMIT 1 OFFSET {min(count - 1, int(count * share))}"
        return int(_rows(connection, "answer_ms", since, is_timed, behind)[0]["answer_ms"])

    return {
        "median_ms": at(0.5),
        "p95_ms": at(0.95),
        "of": count,
        "within_goal": round(int(row["within"]) / count, 4) if count else None,
        "goal_seconds": goal,
    }


def _applied(connection: Connection, since: datetime | None, rules: Risk) -> dict[str, Any]:
    """How many corrections shape answers by now. One that does was so at once (seed 004, 1.4)."""
    is_applied = "is_applied OR stage IN ('candidate', 'promoted')"
    columns = f"count(*) AS n, {_sum(is_applied)} AS applied"
    which = "correction_type <> 'permission' AND stage <> 'withdrawn'"
    row = _row(connection, columns, since, which, "corrections")
    return _rate(int(row["applied"]), row["n"], rules.goals.corrections_applied)


def _by_month(connection: Connection, since: datetime | None) -> list[dict[str, Any]]:
    columns = f"substr(at, 1, 7) AS month, count(*) AS n, {_sum(_WELL)} AS taken"
    rows = _rows(connection, columns, since, _COUNTS, " GROUP BY substr(at, 1, 7) ORDER BY substr(at, 1, 7)")
    return [
        {"month": row["month"], "answers": row["n"], "accepted": round(int(row["taken"]) / row["n"], 4)} for row in rows
    ]


def _memory(connection: Connection, since: datetime | None) -> dict[str, Any]:
    """Of people who corrected something: how often their answers failed before that, and since."""
    first = "min(CASE WHEN correction_made THEN at END) OVER (PARTITION BY actor_id)"
    parts = f"at, {first} AS first_at, {_as_number(_FAILED)} AS failed, {_as_number(_COUNTS)} AS counts"
    is_after = _as_number("at > first_at")
    columns = f"{is_after} AS is_after, count(*) AS n, sum(failed) AS failures"
    which = "first_at IS NOT NULL AND counts = 1"
    rows = _rows(
        connection, columns, since, which, f" GROUP BY {is_after}", f"(SELECT {parts} FROM query_log) AS answers"
    )
    found = {bool(row["is_after"]): (row["n"], int(row["failures"])) for row in rows}
    before, after = (found.get(is_after, (0, 0)) for is_after in (False, True))
    return {"failed_before": _rate(before[1], before[0], None), "failed_since": _rate(after[1], after[0], None)}


def _rows(
    connection: Connection,
    columns: str,
    since: datetime | None,
    which: str = "1 = 1",
    behind: str = "",
    table: str = "query_log",
) -> list[dict[str, Any]]:
    later = "" if since is None else " AND at >= :since"
    given = {} if since is None else {"since": stamp(since)}
    return connection.all(f"SELECT {columns} FROM {table} WHERE {which}{later}{behind}", given)


def _row(
    connection: Connection, columns: str, since: datetime | None, which: str = "1 = 1", table: str = "query_log"
) -> dict[str, Any]:
    return _rows(connection, columns, since, which, table=table)[0]


def _rate(count: int, of: int, goal: Decimal | None) -> dict[str, Any]:
    return {"value": round(count / of, 4) if of else None, "count": count, "of": of, "goal": goal}


# ---- for people -----------------------------------------------------------------------------------------------------

_TITLES = {
    "clarification_precision": "questions back that were needed",
    "post_clarification_acceptance": "accepted after a question back",
    "incorrect_first_answers": "first answers that were wrong",
    "acceptance": "accepted without another word",
    "explicit_acceptance": "accepted by word or click",
}


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The figures for people."""
    width = max(len(title) for title in _TITLES.values())
    for name, title in _TITLES.items():
        yield f"  {title:<{width}}  {rate_in_words(found['figures'][name])}"
    yield f"  {'corrections that are applied':<{width}}  {rate_in_words(found['corrections_applied'])}"
    time = found["figures"]["time_to_first_answer"]
    if time["of"]:
        yield f"  {'time to an answer':<{width}}  {time['median_ms']} ms in the middle, {time['p95_ms']} ms at 95 %"
    for one in found["by_month"]:
        yield f"  {one['month']}  {bar(one['accepted'])} {one['accepted']:.0%} of {one['answers']} accepted"
    before, since = found["memory"]["failed_before"], found["memory"]["failed_since"]
    if before["of"] and since["of"]:
        yield f"  people who corrected something: {before['value']:.0%} failed before, {since['value']:.0%} since"


def calibration_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The calibration for people."""
    yield f"  {found['failures']} of {found['answers']} answers failed in {found['window_days']} days"
    for one in found["likelihood"]:
        yield f"  {one['from']:.1f}–{one['to']:.1f}  {bar(one['rate'])} {one['rate']:.0%} of {one['answers']} failed"
    for name, now in found["weights"].items():
        r = found["correlations"][name]
        new = "" if found["proposed"] is None else f", proposed {found['proposed'][name]}"
        yield f"  {name:<12} weighs {now}{new}; moves with failures by {_HIDDEN if r is None else f'{r:+.2f}'}"
    if found["proposed"] is None:
        yield f"  no weights are proposed below {found['minimum_failures']} failures"


def rate_in_words(one: Mapping[str, Any]) -> str:
    """ "82 % of 120 (goal 90 %)"; a dash where nothing was counted."""
    goal = "" if one["goal"] is None else f" (goal {one['goal']:.0%})"
    return _HIDDEN if one["value"] is None else f"{one['value']:.0%} of {one['of']}{goal}"


def bar(share: float) -> str:
    """A share as a bar of letters."""
    length = round(share * _BAR)
    return "#" * length + "." * (_BAR - length)


def plots(found: Mapping[str, Mapping[str, Any]]) -> Sequence[tuple[str, Sequence[tuple[str, float]]]]:
    """What is drawn: a title, and a share for each label."""
    months = [(one["month"], one["accepted"]) for one in found["quality"]["by_month"]]
    risks = [(f"{one['from']:.1f}–{one['to']:.1f}", one["rate"]) for one in found["calibration"]["likelihood"]]
    figures = found["quality"]["figures"]
    rates = [(title, figures[name]["value"]) for name, title in _TITLES.items() if figures[name]["value"] is not None]
    return (
        ("What people made of the answers", rates),
        ("Accepted, by month", months),
        ("Failed, by how likely an error was said to be", risks),
    )
