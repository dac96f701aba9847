"""What is said where no record answers: what nothing on record is about, whom to ask, and what comes near."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from bot.conversation import Choice
from bot.decisions.asked import Asked, fits
from bot.decisions.search import Hit, RecordSearch, terms
from bot.index import BundleIndex
from bylaw.authored.decisions import Decision, Decisions, Record, clipped
from bylaw.authored.state import called, state_of
from bylaw.hold.text import see
from bylaw.hold.words import Index
from bylaw.language.text import words_of

_MOST_NAMED = 3  # people to ask
_MOST_WORDS, _LONGEST = 8, 60  # of what is not on record: words told, and characters of each


def offers(ids: Iterable[str], decisions: Decisions, most: int) -> tuple[Choice, ...]:
    """Decisions to choose from, each with how it stands."""
    found = [decisions.decisions[id] for id in ids if id in decisions.decisions]
    return tuple(Choice(value=one.id, label=label_of(one, decisions)) for one in found[:most])


def label_of(decision: Decision, decisions: Decisions) -> str:
    """What a decision is called and how it stands."""
    name = called(decision)
    said = "" if name == decision.id else f"{name}: "
    option = " ".join(see(decision.option).text.seen.split())  # as people see it
    return f"{said}{option} ({state_of(decision, decisions)})"


def near(asked: Asked, text: str, search: RecordSearch, index: BundleIndex) -> list[Hit]:
    """Decisions whose title or tags share a word with the question, and that its filters fit."""
    rules = index.rules.intents
    talk = rules.talk
    words = frozenset(one.casefold() for one in (*talk.idle, *talk.for_, *talk.against, *talk.neither))
    idle = {root for word in words for root in terms(word)}
    said = frozenset(terms(text))
    literal = frozenset(root for word in words_of(text) if word not in words for root in terms(word))  # "migration"

    def shares(words: frozenset[str], record: Record) -> bool:
        if not isinstance(record, Decision) or not fits(record, asked.filters):
            return False
        options = " ".join(one.option for one in record.options)
        return not words.isdisjoint(terms(f"{record.option} {' '.join(record.tags)} {options}"))

    asks = {term for one in asked.reading.items if one.item.kind == "asks" for term in terms(one.item.quote or "")}
    about = " ".join(word for word in text.split() if not asks.intersection(terms(word)))
    found = (
        search.find(about, rules.search.offered, ("decision",), partial(shares, one)) for one in (said - idle, literal)
    )
    return next(filter(None, found), [])


def owners(hits: Sequence[Hit], index: BundleIndex) -> list[str]:
    """Whom to ask: who decided what comes nearest, else who owns the records, else who answers for what no department
    does.
    """
    decisions = index.bundle.decisions.decisions
    near = [decisions[hit.id] for hit in hits]
    people = dict.fromkeys(person for one in near for person in one.deciders[:1])
    owning = Counter(str(owner) for one in near or decisions.values() if (owner := one.x_extra.get("source_owner")))
    ranked = [name for name, _ in sorted(owning.items(), key=lambda pair: (-pair[1], pair[0]))]
    return (list(people) or ranked or list(index.rules.priorities.cross_department_owners)[:1])[:_MOST_NAMED]


def missing(asked: Asked, known: Index) -> list[str]:
    """The words that nothing on record is called by; where each is one of some record, all that are left over."""
    left = list(dict.fromkeys(asked.residue))
    return [word for word in left if not any(known.bearers("anchor", root) for root in terms(word))] or left


def doubted(asked: Asked) -> str:
    """That a reading is to be confirmed, and which words it does not account for."""
    left = " and ".join(f"“{clipped(word, _LONGEST)}”" for word in dict.fromkeys(asked.residue))
    said = f"I cannot place {left} here. " if left else ""
    return f"{said}I am not sure that this is what you mean: choose it if it is."


def nothing(asked: Asked, words: Sequence[str], whom: Sequence[str], has_offers: bool) -> str:
    """That nothing on record is about what was asked, and whom to ask."""
    listed = " and ".join(f"“{clipped(word, _LONGEST)}”" for word in words[:_MOST_WORDS])
    is_spread = len(words) == len(set(asked.residue)) > 1
    about = f"{listed} together" if is_spread and has_offers else listed
    said = f"Nothing on record is about {about}." if asked.residue else "Nothing on record fits this."
    people = " or ".join(whom) if whom else "the people who decide"
    if has_offers:
        return f"{said} If you mean one of these, choose it; otherwise please ask {people}."
    return f"{said} Please ask {people}: the question is on the list of what is not on record."
