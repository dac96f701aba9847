"""What is asked about a decision: the intent whose words a question uses, as `rules/intents.yaml` lists them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

from bot.decisions.search import words
from bylaw.authored.machines.intents import Intents


@dataclass(frozen=True, slots=True)
class IntentReading:
    """The intent, None when no words of one are used, and what is left of the question without those words."""

    intent: str | None
    rest: str
    is_phrase: bool = False


def read(text: str, rules: Intents) -> IntentReading:
    """The intent of *text*: the phrase that stands first, the longer one where two do, else its opening word."""
    said = " ".join(words(text))
    phrases = _phrases(tuple((name, tuple(intent.words)) for name, intent in sorted(rules.intents.items())))
    found = [
        (match.start(), -len(phrase), name, match)
        for phrase, name in phrases
        if (match := re.search(rf"\b{re.escape(phrase)}\b", said))
    ]
    if found:
        _, _, name, match = min(found, key=lambda one: one[:3])
        rest = f"{said[: match.start()]} {said[match.end() :]}"
        return IntentReading(name, " ".join(rest.split()), True)
    opening = _opening_words(phrases)
    for word in said.split()[:2]:
        if word in opening:
            return IntentReading(opening[word], text)
    return IntentReading(None, text)


@lru_cache(maxsize=16)
def _phrases(table: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((" ".join(words(phrase)), name) for name, phrases in table for phrase in phrases)


@lru_cache(maxsize=16)
def _opening_words(phrases: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """First words that only one intent's phrases have: `who` in "and who?", but not `what`."""
    intents: dict[str, set[str]] = defaultdict(set)
    for phrase, name in phrases:
        if phrase:
            intents[phrase.split()[0]].add(name)
    return {word: min(names) for word, names in sorted(intents.items()) if len(names) == 1}
