"""Which effects contradict each other, which of two rivals gives way, and what stands when some rules fire.

Different actions are not a contradiction by themselves. Two effects contradict when they answer one outcome
differently, when one demands (also through `implies`) what the other prohibits or what the other's demands exclude,
or when one permits what the other prohibits. The stronger of two rivals removes the other's effect; equals do not.
What is removed removes nobody, with one exception: a prohibition that removes the winner's action leaves the outcome
empty, so the winner of a dispute about an outcome wins it all the same.

`contradicts` and `beats` define it for two rules, `Rivals` finds a rule's rivals. `Conflicts` says what stands. There
sets of rules are the bits of integers: rules alike in effect, level and declared overrides have the same rivals and
beat the same of them, so they are one *rank* and everything is worked out once a rank. A test holds it against the
definition, read rule by rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import TypeAlias, TypeVar

from bylaw.logic.boxes.boxes import Box, domain, point
from bylaw.logic.decide.firing import as_bits, bits
from bylaw.logic.formula.ir import ConditionalRule, Effect, Ruleset, Value, names

MOST_REMEMBERED = 20_000
FEW = 8  # rules to compare one by one before an index of all rivals is worth building

Duties: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]  # required, prohibited, permitted
Verdict: TypeAlias = tuple[tuple[tuple[str, str], ...], Duties]  # (outcome, action) of each outcome that gets one

_K = TypeVar("_K")


def contradicts(a: Effect, b: Effect, excludes: frozenset[tuple[str, str]]) -> bool:
    """May *a* and *b* not both stand in one case? Symmetric."""
    if any(outcome == other and action != act for outcome, action in a.takes for other, act in b.takes):
        return True
    for one, two in ((a, b), (b, a)):
        if two.kind == "prohibited" and (
            two.action in one.demands or (one.kind == "permitted" and one.action == two.action)
        ):
            return True
    return bool(excludes) and any((x, y) in excludes for x in a.demands for y in b.demands)


def beats(a: ConditionalRule, b: ConditionalRule, overrides: Mapping[str, frozenset[str]]) -> bool:
    """Does *a* remove *b*'s effect where they contradict? By level, or among equals by a declared override."""
    if a.level != b.level:
        return a.level < b.level
    return b.policy_id in overrides.get(a.policy_id, ())


@dataclass(frozen=True, slots=True)
class Camps:
    """Rivals of a rule: those that beat it, those that it beats, and those of equal rank."""

    stronger: tuple[int, ...]
    weaker: tuple[int, ...]
    equal: tuple[int, ...]


