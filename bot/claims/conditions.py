"""A condition of a claim as a test of the logic: declared, of the right type, converted into the unit of its fact."""

from __future__ import annotations

from fractions import Fraction

from bot.claims.models import drop_separators
from bot.claims.terms import Terms
from bylaw.hold.values import amount_of
from bylaw.language.units import convert, unit_named
from bylaw.logic.formula.ir import Atom, Value, ValueMisfit, exact

BEYOND = "another unit: "  # such a claim is wrong, not unread: the text says so


def atoms_of(words: Terms, fact: str, operator: str, value: object, unit: str | None) -> tuple[Atom, ...] | str:
    """A condition as tests of the logic, all of which must hold; or why it is none."""
    variable = words.variables.get(fact)
    if variable is None:
        return f"`{fact}` is no declared fact"
    values = [_value(words, fact, one, unit) for one in (value if isinstance(value, list) else [value])]
    wrong = next((one[0] for one in values if isinstance(one, tuple)), None)
    if wrong is not None:
        return wrong
    known: list[Value] = [one for one in values if not isinstance(one, tuple)]
    match operator, known:
        case "between", [low, high] if not variable.is_finite:
            return Atom(fact, ">=", low), Atom(fact, "<=", high)
        case "in" | "==", [_, _, *_]:
            return (Atom(fact, "in", tuple(known)),)
        case "!=", [_, _, *_]:
            return tuple(Atom(fact, "!=", one) for one in known)
        case "in" | "==", [one]:
            return (Atom(fact, "==", one),)
        case "!=" | "<" | "<=" | ">" | ">=", [one] if operator == "!=" or not variable.is_finite:
            return (Atom(fact, operator, one),)
    return f"`{operator}` does not fit `{fact}`"


def _value(words: Terms, fact: str, raw: object, unit: str | None) -> Value | tuple[str]:
    """A claimed value as the fact's, converted; or a reason, alone in a tuple."""
    variable = words.variables[fact]
    try:
        if variable.is_finite or variable.kind == "date":
            return variable.read(raw)
        amount = amount_of(drop_separators(raw))
        if not isinstance(amount, Fraction):
            return (f"`{raw}` is no number, and `{fact}` is one",)
        own, told = words.unit_of(fact), unit_named(unit)
        if own and told and own != told:
            amount = _converted(amount, told, own)
            if amount is None:
                return (f"{BEYOND}`{fact}` is in {own}, not in {told}",)
        return exact(amount)
    except (ValueMisfit, ValueError) as misfit:
        return (str(misfit),)


def _converted(amount: Fraction, unit: str, into: str) -> Fraction | None:
    """*amount* in another unit, exactly; None where the two do not convert."""
    if unit == "cents" and into.isupper():
        return amount / 100
    return convert(amount, unit, into)
