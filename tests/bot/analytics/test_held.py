"""Proposals over small firms: what the words ask for is held, what they do not ask for is not."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

import pytest
import yaml

from bot.analytics.proposals.holding import Untenable
from bot.analytics.proposals.proposal import HeldQuestion, Proposal, checked
from bot.analytics.reader.read import Reader
from bot.analytics.reader.scope import lexicon_of
from bylaw.authored.context import Context, Entity, Metric
from bylaw.errors import BylawError
from bylaw.semantic.compiler import Compiler

HERE = Path(__file__).parent
ROWS = yaml.safe_load((HERE / "held.yaml").read_text(encoding="utf-8"))


def rows_of(kind):
    return [pytest.param(firm, row, id=row["ask"]) for firm in ROWS for row in ROWS[firm][kind]]


@cache
def desk(firm):
    declared = yaml.safe_load((HERE / f"{firm}.yaml").read_text(encoding="utf-8"))["context"]
    context = Context(
        entities={item["name"]: Entity.model_validate(item) for item in declared["entities"]},
        metrics={item["name"]: Metric.model_validate(item) for item in declared["metrics"]},
    )
    compiler, lexicon = Compiler(context), lexicon_of(context)
    return context, compiler, lexicon, Reader(context, lexicon)


def held(firm, row):
    context, compiler, lexicon, reader = desk(firm)
    tokens, _, _ = reader.overheard(row["ask"], date(2026, 11, 20))
    told = [{"words": str(words), "kind": kind, "name": str(name)} for words, kind, name in row["bind"]]
    proposal = Proposal.model_validate({"query": row["query"], "bindings": told})
    return checked(proposal, HeldQuestion(row["ask"], tokens, context, [], None, compiler, lexicon))


@pytest.mark.parametrize(("firm", "row"), rows_of("good"))
def test_what_is_asked_for_is_held(firm, row):
    assert held(firm, row)


@pytest.mark.parametrize(("firm", "row"), rows_of("bad"))
def test_what_is_not_asked_for_is_not_held(firm, row):
    with pytest.raises((Untenable, BylawError)):
        held(firm, row)
