"""Sentences of policies that logic does not know: they stay in force as text, are quoted, never decided from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Any

from bot.index import BundleIndex
from bylaw.language.lexicon import content, lexicon, stem
from bylaw.language.text import words_of

HALF = Fraction(1, 2)  # of what is asked has to stand in the text
NOTE = "not checked by logic"


@dataclass(frozen=True)
class Unchecked:
    """What a policy says as text alone, and how much of what is asked stands in it."""

    policy_id: str
    path: str
    owner: str
    domain: str
    texts: tuple[str, ...]
    relevance: Fraction = Fraction(1)

    @property
    def quoted(self) -> str:
        """Its sentences, and where they are from."""
        return f"{' '.join(f'“{text}”' for text in self.texts)} ({self.policy_id}, {NOTE})"


def unchecked(words: Collection[str], readers: Collection[str], index: BundleIndex, day: int) -> list[Unchecked]:
    """The texts that speak of *words*, in force on *day*, as far as *readers* may be answered from them."""
    asked = stems_in(" ".join(words))
    found = [] if not asked else [replace(one, relevance=_share(one, asked)) for one in _texts(readers, index, day)]
    near = (one for one in found if one.relevance >= HALF)
    return sorted(near, key=lambda one: (-one.relevance, one.policy_id))


def unchecked_of(policies: Iterable[str], readers: Collection[str], index: BundleIndex, day: int) -> list[Unchecked]:
    """The texts of *policies*, in their order, in force on *day*, as far as *readers* may be answered from them."""
    found = {one.policy_id: one for one in _texts(readers, index, day)}
    return [found[name] for name in dict.fromkeys(policies) if name in found]


def stems_in(text: str) -> frozenset[str]:
    """The stems of the words of *text* that tell one matter from another."""
    vague = lexicon()["vague"]
    return content(word for word in words_of(text) if word not in vague and stem(word) not in vague)


def _share(text: Unchecked, asked: frozenset[str]) -> Fraction:
    said = stems_in(" ".join(text.texts)) | stems_in(text.domain)
    return Fraction(len(asked & said), len(asked))


def _texts(readers: Collection[str], index: BundleIndex, day: int) -> Iterator[Unchecked]:
    for policy_id, record in sorted(index.bundle.policies.items()):
        texts = tuple(map(str, record.get("texts", ())))
        if texts and _may_read(record, readers) and _holds_on(record, day):
            owner, domain = index.owner(policy_id), str(record.get("domain", ""))
            yield Unchecked(policy_id, str(record["path"]), owner, domain, texts)


def _holds_on(record: Mapping[str, Any], day: int) -> bool:
    """Is *day* within the policy's first and last day, where it has them?"""
    start, end = (record.get(key) for key in ("effective_date", "expiry_date"))
    return (start is None or date.fromisoformat(start).toordinal() <= day) and (
        end is None or day <= date.fromisoformat(end).toordinal()
    )


def _may_read(record: Mapping[str, Any], readers: Collection[str]) -> bool:
    audience = record.get("audience", ())
    return not audience or not set(audience).isdisjoint(readers)
