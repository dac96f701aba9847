"""Why a goal follows from named statements, and what is missing where it does not.

Everything is answered in one session of the solver: what the statements say is asserted once, each under a mark, and
asked about under assumptions. Sets that have to be minimal are found by Reiter's tree of hitting sets, the smallest
first: a premise set hits every case that denies the goal, a correction set hits every core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import Atom, Facts, Formula, negate

if TYPE_CHECKING:
    from bylaw.logic.solver.smt import Reasoner, Session

Status = Literal["consistent_entails", "consistent_no_entailment", "inconsistent", "refuted", "unknown"]
_MOST_NODES = 4_000  # of a tree of hitting sets
_MOST_SMALLER = 60  # facts that a case is tried without
_GOAL, _DENIAL = "?goal", "?denial"  # marks: no statement and no candidate is called so


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far is looked: the sets that are listed at most, and the work, counted in what each question speaks of."""

    sets: int = 16
    work: int = 60_000  # about a second; the same on every machine


@dataclass(frozen=True, slots=True)
class Explained:
    """How a goal stands to what is known.

    `core`: statements that already give the answer, none of them spare (of an open goal there is none). `premises`:
    the minimal sets of candidates that would entail the goal. `corrections`: the minimal sets of statements whose
    removal leaves a case; `cases` are those, in order. `case`: one that shows the answer where one can. The sets are
    all that there are only if `is_complete`.
    """

    status: Status
    core: tuple[str, ...] = ()
    premises: tuple[tuple[str, ...], ...] = ()
    corrections: tuple[tuple[str, ...], ...] = ()
    cases: tuple[Mapping[str, bool], ...] = ()
    case: Mapping[str, bool] = field(default_factory=dict)
    is_complete: bool = True
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """The explanation as JSON, for the pipe."""
        return asdict(self)

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> Explained:
        """The explanation that came through the pipe; one without a core is an answer of the pipe's own."""
        if "core" not in said:
            return cls("unknown", is_complete=False, reason=str(said.get("reason")))
        return cls(
            said["status"],
            tuple(said["core"]),
            tuple(map(tuple, said["premises"])),
            tuple(map(tuple, said["corrections"])),
            tuple(said["cases"]),
            said["case"],
            said["is_complete"],
            said["reason"],
        )


class _Stop(Exception):
    """The questions are used up, or one of them was beyond the solver."""


@dataclass
class _Asker:
    """The session, with what it may still be asked."""

    session: Session
    left: int

    def ask(self, names: Iterable[str]) -> tuple[bool, frozenset[str], Facts]:
        """Can *names* hold together? Then those that do, and the case; else those that already exclude each other."""
        if self.left <= 0:
            raise _Stop("it takes more questions than are asked of one program")
        names = frozenset(names)
        self.left -= len(names) + len(self.session.facts)
        status, found, case = self.session.ask(sorted(names))
        if status == "unknown":
            raise _Stop(self.session.reason)
        return status == "sat", found, case

    def can(self, names: Iterable[str]) -> bool:
        """Can *names* hold together?"""
        return self.ask(names)[0]

    def core(self, names: Iterable[str], kept: frozenset[str] = frozenset()) -> frozenset[str]:
        """A part of *names* that cannot hold together and none of which, but those *kept*, is spare.

        Where the solver cannot judge it, something may be spare; nothing is ever left out that is needed.
        """
        found = self.ask(names)[1]
        with suppress(_Stop):
            for name in sorted(found - kept):
                is_possible, smaller, _ = self.ask((found - {name}) | kept) if name in found else (True, found, {})
                if not is_possible:
                    found = smaller | (kept & found)
        return found


def explain(
    reasoner: Reasoner,
    statements: Mapping[str, Formula],
    goal: Formula | None,
    candidates: Mapping[str, Formula],
    bounds: Bounds,
    hints: Sequence[Sequence[str]] = (),
) -> Explained:
    """How *goal* stands to *statements*, and which of the *candidates* would entail it; *hints* are tried first.

    `inconsistent` iff no case satisfies the statements; `consistent_entails` iff else none denies the goal; `refuted`
    iff else none grants it. What could not be settled within the effort is `unknown`, never one of these.
    """
    ends = {} if goal is None else {_GOAL: goal, _DENIAL: negate(goal)}
    with reasoner.session({**statements, **candidates, **ends}) as session:
        asker = _Asker(session, bounds.work)
        try:
            found = _status(asker, frozenset(statements), goal)
        except _Stop as stop:
            return Explained("unknown", is_complete=False, reason=str(stop))
        if found.status == "consistent_no_entailment" and goal is not None:
            sets, is_complete = _premises(asker, frozenset(statements), frozenset(candidates), bounds, hints)
            return replace(found, premises=sets, is_complete=is_complete)
        if found.status == "inconsistent":
            return _corrected(asker, frozenset(statements), found, bounds)
        return found


def _status(asker: _Asker, known: frozenset[str], goal: Formula | None) -> Explained:
    if not asker.can(known):
        return Explained("inconsistent", tuple(sorted(asker.core(known))))
    if goal is None:
        return Explained("consistent_no_entailment", case=_small(asker, known))
    ends: Mapping[str, Status] = {_DENIAL: "consistent_entails", _GOAL: "refuted"}
    for end, status in ends.items():
        if not asker.can(known | {end}):
            core = asker.core(known | {end}, frozenset({end})) - {end}
            return Explained(status, tuple(sorted(core)), case=_small(asker, known))
    return Explained("consistent_no_entailment", case=_small(asker, known | {_DENIAL}))


