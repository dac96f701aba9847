"""Formulas, cases and rules in English: the reading for people.

What a fact is called comes in as `Label`s, so this module knows no vocabulary. Where a label or a phrase is missing,
the fact's own name is said in words; nothing is ever left out or rounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from bylaw.canonical import number_text
from bylaw.logic.formula.ir import (
    NEGATED,
    And,
    Arith,
    Atom,
    Compare,
    ConditionalRule,
    Const,
    Facts,
    Formula,
    Kind,
    Not,
    Or,
    Ref,
    Term,
    Value,
    atoms,
    conj,
    disj,
    negate,
)
from bylaw.logic.formula.notation import date_text
from bylaw.logic.words.negation import is_clause, negate_clause


@dataclass(frozen=True, slots=True)
class Label:
    """How people speak of one fact. `value_phrases` hold `{value}`; `value_labels` name the values of an enum.

    `given` is a clause that says it (with `{value}` where it has one), `denied` says of a yes or no that it is not so.
    """

    label: str | None = None
    unit: str | None = None
    kind: Kind | None = None
    true_phrases: tuple[str, ...] = ()
    false_phrases: tuple[str, ...] = ()
    value_phrases: tuple[str, ...] = ()
    value_labels: Mapping[str, str] = field(default_factory=dict)
    given: str | None = None
    denied: str | None = None


Labels = Mapping[str, Label]
UNKNOWN = Label()

# ---- one test -----------------------------------------------------------------------------------------------------

_AMOUNTS = {
    "==": "is",
    "!=": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
}
_DAYS = {
    "==": "is",
    "!=": "is not",
    "<": "is before",
    "<=": "is on or before",
    ">": "is after",
    ">=": "is on or after",
}


def phrase(atom: Atom, labels: Labels) -> str:
    """One test as a clause: `days since purchase is at most 30 days`."""
    label, value = labels.get(atom.var, UNKNOWN), atom.value
    if isinstance(value, bool):
        return _claim(atom.var, label, is_true=value == (atom.op == "=="))
    name = _name(atom.var, label)
    if isinstance(value, tuple):
        return f"{name} is {_listed([value_in_words(v, label) for v in value], 'or')}" if value else "never"
    if isinstance(value, str):
        return f"{name} is {'' if atom.op == '==' else 'not '}{value_in_words(value, label)}"
    words = _DAYS if label.kind == "date" else _AMOUNTS
    return f"{name} {words[atom.op]} {value_in_words(value, label)}"


def value_in_words(value: Value, label: Label = UNKNOWN) -> str:
    """A value with its unit: `1 day`, `50 USD`, `2026-01-31`, `electronics`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return label.value_labels.get(value, _spaced(value))
    if label.kind == "date":
        return date_text(value)
    number = number_text(Fraction(value))
    return f"{number} {_unit(label.unit, value)}" if label.unit else number


def _unit(unit: str, value: Value) -> str:
    return unit[:-1] if value == 1 and unit.endswith("s") and unit.islower() else unit


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _name(var: str, label: Label) -> str:
    return label.label or _spaced(var)


def _claim(var: str, label: Label, *, is_true: bool) -> str:
    """A boolean fact as a clause: `has the receipt`, `the order is not paid`."""
    name = _name(var, label)
    if is_true:
        return label.given or name
    return negate_clause(name) if label.denied is None else label.denied


def told(var: str, value: Value, label: Label) -> str:
    """What a case says of a fact: a clause where its label makes one, else `label: value`."""
    if isinstance(value, bool):
        is_formed = label.denied is not None or (value and label.given is not None)
        if is_formed or is_clause(_name(var, label)):
            return _claim(var, label, is_true=value)
    elif label.given is not None:
        return label.given.replace("{value}", value_in_words(value, label))
    name = _name(var, label)
    is_counted = label.unit is not None and label.unit in name.split()  # "days late: 3", not "days late: 3 days"
    return f"{name}: {value_in_words(value, replace(label, unit=None) if is_counted else label)}"


