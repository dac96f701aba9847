"""A role that may see some rows: what it is answered, told, and never shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from bot import rights
from bot.analytics.answer import answer
from bot.answerers import answerers
from bot.conversation import Actor, Question
from bot.index import BundleIndex
from bylaw.authored.machines.access import Roles
from tests.fakes.bundle import bundle_of

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
ROLES = {
    "roles": {
        "emea": {
            "schemas": ["shop"],
            "rows": [{"dimension": "customers.region", "values": ["EU"], "except": ["products"]}],
        },
        "whole": {"schemas": ["shop"]},
    },
    "users": {"elif": ["emea"], "farid": ["whole"]},
    "default_role": "emea",
}


@pytest.fixture(scope="module")
def index(workspace):
    rules = workspace.rules.model_copy(update={"roles": Roles.model_validate(ROLES)})
    made = {"source_commit": "abc1234", "commit_date": "2026-11-20", "etag": "sha256:test"}
    return BundleIndex(bundle_of(workspace.context, rules, workspace.decisions, **made))


@pytest.fixture(scope="module")
def ask(index, warehouse):
    data = next(one for one in answerers(warehouse) if one.kind == "data")

    def _ask(text, user, state=None):
        question = Question(text=text, actor=Actor(id=user), asked_at=NOW, request_id="r", session_id="s")
        return data.answer(question, state or {}, index)

    return _ask


def test_a_total_is_that_of_the_rows_one_may_see(ask):
    by_region = dict(ask("net revenue by region last quarter", "farid").reply.rows)
    reply = ask("net revenue last quarter", "elif").reply
    assert reply.rows == ((by_region["EU"],),)
    assert reply.caveats[0] == "Only rows you may see: region EU."
    assert "Only rows you may see" not in "".join(ask("net revenue last quarter", "farid").reply.caveats)


def test_groups_of_others_are_not_even_named(ask):
    assert [row[0] for row in ask("net revenue by region last quarter", "elif").reply.rows] == ["EU"]


def test_asking_for_the_rows_of_others_is_refused_in_words(ask):
    reply = ask("net revenue in the US last quarter", "elif").reply
    assert reply.status == "refused"
    assert reply.text == "Your roles show you no rows of region US. You may see region EU."


def test_a_follow_up_gains_no_rows(ask):
    first = ask("net revenue by region last quarter", "farid")
    later = ask("and by month", "elif", first.state).reply
    assert "Only rows you may see: region EU." in later.caveats


def test_what_leads_to_no_customer_is_refused(ask):
    reply = ask("how many stores", "elif").reply
    assert reply.status == "refused"
    assert reply.text.startswith("Your roles show you no rows of `stores`: the rule on `customers.region` cannot be")


def test_how_new_the_data_are_is_told_of_the_same_rows(ask):
    plan = ask("net revenue this month", "elif").artifacts["plan"]
    assert plan["freshness"], "looked up"
    assert all("'EU'" in sql for sql in plan["freshness"])


def test_who_may_see_the_rows_decides_who_may_be_shown_the_reply(ask, index):
    mine, whole = (ask("net revenue last quarter", user).reply for user in ("elif", "farid"))
    assert rights.is_for_everyone(mine, Actor(id="elif"), index)
    assert not rights.is_for_everyone(whole, Actor(id="farid"), index), "everybody else sees one region"


def test_a_statement_that_is_not_narrowed_never_runs(index, warehouse, monkeypatch):
    """The gate is the last to look, whoever forgot what."""
    from bylaw.semantic.rights import VisibleRows

    monkeypatch.setattr(VisibleRows, "narrowed", lambda self, tree: tree)
    ran = SimpleNamespace(sql=[])
    monkeypatch.setattr(type(warehouse), "run", lambda self, sql, limit: ran.sql.append(sql))
    question = Question(text="net revenue", actor=Actor(id="elif"), asked_at=NOW, request_id="r", session_id="s")
    reply = answer(question, {}, index, warehouse, index.rules.roles.rights_of("elif", {"shop"})).reply
    assert reply.status == "refused"
    assert "only some rows of `shop." in reply.text
    assert ran.sql == []


def test_nobody_hears_of_others_that_rank_equal(ask, warehouse):
    mine = {key for (key,) in warehouse.run("SELECT customer_id FROM shop.customers WHERE region = 'EU'", 1_000).rows}
    told = {user: ask("which customer has the fewest orders", user).reply.text for user in ("elif", "farid")}
    named = {user: {int(one) for one in re.findall(r"\b\d+\b", text)} for user, text in told.items()}
    assert "Tied with it" in told["elif"]
    assert named["elif"] <= mine and not named["farid"] <= mine
