"""The library of `library.yaml` as a context."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bylaw.authored.context import Calendar, Context, Entity, Gotcha, Metric
from bylaw.semantic.compiler import Compiler


@pytest.fixture(scope="session")
def library():
    raw = yaml.safe_load(Path(__file__).with_name("library.yaml").read_text(encoding="utf-8"))
    return Context(
        entities={item["name"]: Entity.model_validate(item) for item in raw["entities"]},
        metrics={item["name"]: Metric.model_validate(item) for item in raw["metrics"]},
        gotchas={item["id"]: Gotcha.model_validate(item) for item in raw["gotchas"]},
        calendar=Calendar.model_validate(raw["calendar"]),
    )


@pytest.fixture(scope="session")
def compiler(library):
    return Compiler(library)