def _listed(parts: list[str], conjunction: str, *, apart: bool = False) -> str:
    """The parts in a row; *apart*, with a comma before the last, where a part is itself a list."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}{',' * apart} {conjunction} {parts[-1]}"


# ---- formulas -----------------------------------------------------------------------------------------------------


def sentence(formula: Formula, labels: Labels) -> str:
    """A formula as one clause; `always` and `never` for the two that speak of no fact."""
    match formula:
        case Atom():
            return phrase(formula, labels)
        case Compare(left, op, right):
            is_day = any(isinstance(term, Ref) and _kind(term, labels) == "date" for term in (left, right))
            words = _DAYS if is_day else _AMOUNTS
            return f"{term_in_words(left, labels)} {words[op]} {term_in_words(right, labels)}"
        case And(items):
            told = _clauses(items, labels, _inner)
            return _listed(told, "and", apart=any(map(_is_joined, items[:-1]))) if items else "always"
        case Or(items):
            return _alternatives(items, labels) if items else "never"
        case Not(Atom(var, op, value)) if op != "in":
            return phrase(Atom(var, NEGATED[op], value), labels)
        case Not(Atom(var, "in", value)):
            assert isinstance(value, tuple)
            label = labels.get(var, UNKNOWN)
            if len(value) == 1:
                return phrase(Atom(var, "!=", value[0]), labels)
            return f"{_name(var, label)} is neither {_listed([value_in_words(v, label) for v in value], 'nor')}"
        case Not(Compare(left, op, right)):
            return sentence(Compare(left, NEGATED[op], right), labels)
        case Not(And(items)):
            return sentence(disj([negate(item) for item in items]), labels)
        case Not(Or(items)):
            return sentence(conj([negate(item) for item in items]), labels)
        case Not(Not(item)):
            return sentence(item, labels)
    raise AssertionError(formula)


def _kind(term: Ref, labels: Labels) -> Kind | None:
    return labels.get(term.var, UNKNOWN).kind


def _alternatives(items: Sequence[Formula], labels: Labels) -> str:
    """As in "a, or b and c": where an alternative is more than one test, a comma holds them apart.

    Each alternative speaks of the facts in the order of the first.
    """
    order = list(dict.fromkeys(atom.var for item in items for atom in atoms(item)))
    items = [_in_order(item, order) for item in items]
    if not any(map(_is_joined, items)):
        return _listed([sentence(item, labels) for item in items], "or")
    return ", or ".join(_inner(item, labels) if _has_choice(item) else sentence(item, labels) for item in items)


def _in_order(item: Formula, order: Sequence[str]) -> Formula:
    if not isinstance(item, And):
        return item
    return And(
        tuple(sorted(item.items, key=lambda part: min((order.index(a.var) for a in atoms(part)), default=len(order))))
    )


def _inner(item: Formula, labels: Labels) -> str:
    """A part of a conjunction: "either a or b"; in brackets where it has parts of parts."""
    text = sentence(item, labels)
    if not _is_joined(item):
        return text
    is_plain = isinstance(item, Or) and not any(map(_is_joined, item.items))
    return f"either {text}" if is_plain else f"({text})"


def _is_joined(item: Formula) -> bool:
    """Does it take more than one test to say it?"""
    match item:
        case And(items) | Or(items) | Not(And(items)) | Not(Or(items)):
            return len(items) > 1
    return False


def _has_choice(item: Formula) -> bool:
    return isinstance(item, Or) or (isinstance(item, And) and any(map(_is_joined, item.items)))


def _clauses(items: Iterable[Formula], labels: Labels, say: Callable[[Formula, Labels], str]) -> list[str]:
    """The parts of a conjunction; a lower and an upper bound of one fact are said together."""
    clauses: list[str] = []
    bounds: dict[str, tuple[int, Atom]] = {}
    for item in items:
        if isinstance(item, Atom) and item.op[0] in "<>":
            at, other = bounds.get(item.var, (0, item))
            if other.op[0] != item.op[0]:
                del bounds[item.var]
                low, high = (item, other) if item.op[0] == ">" else (other, item)
                clauses[at] = _within(low, high, labels.get(item.var, UNKNOWN))
                continue
            bounds.setdefault(item.var, (len(clauses), item))
        clauses.append(say(item, labels))
    return clauses


def _within(low: Atom, high: Atom, label: Label) -> str:
    """Two bounds of one fact: `is between 3 and 5 days` with both ends, else `is at least 3 and less than 5 days`."""
    assert not isinstance(low.value, tuple) and not isinstance(high.value, tuple)
    name, words = _name(low.var, label), _DAYS if label.kind == "date" else _AMOUNTS
    first, last = value_in_words(low.value, Label(kind=label.kind)), value_in_words(high.value, label)
    if (low.op, high.op) == (">=", "<="):
        return f"{name} is between {first} and {last}"
    return f"{name} {words[low.op]} {first} and {words[high.op].removeprefix('is ')} {last}"


def term_in_words(term: Term, labels: Labels) -> str:
    """Arithmetic between facts: `0.5 times purchase amount`."""
    match term:
        case Ref(var):
            return _name(var, labels.get(var, UNKNOWN))
        case Const(value):
            return number_text(Fraction(value))
        case Arith(op, left, right):
            words = {"+": "plus", "-": "minus", "*": "times"}[op]
            first, second = term_in_words(left, labels), term_in_words(right, labels)
            first = f"({first})" if isinstance(left, Arith) and op == "*" and left.op != "*" else first
            second = f"({second})" if isinstance(right, Arith) and op != "+" else second
            return f"{first} {words} {second}"


# ---- cases --------------------------------------------------------------------------------------------------------

_NOUN = re.compile(r"(a|an|the|some) ")
_MODIFIER = re.compile(r"(with|without|no|not|on|at|from|under|outside|inside|before|after) ")
_PARTICIPLE = re.compile(r"(\w+ed|bought|sold|made|sent|built|worth) ")
_FIRST_PERSON = re.compile(r"\b(i|i'm|my|me|we|our)\b", re.IGNORECASE)


def case_in_words(facts: Facts, labels: Labels) -> str:
    """A case as a person would tell it: `a laptop bought 20 days ago without a receipt`.

    Enum values that have a label of their own lead, then come values with a phrase, then booleans; whatever has no
    phrase follows as `label value`.
    """
    nouns, attached, told, rest = list[str](), list[str](), list[str](), list[str]()
    for var, value in sorted(facts.items(), key=lambda item: (_order(item[1]), item[0])):
        label = labels.get(var, UNKNOWN)
        said = _told(value, label)
        if isinstance(value, str) and _NOUN.match(label.value_labels.get(value, "")) and not nouns:
            nouns.append(value_in_words(value, label))
        elif said is not None and (_MODIFIER.match(said) or _PARTICIPLE.match(said)):
            attached.append(said)
        elif said is not None:
            told.append(said)
        else:
            rest.append(_stated(var, value, label))
    if nouns:
        return ", ".join([" ".join([*nouns, *attached]), *told, *rest])
    return ", ".join([*attached, *told, *rest]) or "any case"


def _order(value: Value) -> int:
    return 2 if isinstance(value, bool) else 0 if isinstance(value, str) else 1


def _told(value: Value, label: Label) -> str | None:
    """The value by a phrase that people use of a case, None when no phrase fits a sentence about someone else."""
    if isinstance(value, bool):
        fitting = [p for p in (label.true_phrases if value else label.false_phrases) if _fits(p) and _MODIFIER.match(p)]
        without = [p for p in fitting if p.startswith("without ")]
        if not value and not without:
            without = [f"without {p[5:]}" for p in label.true_phrases if _fits(p) and p.startswith("with ")]
        return next(iter((*without[:1], *fitting[:1])), None)
    for template in label.value_phrases:
        if "{value}" in template and _fits(template):
            return _filled(template, value, label)
    return None


def _fits(text: str) -> bool:
    return _FIRST_PERSON.search(text) is None


def _filled(template: str, value: Value, label: Label) -> str:
    before, _, after = template.partition("{value}")
    unit = label.unit or ""
    if unit and not isinstance(value, bool | str) and after.split()[:1] == [unit]:
        shown = value_in_words(value, label)
        return f"{before}{shown}{after.replace(f' {unit}', '', 1)}"
    said_by_phrase = bool(unit) and unit.casefold().rstrip("s") in template.casefold()
    plain = Label(kind=label.kind, value_labels=label.value_labels)
    return f"{before}{value_in_words(value, plain if said_by_phrase else label)}{after}"


def _stated(var: str, value: Value, label: Label) -> str:
    if isinstance(value, bool):
        return _bare_claim(var, is_true=value) if label.label is None else _claim(var, label, is_true=value)
    return f"{_name(var, label)} {value_in_words(value, label)}"


def _bare_claim(var: str, *, is_true: bool) -> str:
    """A boolean fact by its name alone: `has_receipt` → `receipt` / `no receipt`, `is_open` → `open` / `not open`."""
    verb, _, thing = var.partition("_")
    if verb == "has" and thing:
        return f"{'with' if is_true else 'no'} {_spaced(thing)}"
    name = _spaced(thing if verb == "is" and thing else var)
    return name if is_true else f"not {name}"


# ---- rules --------------------------------------------------------------------------------------------------------

_EFFECTS = {
    "outcome": "{}",
    "required": "required: {}",
    "prohibited": "prohibited: {}",
    "permitted": "permitted: {}",
}


def rule_in_words(rule: ConditionalRule, labels: Labels, actions: Mapping[str, str] | None = None) -> str:
    """A rule: `when has the receipt, then full refund (POL-REFUND-001)`. *actions* gives actions their labels."""
    when, effect = sentence(rule.guard, labels), _effect(rule, actions)
    if when in ("always", "never"):
        return f"{when}: {effect} ({rule.policy_id})"
    is_thing = _NOUN.match(effect) and not is_clause(effect)  # "the loan", not "the deposit is returned"
    return f"when {when}, then {'the answer is ' if is_thing else ''}{effect} ({rule.policy_id})"


def rule_in_lines(rule: ConditionalRule, labels: Labels, actions: Mapping[str, str] | None = None) -> list[str]:
    """A rule on a page: in one line where it is short, else its effect, and each condition on a line of its own."""
    parts = rule.guard.items if isinstance(rule.guard, And) else ()
    clauses = _clauses(parts, labels, sentence)
    if len(clauses) < 3 and not any(map(_is_joined, parts)):
        return [rule_in_words(rule, labels, actions).removesuffix(f" ({rule.policy_id})")]
    return [f"{_effect(rule, actions)}, when", *(f"- {clause}" for clause in clauses)]


def _effect(rule: ConditionalRule, actions: Mapping[str, str] | None) -> str:
    return _EFFECTS[rule.effect.kind].format((actions or {}).get(rule.effect.action) or _spaced(rule.effect.action))
