"""The data of a practice of vets: drawn anew each time, the same each time."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from random import Random

import duckdb

TABLES = """
CREATE SCHEMA clinic;
CREATE TABLE clinic.owners (owner_id INT, name TEXT, city TEXT, registered_on DATE);
CREATE TABLE clinic.animals
  (animal_id INT, name TEXT, species TEXT, sex TEXT, born_on DATE, weight_kg DECIMAL(6, 2), owner_id INT);
CREATE TABLE clinic.vets (vet_id INT, name TEXT, field TEXT, hired_on DATE);
CREATE TABLE clinic.visits
  (visit_id INT, animal_id INT, vet_id INT, reason TEXT, status TEXT, visited_on DATE, minutes INT);
CREATE TABLE clinic.prescriptions
  (prescription_id INT, visit_id INT, medicine TEXT, dose_mg DECIMAL(8, 2), days INT, prescribed_on DATE);
CREATE TABLE clinic.invoices
  (invoice_id INT, visit_id INT, status TEXT, issued_on DATE, paid_on DATE, amount DECIMAL(10, 2));
"""
NAMES = ("Agnes", "Bruno", "Claire", "Denis", "Elise", "Fabien", "Gaelle", "Hugo", "Ines", "Jules", "Karine", "Loic",
         "Maud", "Noe", "Odile")  # fmt: skip
VETS = (("Roux", "surgery"), ("Petit", "dental"), ("Blanc", "general"), ("Moreau", "general"), ("Faure", "dental"),
        ("Neveu", "general"))  # fmt: skip
CITIES = ("Lyon", "Nice", "Paris", "Lille")
SPECIES = ("dog", "dog", "cat", "cat", "rabbit", "parrot")
REASONS = ("vaccination", "checkup", "injury", "surgery")
STATES = (*["done"] * 6, "missed", "cancelled")
MEDICINES = ("amoxicillin", "meloxicam", "prednisolone", "ivermectin")


def build(path: Path) -> None:
    """Write the database to *path*."""
    draw = Random(12)

    def day(first: date, days: int) -> date:
        return first + timedelta(draw.randint(0, days))

    visits = [
        (i + 1, draw.randint(1, 36), draw.randint(1, 5), draw.choice(REASONS), draw.choice(STATES),
         day(date(2024, 6, 1), 860), draw.randint(5, 90))
        for i in range(600)
    ]  # fmt: skip
    rows = {
        "owners": [(i + 1, name, draw.choice(CITIES), day(date(2021, 1, 1), 1900)) for i, name in enumerate(NAMES)],
        "animals": [
            (i + 1, f"Pet{i + 1}", draw.choice(SPECIES), draw.choice("fm"), day(date(2012, 1, 1), 5000),
             round(draw.uniform(1, 45), 2), draw.randint(1, 13))
            for i in range(40)
        ],
        "vets": [(i + 1, name, field, day(date(2015, 1, 1), 3900)) for i, (name, field) in enumerate(VETS)],
        "visits": visits,
        "prescriptions": [
            (i + 1, visit[0], draw.choice(MEDICINES), round(draw.uniform(5, 500), 2), draw.randint(1, 21), visit[5])
            for i in range(300)
            for visit in [visits[draw.randint(0, 559)]]
        ],
        "invoices": [
            (i + 1, visit[0], state, issued, issued + timedelta(draw.randint(0, 40)) if state == "paid" else None,
             round(draw.uniform(25, 800), 2))
            for i in range(420)
            for visit in [visits[draw.randint(0, 579)]]
            for state in [draw.choice(("paid", "paid", "paid", "open", "overdue"))]
            for issued in [visit[5] + timedelta(draw.randint(0, 5))]
        ],
    }  # fmt: skip
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
        for table, found in rows.items():
            marks = ", ".join("?" * len(found[0]))
            connection.executemany(f"INSERT INTO clinic.{table} VALUES ({marks})", found)
