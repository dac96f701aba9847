"""The warehouse of the demo: Voltmark, a retailer of consumer electronics with a web shop and the Plus plan.

Built from a seed and an injected day, so two builds of one day hold the same rows. Sales are made here; everything
around them is made of them, and of dice that are hashes, by `example/warehouse/*.sql`. Test accounts, cancelled orders,
refunds, robots and failed payments are in it on purpose: a number that forgets them is plausible and wrong.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

SEED = 20_260_217
DAYS = 900
CUSTOMERS, PRODUCTS, ORDERS = 420, 48, 2_600

_COUNTRIES = {
    "APAC": ["Japan", "Australia", "Singapore"],
    "EU": ["Germany", "France", "Spain", "Italy", "Ireland"],
    "US": ["United States"],
}
_CATEGORIES = {
    "televisions": (399, 2_400),
    "laptops": (549, 2_900),
    "phones": (199, 1_400),
    "audio": (39, 650),
    "accessories": (9, 120),
}
_FIRST = ["Ada", "Bo", "Chidi", "Dana", "Emre", "Fay", "Goran", "Hana", "Ines", "Jun", "Kofi", "Lena", "Mika", "Noor"]
_LAST = [
    "Adler",
    "Brandt",
    "Costa",
    "Dubois",
    "Eriksen",
    "Ferrari",
    "Garcia",
    "Horvat",
    "Ito",
    "Jansen",
    "Kim",
    "Lopez",
]
_STATUSES = ["placed", "packed", "shipped", "delivered", "returned", "cancelled"]
_REASONS = ["damaged", "late", "not as described", "changed mind", "wrong item"]

Row = tuple[Any, ...]


def build(path: Path, today: date) -> None:
    """Write the demo database to *path*, replacing what is there. A stopped build leaves the old file."""
    rng = random.Random(SEED)
    customers = _customers(rng, today)
    products = _products(rng)
    orders, items, refunds = _sales(rng, today, customers, products)
    subscriptions = _subscriptions(rng, today, customers)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        temporary = Path(folder) / "demo.duckdb"
        connection = duckdb.connect(str(temporary))
        try:
            connection.execute(_TABLES)
            _fill(connection, "shop.customers", customers)
            _fill(connection, "shop.products", products)
            _fill(connection, "shop.orders", orders)
            _fill(connection, "shop.order_items", items)
            _fill(connection, "finance.refunds", refunds)
            _fill(connection, "finance.subscriptions", subscriptions)
            connection.execute(_DICE)
            connection.execute("SET VARIABLE today = $today", {"today": today})
            for domain in _DOMAINS:
                connection.execute((_STATEMENTS / f"{domain}.sql").read_text(encoding="utf-8"))
        finally:
            connection.close()
        temporary.replace(path)


_TABLES = """
CREATE SCHEMA shop;
CREATE SCHEMA finance;
CREATE TABLE shop.customers (customer_id INTEGER PRIMARY KEY, full_name VARCHAR, email VARCHAR, phone VARCHAR,
    region VARCHAR, country VARCHAR, tier VARCHAR, is_test BOOLEAN, signed_up_at DATE);
CREATE TABLE shop.products (product_id INTEGER PRIMARY KEY, product_name VARCHAR, category VARCHAR,
    list_price DECIMAL(12, 2));
CREATE TABLE shop.orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER, status VARCHAR, channel VARCHAR,
    ordered_at TIMESTAMP, total_amount DECIMAL(12, 2));
CREATE TABLE shop.order_items (order_item_id INTEGER PRIMARY KEY, order_id INTEGER, product_id INTEGER,
    quantity INTEGER, unit_price DECIMAL(12, 2), discount_amount DECIMAL(12, 2), refunded_amount DECIMAL(12, 2));
CREATE TABLE finance.refunds (refund_id INTEGER PRIMARY KEY, order_id INTEGER, order_item_id INTEGER,
    amount DECIMAL(12, 2), reason VARCHAR, refunded_at TIMESTAMP);
CREATE TABLE finance.subscriptions (subscription_id INTEGER PRIMARY KEY, customer_id INTEGER, plan VARCHAR,
    status VARCHAR, monthly_fee DECIMAL(12, 2), started_at DATE, ended_at DATE);
"""

# A throw of the dice belongs to a purpose and a row: the same wherever and whenever it is thrown.
_DICE = """
CREATE TEMP MACRO today() AS getvariable('today')::DATE;
CREATE TEMP MACRO dice(purpose, row) AS (md5_number_lower(concat(purpose, ':', row)) % 1000003)::DOUBLE / 1000003;
CREATE TEMP MACRO roll(purpose, row, low, high) AS (low + floor(dice(purpose, row) * (high - low + 1)))::INTEGER;
CREATE TEMP MACRO pick(purpose, row, choices) AS choices[1 + floor(dice(purpose, row) * len(choices))::INTEGER];
CREATE TEMP MACRO moment(purpose, row, days) AS today() - floor(days * dice(purpose, row))::INTEGER
    + to_minutes(roll(concat(purpose, ' at'), row, 420, 1379));
