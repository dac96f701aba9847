"""Two guards side by side: which numbers and values differ, for whom, and which tests are new or gone.

Guards are compared as they are written. Where their shapes differ nothing is guessed: then only tests that stand by
themselves are told, and the proof beside it says which cases they change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bylaw.logic.formula.ir import And, Atom, Formula, Not, Or, conj, negate
from bylaw.logic.words.prose import UNKNOWN, Label, Labels, phrase, sentence, value_in_words


@dataclass(frozen=True, slots=True)
class Bound:
    """A test whose value differs, and of whom it is asked."""

    before: Atom
    after: Atom
    of: tuple[Atom, ...] = ()

    def words(self, labels: Labels) -> str:
        """As in `electronics: days since purchase is at most 15 days instead of 30`."""
        label, one, two = labels.get(self.after.var, UNKNOWN), self.before.value, self.after.value
        whom = ", ".join(_whom(atom, labels) for atom in self.of)
        if isinstance(one, tuple) and isinstance(two, tuple):
            gained = [value_in_words(value, label) for value in two if value not in one]
            lost = [value_in_words(value, label) for value in one if value not in two]
            name = label.label or self.after.var.replace("_", " ")
            parts = [f"{word} {', '.join(of)}" for word, of in (("also", gained), ("no longer", lost)) if of]
            said = f"{name}: {'; '.join(parts)}"
        else:
            assert not isinstance(one, tuple)
            said = f"{phrase(self.after, labels)} instead of {value_in_words(one, Label(kind=label.kind))}"
        return f"{whom}: {said}" if whom else said


def _whom(atom: Atom, labels: Labels) -> str:
    """`electronics` for a kind of thing; a whole clause for everything else."""
    if isinstance(atom.value, str) and atom.op == "==":
        return value_in_words(atom.value, labels.get(atom.var, UNKNOWN))
    return phrase(atom, labels)


def bounds(before: Formula, after: Formula) -> list[Bound] | None:
    """What differs of two guards of one shape; None where more than values differs."""
    try:
        return list(dict.fromkeys(_bounds(before, after, ())))
    except _Differs:
        return None


class _Differs(Exception):
    """The two are not of one shape."""


def _bounds(one: Formula, two: Formula, of: tuple[Atom, ...]) -> Iterator[Bound]:
    if one == two:
        return
    match one, two:
        case Atom(), Atom() if (one.var, one.op) == (two.var, two.op):
            yield Bound(one, two, tuple(atom for atom in of if atom.var != two.var))
        case Not(inner), Not(other):
            yield from _bounds(inner, other, of)
        case (And(items), And(others)) | (Or(items), Or(others)) if len(items) == len(others):
            for i, (item, other) in enumerate(zip(items, others, strict=True)):
                beside = [whom for j, near in enumerate(others) if j != i and (whom := _aim(near, two))]
                yield from _bounds(item, other, tuple(dict.fromkeys((*of, *beside))))
        case _:
            raise _Differs


def _aim(near: Formula, around: Formula) -> Atom | None:
    """The kind of thing that a part aims its neighbour at: of "not electronics, or within 15 days" electronics."""
    aim = negate(near) if isinstance(around, Or) else near
    is_aim = isinstance(around, Or) and isinstance(aim, Atom) and isinstance(aim.value, str) and aim.op == "=="
    return aim if is_aim and isinstance(aim, Atom) else None


def tests(guard: Formula) -> dict[Formula, None]:
    """The tests that a guard makes by themselves, not those that only keep it apart from other rules."""
    items = guard.items if isinstance(guard, And) else (guard,)
    return dict.fromkeys(item for item in items if not isinstance(item, Not) or isinstance(item.item, Atom))


def limits(guard: Formula) -> dict[Formula, None]:
    """What a guard leaves to other rules or to exceptions."""
    items = guard.items if isinstance(guard, And) else (guard,)
    return dict.fromkeys(item.item for item in items if isinstance(item, Not) and not isinstance(item.item, Atom))


def told(parts: dict[Formula, None], labels: Labels) -> str:
    """Tests as one clause."""
    return sentence(conj(parts), labels)
