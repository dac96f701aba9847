"""Who can still influence what the rules of one version say of one subject, in a box of cases.

In such a box some rules fire, others are open: they fire in a part of it. A rule is *secure* when it fires and
nothing open can remove its effect, *hopeless* when a secure rule removes its own. Only open rules that are needed
must be settled, so a box need not be cut along every rule that meets it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from bylaw.logic.formula.ir import Effect, EffectKind
from ci.proofs.theory import Theory


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """What a version says something of: an outcome, or an action that may be required, prohibited or permitted."""

    kind: EffectKind
    name: str


def spoken_of(effect: Effect) -> set[Subject]:
    """The subjects that an effect which stands speaks of."""
    found = {Subject("outcome", outcome) for outcome, _ in effect.takes}
    taken = {action for _, action in effect.takes}
    found |= {Subject("required", action) for action in effect.demands if action not in taken}
    if effect.kind in ("prohibited", "permitted"):
        found.add(Subject(effect.kind, effect.action))
    return found


class Side:
    """One version's rules (by index) as far as they can matter to *subject*."""

    def __init__(self, theory: Theory, subject: Subject, relevant: Iterable[int]) -> None:
        self.theory, self.subject = theory, subject
        self.relevant = tuple(sorted(relevant))
        rules, rivals = theory.ruleset.rules, theory.rivals
        known = frozenset(self.relevant)
        near: dict[int, tuple[list[int], frozenset[int]]] = {}  # rules of one effect and level share theirs
        self.stronger: dict[int, list[int]] = {}
        self.equal: dict[int, frozenset[int]] = {}
        for i in self.relevant:
            camps = rivals.camps(i)
            if id(camps) not in near:
                near[id(camps)] = ([j for j in camps.stronger if j in known], known.intersection(camps.equal))
            self.stronger[i], self.equal[i] = near[id(camps)]
        self.speakers = tuple(i for i in self.relevant if subject in spoken_of(rules[i].effect))

    def says(self, fires: Iterable[int]) -> tuple[str | bool | None, int | None]:
        """What holds when exactly these rules fire, and a rule that says so."""
        evaluator = self.theory.evaluator
        standing = evaluator.standing(fires)
        if self.subject.kind == "outcome":
            return evaluator.answer(standing, self.subject.name)
        rules = self.theory.ruleset.rules
        said = [i for i in self.speakers if i in standing.stands]
        return bool(said), min(said, key=lambda i: (rules[i].level, rules[i].rule_id), default=None)

    def needed(self, fires: Collection[int], open_: Collection[int]) -> set[int]:
        """The open rules that could still change what holds; empty when the firing ones settle it."""
        if not open_:
            return set()
        outlook = _Outlook(self, fires, open_, fires)
        live = [i for i in self.speakers if outlook.is_live(i)]
        secure = [i for i in live if outlook.is_secure(i)]
        if self.subject.kind != "outcome":
            return set() if secure else outlook.reached(live) & set(open_)
        if any(outlook.is_secure(j) for i in secure for j in self.equal[i]):
            return set()
        said = self._said_by(secure)
        start = [i for i in live if i in fires or not self._is_spare(i, said)]
        return outlook.reached([*start, *self._clashing(start, outlook)]) & set(open_)

    def mattering(self, fires: Collection[int], open_: Collection[int], steady: Collection[int]) -> set[int]:
        """The rules, firing or open, that what holds can depend on. Nobody is called hopeless because of a rule
        outside *steady*: so this is the same whatever those rules do, and none of them matters unless it is here."""
        outlook = _Outlook(self, fires, open_, {i for i in steady if i in fires})
        live = [i for i in self.speakers if outlook.is_live(i)]
        return outlook.reached([*live, *self._clashing(live, outlook)])

    def _clashing(self, takers: Iterable[int], outlook: _Outlook) -> set[int]:
        """The live rules that leave an outcome open where they meet one of the *takers*."""
        if self.subject.kind != "outcome":
            return set()
        known = set(takers)
        return {j for j in outlook.present if not self.equal[j].isdisjoint(known) and outlook.is_live(j)}

    def _said_by(self, secure: Iterable[int]) -> dict[int, int]:
        """For each effect that a secure rule has the strongest level at which one has it."""
        rules, effects = self.theory.ruleset.rules, self.theory.effects
        levels: dict[int, int] = {}
        for i in secure:
            levels[effects[i]] = min(rules[i].level, levels.get(effects[i], rules[i].level))
        return levels

    def _is_spare(self, i: int, said: Mapping[int, int]) -> bool:
        """Does a secure rule of the same effect say all that rule *i* could, against whoever it could say it?"""
        mine = self.theory.ruleset.rules[i]
        if mine.policy_id in self.theory.ruleset.overrides:
            return False
        level = said.get(self.theory.effects[i])
        return level is not None and level <= mine.level


class _Outlook:
    """Which rules are secure, and which hopeless, in one box. Only *trusted* ones may be secure.

    Each is asked of an effect, or *despite bans* of who wins a dispute about an outcome, prohibited or not.
    """

    def __init__(self, side: Side, fires: Collection[int], open_: Collection[int], trusted: Collection[int]) -> None:
        self.stronger, self.present, self.trusted = side.stronger, {*fires, *open_}, trusted
        self._rivals = side.theory.rivals
        self._secure: dict[tuple[int, bool], bool] = {}
        self._hopeless: dict[tuple[int, bool], bool] = {}

    def is_live(self, i: int, despite_bans: bool = False) -> bool:
        return i in self.present and not self.is_hopeless(i, despite_bans)

    def is_secure(self, i: int, despite_bans: bool = False) -> bool:
        if i not in self.trusted:
            return False
        key = (i, despite_bans)
        if key not in self._secure:
            self._secure[key] = False  # INVARIANT: "beats" has no cycle
            attackers = (j for j in self._removers(i, despite_bans) if j in self.present)
            self._secure[key] = all(self.is_hopeless(j, self._rivals.disputes(j, i)) for j in attackers)
        return self._secure[key]

    def is_hopeless(self, i: int, despite_bans: bool = False) -> bool:
        if not self.stronger[i]:
            return False
        key = (i, despite_bans)
        if key not in self._hopeless:
            removers = self._removers(i, despite_bans)
            self._hopeless[key] = any(self.is_secure(j, self._rivals.disputes(j, i)) for j in removers)
        return self._hopeless[key]

    def _removers(self, i: int, despite_bans: bool) -> list[int]:
        return [j for j in self.stronger[i] if not (despite_bans and self._rivals.bans(j))]

    def reached(self, start: Iterable[int]) -> set[int]:
        """*start* and every live rule that could remove their effects, step by step."""
        seen: set[tuple[int, bool]] = set()
        todo = [(i, False) for i in start]
        while todo:
            i, despite_bans = key = todo.pop()
            if key not in seen:
                seen.add(key)
                further = [(j, self._rivals.disputes(j, i)) for j in self._removers(i, despite_bans)]
                todo += [key for key in further if self.is_live(*key)]
        return {i for i, _ in seen}
