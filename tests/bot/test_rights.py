"""A reply is for everyone only when somebody without any listed role could have got it as well."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot import rights
from bot.conversation import Actor, Citation
from bot.index import BundleIndex
from bylaw.bundle import read
from tests.fakes.frame import reply
from tests.fakes.voltmark import compiled
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return BundleIndex(read(compiled(tmp_path_factory.mktemp("voltmark"))))


@each("row", ROWS, ids=lambda row: row["title"])
def test_who_may_read_a_reply(index, row):
    citations = tuple(Citation(id=name) for name in row.get("cites", ()))
    made = reply(kind=row["kind"], sql=row.get("sql"), citations=citations)
    assert rights.is_for_everyone(made, Actor(id=row["actor"]), index) is row["open"]


@each(("actor", "may"), [("amara", True), ("grace", True), ("ben", False), ("stranger", False)])
def test_who_may_accept_what_amara_asked(index, actor, may):
    assert rights.may_accept(Actor(id=actor), Actor(id="amara"), index) is may


def test_who_is_listed(index):
    assert rights.is_listed("amara", index)
    assert not rights.is_listed("stranger", index)


def test_the_rows_of_a_message_are_a_number_of_the_rules(index):
    assert rights.rows_shown(index) == index.rules.autonomy.execution.rows_shown
