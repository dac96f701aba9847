"""The repository's own context and rules as a bundle's index, beside its demo warehouse."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from bot.analytics.answer import answer
from bot.conversation import Question
from bot.index import BundleIndex
from bylaw.authored.machines.access import Grant, Rights
from bylaw.demos.warehouse import build
from bylaw.semantic.compiler import Compiler
from bylaw.warehouses.registry import open_warehouse
from ci.loading.load import load
from tests.fakes.bundle import bundle_of

ROOT = Path(__file__).parents[3]
TODAY = date(2026, 11, 20)
NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@pytest.fixture(scope="session")
def workspace():
    return load(ROOT, today=TODAY)


@pytest.fixture(scope="session")
def index(workspace):
    made = {"source_commit": "abc1234", "commit_date": "2026-11-20", "etag": "sha256:test"}
    return BundleIndex(bundle_of(workspace.context, workspace.rules, workspace.decisions, **made))


@pytest.fixture(scope="session")
def compiler(index):
    return Compiler(index.bundle.context)


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory):
    path = tmp_path_factory.mktemp("warehouse") / "demo.duckdb"
    build(path, TODAY)
    opened = open_warehouse(f"duckdb://{path}", statement_seconds=10)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def ask(index, warehouse):
    """Ask one question after another: `ask(text, state)` gives the turn."""

    def _ask(text, state=None, schemas=None, options=None, connected=True):
        question = Question(text=text, asked_at=NOW, request_id="r-1", session_id="s-1", options=options or {})
        rights = None if schemas is None else Rights((Grant(schemas),))
        return answer(question, state or {}, index, warehouse if connected else None, rights)

    return _ask