def _small(asker: _Asker, names: frozenset[str]) -> dict[str, bool]:
    """A case of *names* in which nothing holds that need not; facts that are no yes or no are left out."""
    case = asker.ask(names)[2]
    with suppress(_Stop):  # then it is a case all the same
        for name in sorted(fact for fact, value in case.items() if value is True)[:_MOST_SMALLER]:
            if case[name] is not True:
                continue
            mark = asker.session.add(f"without:{name}", Atom(name, "==", False))
            is_possible, _, smaller = asker.ask(names | {mark})
            if is_possible:
                case, names = smaller, names | {mark}
    return {name: value for name, value in sorted(case.items()) if isinstance(value, bool)}


def _premises(
    asker: _Asker,
    known: frozenset[str],
    candidates: frozenset[str],
    bounds: Bounds,
    hints: Sequence[Sequence[str]],
) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """The minimal sets of *candidates* that can hold beside what is *known*, and with which the goal has to hold."""

    def denied(chosen: frozenset[str]) -> frozenset[str] | None:
        """Candidates one of which has to be added: a case without any of them denies the goal."""
        is_possible, _, case = asker.ask(known | chosen | {_DENIAL})
        if not is_possible:
            return None
        holding = _holding(asker.session, candidates, case)
        for name in sorted(candidates - holding):
            if name in holding:
                continue
            is_possible, _, case = asker.ask(known | holding | {_DENIAL, name})
            holding = _holding(asker.session, candidates, case) if is_possible else holding
        return candidates - holding

    impossible: list[frozenset[str]] = []

    def is_possible(chosen: frozenset[str]) -> bool:
        if any(one <= chosen for one in impossible):
            return False
        can, excluding, _ = asker.ask(known | chosen)
        if not can:
            impossible.append(excluding & chosen)
        return can

    return hitting_sets(denied, is_possible, bounds.sets, _hinted(asker, known, candidates, hints))


def _hinted(
    asker: _Asker, known: frozenset[str], candidates: frozenset[str], hints: Sequence[Sequence[str]]
) -> list[frozenset[str]]:
    """The minimal sets within the *hints*: what a rule asks for is seldom far from what is missing."""
    found: list[frozenset[str]] = []
    with suppress(_Stop):
        for hint in hints:
            chosen = frozenset(hint) & candidates
            if asker.can(known | chosen) and not asker.can(known | chosen | {_DENIAL}):
                found.append(asker.core(known | chosen | {_DENIAL}, known | {_DENIAL}) & candidates)
    return list(dict.fromkeys(found))


def _holding(session: Session, candidates: frozenset[str], case: Facts) -> frozenset[str]:
    return frozenset(name for name in candidates if truth(session.named[name], case) is True)


def _corrected(asker: _Asker, known: frozenset[str], found: Explained, bounds: Bounds) -> Explained:
    def clashing(dropped: frozenset[str]) -> frozenset[str] | None:
        return None if asker.can(known - dropped) else asker.core(known - dropped)

    sets, is_complete = hitting_sets(clashing, lambda _: True, bounds.sets, _one_correction(asker, known))
    try:
        cases = tuple(_small(asker, known - frozenset(dropped)) for dropped in sets)
    except _Stop:
        cases, is_complete = (), False
    return replace(found, corrections=sets, cases=cases, is_complete=is_complete)


def _one_correction(asker: _Asker, known: frozenset[str]) -> list[frozenset[str]]:
    """What is left over when as many statements are kept as can be, in their order."""
    kept: frozenset[str] = frozenset()
    try:
        for name in sorted(known):
            kept = kept | {name} if asker.can(kept | {name}) else kept
    except _Stop:
        return []
    return [known - kept]


def hitting_sets(
    missed: Callable[[frozenset[str]], frozenset[str] | None],
    is_allowed: Callable[[frozenset[str]], bool],
    most: int,
    first: Sequence[frozenset[str]] = (),
) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """The minimal sets that hit every conflict, at most *most*, *first* those known; and whether these are all.

    *missed* gives a conflict that a set does not hit, None when it hits all. What is not allowed is not gone on with:
    nothing larger is allowed either.
    """
    found = list(first)[:most]
    conflicts: list[frozenset[str]] = []
    nodes = 0
    level: Sequence[frozenset[str]] = [frozenset()]
    try:
        while level:
            wider: dict[frozenset[str], None] = {}
            for chosen in level:
                nodes += 1
                if nodes > _MOST_NODES:
                    raise _Stop
                if any(one <= chosen for one in found):
                    continue
                if chosen and not is_allowed(chosen):
                    continue
                conflict = next((one for one in conflicts if not one & chosen), None)
                if conflict is None and (conflict := missed(chosen)) is not None:
                    conflicts.append(conflict)
                if conflict is None:
                    if len(found) == most:
                        raise _Stop
                    found.append(chosen)
                    continue
                wider.update((chosen | {name}, None) for name in sorted(conflict))
            level = list(wider)
    except _Stop:
        return tuple(tuple(sorted(one)) for one in found), False
    return tuple(tuple(sorted(one)) for one in found), True
