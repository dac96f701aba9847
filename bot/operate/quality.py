"""How good the answers are, by what people made of them: the figures of seed 004, 1.4, counted in the database.

An answer failed where somebody put it in other words, corrected it or said that it was bad. One that nobody has said
anything about yet is not counted either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Float, String, and_, case, func, or_, select, type_coerce

from bot.evidence.store.connection import Connection
from bot.evidence.store.schema import corrections, query_log
from bot.lifecycle import TAKEN, Outcome
from bot.operate.calibration import Sums, proposed
from bylaw.authored.machines.risk import Risk

_LOG = query_log.c
_FACTORS = ("ambiguity", "complexity", "novelty", "source_risk")
_HIDDEN = "—"
_BAR = 30  # letters of a plot

_IS_ANSWER = and_(_LOG.kind == "data", _LOG.status == "answered", _LOG.autonomy_level.is_not(None))
_SAID: ColumnElement[Any] = func.coalesce(_LOG.feedback, "")  # what is null would be neither equal nor different
_BECAME: ColumnElement[Any] = func.coalesce(_LOG.outcome, "")
_FAILED = or_(_BECAME.in_([Outcome.REVISED.value]), _LOG.correction_made.is_(True), _SAID.in_(["negative"]))
_TAKEN = _BECAME.in_([outcome.value for outcome, is_taken in TAKEN.items() if is_taken])
_ENDED = or_(_FAILED, _TAKEN, _BECAME.in_([Outcome.ABANDONED.value]))


def quality(connection: Connection, since: datetime | None, rules: Risk) -> dict[str, Any]:
    """The figures, each with how many answers it is counted from, and its goal."""
    first = and_(_IS_ANSWER, _LOG.revises.is_(None))
    parts: dict[str, tuple[ColumnElement[bool], ColumnElement[bool]]] = {
        "clarification_precision": (_LOG.choice > 0, _LOG.choice.is_not(None)),
        "post_clarification_acceptance": (
            and_(_TAKEN, ~_FAILED),
            and_(_IS_ANSWER, _LOG.clarifies.is_not(None), _ENDED),
        ),
        "incorrect_first_answers": (_FAILED, and_(first, _ENDED)),
        "acceptance": (and_(_TAKEN, ~_FAILED), and_(_IS_ANSWER, _ENDED)),
        "explicit_acceptance": (_BECAME.in_([Outcome.ACCEPTED.value]), and_(_IS_ANSWER, _ENDED)),
    }
    columns = [
        _count(condition).label(f"{name}_{which}")
        for name, (of_those, all_those) in parts.items()
        for which, condition in (("count", and_(of_those, all_those)), ("of", all_those))
    ]
    row = connection.execute(_from(select(*columns), since)).one()._mapping
    found = {
        name: _rate(int(row[f"{name}_count"] or 0), int(row[f"{name}_of"] or 0), getattr(rules.goals, name, None))
        for name in parts
    }
    return {
        "figures": {**found, "time_to_first_answer": _time(connection, since, rules)},
        "corrections_applied": _applied(connection, since, rules),
        "by_month": _by_month(connection, since),
        "memory": _memory(connection, since),
    }


def calibration(connection: Connection, now: datetime, rules: Risk) -> dict[str, Any]:
    """Do likely errors happen more often, and which weights would the errors of the last days give?"""
    since = now - timedelta(days=rules.calibration.window_days)
    failed = _as_number(_FAILED)
    columns: list[ColumnElement[Any]] = [func.count().label("n"), func.sum(failed).label("failures")]
    for name in _FACTORS:
        value = type_coerce(_LOG.factors[name].as_float(), Float)
        columns += [
            func.sum(value).label(f"{name}_x"),
            func.sum(value * value).label(f"{name}_xx"),
            func.sum(value * failed).label(f"{name}_xf"),
        ]
    query = _from(select(*columns), since).where(_IS_ANSWER, _ENDED, _LOG.factors.is_not(None))
    row = connection.execute(query).one()._mapping
    count, failures = int(row["n"]), int(row["failures"] or 0)
    sums = {
        name: Sums(count, failures, *(float(row[f"{name}_{part}"] or 0) for part in ("x", "xx", "xf")))
        for name in _FACTORS
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


def _likelihood(connection: Connection, since: datetime) -> list[dict[str, Any]]:
    """How often answers failed, by how likely that was said to be."""
    tenth = func.floor(_LOG.error_likelihood * 10) if connection.dialect != "sqlite" else _sqlite_tenth()
    query = select(tenth.label("tenth"), func.count().label("n"), func.sum(_as_number(_FAILED)).label("failures"))
    query = _from(query, since).where(_IS_ANSWER, _ENDED, _LOG.error_likelihood.is_not(None))
    rows = connection.execute(query.group_by(tenth).order_by(tenth))
    return [
        {
            "from": int(row.tenth) / 10,
            "to": (int(row.tenth) + 1) / 10,
            "answers": row.n,
            "failures": int(row.failures),
            "rate": round(int(row.failures) / row.n, 4),
        }
        for row in rows
    ]


def _sqlite_tenth() -> ColumnElement[Any]:
    """SQLite may be built without `floor`; to cut off is the same where nothing is negative."""
    from sqlalchemy import Integer, cast

    return cast(_LOG.error_likelihood * 10, Integer)


def _time(connection: Connection, since: datetime | None, rules: Risk) -> dict[str, Any]:
    """How long people wait for a first answer."""
    is_timed = and_(_LOG.status == "answered", _LOG.answer_ms.is_not(None), _LOG.revises.is_(None))
    goal = rules.goals.time_to_first_answer_seconds
    within = _count(_LOG.answer_ms <= goal * 1000)
    query = _from(select(func.count().label("n"), within.label("within")), since).where(is_timed)
    row = connection.execute(query).one()

    def at(share: float) -> int | None:
        if not row.n:
            return None
        ordered = _from(select(_LOG.answer_ms), since).where(is_timed).order_by(_LOG.answer_ms)
        return int(connection.execute(ordered.limit(1).offset(min(row.n - 1, int(row.n * share)))).scalar_one())

    return {
        "median_ms": at(0.5),
        "p95_ms": at(0.95),
        "of": row.n,
        "within_goal": None if not row.n else round(int(row.within or 0) / row.n, 4),
        "goal_seconds": goal,
    }


def _applied(connection: Connection, since: datetime | None, rules: Risk) -> dict[str, Any]:
    """How many corrections shape answers by now. One that does was so at once (seed 004, 1.4)."""
    column = corrections.c
    is_applied = or_(column.is_applied.is_(True), column.stage.in_(("candidate", "promoted")))
    query = select(func.count().label("n"), _count(is_applied).label("applied")).select_from(corrections)
    query = query.where(column.correction_type != "permission", column.stage != "withdrawn")
    row = connection.execute(query if since is None else query.where(column.at >= since)).one()
    return _rate(int(row.applied or 0), row.n, rules.goals.corrections_applied)


def _by_month(connection: Connection, since: datetime | None) -> list[dict[str, Any]]:
    month = func.substr(type_coerce(_LOG.at, String), 1, 7)
    columns = (month.label("month"), func.count().label("n"), _count(and_(_TAKEN, ~_FAILED)).label("taken"))
    query = _from(select(*columns), since).where(_IS_ANSWER, _ENDED).group_by(month).order_by(month)
    return [
        {"month": row.month, "answers": row.n, "accepted": round(int(row.taken) / row.n, 4)}
        for row in connection.execute(query)
    ]


def _memory(connection: Connection, since: datetime | None) -> dict[str, Any]:
    """Of people who corrected something: how often their answers failed before that, and since."""
    corrected_at = case((_LOG.correction_made.is_(True), _LOG.at))
    first = func.min(corrected_at).over(partition_by=_LOG.actor_id)
    each = select(
        _LOG.at, first.label("first"), _as_number(_FAILED).label("failed"), and_(_IS_ANSWER, _ENDED).label("counts")
    )
    answers = each.select_from(query_log).subquery().c
    is_after = _as_number(answers.at > answers.first)
    query = select(is_after.label("is_after"), func.count().label("n"), func.sum(answers.failed).label("failures"))
    query = query.where(answers.first.is_not(None), answers.counts)
    if since is not None:
        query = query.where(answers.at >= since)
    found = {bool(row.is_after): (row.n, int(row.failures)) for row in connection.execute(query.group_by(is_after))}
    before, after = (found.get(is_after, (0, 0)) for is_after in (False, True))
    return {"failed_before": _rate(before[1], before[0], None), "failed_since": _rate(after[1], after[0], None)}


def _from(query: Any, since: datetime | None) -> Any:
    query = query.select_from(query_log)
    return query if since is None else query.where(_LOG.at >= since)


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(_as_number(condition))


def _as_number(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)


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
