"""Which rules can fire together and act against each other: where nobody wins, and where somebody does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from bylaw.logic.boxes import Box, meet, point
from bylaw.logic.ir import And, Atom, Facts, Formula
from ci.proofs.focus import Focus, asked_rules
from ci.proofs.theory import PROVEN, Theory, Verdict


@dataclass(frozen=True, slots=True)
class Clash:
    """Two rules (by index) with a case in which both fire. `winner` is the index of the stronger, None for nobody."""

    first: int
    second: int
    winner: int | None
    verdict: Verdict


def clashes(
    theory: Theory, progress: Callable[[int, int], None] | None = None, focus: Focus | None = None
) -> Iterator[Clash]:
    """One clash for each pair of policies, each subject they contradict each other on and each way it ends.

    Only candidates are looked at, never all pairs, and one of the two is in *focus*. A question that could not be
    answered is a clash whose verdict is UNKNOWN.
    """
    rules = theory.ruleset.rules
    done: set[tuple[str, str, str, bool]] = set()
    partners = _partners(theory, focus)
    for n, i in enumerate(sorted(partners)):
        rule = rules[i]
        if progress is not None:
            progress(n, len(partners))
        for j in sorted(partners[i]):
            is_resolved = theory.rivals.beats(i, j) or theory.rivals.beats(j, i)
            key = (rule.policy_id, rules[j].policy_id, subject(theory, i, j), is_resolved)
            if key in done:
                continue
            verdict = _resolved(theory, i, j) if is_resolved else _unresolved(theory, i, j)
            if verdict.status != "PROVEN":
                done.add(key)
                winner = None if not is_resolved else i if theory.rivals.beats(i, j) else j
                yield Clash(i, j, winner, verdict)


def _partners(theory: Theory, focus: Focus | None) -> Mapping[int, Iterable[int]]:
    """For every rule its candidates that come after it, where one of the two is in *focus*."""
    found: dict[int, set[int]] = defaultdict(set)
    for i in asked_rules(theory.ruleset, focus):
        for j in theory.candidates.of(i):
            found[min(i, j)].add(max(i, j))
    return found


def subject(theory: Theory, i: int, j: int) -> str:
    """What two rivals contradict each other about: an outcome, or an action."""
    one, two = theory.ruleset.rules[i].effect, theory.ruleset.rules[j].effect
    shared = {outcome for outcome, _ in one.takes} & {outcome for outcome, _ in two.takes}
    if shared:
        return min(shared)
    banned = next((effect.action for effect in (one, two) if effect.kind == "prohibited"), None)
    return banned or min(one.action, two.action)


def _unresolved(theory: Theory, i: int, j: int) -> Verdict:
    """PROVEN iff in no existing case both effects stand."""

    def confirms(facts: Facts, day: int) -> bool:
        standing = theory.standing(facts, day, theory.deciding(i, j))
        return (i, j) in standing.clashes and theory.exists(facts, day)

    def formulas(day: int) -> list[Formula]:
        return [theory.stands(i, day), theory.stands(j, day)]

    return _first_case(theory, i, j, confirms, formulas)


def _resolved(theory: Theory, i: int, j: int) -> Verdict:
    """PROVEN iff in no existing case the stronger rule stands while the weaker one fires."""
    winner, loser = (i, j) if theory.rivals.beats(i, j) else (j, i)

    def confirms(facts: Facts, day: int) -> bool:
        standing = theory.standing(facts, day, {*theory.deciding(winner), loser})
        return winner in standing.stands and loser in standing.fires and theory.exists(facts, day)

    def formulas(day: int) -> list[Formula]:
        return [theory.stands(winner, day), theory.ruleset.rules[loser].guard]

    return _first_case(theory, i, j, confirms, formulas)


def _first_case(
    theory: Theory,
    i: int,
    j: int,
    confirms: Callable[[Facts, int], bool],
    formulas: Callable[[int], list[Formula]],
) -> Verdict:
    """The first day's case: by boxes where the plain reading confirms it, else by the solver."""
    one, two = theory.evaluator.boxes_of(i), theory.evaluator.boxes_of(j)
    met: list[Box] = []
    if one is not None and two is not None:
        met = [both for a in one for b in two if (both := meet(a, b)) is not None]
        if not met:
            return PROVEN
    deciding = theory.deciding(i, j)
    for day in theory.common_days(i, j):
        confirm = partial(_on, confirms, day)
        for box in met:
            facts = theory.completed(point(box, theory.ruleset.variables), day, deciding)
            if confirm(facts):
                needed = _tested(theory.ruleset.rules[i].guard) | _tested(theory.ruleset.rules[j].guard)
                return Verdict("COUNTEREXAMPLE", theory.fewest(facts, confirm, needed), day)
        verdict = theory.solve(formulas(day), day, deciding, confirm)
        if verdict.status != "PROVEN":
            return verdict
    return PROVEN


def _tested(guard: Formula) -> set[str]:
    """Facts without which *guard* is never known to hold: both rules of a clash fire only where they are known."""
    tests = guard.items if isinstance(guard, And) else (guard,)
    return {test.var for test in tests if isinstance(test, Atom)}


def _on(confirms: Callable[[Facts, int], bool], day: int, facts: Facts) -> bool:
    return confirms(facts, day)
