"""The data of some theatres: drawn anew each time, the same each time."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from random import Random

import duckdb

TABLES = """
CREATE SCHEMA stage;
CREATE TABLE stage.venues (venue_id INT, name TEXT, town TEXT, seats INT);
CREATE TABLE stage.plays (play_id INT, title TEXT, genre TEXT, minutes INT, premiered_on DATE);
CREATE TABLE stage.shows (show_id INT, play_id INT, venue_id INT, status TEXT, played_on DATE);
CREATE TABLE stage.guests (guest_id INT, name TEXT, membership TEXT, joined_on DATE);
CREATE TABLE stage.tickets
  (ticket_id INT, show_id INT, guest_id INT, channel TEXT, refunded BOOLEAN, sold_on DATE, price DECIMAL(8, 2));
"""
TITLES = ("Rain", "Two Doors", "The Clerk", "Ash", "Harbour", "Salt", "Lamp", "Winter Ball", "The Letter", "Oak")


def build(path: Path) -> None:
    """Write the database to *path*."""
    draw = Random(5)

    def day(first: date, days: int) -> date:
        return first + timedelta(draw.randint(0, days))

    venues = [(i + 1, f"House {n}", draw.choice(["Bern", "Basel", "Genf"]), draw.randint(80, 900))
              for i, n in enumerate("ABCDEFG")]  # fmt: skip
    plays = [(i + 1, title, draw.choice(["comedy", "tragedy", "musical"]), draw.randint(60, 200),
              day(date(2022, 1, 1), 1500)) for i, title in enumerate(TITLES)]  # fmt: skip
    states = [*["played"] * 7, "cancelled", "planned"]
    shows = [(i + 1, draw.randint(1, 9), draw.randint(1, 6), draw.choice(states), day(date(2025, 1, 1), 720))
             for i in range(160)]  # fmt: skip
    guests = [(i + 1, f"Guest{i + 1}", draw.choice(["gold", "silver", "none", "none"]), day(date(2019, 1, 1), 2800))
              for i in range(60)]  # fmt: skip
    tickets = []
    for i in range(2500):
        show = shows[draw.randint(0, 149)]
        guest, channel = draw.randint(1, 55), draw.choice(["web", "web", "desk", "phone"])
        is_refunded, sold = draw.random() < 0.06, show[4] - timedelta(draw.randint(0, 60))
        tickets.append((i + 1, show[0], guest, channel, is_refunded, sold, round(draw.uniform(18, 160), 2)))
    rows = {"venues": venues, "plays": plays, "shows": shows, "guests": guests, "tickets": tickets}
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
        for table, found in rows.items():
            marks = ", ".join("?" * len(found[0]))
            connection.executemany(f"INSERT INTO stage.{table} VALUES ({marks})", found)
