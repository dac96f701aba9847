"""May one action be taken? One answer over every completion of the unknown facts, and only about this action.

A completion *allows* the action where some standing rule takes, requires or permits it and none prohibits it, and
*escalates* where standing rules contradict each other about it; any other denies it. The answer is what all completions
say, `ask` where they differ. Where that cannot be worked out within the budget it is `ask` too: never a guess.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, Literal, NamedTuple, cast

from bylaw.logic.boxes.diagram import Bearing
from bylaw.logic.decide.case import Case, in_force
from bylaw.logic.decide.completions import Completions
from bylaw.logic.decide.conflicts import Stand
from bylaw.logic.decide.counterfactual import Goal, Nearest, nearest
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.decide.firing import Look, as_bits, bits
from bylaw.logic.decide.one_amount import nearest_amount
from bylaw.logic.formula.ir import Constraint, Effect, Facts, Unproven, Value, compares

Permission = Literal["allow", "deny", "escalate"]
Ruling = Literal["allow", "deny", "ask", "escalate"]

MOST_SITUATIONS = 5_000  # of one diagram of completions; beyond that the answer is `ask`
MOST_OPEN = 200  # open rules that a diagram is tried for
MOST_TRIED = 8  # ranks whose every combination is tried to tell which of them bear on the answer
MOST_TABLES = 2_000  # of 3 ** MOST_TRIED entries at most
MOST_MISSING = 8  # facts that are asked for
MOST_RULES = 8  # told as reasons
MOST_REMEMBERED = 50_000
TRIALS = 3_000  # changes looked at for a counterfactual


@dataclass(frozen=True, slots=True)
class Authorization:
    """What holds for one action. `rules` (by index) decide it, the strongest first; `broken` are invariants that the
    facts break. `missing` are the facts that decide it, the most deciding first. `required` is every other action that
    rules whose guard is known to hold require. `unproven` are rules that could not be read and may speak of it: then
    it is denied, whatever the others say.
    """

    ruling: Ruling
    rules: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    broken: tuple[Constraint, ...] = ()
    unproven: tuple[Unproven, ...] = ()
    is_exact: bool = True  # False: `ask` because there was too much to look through


class _Status(NamedTuple):
    permission: Permission
    rules: int  # those that say so


_NOTHING = _Status("deny", 0)


class Authorizer:
    """`authorize` for many cases of one ruleset. *persons* are the actions that only a person may take."""

    def __init__(self, evaluator: Evaluator, persons: Iterable[str] = ()) -> None:
        self.evaluator = evaluator
        self._conflicts = evaluator.conflicts
        self._persons = frozenset(persons)
        self._statuses: dict[tuple[str, int], _Status] = {}
        self._by_ranks: dict[tuple[str, int], _Status] = {}
        self._bearings: dict[tuple[str, int, tuple[int, ...]], Bearing] = {}
        self._required: dict[int, tuple[str, ...]] = {}
        self._allowing: dict[tuple[str, int], tuple[int, ...]] = {}
        self._barred: dict[str, Sequence[tuple[int, int]]] = {}

    @cached_property
    def _speaking(self) -> Mapping[str, int]:
        """Action → the rules that demand, permit or prohibit it."""
        found: dict[str, list[int]] = {}
        for i, rule in enumerate(self.evaluator.ruleset.rules):
            for action in {rule.effect.action, *rule.effect.demands}:
                found.setdefault(action, []).append(i)
        return {action: as_bits(those) for action, those in found.items()}

    @cached_property
    def _supporting(self) -> Mapping[str, int]:
        """Action → the rules that demand or permit it."""
        rules = self.evaluator.ruleset.rules
        return {
            action: as_bits(i for i in bits(those) if rules[i].effect.kind != "prohibited")
            for action, those in self._speaking.items()
        }

    @cached_property
    def _comparing(self) -> frozenset[int]:
        """The rules whose guards compare facts with each other."""
        return frozenset(i for i, rule in enumerate(self.evaluator.ruleset.rules) if compares(rule.guard))

    def allowing(self, action: str, day: int) -> tuple[int, ...]:
        """The rules in force that would allow *action* where they hold, the strongest first."""
        known = self._allowing.get((action, day))
        if known is None:
            if len(self._allowing) >= MOST_REMEMBERED:
                self._allowing.clear()
            rules = self.evaluator.ruleset.rules
            mine = (i for i in bits(self._supporting.get(action, 0)) if rules[i].holds_on(day))
            known = self._allowing[action, day] = self._told(as_bits(mine))
        return known

    def facts_of(self, action: str) -> frozenset[str]:
        """The facts that can bear on *action*."""
        speaking = self._speaking.get(action, 0)
        return self._conflicts.facts_of(self._conflicts.rooms[next(bits(speaking))]) if speaking else frozenset()

    def authorize(self, action: str, facts: Facts, day: int) -> Authorization:
        """The answer about *action* (a canonical name) on that *day* (a proleptic ordinal)."""
        broken = tuple(self._broken(facts, day))
        look = self.evaluator.index.look(facts, day)
        fires, open_ = self._firing(look, facts)
        required = tuple(name for name in self._duties(fires) if name != action)
        if unproven := self.evaluator.unproven.about(action, day):
            return Authorization("deny", required=required, broken=broken, unproven=unproven)
        if broken:
            return Authorization("deny", required=required, broken=broken)
        speaking = self._speaking.get(action, 0)
        if not speaking:
            return Authorization("deny", required=required)
        evaluator = self.evaluator
        case = Case(evaluator.basis, facts, day, look, 0, lambda full: evaluator.fires_at(full, day))
        if case.is_impossible:  # nothing covers a case that cannot be
            return Authorization("deny", required=required, broken=tuple(self._in_force(day)))
        room = self._conflicts.rooms[next(bits(speaking))]
        members = self._conflicts.members_of(room)
        mine, left = fires & members, open_ & members
        if not left or not self._supporting[action] & (mine | left):
            status = self._status(action, mine)
            return Authorization(status.permission, self._told(status.rules), required=required)
        return self._over_completions(action, case, room, (mine, left), required)

    def permits(self, action: str, facts: Facts, day: int) -> bool:
        """Is it allowed whatever else is the case?"""
        return self.authorize(action, facts, day).ruling == "allow"

    def may_ever(self, action: str, facts: Facts, day: int) -> bool:
        """Could more facts make it anything but denied?"""
        return self.authorize(action, facts, day).ruling != "deny"

    # ---- one completion ---------------------------------------------------------------------------------------------

    def _status(self, action: str, fires: int) -> _Status:
        """What holds where exactly those rules (of one room) fire."""
        known = self._statuses.get((action, fires))
        if known is None:
            if len(self._statuses) >= MOST_REMEMBERED:
                self._statuses.clear()
            known = self._statuses[action, fires] = (
                self._found(action, self._conflicts.stand(fires)) if fires else _NOTHING
            )
        return known

    def _found(self, action: str, stand: Stand) -> _Status:
        conflicts, stands = self._conflicts, stand.stands
        torn = disputed = 0
        for rank, mine in conflicts.ranks_in(stands):
            rivals = rank.rivals & stands
            if not rivals:
                continue
            torn |= mine
            for other, its in conflicts.ranks_in(rivals):
                if action in contested(rank.effect, other.effect, self.evaluator.ruleset.excludes):
                    disputed |= mine | its
        if disputed:
            return _Status("escalate", disputed)
        speaking = stands & self._speaking.get(action, 0)
        supporting = self._supporting.get(action, 0)
        if banning := speaking & ~supporting:
            return _Status("deny", banning)
        if giving := speaking & ~torn:
            return _Status("escalate" if action in self._persons else "allow", giving)
        if speaking:  # it would come along with what is disputed
            return _Status("escalate", speaking)
        return _Status("deny", self._instead(action, stands))

    def _instead(self, action: str, stands: int) -> int:
        """The standing rules that answer an outcome of *action* with another one."""
        found = 0
        for rank, mine in self._conflicts.ranks_in(stands):
            if any(self._conflicts.taking[outcome].get(action) for outcome, _ in rank.takes):
                found |= mine
        return found

    # ---- every completion -------------------------------------------------------------------------------------------

    def _over_completions(
        self, action: str, case: Case, room: int, now: tuple[int, int], required: tuple[str, ...]
    ) -> Authorization:
        fires, open_ = now
        evaluator = self.evaluator
        outlook = Completions(case, room, fires, open_)
        of_ranks: dict[int, _Status] = {}

        def permission(ranks: int) -> Permission:
            if ranks not in of_ranks:
                of_ranks[ranks] = self._of_ranks(action, ranks)
            return of_ranks[ranks].permission

        def bearing(ranks: int, kinds: tuple[int, ...]) -> Bearing:
            return self._bearing(action, ranks, kinds)

        count = case.count(outlook.open)
        if turned := outlook.turned(permission, bearing):
            missing = evaluator.asked(turned, count)[:MOST_MISSING]
            return Authorization("ask", self._open_rules(action, now), missing, required)
        diagram = outlook.diagram(permission, MOST_SITUATIONS, bearing) if open_.bit_count() <= MOST_OPEN else None
        if diagram is None:
            named = evaluator.asked(count, count)
            return Authorization("ask", self._open_rules(action, now), named[:MOST_MISSING], required, is_exact=False)
        ends = {diagram.ends[n] for n in _reached(diagram)}
        if len(ends) > 1:
            turning = evaluator.lanes.among(diagram.turning(lambda end: end))
            missing = evaluator.asked(turning, count)[:MOST_MISSING]
            return Authorization("ask", self._open_rules(action, now), missing, required)
        ruling = ends.pop() if ends else "deny"  # no completion exists: such a case is covered by nothing
        known = self._status(action, fires)
        rules = self._told(known.rules) if known.permission == ruling else ()
        if not rules:
            said = [status.rules for status in of_ranks.values() if status.permission == ruling]
            rules = self._told(said[0] if said else 0)
        return Authorization(ruling, rules, required=required)

    def _of_ranks(self, action: str, ranks: int) -> _Status:
        """What holds where some rule of each of those *ranks* (by number, as bits) fires, and no other."""
        known = self._by_ranks.get((action, ranks))
        if known is None:
            if len(self._by_ranks) >= MOST_REMEMBERED:
                self._by_ranks.clear()
            known = self._by_ranks[action, ranks] = self._status(action, as_bits(self._firsts(ranks)))
        return known

    def _bearing(self, action: str, ranks: int, kinds: tuple[int, ...]) -> Bearing:
        """Where *ranks* fire, and of *kinds* (numbers of ranks) some do and others may: which of those can change the
        permission in some way.
        """
        asked = action, ranks, kinds
        if asked not in self._bearings:
            if len(self._bearings) >= MOST_TABLES:
                self._bearings.clear()
            self._bearings[asked] = cache(partial(self._tried, action, ranks, kinds))
        return self._bearings[asked]

    def _tried(self, action: str, ranks: int, kinds: tuple[int, ...], held: int, may: int) -> int:
        if may.bit_count() > MOST_TRIED:
            return may
        ways = [ranks | sum([1 << kinds[n] for n in bits(held)])]
        for n in bits(may):
            ways += [way | 1 << kinds[n] for way in ways]
        said = {way: self._of_ranks(action, way).permission for way in ways}
        return as_bits(n for n in bits(may) if any(end != said[way | 1 << kinds[n]] for way, end in said.items()))

    def _firsts(self, ranks: int) -> Iterator[int]:
        for number in bits(ranks):
            yield from bits(self._conflicts.rank(number).first)

    def _open_rules(self, action: str, now: tuple[int, int]) -> tuple[int, ...]:
        """The rules that could decide it: those that speak of it, and their rivals."""
        fires, open_ = now
        speaking = (fires | open_) & self._speaking[action]
        rivals = 0
        for rank, _ in self._conflicts.ranks_in(speaking):
            rivals |= rank.rivals & (fires | open_)
        return self._told(speaking) or self._told(rivals)

    # ---- besides ----------------------------------------------------------------------------------------------------

    def _firing(self, look: Look, facts: Facts) -> tuple[int, int]:
        """The rules that fire, and those that still may."""
        fires, open_ = self.evaluator.read(facts, look.unsettled)
        return look.sure | fires, look.open | open_

    def _broken(self, facts: Facts, day: int) -> Iterator[Constraint]:
        for constraint, read in self.evaluator.invariants:
            if in_force(constraint, day) and read(facts) is False:
                yield constraint

    def _in_force(self, day: int) -> Iterator[Constraint]:
        return (constraint for constraint, _ in self.evaluator.invariants if in_force(constraint, day))

    def _duties(self, fires: int) -> Sequence[str]:
        """What standing rules of all rooms require."""
        found = self._required.get(fires)
        if found is None:
            if len(self._required) >= MOST_REMEMBERED:
                self._required.clear()
            stands = [self._conflicts.stand(mine) for _, mine in self._conflicts.rooms_in(fires)]
            found = self._required[fires] = tuple(sorted({name for stand in stands for name in stand.duties[0]}))
        return found

    def _told(self, rules: int) -> tuple[int, ...]:
        """The strongest of *rules*."""
        if not rules:
            return ()
        every = self.evaluator.ruleset.rules
        order = sorted(bits(rules), key=lambda i: (every[i].level, every[i].rule_id))
        return tuple(order[:MOST_RULES])

    # ---- what would have to be different ----------------------------------------------------------------------------

    def counterfactual(
        self,
        action: str,
        facts: Facts,
        day: int,
        trials: int = TRIALS,
        fixed: Collection[str] = (),
        past: Collection[str] = (),
    ) -> Nearest | None:
        """The smallest change of facts that allows *action*; None where nothing could. Facts that are *fixed* are not
        changed where they are known, and of amounts that are compared with each other none that is *past* if any other
        will do.
        """
        giving = self._supporting.get(action, 0)
        if not giving or action in self._persons or self.evaluator.unproven.about(action, day):
            return None  # no fact would allow it
        members = self._conflicts.members_of(self._conflicts.rooms[next(bits(giving))])
        goal = Goal(
            rules=giving,
            may_stand=lambda stands: self._status(action, stands & members).permission == "allow",
            is_reached=lambda found: cast("Any", found).ruling == "allow",
            barring=self._barring(action, members),
        )
        asked = cast("Evaluator", _Asked(self, action))
        found = nearest(asked, facts, day, goal, trials, fixed, is_firm=True)
        if found.steps:
            return found
        if self._comparing.isdisjoint(bits(members)):
            return None
        return nearest_amount(asked, members, facts, day, goal, trials, fixed, past)

    def _barring(self, action: str, members: int) -> Sequence[tuple[int, int]]:
        """The ranks that prohibit *action* or contradict about it whoever supports it, each with those that beat it."""
        found = self._barred.get(action)
        if found is None:
            excludes = self.evaluator.ruleset.excludes
            giving = [rank.effect for rank, _ in self._conflicts.ranks_in(self._supporting[action])]
            found = self._barred[action] = [
                (rank.members, rank.beaters)
                for rank, _ in self._conflicts.ranks_in(members)
                if (rank.effect.kind == "prohibited" and rank.effect.action == action)
                or all(action in contested(rank.effect, effect, excludes) for effect in giving)
            ]
        return found


class _Asked:
    """An evaluator to the search for the nearest case, which decides one action."""

    def __init__(self, authorizer: Authorizer, action: str) -> None:
        self._authorizer, self._action = authorizer, action
        self.ruleset, self.conflicts = authorizer.evaluator.ruleset, authorizer.evaluator.conflicts
        self.ground, self.boxes_of = authorizer.evaluator.ground, authorizer.evaluator.boxes_of
        self._last: tuple[Mapping[str, Value], Authorization] | None = None

    def decide(self, facts: Mapping[str, Value], day: int, names_unknown: bool = True) -> Authorization:
        """The answer about the action."""
        if self._last is None or self._last[0] != facts:  # what is found is asked for once more when it is told
            self._last = facts, self._authorizer.authorize(self._action, facts, day)
        return self._last[1]


def contested(a: Effect, b: Effect, excludes: frozenset[tuple[str, str]]) -> frozenset[str]:
    """The actions that two effects contradict each other about."""
    found = set[str]()
    for outcome, action in a.takes:
        for other, its in b.takes:
            if outcome == other and action != its:
                found |= {action, its}
    for one, two in ((a, b), (b, a)):
        if two.kind == "prohibited" and two.action in (
            one.demands or ((one.action,) if one.kind == "permitted" else ())
        ):
            found.add(two.action)
    found.update(name for x in a.demands for y in b.demands if (x, y) in excludes for name in (x, y))
    return frozenset(found)


def _reached(diagram: Any) -> set[int]:
    """The numbers of the ends that some existing completion comes to."""
    if not diagram.nodes:
        return set(diagram.ends)
    return {lead for _, leads in diagram.nodes.values() for lead in leads if lead in diagram.ends}
