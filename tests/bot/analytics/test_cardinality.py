"""A join that finds several partners where the catalogue declares one is told, not counted."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest

from bot.analytics.answer import answer
from bot.analytics.plan.cardinality import Cardinality
from bot.conversation import Question
from bot.index import BundleIndex
from bylaw.authored.context import Context
from bylaw.authored.decisions import Decisions
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import SemanticQuery
from bylaw.warehouses.port import WarehouseError
from bylaw.warehouses.registry import open_warehouse
from tests.fakes.bundle import bundle_of

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
CONTEXT = {
    "entities": {
        "sales": {
            "name": "sales",
            "domain": "shop",
            "base_table": {"schema": "m", "table": "sales"},
            "primary_key": {"columns": ["id"]},
            "dimensions": [{"name": "region_id"}],
            "facts": [{"name": "amount"}],
            "relationships": [
                {
                    "name": "in_region",
                    "right_entity": "regions",
                    "relationship_type": "many_to_one",
                    "relationship_columns": [{"left_column": "region_id", "right_column": "region_id"}],
                }
            ],
        },
        "regions": {
            "name": "regions",
            "domain": "shop",
            "base_table": {"schema": "m", "table": "regions"},
            "dimensions": [{"name": "region_name"}],
        },
    },
    "metrics": {"revenue": {"name": "revenue", "entity": "sales", "agg": "sum", "expr": "amount"}},
}
CURRENT = {"filters": [{"name": "current", "expr": "is_current", "apply": "always"}]}
BY_REGION = SemanticQuery(metrics=("revenue",), dimensions=("regions.region_name",))


def context(**regions):
    entities = {**CONTEXT["entities"], "regions": {**CONTEXT["entities"]["regions"], **regions}}
    return Context.model_validate({**CONTEXT, "entities": entities})


@pytest.fixture
def shop(tmp_path):
    """Opens a shop whose regions have these rows: (region_id, region_name, is_current)."""
    opened = []

    def _shop(*regions):
        path = tmp_path / f"{len(opened)}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE SCHEMA m; CREATE TABLE m.sales (id INT, region_id INT, amount INT)")
            connection.execute("CREATE TABLE m.regions (region_id INT, region_name TEXT, is_current BOOLEAN)")
            connection.execute("INSERT INTO m.sales VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (4, NULL, 1)")
            for row in regions:
                connection.execute("INSERT INTO m.regions VALUES (?, ?, ?)", row)
        opened.append(open_warehouse(f"duckdb://{path}", statement_seconds=10))
        return opened[-1]

    yield _shop
    for one in opened:
        one.close()


def asked(text, warehouse, workspace, known=None):
    made = {"source_commit": "abc1234", "commit_date": "2026-11-20", "etag": "sha256:test"}
    bundle = bundle_of(known or context(), workspace.rules, Decisions(), **made)
    question = Question(text=text, asked_at=NOW, request_id="r-1", session_id="s-1")
    return answer(question, {}, BundleIndex(bundle), warehouse, None)


ONCE = ((1, "north", True), (2, "south", True), (None, "sea", True), (None, "air", True))
TWICE = ((1, "north", True), (1, "north-east", False), (2, "south", True))


def test_a_key_that_comes_once_is_joined_by(shop, workspace):
    turn = asked("revenue by region name", shop(*ONCE), workspace)
    assert sorted(turn.reply.rows, key=str) == [("north", 30), ("south", 5), (None, 1)]
    assert list(turn.artifacts["plan"]["joins"].values()) == [1]


def test_one_that_comes_twice_is_told_and_nothing_is_added_up(shop, workspace):
    turn = asked("revenue by region name", shop(*TWICE), workspace)
    assert (turn.reply.status, turn.reply.rows) == ("refused", ())
    assert "up to 2 rows of `regions` have the same `region_id`" in turn.reply.text
    assert turn.artifacts["failure"]["message"][1:] in turn.reply.text


def test_what_needs_no_join_is_answered_all_the_same(shop, workspace):
    assert asked("revenue", shop(*TWICE), workspace).reply.rows == ((36,),)


def test_the_partner_is_the_one_that_its_filters_leave(shop, workspace):
    turn = asked("revenue by region name", shop(*TWICE), workspace, context(**CURRENT))
    assert sorted(turn.reply.rows, key=str) == [("north", 30), ("south", 5), (None, 1)]


def test_a_join_that_cannot_be_looked_at_is_not_relied_on(shop):
    gone = shop()
    gone.close()
    with pytest.raises(WarehouseError):
        Cardinality(context(), gone).check(Compiler(context()).compile(BY_REGION).joins)


def test_an_empty_table_finds_nobody(shop):
    rows = Cardinality(context(), shop())
    rows.check(Compiler(context()).compile(BY_REGION).joins)
    assert list(rows.seen.values()) == [None]


def shared_regions():
    """A context in which a sale and a region merely have the number of a region in common."""
    entities = context().model_dump(by_alias=True, mode="json")["entities"]
    entities["sales"]["relationships"][0]["relationship_type"] = "many_to_many"
    return Context.model_validate({**CONTEXT, "entities": entities})


def test_what_belongs_to_several_groups_at_once_is_not_added_up_in_each(shop, workspace):
    turn = asked("revenue by region name", shop(*TWICE), workspace, shared_regions())
    assert (turn.reply.status, turn.reply.rows) == ("refused", ())
    assert "belongs to up to 2 of these groups at once" in turn.reply.text


def test_a_shared_number_is_added_up_where_it_says_one_group(shop, workspace):
    turn = asked("revenue by region name", shop(*ONCE), workspace, shared_regions())
    assert sorted(turn.reply.rows) == [("north", 30), ("south", 5)]


def of_both():
    """The context and the joins of a question about regions and the shops in them, of which one may have two names."""
    entities = context().model_dump(by_alias=True, mode="json")["entities"]
    joined = {"name": "in_shop", "right_entity": "shops", "relationship_type": "many_to_one"}
    pairs = [{"left_column": "id", "right_column": "sale_id"}]
    entities["sales"]["relationships"].append({**joined, "relationship_columns": pairs})
    shops = {"name": "shops", "domain": "shop", "base_table": {"schema": "m", "table": "shops"}}
    entities["shops"] = {**shops, "dimensions": [{"name": "shop_name"}]}
    known = Context.model_validate({**CONTEXT, "entities": entities})
    query = BY_REGION.model_copy(update={"dimensions": ("regions.region_name", "shops.shop_name")})
    return known, Compiler(known).compile(query).joins


@pytest.mark.parametrize(
    ("regions", "shops", "statements", "says"),
    [
        (ONCE, "(1, 'a'), (2, 'b')", 1, None),
        (TWICE, "(1, 'a'), (2, 'b')", 2, "up to 2 rows of `regions`"),
        (ONCE, "(1, 'a'), (1, 'b'), (1, 'c')", 3, "up to 3 rows of `shops`"),
    ],
)
def test_several_joins_are_looked_at_at_once_and_the_wrong_one_is_named(shop, regions, shops, statements, says):
    opened = shop(*regions)
    path = opened.run("SELECT path FROM duckdb_databases() WHERE path IS NOT NULL", 1).rows[0][0]
    opened.close()
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE m.shops (sale_id INT, shop_name TEXT); INSERT INTO m.shops VALUES {shops}")
    known, joins = of_both()
    warehouse = open_warehouse(f"duckdb://{path}", statement_seconds=10)
    rows = Cardinality(known, warehouse)
    try:
        if says is None:
            rows.check(joins)
        else:
            with pytest.raises(WarehouseError, match=says):
                rows.check(joins)
    finally:
        warehouse.close()
    assert len(joins) == 2
    assert len(rows.seen) == statements
