"""The data of a seed bank, and a day to ask on."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml

from bot.ask.query.names import Means
from bylaw.authored.context import Context
from bylaw.hold.values import Clock
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.words import index_context

HERE = Path(__file__).parent
TODAY = date(2026, 11, 20)


def read_yaml(name):
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def means():
    context = Context.model_validate(read_yaml("seedbank.yaml"))
    return Means(Compiler(context), index_context(context), Clock(TODAY))
