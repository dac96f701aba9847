"""Small random sets of rules in which rules come and go and invariants hold, with every case and day to be tried."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import Constraint, Source
from ci.proofs.nearby import Nearby
from ci.proofs.standing import Referee
from ci.proofs.theory import Theory
from tests.bylaw.logic import strategies

ALL = list(strategies.cases())
DAYS = (1, 2, 3, 4)  # asked from day 1 on; nothing changes after day 4
PERIODS = st.sampled_from(((None, None), (None, None), (None, None), (None, 2), (3, None), (2, 3), (None, 0)))
INVARIANTS = {compared: st.lists(strategies.formulas(compared, leaves=3), max_size=2) for compared in (False, True)}


@st.composite
def worlds(draw, timed=False, with_compare=True, most=5):
    """A ruleset with invariants; when *timed*, policies and invariants have periods."""
    ruleset = draw(strategies.rulesets(with_compare, most=most))
    periods = {policy: draw(PERIODS) if timed else (None, None) for policy in ("P0", "P1", "P2", "P3", "INV")}

    def dated(part):
        start, end = periods[part.policy_id]
        return replace(part, start=start, end=end)

    formulas = draw(INVARIANTS[with_compare])
    constraints = [
        Constraint(f"C{n}", draw(st.sampled_from(("P0", "INV"))), formula, "", Source("x.yaml"))
        for n, formula in enumerate(formulas)
    ]
    return replace(ruleset, rules=tuple(map(dated, ruleset.rules)), constraints=tuple(map(dated, constraints)))


def asked(ruleset):
    """The theory of the set from day 1 on, its neighbourhoods and its solver."""
    theory = Theory(ruleset, 1, 5_000_000, 10_000)
    return theory, Nearby(theory), Referee(theory)


def existing(theory, day):
    """Every case that the invariants of the day allow."""
    return [case for case in ALL if all(truth(formula, case) for formula in theory.invariants(day))]


def standings(theory, day):
    """Who fires, stands and clashes, for every existing case."""
    everyone = range(len(theory.ruleset.rules))
    return [theory.standing(case, day, everyone) for case in existing(theory, day)]


def got(evaluator, case, day):
    """What a case gets, by the reading that answers people."""
    decision = evaluator.decide(case, day)
    answers = {name: result.action for name, result in decision.outcomes.items()}
    return answers, decision.required, decision.prohibited, decision.permitted


def is_spare(theory, i, day):
    """Does no existing case of the day get anything else without rule *i*?"""
    rules = theory.ruleset.rules
    without = Evaluator(replace(theory.ruleset, rules=(*rules[:i], *rules[i + 1 :])))
    return all(got(theory.evaluator, case, day) == got(without, case, day) for case in existing(theory, day))
