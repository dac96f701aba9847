"""Months against days: what a limit comes to, and in which case that was decided otherwise before.

Before version 0.1.0 twelve months were 360 days in the rules, and a year 365.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from bylaw.canonical import number_text
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import NEGATED, Atom, Number, Op, Value, Variable
from ci.formalize.units import Conversion, Limit


@dataclass(frozen=True, slots=True)
class Counted:
    """A test of *variable* whose limits were written in *unit*, and what they are in the unit of the fact."""

    variable: Variable
    operator: str
    into: Conversion
    limits: tuple[Limit, ...]
    unit: str

    def told(self, amounts: Sequence[Number]) -> tuple[str, str, dict[str, Any] | None]:
        """What to say of it, what can be done, and a case that is decided otherwise than before where there is one."""
        variable, shown = self.variable, self.variable.show
        written = " and ".join(f"{number_text(Fraction(amount))} {self.unit}" for amount in amounts)
        here = " and ".join(f"{'just under ' * one.is_below}{shown(one.value)}" for one in self.limits)
        message = f"tests `{variable.name}`, which is in {variable.unit}, with {written}: that is {here}"
        help = f"twelve months are a year of 365 days, one alone is 30: a limit in {variable.unit} leaves no question"
        formerly = [self.into.former(amount) for amount in amounts]
        case = changed_case(variable, self.operator, [one.value for one in self.limits], formerly)
        if case is None:
            return message, help, None
        before = " and ".join(str(shown(one)) for one in formerly)
        more = f" (before 0.1.0: {before}), so that {shown(case)} {variable.unit} is decided otherwise"
        return f"{message}{more}", help, {"facts": {variable.name: shown(case)}}


def changed_case(variable: Variable, operator: str, now: Sequence[Value], before: Sequence[Number]) -> Value | None:
    """A value that a test decides otherwise than it did with other limits; None where there is none."""
    for value in sorted({*before, *(one for one in now if not isinstance(one, str | bool))}):
        found = floor(value) if variable.is_whole else value
        if _passes(operator, found, now) != _passes(operator, found, before):
            return found
    return None


def _passes(operator: str, value: Number, limits: Sequence[Value]) -> bool:
    def holds(op: Op, right: Value | tuple[Value, ...]) -> bool:
        return truth(Atom("value", op, right), {"value": value}) is True

    if operator == "between":
        return holds(">=", limits[0]) and holds("<=", limits[1])
    if operator == "in":
        return holds("in", tuple(limits))
    return holds(NEGATED[NEGATED[operator]], limits[0])
