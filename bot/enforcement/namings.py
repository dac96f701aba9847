"""How actions and outcomes are called: sets of stems, so that "repaired free of charge" names a free repair.

A name that begins with a no ("no refund") is kept as what it denies: who is told that there is no refund has been told
that action. Compiled once for each vocabulary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from bot.enforcement.kept import kept
from bot.enforcement.senses import in_plain_words, sense
from bylaw.authored.vocabulary import Vocabulary
from bylaw.language.span import listed
from bylaw.language.words import read_words, stem_of

_NO = listed("no not never without neither")
_LIGHT = frozenset(map(stem_of, ("offer", "use")))
_REFUNDING, _BACK = frozenset([stem_of("refund")]), frozenset([stem_of("back")])
_LOOSE = 2  # more, where most of them say nothing
_SLACK = 4  # words that may stand between those of a name, beside the words that say nothing


@dataclass(frozen=True, slots=True)
class Naming:
    """One way to name `targets` (canonical actions; several where only their outcome is named)."""

    stems: frozenset[str]
    targets: tuple[str, ...]
    outcome: str | None = None
    is_denial: bool = False  # the name itself says no: "no refund"
    is_generic: bool = False  # it names the outcome, not an action

    @property
    def reach(self) -> int:
        """How many words its words may be apart."""
        return len(self.stems) + _SLACK


@dataclass(frozen=True, slots=True)
class Mention:
    """A naming at its words (ascending indexes)."""

    naming: Naming
    used: tuple[int, ...]


@dataclass(frozen=True)
class Namings:
    """All namings by each of their stems."""

    by_stem: Mapping[str, Sequence[Naming]]

    @cached_property
    def of_action(self) -> Mapping[str, Sequence[Naming]]:
        """The names of each action alone."""
        return _grouped((one.targets[0], one) for one in self if len(one.targets) == 1 and not one.is_generic)

    @cached_property
    def of_outcome(self) -> Mapping[str, Sequence[Naming]]:
        """The names by which an outcome is called and none of its actions."""
        return _grouped((one.outcome, one) for one in self if one.is_generic and one.outcome)

    @cached_property
    def stems_of(self) -> Mapping[str, frozenset[str]]:
        """The stems of all names in each outcome."""
        found = _grouped((one.outcome, one) for one in self if one.outcome)
        return {outcome: frozenset().union(*(one.stems for one in group)) for outcome, group in found.items()}

    def __iter__(self) -> Iterator[Naming]:
        return chain.from_iterable(self.by_stem.values())

    def is_denial(self, action: str) -> bool:
        """Is *action* called by what there is not: "no refund"?"""
        return any(one.is_denial for one in self.of_action.get(action, ()))

    def mentions(self, words: Sequence[str], within: Sequence[range]) -> list[Mention]:
        """Where they occur in *words*, each inside one of the ranges; a name inside a longer one does not count."""
        stems = [sense(word) for word in words]
        found: dict[tuple[Naming, tuple[int, ...]], Mention] = {}
        for span in within:
            for i in span:
                for naming in self.by_stem.get(stems[i] or "", ()):
                    used = _near(naming, stems, i, span)
                    if used is not None:
                        found.setdefault((naming, used), Mention(naming, used))
        return _longest(list(found.values()))


def _grouped(pairs: Iterable[tuple[str, Naming]]) -> Mapping[str, Sequence[Naming]]:
    found = defaultdict[str, list[Naming]](list)
    for name, naming in pairs:
        found[name].append(naming)
    return found


def _near(naming: Naming, stems: Sequence[str | None], i: int, span: range) -> tuple[int, ...] | None:
    """The places of all stems around word *i*, the nearest of each; None when one is too far."""
    used = {i}
    reach = naming.reach + _LOOSE
    low, high = max(span.start, i - reach), min(span.stop, i + reach + 1)
    for wanted in naming.stems:
        if wanted == stems[i]:
            continue
        places = [k for k in range(low, high) if stems[k] == wanted]
        if not places:
            return None
        used.add(min(places, key=lambda k: (abs(k - i), k)))
    places = sorted(used)
    first, size = places[0], places[-1] - places[0]
    if naming.reach <= size < naming.reach + _LOOSE:  # "the repair would be at your own cost"
        size -= sum(found is None for found in stems[first : places[-1]]) // 2
    return tuple(places) if size < naming.reach else None


def _longest(mentions: Sequence[Mention]) -> list[Mention]:
    """Without those that lie within another, and of a crossing pair the longer one."""
    taken: list[Mention] = []
    order = sorted(mentions, key=lambda m: (-len(m.naming.stems), m.naming.is_generic, m.used[-1] - m.used[0], m.used))
    for mention in order:
        places = set(mention.used)
        rivals = [other for other in taken if places & set(other.used)]
        is_vague = mention.naming.is_generic
        if all(set(other.used) == places and (not is_vague or other.naming.is_denial) for other in rivals):
            taken.append(mention)
    return sorted(taken, key=lambda m: (m.used, m.naming.targets))


@kept(8)
def namings(vocabulary: Vocabulary) -> Namings:
    """The compiled names of *vocabulary*; the last few are kept."""
    found: dict[Naming, None] = {}
    for name in sorted(vocabulary.actions):
        declared, target = vocabulary.actions[name], vocabulary.canonical(name)
        outcome = vocabulary.outcome_of(name)
        for text in (name, declared.label or "", *declared.phrases):
            stems, is_denial = _stems(text)
            if stems:
                found[Naming(stems, (target,), outcome, is_denial)] = None
    known = {naming.stems for naming in found}
    for naming in [*_without_verb(list(found), known), *_generic(vocabulary, list(found))]:
        found[naming] = None
    return gathered(found)


def _without_verb(found: Sequence[Naming], known: Collection[frozenset[str]]) -> Iterable[Naming]:
    """What is offered or used, by its own name: "a free battery swap". One word alone would be anything."""
    for naming in found:
        stems = naming.stems - _LIGHT
        if len(naming.stems) > len(stems) >= 2 and stems not in known:
            yield Naming(stems, naming.targets, naming.outcome, naming.is_denial)
        given = naming.stems - _REFUNDING | _BACK  # "you get the unused part of it back"
        paid = naming.stems - _BACK | _REFUNDING  # "we refund the money"
        if naming.stems >= _BACK and len(paid) >= 2 and paid not in known:
            yield Naming(paid, naming.targets, naming.outcome, naming.is_denial)
        if naming.stems >= _REFUNDING and len(given) >= 3 and given not in known:
            yield Naming(given, naming.targets, naming.outcome, naming.is_denial)


def gathered(found: Iterable[Naming]) -> Namings:
    """*found*, to be looked up by one stem of each."""
    by_stem: dict[str, list[Naming]] = defaultdict(list)
    for naming in found:
        by_stem[min(naming.stems)].append(naming)
    return Namings(by_stem)


def _generic(vocabulary: Vocabulary, known: Sequence[Naming]) -> Iterable[Naming]:
    """The outcome's own name: whoever gets "a refund" gets one of the actions that are called so."""
    specific = {naming.stems for naming in known if not naming.is_denial}
    for outcome in sorted(vocabulary.outcomes):
        stems, _ = _stems(outcome)
        mine = [naming for naming in known if naming.outcome == outcome]
        positive = {target for naming in mine if not naming.is_denial for target in naming.targets}
        denied = {target for naming in mine if naming.is_denial for target in naming.targets}
        called_so = {
            target for naming in mine if not naming.is_denial and stems <= naming.stems for target in naming.targets
        }
        targets = called_so - denied or positive - denied
        if stems and targets and stems not in specific:
            yield Naming(stems, tuple(sorted(targets)), outcome, is_generic=True)


def _stems(text: str) -> tuple[frozenset[str], bool]:
    words = [word.text for word in in_plain_words(read_words(text.replace("_", " ").replace("%", " percent ")))]
    is_denial = any(word in _NO for word in words[:3])
    kept = [sense(word) for word in words if word not in _NO]
    return frozenset(part for part in kept if part is not None), is_denial
