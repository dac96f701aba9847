"""What a change of the context would do: to the questions that people verified, and to the answers of late."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from bot.analytics import answer as analytics
from bot.conversation import Actor, Question
from bot.evidence.artifacts import ArtifactError, Shelf
from bot.evidence.store.connection import Connection
from bot.evidence.store.tables import requests
from bot.index import BundleIndex
from bylaw.errors import BylawError
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import SemanticQuery
from bylaw.warehouses.port import Warehouse

MOST = 2_000  # answers that are looked at, the newest first


@dataclass(frozen=True)
class Verified:
    """A verified question whose answer changes: the statement and, where a warehouse is connected, what it says."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Answers:
    """Of how many answers, which would be different today. `unread`: those whose plan was not kept."""

    count: int
    changed: tuple[str, ...]
    unread: int


def verified(
    before: BundleIndex, after: BundleIndex, now: datetime, warehouse: Warehouse | None = None
) -> tuple[int, tuple[Verified, ...]]:
    """How many verified questions there are, and those whose answer changes."""
    queries = before.bundle.context.verified_queries
    found = []
    for name in sorted(queries):
        question = queries[name].question
        for parameter, value in queries[name].parameters.items():
            question = question.replace(f"{{{parameter}}}", str(value))
        one, two = (_said(question, index, now, warehouse) for index in (before, after))
        if one != two:
            found.append(Verified(name, one, two))
    return len(queries), tuple(found)


def answers(connection: Connection, shelf: Shelf, before: BundleIndex, after: BundleIndex, since: datetime) -> Answers:
    """The data answers given *since* then whose statement would be another one."""
    count, unread, changed = 0, 0, []
    compilers = [Compiler(index.bundle.context) for index in (before, after)]
    for request_id, papers in requests.answered(connection, "data", since, MOST):
        count += 1
        query = _query(shelf, papers)
        if query is None:
            unread += 1
        elif len({_statement(compiler, query) for compiler in compilers}) > 1:
            changed.append(request_id)
    return Answers(count, tuple(changed), unread)


def _said(question: str, index: BundleIndex, now: datetime, warehouse: Warehouse | None) -> str:
    asked = Question(text=question, actor=Actor(id="verified"), asked_at=now, request_id="verified")
    try:
        reply = analytics.answer(asked, {}, index, warehouse, None).reply
    except BylawError as error:
        return error.message
    rows = "; ".join(", ".join(str(cell) for cell in row) for row in reply.rows[:3])
    return rows if reply.status == "answered" else reply.sql or reply.text


def _query(shelf: Shelf, papers: Mapping[str, str]) -> SemanticQuery | None:
    try:
        plan: Any = json.loads(shelf.get_text(papers["plan"]))
        return SemanticQuery.model_validate(plan["query"])
    except (KeyError, ArtifactError, ValueError, TypeError, ValidationError):
        return None


def _statement(compiler: Compiler, query: SemanticQuery) -> str:
    try:
        return compiler.compile(query).sql
    except BylawError as error:
        return error.message


def listed(found: tuple[Verified, ...], most: int = 10) -> Iterator[str]:
    """The changed questions as lines."""
    for one in found[:most]:
        yield f"verified query {one.name}: {_short(one.before)} → {_short(one.after)}"
    if len(found) > most:
        yield f"and {len(found) - most} more verified queries"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"
