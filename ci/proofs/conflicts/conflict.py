"""Which rules can fire together and act against each other: where nobody wins, and where somebody does."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bylaw.errors import WitnessMismatch
from bylaw.logic.boxes.boxes import EVERYTHING, Box, TooManyBoxes, meet, meets, point, uncovered
from bylaw.logic.formula.ir import And, Atom, Effect, Facts, Formula
from ci.proofs.focus import Focus, asked_rules
from ci.proofs.theory import PROVEN, Theory, Verdict

MEET = Verdict("COUNTEREXAMPLE")
WITHIN = 20  # pairs of rules of one policy: each is a row of its table, and mended by itself
PIECES = 500  # of where two rules meet looked at before the solver is asked


@dataclass(frozen=True, slots=True)
class Clash:
    """Two rules (by index) that meet in some case. `winner` is the index of the stronger, None for nobody.

    A verdict without facts says that there is such a case, which `shown` works out: most cases are never looked at.
    """

    first: int
    second: int
    winner: int | None
    verdict: Verdict


def clashes(
    theory: Theory, progress: Callable[[int, int], None] | None = None, focus: Focus | None = None
) -> Iterator[Clash]:
    """The pairs that do meet, and those of which it is not known.

    Only candidates are looked at, never all pairs, and one of the two is in *focus*. Once two policies meet on a
    subject in one way, their other rules are not asked again; of one policy with itself the first WITHIN pairs are.
    """
    rules = theory.ruleset.rules
    done: Counter[tuple[str, str, str, bool]] = Counter()
    partners = _partners(theory, focus)
    for n, i in enumerate(sorted(partners)):
        if progress is not None:
            progress(n, len(partners))
        mine, stronger = rules[i].policy_id, {*theory.stronger(i)}
        for j in sorted(partners[i]):
            winner = j if j in stronger else i if theory.rivals.beats(i, j) else None
            key = (mine, rules[j].policy_id, subject(theory, i, j), winner is None)
            if done[key] == (WITHIN if mine == rules[j].policy_id else 1):
                continue
            verdict = MEET if _surely_meet(theory, i, j, winner) else _decided(theory, i, j, winner)
            if verdict.status != "PROVEN":
                done[key] += 1
                yield Clash(i, j, winner, verdict)


def shown(theory: Theory, clash: Clash) -> Clash:
    """The clash with its case, which the plain reading confirms."""
    if clash.verdict.status != "COUNTEREXAMPLE" or clash.verdict.facts is not None:
        return clash
    verdict = _decided(theory, clash.first, clash.second, clash.winner)
    if verdict.status != "COUNTEREXAMPLE":
        rules = " and ".join(theory.ruleset.rules[i].rule_id for i in (clash.first, clash.second))
        raise WitnessMismatch(f"no case confirms that {rules} meet", "please report it")
    return replace(clash, verdict=verdict)


def _decided(theory: Theory, i: int, j: int, winner: int | None) -> Verdict:
    return _unresolved(theory, i, j) if winner is None else _resolved(theory, i, j)


def _surely_meet(theory: Theory, i: int, j: int, winner: int | None) -> bool:
    """Do boxes alone show a case of the clash, on the first day of both? False also when they cannot say.

    Where nobody fires who is stronger than the winner, or than either when nobody wins, the effects stand.
    """
    rules = theory.ruleset.rules
    day = max(theory.at, rules[i].start or 0, rules[j].start or 0)
    if not (rules[i].holds_on(day) and rules[j].holds_on(day)) or theory.constraints(day):
        return False
    one, two = theory.evaluator.boxes_of(i), theory.evaluator.boxes_of(j)
    stronger = theory.stronger(i if winner is None else winner)
    if winner is None and (more := theory.stronger(j)):
        stronger = (*stronger, *more)
    if not stronger and one is not None and two is not None and len(one) == len(two) == 1:  # nearly all pairs
        return one[0].is_exact and two[0].is_exact and meets(one[0], two[0])
    upper = [theory.evaluator.boxes_of(k) for k in {*stronger} if rules[k].holds_on(day)]
    covers = [Box(box.regions) for boxes in upper for box in ((EVERYTHING,) if boxes is None else boxes)]
    exact = ((a, b) for a in one or () for b in two or () if a.is_exact and b.is_exact and meets(a, b))
    return any(not covers or _is_free(theory, meet(a, b), covers) for a, b in exact)


def _is_free(theory: Theory, box: Box | None, covers: Sequence[Box]) -> bool:
    try:
        return box is not None and uncovered(box, covers, theory.ruleset.variables, PIECES) is not None
    except TooManyBoxes:
        return False


def _partners(theory: Theory, focus: Focus | None) -> Mapping[int, Iterable[int]]:
    """For every rule its candidates that come after it, where one of the two is in *focus*."""
    found: dict[int, set[int]] = defaultdict(set)
    for i in asked_rules(theory.ruleset, focus):
        for j in theory.candidates.of(i):
            found[min(i, j)].add(max(i, j))
    return found


def subject(theory: Theory, i: int, j: int) -> str:
    """What two rivals contradict each other about: an outcome, or an action."""
    effects = theory.effects[i], theory.effects[j]
    if effects not in theory.subjects:
        theory.subjects[effects] = _subject(theory.ruleset.rules[i].effect, theory.ruleset.rules[j].effect)
    return theory.subjects[effects]


def _subject(one: Effect, two: Effect) -> str:
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