class Rivals:
    """The contradictions of a ruleset, looked up by outcome and action instead of among all pairs."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self._taking: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._demanding: dict[str, list[int]] = defaultdict(list)
        self._prohibiting: dict[str, list[int]] = defaultdict(list)
        self._permitting: dict[str, list[int]] = defaultdict(list)
        self._excluded: dict[str, list[str]] = defaultdict(list)
        self._of: dict[Effect, tuple[int, ...]] = {}
        self._camps: dict[tuple[Effect, int, str | None, int | None], Camps] = {}
        for i, rule in enumerate(ruleset.rules):
            for outcome, action in rule.effect.takes:
                self._taking[outcome][action].append(i)
            for action in rule.effect.demands:
                self._demanding[action].append(i)
            if rule.effect.kind == "prohibited":
                self._prohibiting[rule.effect.action].append(i)
            if rule.effect.kind == "permitted":
                self._permitting[rule.effect.action].append(i)
        for one, other in sorted(ruleset.excludes):
            self._excluded[one].append(other)

    def taking(self, outcome: str) -> tuple[int, ...]:
        """The rules (by index) that answer *outcome*."""
        answering = self._taking.get(outcome, {}).values()
        return tuple(sorted({i for rules in answering for i in rules}))

    def of(self, i: int) -> tuple[int, ...]:
        """The rules whose effect contradicts that of rule *i*, ascending. Rivals need not ever fire together."""
        effect = self.ruleset.rules[i].effect
        found = self._of.get(effect)
        if found is None:  # equal effects contradict the same rules; a table has thousands of rules and few effects
            found = self._of[effect] = tuple(sorted(set(self._meeting(effect))))
        if contradicts(effect, effect, self.ruleset.excludes):
            return tuple(j for j in found if j != i)
        return found

    def among(self, i: int, rules: Set[int]) -> list[int]:
        """The rivals of rule *i* among *rules*, ascending. For a few rules nobody else is looked at."""
        if len(rules) > FEW:
            return [j for j in self.of(i) if j in rules]
        everyone, excludes = self.ruleset.rules, self.ruleset.excludes
        mine = everyone[i].effect
        return [j for j in sorted(rules) if j != i and contradicts(mine, everyone[j].effect, excludes)]

    def _meeting(self, effect: Effect) -> Iterator[int]:
        for outcome, action in effect.takes:
            for other_action, rules in self._taking[outcome].items():
                if other_action != action:
                    yield from rules
        for action in effect.demands:
            yield from self._prohibiting.get(action, ())
            for other in self._excluded.get(action, ()):
                yield from self._demanding.get(other, ())
        if effect.kind == "prohibited":
            yield from self._demanding.get(effect.action, ())
            yield from self._permitting.get(effect.action, ())
        if effect.kind == "permitted":
            yield from self._prohibiting.get(effect.action, ())

    def beats(self, i: int, j: int) -> bool:
        """Does rule *i* remove rule *j*'s effect where both fire?"""
        return beats(self.ruleset.rules[i], self.ruleset.rules[j], self.ruleset.overrides)

    def camps(self, i: int) -> Camps:
        """The rivals of rule *i* by who gives way. Rules of one effect and level have the same, and share them."""
        rule = self.ruleset.rules[i]
        overriding = rule.policy_id if rule.policy_id in self._overriding else None
        is_torn = contradicts(rule.effect, rule.effect, self.ruleset.excludes)  # each of these has others than itself
        key = rule.effect, rule.level, overriding, i if is_torn else None
        if key not in self._camps:
            stronger = tuple(j for j in self.of(i) if self.beats(j, i))
            weaker = tuple(j for j in self.of(i) if self.beats(i, j))
            parted = {*stronger, *weaker}
            self._camps[key] = Camps(stronger, weaker, tuple(j for j in self.of(i) if j not in parted))
        return self._camps[key]

    @cached_property
    def _overriding(self) -> frozenset[str]:
        """The policies that override another, or are overridden."""
        overrides = self.ruleset.overrides
        return frozenset(overrides).union(*overrides.values()) if overrides else frozenset()

    def disputes(self, i: int, j: int) -> bool:
        """Do the two answer one outcome differently? Then the stronger wins, even where its own action is banned."""
        mine, its = self.ruleset.rules[i].effect.takes, self.ruleset.rules[j].effect.takes
        return any(outcome == other and action != act for outcome, action in mine for other, act in its)

    def bans(self, i: int) -> bool:
        """Does rule *i* prohibit something?"""
        return self.ruleset.rules[i].effect.kind == "prohibited"