"""
_STATEMENTS = Path(__file__).parent / "example" / "warehouse"
_DOMAINS = ("shop", "marketing", "growth", "finance", "revenue", "product", "supply", "support")


def _fill(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Row]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    places = ", ".join("unnest(?)" for _ in columns)
    connection.execute(f"INSERT INTO {table} SELECT {places}", columns)


def _customers(rng: random.Random, today: date) -> list[Row]:
    rows: list[Row] = []
    for number in range(1, CUSTOMERS + 1):
        first, last = rng.choice(_FIRST), rng.choice(_LAST)
        region = rng.choices(sorted(_COUNTRIES), weights=[3, 5, 4])[0]
        is_test = number % 35 == 0
        email = f"{first}.{last}.{number}@{'voltmark.test' if is_test else 'example.com'}".lower()
        tier = rng.choices(["standard", "gold", "VIP"], weights=[75, 20, 5])[0]
        phone = f"+49 555 {rng.randrange(10**6):06d}"
        joined = today - timedelta(days=rng.randrange(DAYS, DAYS * 2))
        country = rng.choice(_COUNTRIES[region])
        rows.append((number, f"{first} {last}", email, phone, region, country, tier, is_test, joined))
    return rows


def _products(rng: random.Random) -> list[Row]:
    rows: list[Row] = []
    for number in range(1, PRODUCTS + 1):
        category = list(_CATEGORIES)[number % len(_CATEGORIES)]
        low, high = _CATEGORIES[category]
        rows.append(
            (number, f"{category[:2].upper()}-{number:03d}", category, Decimal(rng.randrange(low, high)) - _CENT)
        )
    return rows


_PLANS = [("monthly", Decimal("7.90")), ("yearly", Decimal("5.90")), ("family", Decimal("11.90"))]
_CENT = Decimal("0.01")


def _sales(
    rng: random.Random, today: date, customers: list[Row], products: list[Row]
) -> tuple[list[Row], list[Row], list[Row]]:
    """Orders with their items and refunds. Test accounts order much, and nothing of it is real."""
    orders: list[Row] = []
    items: list[Row] = []
    refunds: list[Row] = []
    for number in range(1, ORDERS + 1):
        customer = customers[34] if number % 60 == 0 else rng.choice(customers)
        is_test = bool(customer[7])
        day = today - timedelta(days=int(DAYS * rng.random() ** 1.3))
        at = datetime.combine(day, time(rng.randrange(7, 23), rng.randrange(60)))
        status = rng.choices(_STATUSES, weights=[4, 2, 10, 66, 8, 10])[0]
        total = Decimal(0)
        for product in rng.sample(products, rng.choices([1, 2, 3, 4], weights=[50, 28, 15, 7])[0]):
            quantity = rng.choices([1, 2, 3], weights=[80, 15, 5])[0] * (20 if is_test else 1)
            gross = quantity * product[3]
            discount = (gross * rng.choice([0, 0, 0, 5, 10]) / 100).quantize(_CENT)
            refunded = Decimal(0)
            if status == "returned" or (status == "delivered" and rng.random() < 0.03):
                refunded = gross - discount
                when = at + timedelta(days=rng.randrange(3, 40))
                if when.date() <= today:
                    refunds.append((len(refunds) + 1, number, len(items) + 1, refunded, rng.choice(_REASONS), when))
                else:
                    refunded = Decimal(0)
            items.append((len(items) + 1, number, product[0], quantity, product[3], discount, refunded))
            total += gross - discount
        channel = rng.choices(["online", "in-store"], weights=[82, 18])[0]
        orders.append((number, customer[0], status, channel, at, total))
    return orders, items, refunds


def _subscriptions(rng: random.Random, today: date, customers: list[Row]) -> list[Row]:
    rows: list[Row] = []
    for customer in customers:
        if rng.random() > 0.45 and not customer[7]:
            continue
        plan, fee = rng.choice(_PLANS)
        started = today - timedelta(days=rng.randrange(1, DAYS))
        ended = started + timedelta(days=rng.randrange(30, DAYS)) if rng.random() < 0.35 else None
        status = rng.choices(["active", "paused"], weights=[93, 7])[0]
        if ended is not None and ended <= today:
            status = "ended"
        else:
            ended = None
        rows.append((len(rows) + 1, customer[0], plan, status, fee, started, ended))
    return rows
