"""The data of a honey cooperative: drawn anew each time, the same each time."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from random import Random

import duckdb

TABLES = """
CREATE SCHEMA bees;
CREATE TABLE bees.beekeepers (keeper_id INT, name TEXT, country TEXT, joined_on DATE, email TEXT);
CREATE TABLE bees.apiaries (apiary_id INT, site TEXT, landscape TEXT, keeper_id INT, height_m INT);
CREATE TABLE bees.hives (hive_id INT, apiary_id INT, breed TEXT, state TEXT, set_up_on DATE);
CREATE TABLE bees.inspections (inspection_id INT, hive_id INT, inspected_on DATE, mites INT, result TEXT, minutes INT);
CREATE TABLE bees.harvests
  (harvest_id INT, hive_id INT, harvested_on DATE, honey_kg DECIMAL(8, 2), kind TEXT, moisture DECIMAL(5, 2));
CREATE TABLE bees.deliveries
  (delivery_id INT, shop TEXT, kind TEXT, status TEXT, delivered_on DATE, amount DECIMAL(10, 2), jars INT);
"""
NAMES = ("Ada", "Bo", "Cleo", "Dirk", "Elin", "Finn", "Gust", "Hana", "Ivo", "Juna")
KINDS = ("acacia", "lime", "heather", "blossom")
SHOPS = ("Market Hall", "Corner Store", "Green Basket", "Farm Gate", "Station Kiosk")


def build(path: Path) -> None:
    """Write the database to *path*."""
    draw = Random(7)

    def day(first: date, days: int) -> date:
        return first + timedelta(draw.randint(0, days))

    rows = {
        "beekeepers": [
            (i + 1, name, draw.choice(["AT", "DE", "CH"]), date(2015 + i % 8, 1 + i % 12, 5), f"{name}@x.example")
            for i, name in enumerate(NAMES)
        ],
        "apiaries": [
            (i + 1, f"Site {chr(65 + i)}", draw.choice(["forest", "meadow", "orchard", "heath"]), draw.randint(1, 10),
             draw.randint(100, 1800))
            for i in range(16)
        ],
        "hives": [
            (i + 1, draw.randint(1, 15), draw.choice(["carnica", "buckfast", "ligustica"]),
             draw.choice(["active", "active", "active", "empty", "sick"]), day(date(2019, 1, 1), 2800))
            for i in range(90)
        ],
        "inspections": [
            (i + 1, draw.randint(1, 85), day(date(2025, 1, 1), 680), draw.randint(0, 30),
             draw.choice(["good", "good", "weak", "queenless"]), draw.randint(5, 60))
            for i in range(700)
        ],
        "harvests": [
            (i + 1, draw.randint(1, 80), day(date(2024, 5, 1), 880), round(draw.uniform(2, 28), 2), draw.choice(KINDS),
             round(draw.uniform(14, 21), 2))
            for i in range(500)
        ],
        "deliveries": [
            (i + 1, draw.choice(SHOPS), draw.choice(KINDS), draw.choice(["paid"] * 6 + ["returned", "open"]),
             day(date(2025, 1, 1), 688), round(draw.uniform(20, 600), 2), draw.randint(1, 60))
            for i in range(900)
        ],
    }  # fmt: skip
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
        for table, those in rows.items():
            connection.executemany(f"INSERT INTO bees.{table} VALUES ({', '.join('?' * len(those[0]))})", those)