class Rank:
    """Some rules alike, and the sets that all of them share."""

    def __init__(
        self, conflicts: Conflicts, number: int, effect: Effect, level: int, policy: str, is_torn: bool
    ) -> None:
        self._conflicts, self._is_torn = conflicts, is_torn  # one that contradicts itself is a rank of its own
        self.number, self.effect, self.level, self.policy = number, effect, level, policy
        self.takes = effect.takes
        self.members = 0

    @cached_property
    def first(self) -> int:
        """One of them, to stand for all."""
        return self.members & -self.members

    @cached_property
    def rivals(self) -> int:
        """Those who contradict it."""
        return self._conflicts.contradicting(self.effect) & ~(self.members if self._is_torn else 0)

    @cached_property
    def beaten(self) -> int:
        """The rivals that give way to it."""
        return self.rivals & self._conflicts.below(self.level, self.policy)

    @cached_property
    def beaters(self) -> int:
        """The rivals that it gives way to."""
        return self.rivals & self._conflicts.above(self.level, self.policy)

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The actions it demands besides those it takes."""
        taken = {action for _, action in self.takes}
        return tuple(action for action in self.effect.demands if action not in taken)

    @cached_property
    def disputing(self) -> int:
        """The rules that answer one of its outcomes differently."""
        return self._conflicts.disputing(self.effect)


@dataclass(frozen=True, slots=True)
class Stand:
    """What stands in one room when some of its rules fire: sets of rules, and of `ranks` by their numbers."""

    ranks: int
    kin: int  # the rules of those ranks: one more of them that fires changes nothing
    stands: int
    actions: Mapping[str, str]  # of each outcome that gets one
    duties: Duties
    clashes: tuple[tuple[int, int], ...]


NOTHING = Stand(0, 0, 0, {}, ((), (), ()), ())


class Conflicts:
    """The ranks of a ruleset, and what stands when some of its rules fire."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.rank_of: list[Rank] = []
        self._ranks: list[Rank] = []
        self._stands: dict[int, Stand] = {}
        self._verdicts: dict[int, Verdict] = {}
        self._takers: dict[str, int] = {}
        self._facts: dict[int, frozenset[str]] = {}
        self._excluded: dict[str, list[str]] = defaultdict(list)
        for one, other in sorted(ruleset.excludes):
            self._excluded[one].append(other)
        ranks = self._ranked()
        taking: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        supporting: dict[tuple[str, str], list[int]] = defaultdict(list)
        demanding, prohibiting, permitting, policies = (defaultdict[str, list[int]](list) for _ in range(4))
        levels: dict[int, list[int]] = defaultdict(list)
        for rank, those in ranks.items():
            rank.members = as_bits(those)
            effect = rank.effect
            levels[rank.level] += those
            if rank.policy:
                policies[rank.policy] += those
            for outcome, action in effect.takes:
                taking[outcome][action] += those
                if not effect.implied:
                    supporting[outcome, action] += those
            for action in effect.demands:
                demanding[action] += those
            if effect.kind in ("prohibited", "permitted"):
                (prohibiting if effect.kind == "prohibited" else permitting)[effect.action] += those
        self.taking = {outcome: _sets(actions) for outcome, actions in taking.items()}
        self.supporting, self._levels, self._policies = _sets(supporting), _sets(levels), _sets(policies)
        self._demanding, self._prohibiting, self._permitting = map(_sets, (demanding, prohibiting, permitting))
        self.banning = as_bits(i for those in prohibiting.values() for i in those)

    def prepare(self) -> None:
        """Work out now what would be worked out when it is first asked for."""
        for rank in self._ranks:
            self.stand(rank.first)
            self.verdict(1 << rank.number)
            _ = rank.beaten, rank.beaters, rank.disputing
        _ = self.home, self.constrained, self.lonely, self._outcomes, self._strength

    def _ranked(self) -> dict[Rank, list[int]]:
        """Every rank with its rules."""
        ranks: dict[tuple[Effect, int, str, int], Rank] = {}
        members: dict[Rank, list[int]] = defaultdict(list)
        overrides = self.ruleset.overrides
        declared = set(overrides).union(*overrides.values())
        for i, rule in enumerate(self.ruleset.rules):
            policy = rule.policy_id if rule.policy_id in declared else ""
            is_torn = contradicts(rule.effect, rule.effect, self.ruleset.excludes)
            key = (rule.effect, rule.level, policy, i if is_torn else -1)
            if key not in ranks:
                ranks[key] = Rank(self, len(ranks), rule.effect, rule.level, policy, is_torn)
                self._ranks.append(ranks[key])
            members[ranks[key]].append(i)
            self.rank_of.append(ranks[key])
        return members

    # ---- sets -------------------------------------------------------------------------------------------------------

    def takers(self, outcome: str) -> int:
        """The rules that answer *outcome*."""
        if outcome not in self._takers:
            self._takers[outcome] = reduce(or_, self.taking.get(outcome, {}).values(), 0)
        return self._takers[outcome]

    def disputing(self, effect: Effect) -> int:
        """The rules that answer an outcome of *effect* differently."""
        found = 0
        for outcome, action in effect.takes:
            for other, members in self.taking.get(outcome, {}).items():
                if other != action:
                    found |= members
        return found

    def contradicting(self, effect: Effect) -> int:
        """The rules whose effect contradicts *effect*."""
        found = self.disputing(effect)
        for action in effect.demands:
            found |= self._prohibiting.get(action, 0)
            for other in self._excluded.get(action, ()):
                found |= self._demanding.get(other, 0)
        if effect.kind == "prohibited":
            found |= self._demanding.get(effect.action, 0) | self._permitting.get(effect.action, 0)
        if effect.kind == "permitted":
            found |= self._prohibiting.get(effect.action, 0)
        return found

    def below(self, level: int, policy_id: str) -> int:
        """Those that a rule of that level and policy beats where they contradict each other."""
        found = 0
        for other, members in self._levels.items():
            if other > level:
                found |= members
        for other_id in self.ruleset.overrides.get(policy_id, ()):
            found |= self._policies.get(other_id, 0) & self._levels.get(level, 0)
        return found

    def above(self, level: int, policy_id: str) -> int:
        """Those that beat a rule of that level and policy where they contradict each other."""
        found = 0
        for other, members in self._levels.items():
            if other < level:
                found |= members
        for other_id, weaker in self.ruleset.overrides.items():
            if policy_id in weaker:
                found |= self._policies.get(other_id, 0) & self._levels.get(level, 0)
        return found

    def rank(self, number: int) -> Rank:
        """The rank of that number."""
        return self._ranks[number]

    # ---- what stands ------------------------------------------------------------------------------------------------

    def ranks_in(self, rules: int) -> Iterator[tuple[Rank, int]]:
        """The ranks of *rules*, each with those of them that are its own."""
        while rules:
            rank = self.rank_of[(rules & -rules).bit_length() - 1]
            mine = rules & rank.members
            rules ^= mine
            yield rank, mine

    def surviving(self, fires: int) -> int:
        """The firing rules whose effect stands: no stronger rival removes it that stands, or wins their dispute."""
        known: dict[tuple[Rank, bool], bool] = {}

        def prevails(rank: Rank, despite_bans: bool) -> bool:
            stronger = rank.beaters & fires
            if despite_bans:
                stronger &= ~self.banning
            if not stronger:
                return True
            asked = (rank, despite_bans)
            if asked not in known:
                known[asked] = True  # INVARIANT: "beats" has no cycle; a cycle of overrides is a finding, not a crash
                known[asked] = not any(
                    prevails(other, bool(rank.disputing & its)) for other, its in self.ranks_in(stronger)
                )
            return known[asked]

        stands = fires
        for rank, mine in self.ranks_in(fires):
            if not prevails(rank, False):
                stands ^= mine
        return stands

    def clashes(self, stands: int) -> tuple[tuple[int, int], ...]:
        """The pairs that contradict each other, neither of which gives way."""
        torn = [(mine, rank.rivals & stands) for rank, mine in self.ranks_in(stands) if rank.rivals & stands]
        return tuple(sorted((i, j) for mine, rivals in torn for i in bits(mine) for j in bits(rivals & -(2 << i))))

    def action_of(self, stands: int, outcome: str) -> str | None:
        """The action that *outcome* gets from the standing rules, None for nobody or a clash."""
        takers = self.takers(outcome) & stands
        if not takers:
            return None
        actions = set[str]()
        for rank, _ in self.ranks_in(takers):
            if rank.rivals & stands:
                return None
            actions.update(action for asked, action in rank.takes if asked == outcome)
        return actions.pop() if len(actions) == 1 else None

    def stand(self, fires: int) -> Stand:
        """What stands when exactly those rules of one room fire."""
        found = self._stands.get(fires)
        if found is None:
            if len(self._stands) >= MOST_REMEMBERED:
                self._stands.clear()
            stands, ranks = self.surviving(fires), [rank for rank, _ in self.ranks_in(fires)]
            outcomes = {outcome for rank in ranks for outcome, _ in rank.takes}
            given = ((outcome, self.action_of(stands, outcome)) for outcome in sorted(outcomes))
            found = self._stands[fires] = Stand(
                ranks=sum(1 << rank.number for rank in ranks),
                kin=reduce(or_, (rank.members for rank in ranks), 0),
                stands=stands,
                actions={outcome: action for outcome, action in given if action is not None},
                duties=self.duties(stands),
                clashes=self.clashes(stands),
            )
        return found

    def verdict(self, ranks: int) -> Verdict:
        """What the rules of one room give when some of each of these *ranks* (by number) fire, and no others."""
        found = self._verdicts.get(ranks)
        if found is None:
            if len(self._verdicts) >= MOST_REMEMBERED:
                self._verdicts.clear()
            stand = self.stand(reduce(or_, (self._ranks[n].first for n in bits(ranks)), 0)) if ranks else NOTHING
            found = self._verdicts[ranks] = tuple(stand.actions.items()), stand.duties
        return found

    def duties(self, stands: int) -> Duties:
        """What the standing rules require, prohibit and permit; an outcome's action is told under its outcome."""
        required, prohibited, permitted = set[str](), set[str](), set[str]()
        for rank, _ in self.ranks_in(stands):
            required.update(rank.required)
            if rank.effect.kind == "prohibited":
                prohibited.add(rank.effect.action)
            elif rank.effect.kind == "permitted":
                permitted.add(rank.effect.action)
        return tuple(sorted(required)), tuple(sorted(prohibited)), tuple(sorted(permitted))

    @cached_property
    def anything(self) -> Mapping[str, Value]:
        """A case: some value for every fact."""
        variables = self.ruleset.variables
        return point(Box({name: domain(variable) for name, variable in variables.items()}), variables)

    def rooms_in(self, rules: int) -> Iterator[tuple[int, int]]:
        """The rooms of *rules*, each with those of them that are its own."""
        rooms, members = self.rooms, self._members
        while rules:
            room = rooms[(rules & -rules).bit_length() - 1]
            mine = rules & members[room]
            rules ^= mine
            yield room, mine

    @cached_property
    def home(self) -> Mapping[str, int]:
        """The room of every outcome that some rule answers."""
        return {outcome: self.rooms[next(bits(self.takers(outcome)))] for outcome in self.taking}

    def outcomes_of(self, room: int) -> Sequence[str]:
        """The outcomes that are asked about and that rules of a room answer."""
        return self._outcomes.get(room, ())

    @cached_property
    def _outcomes(self) -> Mapping[int, Sequence[str]]:
        found: dict[int, list[str]] = defaultdict(list)
        for outcome in self.ruleset.outcomes:
            if outcome in self.home:
                found[self.home[outcome]].append(outcome)
        return dict(found)

    def first(self, rules: int) -> int:
        """The strongest of *rules*."""
        return min(bits(rules), key=self._strength.__getitem__)

    @cached_property
    def _strength(self) -> Sequence[int]:
        """The place of every rule among all, the strongest first."""
        rules = self.ruleset.rules
        order = sorted(range(len(rules)), key=lambda i: (rules[i].level, rules[i].rule_id))
        return [n for _, n in sorted(zip(order, range(len(rules)), strict=True))]

    def facts_of(self, room: int) -> frozenset[str]:
        """The facts that the rules of a room name."""
        if room not in self._facts:
            guards = (self.ruleset.rules[i].guard for i in bits(self.members_of(room)))
            self._facts[room] = frozenset[str]().union(*map(names, guards))
        return self._facts[room]

    @cached_property
    def constrained(self) -> frozenset[int]:
        """The rooms with rules that name a fact which some invariant, whenever it holds, names too."""
        named = frozenset[str]().union(*(names(constraint.formula) for constraint in self.ruleset.constraints))
        rooms = self._members if named else ()
        return frozenset(room for room in rooms if not named.isdisjoint(self.facts_of(room)))

    @cached_property
    def lonely(self) -> int:
        """The rules of rooms without an outcome or an invariant that, where nobody else fires, change something."""
        others = {*self.home.values(), *self.constrained}
        return as_bits(
            i
            for i, room in self.rooms.items()
            if room not in others and self.verdict(1 << self.rank_of[i].number) != self.verdict(0)
        )

    def members_of(self, room: int) -> int:
        """The rules of a room."""
        return self._members[room]

    @cached_property
    def _members(self) -> Mapping[int, int]:
        found: dict[int, list[int]] = defaultdict(list)
        for i, room in self.rooms.items():
            found[room].append(i)
        return _sets(found)

    @cached_property
    def rooms(self) -> Mapping[int, int]:
        """For every rule the number of its room: rules of different rooms never bear on the same result."""
        parent: dict[tuple[str, str], tuple[str, str]] = {}

        def top(word: tuple[str, str]) -> tuple[str, str]:
            parent.setdefault(word, word)
            while parent[word] != word:
                parent[word] = parent[parent[word]]
                word = parent[word]
            return word

        for one, other in self.ruleset.excludes:
            parent[top(("action", one))] = top(("action", other))
        for rank in dict.fromkeys(self.rank_of):
            effect = rank.effect
            own = top(("action", effect.action))
            for action in effect.demands:
                parent[top(("action", action))] = own
            for outcome, _ in effect.takes:
                parent[top(("outcome", outcome))] = top(own)
            own = top(own)
        numbers: dict[tuple[str, str], int] = {}
        return {
            i: numbers.setdefault(top(("action", rank.effect.action)), len(numbers))
            for i, rank in enumerate(self.rank_of)
        }


def _sets(lists: Mapping[_K, Sequence[int]]) -> dict[_K, int]:
    return {key: as_bits(those) for key, those in lists.items()}
