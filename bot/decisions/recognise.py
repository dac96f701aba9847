"""How much a text reads like a question about what was decided: by what the holder made of its words."""

from __future__ import annotations

from collections import Counter
from datetime import date

from bot.ask.recorded import words_for
from bot.decisions.asked import Asked
from bot.decisions.reading import read_question
from bot.index import BundleIndex
from bylaw.hold.text import see
from bylaw.language.lexicon import closed, content, stem
from bylaw.language.text import words_of

_SAYS_DECISION = frozenset(map(stem, ("decide", "decision")))
_OWN_CASE = frozenset(("i", "me", "my", "mine"))
_OF_US = frozenset(("we", "us", "our", "ours"))
_MOST_OF_IT = 0.4  # of the words of a title: so many and the decision is meant
_PLAIN = 0.5  # "what is …" asks of anything
_ANY_DAY = date(2000, 1, 1)  # only whether a span is one is asked here


def is_decision_question(text: str, index: BundleIndex) -> float:
    """How much *text* reads like a question about a decision on record, 0 to 1."""
    decisions, weights = index.bundle.decisions, index.rules.routing.decision
    if not decisions.decisions and not decisions.events:
        return 0.0
    asked = read_question(text, _ANY_DAY, "", index)
    words = words_of(text)
    speaks_of_decisions = not _SAYS_DECISION.isdisjoint(map(stem, words))
    if _is_named(asked):
        return float(weights.named)
    trust = float(weights.own_case) if not _OWN_CASE.isdisjoint(words) and not speaks_of_decisions else 1.0
    share = _carried(asked, text)
    is_found = bool(asked.anchors or asked.waiting or asked.filters) and not asked.residue
    if asked.is_bare():
        is_phrase = asked.intent is not None and speaks_of_decisions
        return 0.0 if asked.intent is None else float(weights.bare_phrase if is_phrase else weights.bare_word)
    if asked.intent and is_found and (asked.anchors or asked.waiting):
        meant = _trust(asked, text, speaks_of_decisions, index) * (
            float(weights.found) + float(weights.found_by) * share
        )
        return round(trust * max(meant, float(weights.told_only)), 4)  # nothing of it is left over
    if speaks_of_decisions:
        told = float(weights.told) + (0.0 if asked.residue else float(weights.told_by) * share)
        return round(told, 4) if asked.intent or is_found else float(weights.told_only)
    if asked.intent and not _OF_US.isdisjoint(words) and _asks_of_the_past(asked, index):
        return float(weights.told_only)  # "why did we move to Kubernetes?": that nothing is on record has to be said
    if asked.intent == index.rules.intents.default_intent and _names_something(text, index):
        return round(trust * float(weights.told_only), 4)  # what comes near is offered
    return round(float(weights.other_by) * share, 4)


def is_called(text: str, index: BundleIndex) -> bool:
    """Does *text* say most of what a decision that everybody may read is called, or two words of it?"""
    known = words_for(index, "")
    said = content(words_of(text)) - known.idle
    found = Counter(name for root in said for name in known.bearers("anchor", root))
    decisions = index.bundle.decisions.decisions
    for name, count in found.items():
        title = content(words_of(decisions[name].option)) - known.idle if name in decisions else frozenset()
        if title and (count > 1 or len(said & title) / len(title) >= _MOST_OF_IT):
            return True
    return False


def asks_otherwise(text: str, index: BundleIndex) -> str:
    """*text* without the words of the intent that it asks with."""
    asked = read_question(text, _ANY_DAY, "", index)
    quotes = (one.item.quote or "" for one in asked.reading.items if one.item.kind == "asks")
    return next((text.replace(quote, " ", 1) for quote in quotes if quote), text)


def _names_something(text: str, index: BundleIndex) -> bool:
    """Has any record that everybody may read a word of it in what it is called?"""
    known = words_for(index, "")
    words = (word for word in words_of(text) if word not in closed("function") and stem(word) not in known.idle)
    words = (word for word in words if not word.isdigit())
    return any(known.bearers("anchor", stem(word)) for word in words)


def _trust(asked: Asked, text: str, speaks_of_decisions: bool, index: BundleIndex) -> float:
    """How far the words that ask are those of a question about what was decided, and not of any question: "why are
    refunds up?" shares a word with a decision on refunds. Then it counts how much of its title is said.
    """
    intent = index.rules.intents.intents.get(asked.intent or "")
    quotes = " ".join(one.item.quote or "" for one in asked.reading.items if one.item.kind == "asks")
    is_plain = intent is not None and intent.yields
    is_ours = not _OF_US.isdisjoint(words_of(text)) or bool(content(words_of(quotes)))
    if speaks_of_decisions or (is_ours and not is_plain):
        return 1.0
    said = content(words_of(text))
    titles = [content(words_of(one.option)) for id in asked.anchors for one in [index.bundle.decisions.decisions[id]]]
    named = max((len(said & title) / len(title) for title in titles if title), default=0.0)
    return named * _PLAIN if is_plain else 1.0 if named >= _MOST_OF_IT else named


def _is_named(asked: Asked) -> bool:
    """Is a decision named by its id or its number?"""
    quotes = [one.item.quote or "" for one in asked.reading.items if one.item.kind == "anchor"]
    return any(any(map(str.isdigit, quote)) or quote.count("-") + quote.count("_") > 1 for quote in quotes)


def _carried(asked: Asked, text: str) -> float:
    """The share of the words of content that an item carries."""
    tokens = [token for token in see(text).text.tokens if token.word[0].isalnum() and token.word not in closed("empty")]
    return 1 - min(len(asked.residue), len(tokens)) / len(tokens) if tokens else 0.0


def _asks_of_the_past(asked: Asked, index: BundleIndex) -> bool:
    """Does the intent ask of one decision, as "why", "who" and "when" do?"""
    intent = index.rules.intents.intents.get(asked.intent or "")
    return intent is not None and "anchor" in intent.mandatory and not intent.yields
