"""Whom a change may touch: the policies whose rules can fire where a changed rule fires, and who else matters there.

What is found about a rule depends on the cases in which it fires. Another rule matters there only if it fires in one
of them too, and argues, directly or through others, about the same things. Boxes say who can meet whom; keys say who
can argue. Both are upper bounds, so a policy that is not named here keeps every answer it had.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from functools import cached_property

from bylaw.logic.boxes.boxes import Box, meets
from ci.parts.card_table import Cards
from ci.parts.cards import Card, RuleCard, outcome_key


class Neighbourhood:
    """Who can meet whom among the policies of *cards* (by path)."""

    def __init__(self, cards: Mapping[str, Card]) -> None:
        self.cards = Cards.of(cards)
        self._read: dict[str, list[tuple[str, RuleCard]]] = {}

    @cached_property
    def _parts(self) -> Parts:
        parts = Parts()
        for kind in self.cards.kinds:
            for keys in kind.keys:
                parts.join(keys)
        return parts

    def _members(self, parts: Container[str]) -> list[str]:
        """The policies with a rule in one of the *parts*."""
        kinds = enumerate(self.cards.kinds)
        return self.cards.of_kinds(
            {n for n, kind in kinds if any(self._parts.of(keys[0]) in parts for keys in kind.keys)}
        )

    def _rules(self, part: str) -> list[tuple[str, RuleCard]]:
        """The rules of a part, and whose they are."""
        if part not in self._read:
            self._read[part] = [
                (path, rule)
                for path in self._members((part,))
                for rule in self.cards[path].rules
                if self._parts.of(rule.keys[0]) == part
            ]
        return self._read[part]

    @cached_property
    def _ties(self) -> tuple[Parts, dict[str, set[str]]]:
        """The ids that overrides tie together, directly or through others, by the part's name."""
        parts, tied = Parts(), defaultdict[str, set[str]](set)
        groups = [(self.cards.ids[row], *overrides) for row, overrides in self.cards.overrides.items()]
        for ids in groups:
            parts.join(ids)
        for ids in groups:
            tied[parts.of(ids[0])].update(ids)
        return parts, tied

    def around(self, paths: Iterable[str]) -> set[str]:
        """*paths* that exist, and everyone who may matter to what is found about them."""
        own = {path for path in paths if path in self.cards}
        return own | self.touched(self.cards[path] for path in own)

    def touched(self, cards: Iterable[Card]) -> set[str]:
        """Everyone whose rules may fire together with those of *cards*, or whom overrides or an id tie to one."""
        parts, tied = self._ties
        ids, found = set[str](), set[str]()
        for card in cards:
            for id in (card.id, *card.overrides):
                ids |= {id, *tied.get(parts.of(id), ())}
            for rule in card.rules:
                rules = self._rules(self._parts.of(rule.keys[0]))
                found.update(path for path, other in rules if path not in found and _meets(other, rule.boxes))
        return found | {*self.cards.named(ids)}

    def firing_in(self, case: Box) -> set[str]:
        """Everyone with a rule that may fire in *case*, whatever it argues about."""
        return {path for path, card in self.cards.items() if any(_meets(rule, (case,)) for rule in card.rules)}

    def sharing(self, keys: Iterable[str]) -> set[str]:
        """Everyone with a rule in a part to which one of *keys* belongs."""
        return {*self._members({self._parts.of(key) for key in keys})}

    def outcomes(self, keys: Iterable[str], names: Iterable[str]) -> frozenset[str]:
        """Those of the outcomes *names* that rules with one of *keys* can have a say in."""
        parts = {self._parts.of(key) for key in keys}
        return frozenset(name for name in names if self._parts.of(outcome_key(name)) in parts)

    def groups(self) -> list[list[str]]:
        """All policies, in groups that do not matter to each other, the smallest first."""
        together = Parts()
        for n, kind in enumerate(self.cards.kinds):
            together.join([f"kind {n}", *(self._parts.of(key) for key in kind.all_keys)])
        for id, n in zip(self.cards.ids, self.cards.kind_of, strict=True):
            if self.cards.kinds[n].keys:
                together.join((f"id {id}", f"kind {n}"))
        for row, overrides in self.cards.overrides.items():
            together.join(f"id {id}" for id in (self.cards.ids[row], *overrides))
        found: dict[str, list[str]] = defaultdict(list)
        for path, id in sorted(zip(self.cards.paths, self.cards.ids, strict=True)):
            found[together.of(f"id {id}")].append(path)
        return sorted(found.values(), key=lambda group: (len(group), group[0]))


def _meets(rule: RuleCard, boxes: Iterable[Box] | None) -> bool:
    if rule.boxes is None or boxes is None:
        return True
    return any(meets(one, other) for other in rule.boxes for one in boxes)


class Parts:
    """Keys that belong together, directly or through others."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def of(self, key: str) -> str:
        """The name of the part that *key* belongs to: one of its keys."""
        above = self._above
        while (parent := above.get(key, key)) != key:
            above[key] = above.get(parent, parent)
            key = parent
        return key

    def join(self, keys: Iterable[str]) -> None:
        """*keys* belong together."""
        first, *rest = map(self.of, keys)
        for key in rest:
            if (root := self.of(first)) != (other := self.of(key)):
                low, high = sorted((root, other))
                self._above[high] = low
