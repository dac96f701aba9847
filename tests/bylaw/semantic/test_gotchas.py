"""Traps: whom they concern, in which order they are said, and when a check fails."""

from __future__ import annotations

from datetime import date

from bylaw.authored.context import Context, Gotcha, Metric
from bylaw.semantic.gotchas import applicable, failed_check, left_in, said
from bylaw.semantic.query import SemanticQuery, Window
from tests.rows import each

TODAY = date(2026, 11, 20)


def _gotcha(id, applies_to=("loans",), **fields):
    return Gotcha.model_validate({"id": id, "trap": f"The trap {id}.", "applies_to": list(applies_to), **fields})


def test_the_severe_are_said_first_and_equals_by_name():
    gotchas = [_gotcha("b", severity="low"), _gotcha("a", severity="low"), _gotcha("z", severity="high"), _gotcha("m")]
    context = Context(gotchas={gotcha.id: gotcha for gotcha in gotchas})
    assert [gotcha.id for gotcha in applicable(context, ["loans"])] == ["z", "m", "a", "b"]


def test_a_gotcha_concerns_only_what_it_names():
    context = Context(gotchas={"a": _gotcha("a", ["fees", "loans"]), "b": _gotcha("b", ["readers"])})
    assert [gotcha.id for gotcha in applicable(context, {"fees"})] == ["a"]
    assert applicable(context, {"titles"}) == ()


def test_a_column_has_the_rows_that_metrics_of_it_leave_out():
    gotchas = [_gotcha("a", ["fees"], required_filter="kind <> 'x'"), _gotcha("b", ["fees"]), _gotcha("c", ["loans"])]
    metrics = {"fees": Metric(name="fees", entity="loans", agg="sum", expr="fee")}
    context = Context(gotchas={gotcha.id: gotcha for gotcha in gotchas}, metrics=metrics)
    assert left_in(context, "loans") == {"a": "fees"}
    assert left_in(context, "readers") == {}


def test_a_caveat_is_said_instead_of_the_trap():
    assert said(_gotcha("a")) == "The trap a."
    assert said(_gotcha("a", caveat=" Careful. ")) == "Careful."


@each(
    ("end", "grain", "fails"),
    [
        (date(2026, 11, 1), None, False),
        (date(2026, 11, 20), None, False),
        (date(2026, 11, 21), None, False),  # "last 30 days" ends with today and is whole
        (date(2026, 11, 21), "month", True),  # its last month is not
        (date(2026, 12, 1), None, True),
        (date(2026, 11, 1), "month", False),
        (None, "month", True),
        (None, None, False),
    ],
)
def test_a_period_is_partial_when_it_is_not_over(end, grain, fails):
    window = Window(start=date(2026, 1, 1), end=end, label="x") if end else None
    query = SemanticQuery(metrics=("fees",), window=window, grain=grain)
    assert failed_check(_gotcha("a", check="partial_period"), query, TODAY) is fails


def test_a_trap_without_a_check_is_always_near():
    assert failed_check(_gotcha("a"), SemanticQuery(metrics=("fees",)), TODAY)
