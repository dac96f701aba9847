"""A shop with a few experienced people, and the data questions that they ask, without a warehouse."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bot.answerers import answerers
from bot.conversation import Actor, Question, Reply
from bot.evidence.store.tables import candidates, corrections
from bot.index import BundleIndex
from bot.memory.changes import Change
from bot.memory.corrections import Given, Noted, correct
from bot.memory.structure import applied
from bot.request.orchestrator import handle
from bot.services import Services
from bylaw.authored.context import Context
from bylaw.authored.decisions import Decisions
from bylaw.authored.machines.rules import Rules
from bylaw.bundle import dump, parse
from ci.loading.rules import load_defaults
from tests.fakes.bundle import bundle_of
from tests.fakes.frame import NOON, services

SENIORS = ("ada", "bo", "cy", "dee", "eve")
ROLES = {
    "roles": {
        "clerk": {"schemas": ["shop"]},
        "junior": {"schemas": ["shop", "ledger"]},
        "senior": {"schemas": ["shop"], "seniority": "Senior"},
        "outsider": {"schemas": ["ledger"], "seniority": "Lead"},
        "steward": {"schemas": ["shop"], "seniority": "Principal", "steward": True},
    },
    "users": {
        **{name: ["senior"] for name in SENIORS},
        **{f"j{n}": ["junior"] for n in range(9)},
        **{f"o{n}": ["outsider", "clerk"] for n in range(5)},
        "U0ADA": ["senior"],
        "grace": ["steward"],
        "hal": ["steward"],
    },
    "attributes": {"U0ADA": {"person": "ada"}, "grace": {"github": "grace-h"}},
    "default_role": "clerk",
}
CONTEXT: dict[str, Any] = {
    "entities": {
        "orders": {
            "name": "orders",
            "domain": "sales",
            "base_table": {"schema": "shop", "table": "orders"},
            "primary_key": {"columns": ["order_id"]},
            "dimensions": [{"name": "channel"}, {"name": "status"}],
            "time_dimensions": [{"name": "ordered_at", "default": True}],
            "facts": [{"name": "total"}, {"name": "cost"}],
            "pii": ["email"],
        },
        "postings": {
            "name": "postings",
            "domain": "finance",
            "base_table": {"schema": "ledger", "table": "postings"},
            "primary_key": {"columns": ["posting_id"]},
            "facts": [{"name": "amount"}],
        },
    },
    "metrics": {
        "revenue": {"name": "revenue", "entity": "orders", "agg": "sum", "expr": "total", "synonyms": ["turnover"]},
        "spend": {"name": "spend", "entity": "orders", "agg": "sum", "expr": "cost"},
        "imported": {"name": "imported", "entity": "orders", "agg": "sum", "expr": "total"},
    },
    "gotchas": {
        "returns": {
            "id": "returns",
            "trap": "Returned orders look like any other.",
            "applies_to": ["revenue"],
            "required_filter": "status <> 'returned'",
        }
    },
    "paths": {
        "entities/orders": "context/entities/orders.yaml",
        "metrics/revenue": "context/metrics/revenue.yaml",
        "metrics/spend": "context/metrics/spend.yaml",
        "gotchas/returns": "context/gotchas/returns.yaml",
    },
}
ONLINE = {"object": "metrics/revenue", "field": "filter", "new": "channel = 'online'"}


@dataclass
class Shop:
    """The bot at work; `now` is moved by hand."""

    services: Services
    now: datetime = NOON
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def ask(self, user: str, text: str = "revenue", **others: Any) -> Reply:
        name = others.pop("request_id", f"r{next(self.numbers)}")
        asked = Question(
            text=text, actor=Actor(id=user), asked_at=self.now, session_id=name, request_id=name, options=others
        )
        return handle(asked, self.services)

    def correct(self, user: str, request_id: str | None = None, **given: str) -> Noted:
        """*user* corrects an answer of their own, or that of *request_id*."""
        said = {**ONLINE, "reason": "stores count themselves", **given}
        kind = said.pop("correction_type", None)
        answered = request_id or self.ask(user).request_id
        return correct(Given(answered, kind, **said), Actor(id=user), self.services)  # type: ignore[arg-type]

    def later(self, **span: float) -> None:
        self.now += timedelta(**span)

    def merge(self, **change: str) -> None:
        """What a merged pull request, compiled and loaded, leaves."""
        context = applied(self.services.index.bundle.context, Change(**change))
        self.serve(context)

    def serve(self, context: Context, roles: dict[str, Any] = ROLES) -> None:
        index = indexed(context, roles)
        self.services = replace(self.services, index=index, bundle_etag=index.etag)

    @property
    def candidates(self) -> tuple[candidates.Candidate, ...]:
        with self.services.store.reading() as connection:
            return candidates.all_of(connection)

    def kept(self, user: str) -> tuple[corrections.Correction, ...]:
        with self.services.store.reading() as connection:
            return corrections.of(connection, user)


def indexed(context: Context, roles: dict[str, Any] = ROLES) -> BundleIndex:
    rules = Rules.model_validate({**load_defaults(), "roles": roles})
    return BundleIndex(parse(dump(bundle_of(context, rules, Decisions(), source_commit="abc1234", commit_date=None))))


@functools.cache
def _as_written() -> BundleIndex:
    """Nobody changes an index: what was worked out for one shop serves all."""
    return indexed(Context.model_validate(CONTEXT))


@contextmanager
def opened(folder: Path) -> Iterator[Shop]:
    """A shop whose store lies in *folder*, with everything real but the warehouse and the clock."""
    index = _as_written()
    made = services(folder, index=index, bundle_etag=index.etag, answerers=answerers(None))
    shop = Shop(made)
    shop.services = replace(made, clock=lambda: shop.now)
    yield shop
    made.store.close()


@pytest.fixture(params=["sqlite"])
def shop(tmp_path: Path) -> Iterator[Shop]:
    with opened(tmp_path) as shop:
        yield shop
