"""What the decisions and events on record are called: the declared words of a question about decisions.

A record is named by its title, its id, its aliases and its numbers; its tags and the options that were considered speak
of it. People, tags and states are values to filter by.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from bot.index import BundleIndex
from bylaw.hold.records import DENIAL, GOVERNED, NUMBER
from bylaw.hold.words import Index, Name
from bylaw.language.text import words_of

if TYPE_CHECKING:
    from bylaw.authored.causes import Governed
    from bylaw.authored.decisions import Decision, Decisions, Event
    from bylaw.authored.machines.intents import Intents, Talk

_LINKS = ("transitions", "based_on", "supersedes", "superseded_by", "amends", "amended_by")
_NUMBERED = re.compile(r"([A-Za-z]{2,12})?[\s#_-]*0*(\d{1,6})")


def records_for(index: BundleIndex, user: str) -> Decisions:
    """The records that *user* may be answered from: those for everyone, and those for one of the user's roles."""
    return visible_records(index, readers_of(index, user))


def visible_records(index: BundleIndex, readers: frozenset[str]) -> Decisions:
    """The records that somebody of those roles may be answered from."""
    return index.recently(_visible)(readers)


def words_for(index: BundleIndex, user: str) -> Index:
    """What those records are called."""
    return index.recently(_indexed)(readers_of(index, user))


def readers_of(index: BundleIndex, user: str) -> frozenset[str]:
    """The user's roles, as far as a record is for one of them: who has the same may read the same."""
    return frozenset(index.rules.roles.roles_of(user)) & index.recently(_audiences)()


def _audiences(index: BundleIndex) -> frozenset[str]:
    return frozenset(role for one in index.bundle.decisions.decisions.values() for role in one.audience)


def _visible(index: BundleIndex, roles: frozenset[str]) -> Decisions:
    """The records without those that are for others, and without what leads to or from them."""
    whole = index.bundle.decisions
    hidden = {id for id, one in whole.decisions.items() if one.audience and roles.isdisjoint(one.audience)}
    if not hidden:
        return whole
    lost = {id for id, one in whole.transitions.items() if not hidden.isdisjoint((one.from_, one.to))}
    events = {
        id: one.model_copy(update={"led_to": [other for other in one.led_to if other not in hidden]})
        for id, one in whole.events.items()
        if not one.led_to or not hidden.issuperset(one.led_to)
    }
    gone = hidden | lost
    decisions = {id: _without(one, gone) for id, one in whole.decisions.items() if id not in hidden}
    transitions = {id: one for id, one in whole.transitions.items() if id not in lost}
    shown = {"decisions": decisions, "events": events, "transitions": transitions}
    return whole.model_copy(update=shown)


def _without(one: Decision, gone: AbstractSet[str]) -> Decision:
    """The decision without its links to those records."""
    links = {name: [id for id in getattr(one, name) if id not in gone] for name in _LINKS}
    return one.model_copy(update=links)


def _indexed(index: BundleIndex, roles: frozenset[str]) -> Index:
    return index_records(index.recently(_visible)(roles), index.rules.intents, _naming(index))


def _naming(index: BundleIndex) -> Iterator[Governed]:
    """The policies and metrics that name the decision they come from."""
    for id, record in sorted(index.bundle.policies.items()):
        if record.get("decision"):
            yield "policy", id, str(record["decision"])
    for name, metric in sorted(index.bundle.context.metrics.items()):
        if metric.decision:
            yield "metric", name, metric.decision


def index_records(decisions: Decisions, rules: Intents, naming: Iterable[Governed] = ()) -> Index:
    """The names of every record, and of every intent, person, tag and state. *naming* are policies and metrics that
    name a decision: it is meant by their names too.
    """
    governed: dict[str, list[str]] = {}
    for _, name, reference in naming:
        if (one := decisions.named(reference)) is not None:
            governed.setdefault(one.id, []).append(name)
    names = [_of_decision(one, rules.talk, governed.get(id, ())) for id, one in sorted(decisions.decisions.items())]
    names += [_of_event(one) for _, one in sorted(decisions.events.items())]
    names += _of_intents(rules)
    return Index([*names, *_filters(decisions, rules)], _idle(rules.talk))


def numbers_of(decision: Decision) -> tuple[tuple[str, int], ...]:
    """The numbers that a decision goes by, each with the label before it: ("pep", 703), or ("", 4) without one."""
    said = [match for name in decision.names_beside_id() if (match := _NUMBERED.fullmatch(name.strip()))]
    found = dict.fromkeys(((match[1] or "").casefold(), int(match[2])) for match in said)
    labelled = {number for label, number in found if label}
    return tuple((label, number) for label, number in found if label or number not in labelled)


def _of_decision(one: Decision, talk: Talk, governed: Iterable[str] = ()) -> Name:
    aliases = (alias for alias in one.aliases if not _NUMBERED.fullmatch(alias.strip()))
    return Name(
        one.id,
        "record",
        (one.option, re.sub(r"[-_]", " ", one.id), *aliases),
        near=(*(tag.replace("_", " ") for tag in one.tags), *(option.option for option in one.options)),
        values={
            NUMBER: tuple(_spelled(numbers_of(one), talk)),
            GOVERNED: (*one.affects.policy, *one.affects.metric, *governed),
        },
    )


def _of_event(one: Event) -> Name:
    said = (one.summary or "", re.sub(r"[-_]", " ", one.id))
    return Name(one.id, "record", tuple(filter(None, said)), near=tuple(tag.replace("_", " ") for tag in one.tags))


def _of_intents(rules: Intents) -> Iterator[Name]:
    """The intents; the words of every other one may stand for one that `yields`."""
    for name, one in sorted(rules.intents.items()):
        texts = tuple(text for text in one.words if not text.endswith(DENIAL))
        openings = (words_of(text) for text in one.words)
        answers = frozenset("_".join(words[:size]) for words in openings for size in (1, 2))
        kin = frozenset(rules.intents) - {name} if one.yields else frozenset[str]()
        forms = tuple(text for text in one.words if text.endswith(DENIAL))
        yield Name(name, "intent", texts, forms, kin=kin, answers=answers)


def _spelled(numbers: Iterable[tuple[str, int]], talk: Talk) -> Iterator[str]:
    """A number behind its own label, and behind the one that stands for any: "pep 703", "number 703"."""
    for label, number in numbers:
        yield from dict.fromkeys((f"{label or talk.own_label} {number}", f"{NUMBER} {number}"))


def _filters(decisions: Decisions, rules: Intents) -> Iterator[Name]:
    people = sorted(
        {person for one in decisions.decisions.values() for person in (*one.deciders, *one.consulted, *one.informed)}
    )
    tags = sorted({tag for one in decisions.decisions.values() for tag in one.tags})
    yield Name("person", "filter", values={person: tuple(_called(person, people)) for person in people})
    yield Name("tag", "filter", values={tag: (f"tag {tag.replace('_', ' ')}",) for tag in tags})  # else words
    yield Name("status", "filter", values={name: tuple(words) for name, words in sorted(rules.statuses.items())})
    yield Name("date", "filter")
    yield Name(NUMBER, "filter", near=tuple(rules.talk.labels))


def _called(person: str, people: Iterable[str]) -> Iterator[str]:
    """A person's name, and the last part of it where nobody else has it."""
    yield person
    last = words_of(person)[-1:]
    if last and len([other for other in people if last[0] in words_of(other)]) == 1:
        yield last[0]


def _idle(talk: Talk) -> tuple[str, ...]:
    return (*talk.idle, *talk.for_, *talk.against, *talk.neither)
