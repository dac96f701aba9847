"""Proposals over small firms, as items: what the words do not ask for is never confirmed."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

import pytest
import yaml

from bot.ask.query.names import Means
from bylaw.authored.context import Context, Entity, Metric
from bylaw.hold.values import Clock
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.words import index_context
from tests.proposed import hold_row, is_confirmed

HERE = Path(__file__).parent
FIRMS = {**yaml.safe_load((HERE / "held.yaml").read_text(encoding="utf-8"))}
FIRMS["ferry"] = yaml.safe_load((HERE / "ferry.yaml").read_text(encoding="utf-8"))
RIGHT = {
    "haulage": 4,
    "ferry": 6,
}  # good rows that run at once as they are quoted


def rows_of(kind):
    return [pytest.param(firm, row, id=row["ask"]) for firm in FIRMS for row in FIRMS[firm].get(kind, ())]


@cache
def means_of(firm):
    declared = yaml.safe_load((HERE / f"{firm}.yaml").read_text(encoding="utf-8"))["context"]
    context = Context(
        entities={item["name"]: Entity.model_validate(item) for item in declared["entities"]},
        metrics={item["name"]: Metric.model_validate(item) for item in declared["metrics"]},
    )
    return Means(Compiler(context), index_context(context), Clock(date(2026, 11, 20)))


@pytest.mark.parametrize(("firm", "row"), rows_of("bad"))
def test_what_is_not_asked_for_is_not_confirmed(firm, row):
    means = means_of(firm)
    assert not is_confirmed(hold_row(row["ask"], row["query"], row["bind"], means), row["query"], means)


@pytest.mark.parametrize("firm", sorted(FIRMS))
def test_what_is_asked_for_runs_as_it_was_meant(firm):
    means, right = means_of(firm), 0
    for row in FIRMS[firm]["good"]:
        held = hold_row(row["ask"], row["query"], row["bind"], means)
        asked = {**row["query"]}
        if held.is_whole and held.query.window and "window" not in asked:  # the words of time say it
            asked["window"] = held.query.window.model_dump()
        right += is_confirmed(held, asked, means)
    assert right >= RIGHT.get(firm, 0)
