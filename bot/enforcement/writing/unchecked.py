"""Policies that stay in force as text: logic does not know them, so they are quoted, never decided from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bot.enforcement.question.stems import stems_in
from bot.index import BundleIndex

_NEAR = Fraction(1, 2)  # of what is asked has to stand in the text
NOTE = "not checked by logic"


@dataclass(frozen=True)
class Unchecked:
    """A policy as text, and how much of what is asked stands in it."""

    policy_id: str
    path: str
    owner: str
    domain: str
    texts: tuple[str, ...]
    relevance: Fraction

    @property
    def quoted(self) -> str:
        """Its sentences."""
        return " ".join(f"“{text}”" for text in self.texts)


def unchecked(words: Collection[str], readers: Collection[str], index: BundleIndex) -> list[Unchecked]:
    """The policies that are text alone and speak of *words*, as far as *readers* may be answered from them."""
    asked = stems_in(" ".join(words))
    found = [] if not asked else [one for one in _texts(readers, index, asked) if one.relevance >= _NEAR]
    return sorted(found, key=lambda one: (-one.relevance, one.policy_id))


def _texts(readers: Collection[str], index: BundleIndex, asked: frozenset[str]) -> Iterator[Unchecked]:
    for policy_id, record in sorted(index.bundle.policies.items()):
        texts = tuple(map(str, record.get("texts", ())))
        if texts and _may_read(record, readers):
            domain = str(record.get("domain", ""))
            stems = stems_in(" ".join(texts)) | stems_in(domain)
            share = Fraction(len(asked & stems), len(asked))
            yield Unchecked(policy_id, str(record["path"]), index.owner(policy_id), domain, texts, share)


def _may_read(record: Mapping[str, Any], readers: Collection[str]) -> bool:
    audience = record.get("audience", ())
    return not audience or not set(audience).isdisjoint(readers)
