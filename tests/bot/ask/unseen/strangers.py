"""The data of a playhouse and of a pet clinic: drawn anew each time, the same each time."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from random import Random

import duckdb

TABLES = """
CREATE SCHEMA stage;
CREATE TABLE stage.plays (play_id INT, title TEXT, genre TEXT, author TEXT, minutes INT);
CREATE TABLE stage.halls (hall_id INT, name TEXT, town TEXT, seats INT);
CREATE TABLE stage.shows (show_id INT, play_id INT, hall_id INT, played_on DATE, status TEXT);
CREATE TABLE stage.patrons (patron_id INT, name TEXT, town TEXT, tier TEXT, joined_on DATE, email TEXT);
CREATE TABLE stage.bookings
  (booking_id INT, show_id INT, patron_id INT, channel TEXT, booked_on DATE, tickets INT, price DECIMAL(8, 2));
CREATE TABLE stage.vouchers (voucher_id INT, giver_id INT, receiver_id INT, given_on DATE, worth DECIMAL(8, 2));
CREATE SCHEMA clinic;
CREATE TABLE clinic.owners (owner_id INT, first_name TEXT, last_name TEXT, city TEXT, phone TEXT);
CREATE TABLE clinic.pets (pet_id INT, owner_id INT, name TEXT, species TEXT, weight_kg DECIMAL(6, 2), born_on DATE);
CREATE TABLE clinic.vets (vet_id INT, full_name TEXT, specialty TEXT, hired_on DATE);
CREATE TABLE clinic.visits
  (visit_id INT, pet_id INT, vet_id INT, seen_on DATE, reason TEXT, state TEXT, fee DECIMAL(8, 2));
CREATE TABLE clinic.drugs (drug_id INT, name TEXT, kind TEXT);
CREATE TABLE clinic.prescriptions (prescription_id INT, visit_id INT, drug_id INT, days INT);
"""
PLAYS = ("Hamlet", "Faust", "Antigone", "Woyzeck", "Medea", "Nora", "Tartuffe", "Volpone", "Galileo")
PEOPLE = ("Ada", "Bo", "Cleo", "Dirk", "Elin", "Finn", "Gust", "Hana", "Ivo", "Juna", "Kai", "Lou", "Mina", "Nils")
DRUGS = ("Calmex", "Dermol", "Felovit", "Parasan", "Canilor", "Zytrane")


def build(path: Path) -> None:
    """Write the database to *path*."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
        for table, rows in {**_stage(Random(11)), **_clinic(Random(12))}.items():
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _day(draw: Random, first: date, days: int) -> date:
    return first + timedelta(draw.randint(0, days))


def _stage(draw: Random) -> dict[str, list[tuple[object, ...]]]:
    return {
        "stage.plays": [
            (i + 1, title, draw.choice(["tragedy", "comedy", "drama"]),
             draw.choice(["Old", "New"]) + f" Author {i % 4}", draw.randint(60, 200))
            for i, title in enumerate(PLAYS)
        ],
        "stage.halls": [(i + 1, f"Hall {chr(65 + i)}", ["Graz", "Linz", "Wels"][i % 3], 80 + 40 * i) for i in range(6)],
        "stage.shows": [
            (i + 1, draw.randint(1, 8), draw.randint(1, 5), _day(draw, date(2025, 1, 1), 680),
             draw.choice(["played"] * 5 + ["cancelled"]))
            for i in range(160)
        ],
        "stage.patrons": [
            (i + 1, f"{name} {'North' if i % 2 else 'South'}", draw.choice(["Graz", "Linz", "Wels", "Steyr"]),
             draw.choice(["gold", "silver", "plain"]), date(2018 + i % 8, 1 + i % 12, 5), f"{name}@x.example")
            for i, name in enumerate(PEOPLE)
        ],
        "stage.bookings": [
            (i + 1, draw.randint(1, 150), draw.randint(1, 12), draw.choice(["online", "desk", "phone"]),
             _day(draw, date(2025, 1, 1), 680), draw.randint(1, 6), round(draw.uniform(15, 250), 2))
            for i in range(800)
        ],
        "stage.vouchers": [
            (i + 1, draw.randint(1, 8), draw.randint(5, 13), _day(draw, date(2025, 1, 1), 680),
             draw.choice([20, 50, 75]))
            for i in range(60)
        ],
    }  # fmt: skip


def _clinic(draw: Random) -> dict[str, list[tuple[object, ...]]]:
    return {
        "clinic.owners": [
            (i + 1, name, f"{name[::-1].title()}son", draw.choice(["Oslo", "Bergen", "Molde"]), f"0{i}123")
            for i, name in enumerate(PEOPLE)
        ],
        "clinic.pets": [
            (i + 1, draw.randint(1, 12), f"Pet {i}", draw.choice(["dog", "cat", "parrot", "rabbit"]),
             round(draw.uniform(0.5, 40), 2), _day(draw, date(2012, 1, 1), 4000))
            for i in range(40)
        ],
        "clinic.vets": [
            (i + 1, f"Dr {chr(75 + i)}", ["surgery", "dentistry", "skin"][i % 3], date(2016 + i, 3, 1))
            for i in range(6)
        ],
        "clinic.visits": [
            (i + 1, draw.randint(1, 36), draw.randint(1, 5), _day(draw, date(2025, 1, 1), 680),
             draw.choice(["checkup", "vaccination", "injury"]), draw.choice(["done"] * 5 + ["missed"]),
             round(draw.uniform(20, 300), 2))
            for i in range(420)
        ],
        "clinic.drugs": [
            (i + 1, name, draw.choice(["tablet", "ointment", "injection"])) for i, name in enumerate(DRUGS)
        ],
        "clinic.prescriptions": [
            (i + 1, draw.randint(1, 400), draw.randint(1, 5), draw.choice([5, 7, 10, 14])) for i in range(300)
        ],
    }  # fmt: skip
