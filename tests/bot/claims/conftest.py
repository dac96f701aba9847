"""Repositories whose answers are judged: our own, the shared retail one, and two small ones of other trades."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.claims.models import read_claims
from bot.conversation import Question
from bot.enforcement.enforce import enforce
from bot.enforcement.judged.verdict import ComplianceDecision
from bot.index import BundleIndex
from bot.request.cases import read_facts
from tests.beside import beside, find_beside
from tests.compiled import index_of

HERE = Path(__file__).parent
TRADES = HERE.parent / "enforcement" / "trades"
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
RETAIL_TELLS = (
    "list_action_details",
    "obtain_confirmation",
    "remind_all_items",
    "email_return_instructions",
    "send_transfer_message",
)
Judge = Callable[..., ComplianceDecision]


def telling(index: BundleIndex, actions: tuple[str, ...]) -> BundleIndex:
    """The same with duties marked that have to be told: the shared repository does not say which."""
    words = index.vocabulary
    marked = {
        name: one.model_copy(update={"must_tell": True}) for name, one in words.actions.items() if name in actions
    }
    changed = words.model_copy(update={"actions": {**words.actions, **marked}})
    return BundleIndex(index.bundle.model_copy(update={"vocabulary": changed}))


@pytest.fixture(scope="session")
def repositories() -> dict[str, BundleIndex]:
    found = {
        "voltmark": index_of(HERE.parents[2]),
        "ferry": index_of(HERE / "ferry"),
        "kennel": index_of(HERE / "kennel"),
        "cycles": index_of(HERE / "cycles"),
        "clinic": index_of(HERE / "clinic"),
        "cemetery": index_of(HERE / "cemetery"),
        "allotment": index_of(HERE / "allotment"),
        "laundry": index_of(HERE / "laundry"),
        "coworking": index_of(TRADES / "coworking"),
        "sauna": index_of(TRADES / "sauna"),
        "boarding": index_of(TRADES / "kennel"),
        "rental": index_of(HERE.parents[1] / "company"),
    }
    if (retail := find_beside("realworld", "policies", "retail")) is not None:
        found["retail"] = telling(index_of(retail), RETAIL_TELLS)
    return found


@pytest.fixture(scope="session")
def judged(repositories: dict[str, BundleIndex]) -> Judge:
    """The verdict on a row's answer with *claims*, given as a caller gives them."""

    def verdict(row: dict[str, Any], claims: list[Any] | None = None) -> ComplianceDecision:
        index = repositories[row["root"]]
        said = read_claims(row["claims"] if claims is None else claims)
        question = Question(text=row["query"], asked_at=row.get("asked", NOW), request_id="r")
        return enforce(question, row["response"], index, read_facts(row["facts"], index), claims=said)

    return verdict


def lines(name: str) -> list[dict[str, Any]]:
    path = beside("realworld", "policies", "claims", name)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
