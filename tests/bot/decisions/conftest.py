"""What the tests of decision answers stand on: a small corpus, the packaged rules, and a bundle's index over both."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.conversation import Question
from bot.index import BundleIndex
from bylaw.authored.context import Context
from bylaw.authored.decisions import KINDS, Decisions
from bylaw.authored.machines.intents import Intents
from bylaw.authored.machines.rules import RULE_FILES, Rules
from bylaw.authored.vocabulary import Vocabulary
from bylaw.bundle import BundleMetadata, CompiledPolicyBundle, dump, parse
from ci.loading.decision_records import Sourced, ingest
from ci.loading.rules import load_defaults
from ci.loading.source import read

HERE = Path(__file__).parent

Corpus = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="session")
def rules() -> Rules:
    """The packaged rules."""
    data = load_defaults()
    return Rules.model_validate({name: model.model_validate(data[name]) for name, model in RULE_FILES.items()})


@pytest.fixture(scope="session")
def intents(rules: Rules) -> Intents:
    """How decision questions are answered."""
    return rules.intents


@pytest.fixture(scope="session")
def snapshot() -> Callable[[Corpus], Decisions]:
    """Authored records by kind, ingested; each stands in a file of its own."""

    def ingested(corpus: Corpus) -> Decisions:
        records = [
            Sourced(KINDS[kind].model_validate(record), f"context/decisions/{kind}s/{record['id']}.yaml")
            for kind in KINDS
            for record in corpus.get(f"{kind}s", ())
        ]
        container, findings = ingest(records)
        assert not findings, findings
        return container

    return ingested


@pytest.fixture(scope="session")
def panasonic(snapshot: Callable[[Corpus], Decisions]) -> Decisions:
    """The seed's examples."""
    return snapshot(read("panasonic.yaml", (HERE / "panasonic.yaml").read_bytes()).data)


@pytest.fixture(scope="session")
def index(rules: Rules) -> Callable[[Decisions], BundleIndex]:
    """A bundle with these decisions, written and read back, and its index."""

    def of(decisions: Decisions) -> BundleIndex:
        counts = dict.fromkeys(
            ("policy_count", "active_policy_count", "rule_count", "constraint_count", "path_count"), 0
        )
        mappings = ("variables", "outcomes", "graphs", "layers")
        lists = ("conditional_rules", "constraints", "decision_nodes", "compiled_paths", "dominance_rules")
        empty: dict[str, Any] = {name: {} for name in mappings}
        empty |= {name: [] for name in (*lists, "escalations", "conflicts")}
        bundle = CompiledPolicyBundle(
            **empty,
            priority_lattice=dict(rules.priorities.levels),
            vocabulary=Vocabulary(),
            context=Context(),
            decisions=decisions,
            rules=rules,
            bundle_metadata=BundleMetadata(**counts, source_commit="c0ffee", commit_date=None),
        )
        return BundleIndex(parse(dump(bundle)))

    return of


@pytest.fixture(scope="session")
def ask() -> Callable[..., Question]:
    """A question as the orchestrator hands it over."""

    def question(text: str, **options: Any) -> Question:
        asked_at = datetime(2026, 11, 20, 9, tzinfo=UTC)
        return Question(text=text, asked_at=asked_at, request_id="req-1", session_id="s-1", options=options)

    return question
