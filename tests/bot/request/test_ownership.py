"""Who owns something declared is told by its name alone; what one may not read has no owner for them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml

from bot.conversation import Actor
from bot.index import BundleIndex
from bot.request.ownership import owned_by_name
from bylaw.bundle import read
from tests.fakes.voltmark import compiled

ROWS = yaml.safe_load(Path(__file__).with_name("ownership.yaml").read_text(encoding="utf-8"))
TODAY = date(2026, 11, 28)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return BundleIndex(read(compiled(tmp_path_factory.mktemp("voltmark"))))


def owned(index, text, user="amara"):
    return owned_by_name(text, index.rules.autonomy.ownership.phrases, Actor(id=user), index, TODAY)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"])
def test_the_owner_is_told_where_a_name_is_all_that_is_asked_about(index, row):
    found = owned(index, row["text"], row["user"])
    said = "\n".join(one.line(("grace",)) for one in found)
    if row["says"] is None:
        assert found == ()
    else:
        assert [text for text in row["says"] if text not in said] == []


def test_every_metric_and_entity_has_its_owner(index):
    context = index.bundle.context
    for name, metric in context.metrics.items():
        found = [one for one in owned(index, f"who owns {name}?", "grace") if one.source.id == f"metrics/{name}"]
        entity = context.entities.get(metric.entity or "")
        assert [one.owner for one in found] == [metric.owner or (entity.owner if entity else None)]


def test_what_one_may_not_read_has_no_owner_for_them(index):
    hidden = [
        name
        for name, metric in index.bundle.context.metrics.items()
        if metric.entity and index.bundle.context.entities[metric.entity].base_table.schema_name == "finance"
    ]
    assert hidden
    for name in hidden:
        found = owned(index, f"who owns {name}?", "jo")
        assert f"metrics/{name}" not in {one.source.id for one in found}


@pytest.mark.parametrize(
    "text", ["", " ", "?", "who owns " + "x" * 10_000, "who owns \u202e", "who owns ` ' \"", "who owns ?"]
)
def test_what_names_nothing_is_answered_by_nobody_here(index, text):
    assert owned(index, text) == ()
