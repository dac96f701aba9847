"""Whom a change may touch: the policies whose rules can fire where a changed rule fires, and who else matters there.

What is found about a rule depends on the cases in which it fires. Another rule matters there only if it fires in one
of them too, and argues, directly or through others, about the same things. Boxes say who can meet whom; keys say who
can argue. Both are upper bounds, so a policy that is not named here keeps every answer it had.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from bylaw.logic.boxes.boxes import Box, meets
from ci.parts.cards import Card, RuleCard, outcome_key


class Neighbourhood:
    """Who can meet whom among the policies of *cards* (by path)."""

    def __init__(self, cards: Mapping[str, Card]) -> None:
        self.cards = cards
        self._read: dict[str, list[tuple[str, RuleCard]]] = {}

    @cached_property
    def _parts(self) -> Parts:
        parts = Parts()
        for keys in dict.fromkeys(keys for card in self.cards.values() for keys in card.keys):  # many argue alike
            parts.join(keys)
        return parts

    @cached_property
    def _members(self) -> dict[str, list[str]]:
        """The policies with a rule in each part, by the part's name."""
        members: dict[str, dict[str, None]] = defaultdict(dict)
        for path, card in sorted(self.cards.items()):
            for keys in card.keys:
                members[self._parts.of(keys[0])][path] = None
        return {part: list(paths) for part, paths in members.items()}

    def _rules(self, part: str) -> list[tuple[str, RuleCard]]:
        """The rules of a part, and whose they are."""
        if part not in self._read:
            self._read[part] = [
                (path, rule)
                for path in self._members.get(part, ())
                for rule in self.cards[path].rules
                if self._parts.of(rule.keys[0]) == part
            ]
        return self._read[part]

    @cached_property
    def _ties(self) -> tuple[Parts, dict[str, list[str]]]:
        """Policies that an override or a shared id ties together, directly or through others, by the part's name."""
        parts, tied = Parts(), defaultdict[str, list[str]](list)
        for card in self.cards.values():
            if card.overrides or len(card.ids) > 1:
                parts.join((*card.ids, *card.overrides))
        for path, card in sorted(self.cards.items()):
            tied[parts.of(card.ids[0])].append(path)
        return parts, tied

    def around(self, paths: Iterable[str]) -> set[str]:
        """*paths* that exist, and everyone who may matter to what is found about them."""
        own = {path for path in paths if path in self.cards}
        return own | self.touched(self.cards[path] for path in own)

    def touched(self, cards: Iterable[Card]) -> set[str]:
        """Everyone whose rules may fire together with those of *cards*, or whom overrides or an id tie to one."""
        parts, tied = self._ties
        found: set[str] = set()
        for card in cards:
            for id in (*card.ids, *card.overrides):
                found.update(tied.get(parts.of(id), ()))
            for rule in card.rules:
                rules = self._rules(self._parts.of(rule.keys[0]))
                found.update(path for path, other in rules if path not in found and _meets(other, rule.boxes))
        return found

    def firing_in(self, case: Box) -> set[str]:
        """Everyone with a rule that may fire in *case*, whatever it argues about."""
        return {path for path, card in self.cards.items() if any(_meets(rule, (case,)) for rule in card.rules)}

    def sharing(self, keys: Iterable[str]) -> set[str]:
        """Everyone with a rule in a part to which one of *keys* belongs."""
        parts = {self._parts.of(key) for key in keys}
        return {path for part in parts for path in self._members.get(part, ())}

    def outcomes(self, keys: Iterable[str], names: Iterable[str]) -> frozenset[str]:
        """Those of the outcomes *names* that rules with one of *keys* can have a say in."""
        parts = {self._parts.of(key) for key in keys}
        return frozenset(name for name in names if self._parts.of(outcome_key(name)) in parts)

    def groups(self) -> list[list[str]]:
        """All policies, in groups that do not matter to each other, the smallest first."""
        together = Parts()
        for path, card in self.cards.items():
            ids = (f"id {id}" for id in (*card.ids, *card.overrides))
            together.join([f"path {path}", *ids, *(self._parts.of(key) for key in card.all_keys)])
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.cards):
            found[together.of(f"path {path}")].append(path)
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
