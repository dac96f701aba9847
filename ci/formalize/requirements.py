"""What the names in `requires` mean: a condition id, a fact, the time windows, a term, or a negated fact.

Looked up in that order; a name with two meanings has none. Names compare case-insensitively.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from bylaw.authored.conditions import WITHIN_WINDOW, AllOf, AnyOf, Condition, Not, TimeWindow
from bylaw.logic.formula.ir import Atom, Formula, Variable, conj, names
from ci.findings import Route
from ci.formalize.lower import Lowered, Lowering, targeted
from ci.loading.schema.nearest import did_you_mean, nearest, one_right

NEGATIONS = ("no_", "not ", "not_")
_NEGATING = {**{prefix: prefix for prefix in NEGATIONS}, "!": "not ", "~": "not "}  # as it is written -> as it is read
_WHERE = (
    "each item is one name: a condition's `id`, a boolean fact, a term, `within_window`, or `not ` and a boolean fact; "
    "a comparison is a condition with an `id`"
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """One reading of a required name: top-level conditions by position, or a formula of its own."""

    kind: str
    positions: tuple[int, ...] = ()
    formula: Formula | None = None


@dataclass
class Requirements:
    """The names a policy's actions may require, resolved against its conditions and the vocabulary."""

    lowering: Lowering
    conditions: Sequence[Condition]
    lowered: Sequence[Lowered]
    terms: Mapping[str, Formula]

    def guard(self, names: Sequence[str], route: Route) -> Formula | None:
        """All *names* hold. The named conditions form one set, so targets replace general conditions among them."""
        positions: set[int] = set()
        formulas: list[Formula] = []
        is_whole = True
        for i, name in enumerate(names):
            meaning = self._resolve(name, (*route, i))
            if meaning is None:
                is_whole = False
            elif meaning.formula is not None:
                formulas.append(meaning.formula)
            else:
                positions.update(meaning.positions)
        if not is_whole:
            return None
        return conj([targeted([self.lowered[i] for i in sorted(positions)]), *formulas])

    def formula_named(self, name: str) -> Formula | None:
        """What *name* means as `requires` reads it; None where it means nothing, or two things."""
        meanings = list(self._meanings(name))
        if len({meaning.kind for meaning in meanings}) != 1:
            return None
        positions = sorted({i for meaning in meanings for i in meaning.positions})
        formulas = [meaning.formula for meaning in meanings if meaning.formula is not None]
        return conj([targeted([self.lowered[i] for i in positions]), *formulas])

    def facts_of(self, id: str) -> Iterator[str]:
        """The facts that the conditions called *id* test, first the one that each is about."""
        for meaning in self._by_id.get(id.casefold(), ()):
            for lowered in (self.lowered[i] for i in meaning.positions):
                yield from (lowered.fact,) if lowered.fact is not None else ()
                yield from sorted(names(lowered.formula))
            yield from sorted(names(meaning.formula)) if meaning.formula is not None else ()

    def _resolve(self, name: str, route: Route) -> Meaning | None:
        meanings = list(self._meanings(name))
        positions = tuple(position for meaning in meanings for position in meaning.positions)
        found = {meaning.kind for meaning in meanings}
        if len(meanings) == 1 or found == {"a condition"}:  # that two share an id is a finding of its own
            return replace(meanings[0], positions=positions)
        lowering = self.lowering
        if meanings:
            kinds = " and ".join(meaning.kind for meaning in meanings)
            lowering.report(
                "unknown-requirement", f"requires `{name}`, which means {kinds}", route, "rename one of them"
            )
        elif name.casefold() == WITHIN_WINDOW:
            lowering.report(
                "unknown-requirement",
                f"requires `{name}`, but has no condition of type time_window",
                route,
                "add the time window to `conditions`, or name the condition's id",
            )
        elif (negated := self._negated(name)) is not None:
            lowering.report(
                "unknown-requirement",
                f"requires `{name}`: only a boolean fact is negated there, and `{negated}` is none",
                route,
                "write the opposite as a condition with an `id` of its own, and require that: `{id: …, not: {…}}`",
                word=name,
            )
        else:
            known = self._opposites(name) or self.known_names()
            lowering.report(
                "unknown-requirement",
                f"requires `{name}`, which is no condition id, boolean fact, term or negation of one",
                route,
                did_you_mean(name.replace("!", "not ", 1), known, _WHERE),
                word=name,
                fix=one_right(name, known),
            )
        return None

    def _opposites(self, name: str) -> list[str]:
        """The names that say the opposite of a fact as *name* does: a suggestion never drops a negation.

        Empty where *name* negates nothing, or nothing that is near to a fact.
        """
        prefix = next((prefix for prefix in _NEGATING if name.casefold().startswith(prefix)), None)
        if prefix is None:
            return []
        said, stem = _NEGATING[prefix], name[len(prefix) :].strip()
        own = [known for known in self.known_names() if known.casefold().startswith(prefix)]
        facts = self._booleans()
        near = nearest(stem.casefold(), [*facts, *(fact.removeprefix("has_") for fact in facts)])
        fact = None if near is None else facts.get(near) or facts[f"has_{near}"]
        return [*own, *([] if fact is None else [f"{said}{fact}"])]

    def _negated(self, name: str) -> str | None:
        """The condition or term that *name* would negate; a suggestion of it would turn the meaning round."""
        known = {condition.id.casefold(): condition.id for condition in self.conditions if condition.id}
        known |= {term: term for term in self.terms}
        stems = (
            name.casefold().removeprefix(prefix).strip() for prefix in NEGATIONS if name.casefold().startswith(prefix)
        )
        return next((known[stem] for stem in stems if stem in known), None)

    def _meanings(self, name: str) -> Iterator[Meaning]:
        word = name.casefold()
        yield from self._by_id.get(word, ())
        booleans = self._booleans()
        if word in booleans:
            yield Meaning("a fact", formula=Atom(booleans[word], "==", True))
        if word == WITHIN_WINDOW:
            windows = tuple(i for i, condition in enumerate(self.conditions) if isinstance(condition, TimeWindow))
            if windows:
                yield Meaning("the time windows", windows)
        if word in self.terms:
            yield Meaning("a term", formula=self.terms[word])
        for prefix in NEGATIONS:
            if word.startswith(prefix):
                stem = word[len(prefix) :].strip()
                for fact in sorted({booleans[key] for key in (stem, f"has_{stem}") if key in booleans}):
                    yield Meaning("the negation of a fact", formula=Atom(fact, "==", False))

    @cached_property
    def _by_id(self) -> Mapping[str, Sequence[Meaning]]:
        """Id, in lower case → the conditions that carry it, in their order."""
        found: dict[str, list[Meaning]] = defaultdict(list)
        for i, condition in enumerate(self.conditions):
            if condition.id is not None:
                found[condition.id.casefold()].append(Meaning("a condition", (i,)))
            for nested, formula in self._nested(condition, self.lowered[i]):
                found[nested.casefold()].append(Meaning("a condition", formula=formula))
        return found

    def _nested(self, condition: Condition, lowered: Lowered) -> Iterator[tuple[str, Formula]]:
        match condition:
            case AllOf(all_of=items):
                branches: list[Condition] = list(items)
            case AnyOf(any_of=items):
                branches = [b for item in items for b in (item if isinstance(item, list) else [item])]
            case Not(not_=item):
                branches = item if isinstance(item, list) else [item]
            case _:
                return
        for branch in branches:
            again = self.lowering.again(branch)
            if branch.id is not None:
                yield branch.id, again.formula
            yield from self._nested(branch, again)

    def _booleans(self) -> dict[str, str]:
        variables: Mapping[str, Variable] = self.lowering.variables
        return {name.casefold(): name for name, variable in variables.items() if variable.kind == "boolean"}

    def known_names(self) -> list[str]:
        """Everything that `requires` may name."""
        ids = [condition.id for condition in self.conditions if condition.id]
        negated = [f"no_{name.removeprefix('has_')}" for name in self._booleans()]
        return [*ids, *self._booleans().values(), *self.terms, *negated, WITHIN_WINDOW]
