"""The data of a piano workshop and of a pilot station: drawn anew each time, the same each time.

Days lie on the ends of months, on both sides of leap days, and on the nights when clocks change.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

import duckdb

TABLES = """
CREATE SCHEMA shop;
CREATE TABLE shop.clients (client_id INT, surname TEXT, city TEXT, joined_on DATE, email TEXT);
CREATE TABLE shop.instruments
  (instrument_id INT, client_id INT, serial_no TEXT, maker TEXT, kind TEXT, height_cm INT, weight_kg INT);
CREATE TABLE shop.visits
  (visit_id INT, instrument_id INT, tuner TEXT, state TEXT, booked_on DATE, done_at TIMESTAMP, minutes INT,
   fee DECIMAL(8, 2));
CREATE SCHEMA port;
CREATE TABLE port.ships (ship_id INT, name TEXT, flag TEXT, built_on DATE, draught_m DECIMAL(5, 2));
CREATE TABLE port.pilots (pilot_id INT, name TEXT, grade TEXT, hired_on DATE);
CREATE TABLE port.moves
  (move_id INT, ship_id INT, pilot_id INT, berth TEXT, direction TEXT, ordered_at TIMESTAMP, boarded_at TIMESTAMP,
   distance_km DECIMAL(6, 2), tariff DECIMAL(10, 2));
"""
SURNAMES = ("McKay", "Jovanovic", "Huber", "McCoy", "Lopez", "Ramirez", "Novak", "Berger", "Mcmillan", "Ortiz")
TUNERS = ("Ona Reed", "Pavel Ort", "Mia Lund")
SHIPS = (
    "Evening Star",
    "MS Aurora",
    "Baltia",
    "Starlight",
    "MS Nordic",
    "Arcadia",
    "Tern",
    "Gull",
    "Lodestar",
    "Osprey",
)
PILOTS = ("Aas", "Bie", "Col", "Dam", "Eek", "Fossen")
# Nights on which something changes: leap days, the ends of months and years, clocks that go on or back.
EDGES = (date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1), date(2023, 2, 28), date(2023, 3, 1), date(2023, 3, 31),
         date(2023, 4, 1), date(2025, 3, 30), date(2025, 10, 26), date(2025, 12, 31), date(2026, 1, 1),
         date(2026, 2, 28), date(2026, 3, 1), date(2026, 3, 29), date(2026, 3, 30))  # fmt: skip


def build(path: Path) -> None:
    """Write the database to *path*."""
    draw = Random(11)

    def day(first: date, days: int) -> date:
        return draw.choice(EDGES) if draw.random() < 0.1 else first + timedelta(draw.randint(0, days))

    def moment(of: date) -> datetime:
        return datetime(of.year, of.month, of.day, draw.choice((0, 6, 11, 16, 22, 23)), draw.choice((0, 30, 59)))

    def visit(i: int) -> tuple[object, ...]:
        booked = day(date(2023, 12, 1), 810)
        done = moment(booked + timedelta(draw.choice((0, 1, 3, 10, 14, 15, 20, 40))))
        state = draw.choice(["done"] * 5 + ["cancelled", "no_show"])
        return (i, draw.randint(1, 58), draw.choice(TUNERS), state, booked, done, draw.choice((30, 45, 60, 61, 90)),
                round(draw.uniform(50, 300), 2))  # fmt: skip

    def move(i: int) -> tuple[object, ...]:
        ordered = moment(day(date(2022, 1, 1), 780))
        boarded = ordered + timedelta(hours=draw.choice((-3, 2, 9, 20, 30, 47, 48, 49, 80)))
        return (i, draw.randint(1, 10), draw.randint(1, 6), draw.choice(("B7", "B8", "C1")),
                draw.choice(("inbound", "outbound")), ordered, boarded, round(draw.uniform(2, 30), 2),
                round(draw.uniform(300, 4000), 2))  # fmt: skip

    rows = {
        "shop.clients": [
            (i + 1, SURNAMES[i % 10], draw.choice(["Graz", "Linz", "Wien", "Salzburg", "Klagenfurt"]),
             day(date(2021, 6, 1), 1700), f"c{i}@gmail.com")
            for i in range(40)
        ],
        "shop.instruments": [
            (i + 1, draw.randint(1, 38), f"{draw.randint(10, 99)}{draw.choice(('88', 'K4', '70'))}-{i}",
             draw.choice(["Steinbach", "Ehrmann", "Sauter & Co"]), draw.choice(["grand", "upright", "digital"]),
             draw.randint(95, 150), draw.randint(40, 480))
            for i in range(60)
        ],
        "shop.visits": [visit(i + 1) for i in range(900)],
        "port.ships": [
            (i + 1, name, ("US", "CA", "NO", "LR")[i % 4], day(date(1985, 1, 1), 14000), round(draw.uniform(3, 14), 2))
            for i, name in enumerate(SHIPS)
        ],
        "port.pilots": [
            (i + 1, name, "ABC"[i % 3], (date(2018, 5, 1), date(2019, 1, 1), date(2020, 8, 3), date(2021, 12, 31),
             date(2022, 1, 10), date(2022, 11, 30))[i])
            for i, name in enumerate(PILOTS)
        ],
        "port.moves": [move(i + 1) for i in range(1100)],
    }  # fmt: skip
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
        for table, those in rows.items():
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(those[0]))})", those)
