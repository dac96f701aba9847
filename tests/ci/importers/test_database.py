"""What an import makes of a database's own words: flags, cents, lookups, roles, comments; people stay hidden."""

from __future__ import annotations

import json
from datetime import date

import duckdb
import pytest
import yaml

from bylaw.errors import UsageError
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Filter, Measure, SemanticQuery, Unanswerable
from ci.importers.database import proposed
from ci.importers.database.read import Wanted, drafted
from ci.importers.write import plan
from ci.loading.load import load, rules_of

BAKERY = """
create table prod_group(code varchar primary key, name varchar);
create table driver(driver_id integer primary key, name varchar);
create table address(address_id integer primary key, city varchar);
create table customer(customer_no integer primary key, company_name varchar, contact_name varchar,
  contact_email varchar,
  billing_address_id integer references address(address_id), shipping_address_id integer references address(address_id),
  is_active tinyint, state varchar, deleted_at timestamp);
create table sales_order(order_no integer primary key, customer_no integer references customer(customer_no),
  driver_id integer references driver(driver_id), ordered_at timestamp, discount_cents integer);
create table sales_order_line(order_no integer references sales_order(order_no), line_no integer,
  group_code varchar references prod_group(code), qty integer, unit_price_cents integer,
  primary key(order_no, line_no));
insert into prod_group values ('B', 'Bread'), ('C', 'Cake');
insert into driver values (1, 'Jef Maes'), (2, 'Lore Claes');
insert into address select i, 'Ghent' from range(9) t(i);
insert into customer select i, 'Shop ' || i, 'Person ' || i, i || '@shop.example', i % 9, i % 9, i % 2,
  ['A', 'B'][1 + i % 2], case when i = 1 then timestamp '2025-01-01' end from range(20) t(i);
insert into sales_order select i, i % 20, 1 + i % 2, timestamp '2025-01-01' + interval (i) day, 50 from range(40) t(i);
insert into sales_order_line select i % 40, i // 40, ['B', 'C'][1 + i % 2], i, 200 from range(80) t(i);
comment on table sales_order is 'One order, as the office takes it';
comment on column customer.state is 'A = open account, B = on hold';
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("bakery")
    with duckdb.connect(str(root / "shop.duckdb")) as connection:
        connection.execute(BAKERY)
    draft = drafted(f"duckdb://{root}/shop.duckdb", Wanted(), rules_of(root), date(2026, 1, 15))
    assert draft.dropped == []
    plan(root, draft, "duckdb shop", False).write()
    return root


@pytest.fixture(scope="module")
def context(root):
    return load(root, today=date(2026, 1, 15)).context


def test_a_column_of_two_values_that_say_no_and_yes_is_a_flag_and_no_number(context):
    customer = context.entities["customer"]
    assert (customer.dimension("is_active").sql, customer.dimension("is_active").data_type) == (
        "is_active = 1",
        "boolean",
    )
    assert {one.name: one.expr for one in customer.filters} == {
        "active": "is_active = 1",
        "deleted": "deleted_at IS NOT NULL",
        "not_deleted": "deleted_at IS NULL",
    }
    assert [name for name in context.metrics if "active" in name] == ["active_customer_rate"]


def test_a_flag_is_compared_as_a_whole(context):
    kept = Filter(dimension="customer.is_active", values=(True,), negated=True)
    query = SemanticQuery(metrics=("part",), measures=(Measure(name="part", metric="customer_count", filters=(kept,)),))
    sql = " ".join(Compiler(context).compile(query).sql.split()).replace("( ", "(").replace(" )", ")")
    assert "(customer.is_active = 1) IS NULL" in sql and "(customer.is_active = 1) IN (TRUE)" in sql


def test_a_sum_in_cents_is_told_as_a_sum(context):
    assert context.metrics["total_discount"].expr == "discount_cents / 100.0"


def test_lines_are_worth_pieces_times_price_on_the_day_of_their_order(context):
    worth = context.metrics["sales_order_line_value"]
    assert (worth.expr, worth.dated_by) == ("qty * unit_price_cents / 100.0", "sales_order.ordered_at")
    assert "order value" in worth.synonyms


def test_a_list_that_the_database_declares_is_closed_however_few_rows_there_are(tmp_path):
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute(
            """create type mood as enum ('calm', 'wild');
            create table sitter(id integer primary key, email varchar, mood mood, town varchar,
              job_title varchar check (job_title in ('a', 'b')), pay decimal(5,1) check (pay > 0));
            insert into sitter values (1, 'x@sit.example', 'calm', 'Ghent', 'a', 2);
            insert into sitter values (2, 'y@sit.example', 'wild', 'Ghent', 'b', 3)"""
        )
    draft = drafted(f"duckdb://{tmp_path}/d.duckdb", Wanted(), rules_of(tmp_path), date(2026, 1, 15))
    entity = draft.records["entities"]["sitter"]
    told = {part["name"]: (part["data_type"], part.get("sample_values")) for part in entity["dimensions"]}
    assert told["job_title"] == ("varchar", ["a", "b"])
    assert told["mood"] == ("enum", ["calm", "wild"])
    assert told["town"] == ("varchar", None)
    assert entity["pii"] == ["email"]


def test_rows_without_a_name_are_told_by_the_one_text_that_tells_them_apart(tmp_path):
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute(
            """create table spot(spot_id integer primary key, spot_code varchar, ground varchar);
            create table pair(pair_id integer primary key, one varchar, other varchar);
            insert into spot values (1, 'P1', 'wet'), (2, 'P2', 'wet'), (3, 'P3', 'dry');
            insert into pair values (1, 'a', 'x'), (2, 'b', 'y')"""
        )
    draft = drafted(f"duckdb://{tmp_path}/d.duckdb", Wanted(), rules_of(tmp_path), date(2026, 1, 15))
    assert {name: one.get("label") for name, one in draft.records["entities"].items()} == {
        "spot": ["spot_code"],
        "pair": None,
    }


def test_names_of_people_are_held_back_and_names_of_companies_are_not(context, root):
    customer = context.entities["customer"]
    assert customer.pii == ["contact_name", "contact_email"]
    assert customer.dimension("company_name").synonyms == ["company"]
    written = "".join(path.read_text("utf-8") for path in (root / "context").rglob("*.yaml"))
    assert not any(name in written for name in ("Jef", "Person", "@shop"))


def test_words_of_the_schema_are_words_to_ask_with(context):
    order, customer = context.entities["sales_order"], context.entities["customer"]
    assert (order.description, order.synonyms) == ("One order, as the office takes it", ["order"])
    assert order.time_dimensions[0].synonyms == ["ordered"]
    assert customer.dimension("state").value_synonyms == {"A": ["open account"], "B": ["on hold"]}
    assert {one.name: one.synonyms for one in customer.relationships} == {
        "billing_address": ["billing address", "billing"],
        "shipping_address": ["shipping address", "shipping"],
    }
    group = context.entities["prod_group"]
    assert (group.dimension("name").sample_values, "product group" in group.synonyms) == (["Bread", "Cake"], True)


def test_what_is_written_is_yaml_that_a_person_reads(root):
    text = (root / "context" / "entities" / "customer.yaml").read_text("utf-8")
    assert "it says yes or no" in text and yaml.safe_load(text)["name"] == "customer"


CAREFUL = {
    "of": {
        "customer": {"description": "A business that buys from us.", "synonyms": ["buyer"]},
        "total_discount": {"synonyms": ["rebate"]},
    },
    "values": {"prod_group.name=Cake": ["gateau"]},
}
CARELESS = {
    "of": {
        "customer": {"synonyms": ["order", "last month", "number", "the"]},
        "driver": {"synonyms": ["buyer"]},
        "address": {"synonyms": ["buyer"]},
        "supplier": {"description": "Who sells to us."},
        "sales_order": {"description": "A sale."},
        "customer.billing_address": {"description": "Where the bill goes."},
    },
    "values": {"prod_group.name=Pie": ["tart"]},
}
HOSTILE = {
    "of": {
        "customer": {"description": "Ask mary@shop.example.", "synonyms": ["client\u202e"]},
        "customer.contact_email": {"description": "Where to write to.", "synonyms": ["mail"]},
        "driver": {"synonyms": ["active"]},
    }
}


@pytest.mark.parametrize(
    ("said", "taken", "left"),
    [
        (CAREFUL, {"A business that buys from us.", "buyer", "rebate", "gateau"}, 0),
        (CARELESS, set(), 10),
        (HOSTILE, set(), 4),
    ],
    ids=["careful", "careless", "hostile"],
)
def test_what_a_model_proposes_is_taken_as_far_as_it_holds(root, said, taken, left):
    draft = drafted(f"duckdb://{root}/shop.duckdb", Wanted(), rules_of(root), date(2026, 1, 15))
    before = str(draft.records)
    proposed.take(draft, proposed.read(json.dumps(said)), rules_of(root).pii)
    assert {text for text in taken if text in str(draft.records)} == taken
    assert len(draft.dropped) == left, draft.dropped
    assert taken or str(draft.records) == before
    marks = [text for notes in draft.notes.values() for _, text in notes if "proposed by a model, for review" in text]
    assert len(marks) == len(said["of"]) + len(said["values"]) if taken else marks == []


def test_a_model_is_shown_nothing_of_a_personal_column(root):
    draft = drafted(f"duckdb://{root}/shop.duckdb", Wanted(), rules_of(root), date(2026, 1, 15))
    shown = json.dumps(proposed.request(draft))
    assert "prod_group" in shown and not any(word in shown for word in ("contact", "Person", "@shop", "Jef"))
    with pytest.raises(UsageError, match="cannot be read at `of"):
        proposed.read('{"of": {"customer": {"sql": "drop table"}}}')


def test_every_join_that_is_not_drafted_says_why(tmp_path):
    file = tmp_path / "shop.duckdb"
    connection = duckdb.connect(str(file))
    connection.execute("""
        CREATE SCHEMA sales; CREATE SCHEMA people;
        CREATE TABLE people.managers (id INTEGER PRIMARY KEY, region TEXT);
        CREATE TABLE sales.customers (id INTEGER PRIMARY KEY, region TEXT);
        CREATE TABLE sales.shops (id INTEGER PRIMARY KEY, town TEXT);
        CREATE TABLE sales.orders (id INTEGER PRIMARY KEY, customer_id INTEGER, shop_id TEXT, amount DECIMAL(9, 2));
        INSERT INTO sales.customers SELECT i, 'r' || i % 3 FROM range(10) t(i);
        INSERT INTO sales.shops SELECT i, 't' || i FROM range(4) t(i);
        INSERT INTO people.managers SELECT i, 'r' || i FROM range(3) t(i);
        INSERT INTO sales.orders SELECT i, i % 20, (i % 4)::TEXT, i FROM range(40) t(i);
    """)
    connection.close()
    draft = drafted(f"duckdb://{file}", Wanted("sales"), rules_of(tmp_path), date(2026, 11, 20))
    assert "relationships" not in draft.records["entities"]["orders"]
    said = {one.where: one.why for one in draft.dropped if "no join was drafted" in one.why}
    assert said == {
        "sales.orders.customer_id": "by its name it refers to `sales.customers` by `id`, and the partners of 20 of 40 "
        "rows are not there: no join was drafted",
        "sales.orders.shop_id": "by its name it refers to `sales.shops` by `id`, and the two are of different types: "
        "no join was drafted",
    }


def test_a_declared_reference_to_a_table_that_is_not_read_is_said(tmp_path):
    file = tmp_path / "shop.duckdb"
    connection = duckdb.connect(str(file))
    connection.execute("""
        CREATE TABLE customers (id INTEGER PRIMARY KEY);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id));
        INSERT INTO customers VALUES (1), (2); INSERT INTO orders VALUES (1, 1), (2, 1);
    """)
    connection.close()
    draft = drafted(f"duckdb://{file}", Wanted(None, ("orders",)), rules_of(tmp_path), date(2026, 11, 20))
    assert ("main.orders.customer_id", "it refers to `main.customers`, which is not read") in [
        (one.where, one.why) for one in draft.dropped
    ]


def test_a_sum_beside_a_currency_is_asked_by_currency(tmp_path):
    with duckdb.connect(str(tmp_path / "till.duckdb")) as till:
        till.execute(
            "CREATE TABLE bills (bill_id INT PRIMARY KEY, total_amount DECIMAL(9, 2), currency VARCHAR, uom VARCHAR)"
        )
        till.execute("INSERT INTO bills SELECT i, i * 2.5, ['EUR', 'USD'][1 + i % 2], 'kg' FROM range(40) AS r(i)")
    draft = drafted(f"duckdb:///{tmp_path / 'till.duckdb'}", Wanted(), rules_of(tmp_path), date(2026, 11, 28))
    (fact,) = draft.records["entities"]["bills"]["facts"]
    assert fact["unit_column"] == "currency"
    assert ["bills: `total_amount` is in" in guess for guess in draft.guesses] == [True]
    plan(tmp_path, draft, "duckdb till").write()
    context = load(tmp_path).context
    with pytest.raises(Unanswerable, match="several units"):
        Compiler(context).compile(SemanticQuery(metrics=("sum(bills.total_amount)",)))
    by = SemanticQuery(metrics=("sum(bills.total_amount)",), dimensions=("bills.currency",))
    with duckdb.connect(str(tmp_path / "till.duckdb")) as till:
        assert sorted(till.execute(Compiler(context).compile(by).sql).fetchall()) == [("EUR", 950), ("USD", 1000)]
