"""Every way in which a change could decide by itself whether it passes: one row each, with its reader.

What the review of a change rests on is read from both versions; whatever differs is told before anything else. A row
is added here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from ci.findings import Place
from ci.gating import settings
from ci.gating.settings import Setting, Settings, Side

Narrows = Callable[[Any, Any], bool]


def _differs(before: Any, after: Any) -> bool:
    return bool(before != after)


def is_higher(before: Any, after: Any) -> bool:
    return after is not None and (before is None or _number(after) > _number(before))


def is_lower(before: Any, after: Any) -> bool:
    return after is not None and (before is None or _number(after) < _number(before))


def _number(value: Any) -> Any:
    """A bound as something that has an order: a number, else the text (a day)."""
    try:
        return 0, Decimal(str(value)), ""
    except InvalidOperation:
        return 1, Decimal(0), str(value)


def _loses(before: frozenset[str], after: frozenset[str]) -> bool:
    return not before <= after


def _gains(before: frozenset[str], after: frozenset[str]) -> bool:
    return not after <= before


def _ends(before: bool, after: bool) -> bool:
    return before and not after


@dataclass(frozen=True, slots=True)
class Gate:
    """A kind of setting. `tells`: which difference is told; `lone`: whether what only one side has is told.

    `is_proved`: what it hides is found by asking once more with the base's setting. `in_bundle`: a bundle carries it.
    `owns`: whose owners are asked.
    """

    name: str
    read: Callable[[Side], Settings]
    owns: str = "rules/"
    tells: Narrows = _differs
    lone: Literal["never", "gone", "both"] = "never"
    is_proved: bool = False
    in_bundle: bool = False


GATES: tuple[Gate, ...] = (
    Gate("severities", settings.severities, in_bundle=True, lone="both"),
    Gate("waivers", settings.waivers, lone="both"),
    Gate("limits", settings.limits, is_proved=True, in_bundle=True, lone="both"),
    Gate("PII patterns", settings.pii, is_proved=True, in_bundle=True, lone="both"),
    Gate("roles", settings.roles, is_proved=True, in_bundle=True, lone="both"),
    Gate("features", settings.features, is_proved=True, in_bundle=True, lone="both"),
    Gate("priorities", settings.priorities, is_proved=True, in_bundle=True, lone="both"),
    Gate("evaluation", settings.evaluation, lone="both"),
    Gate("enforcement", settings.enforcement, in_bundle=True, lone="both"),
    Gate("invariants", settings.invariants, "policies/", is_proved=True, lone="both"),
    Gate("minimum", settings.least, "policies/", is_higher, is_proved=True, in_bundle=True),
    Gate("maximum", settings.most, "policies/", is_lower, is_proved=True, in_bundle=True),
    Gate("values", settings.values, "policies/", _loses, is_proved=True, in_bundle=True),
    Gate("types", settings.types, "policies/", in_bundle=True),
    Gate("complete", settings.complete, "policies/", is_proved=True, in_bundle=True),
    Gate("exclusions", settings.exclusions, "policies/", is_proved=True, in_bundle=True, lone="gone"),
    Gate("outcomes", settings.outcomes, "policies/", is_proved=True, in_bundle=True),
    Gate("idle words", settings.idle_words, "policies/", _gains, in_bundle=True),
    Gate("drafts", settings.drafts, "policies/", _ends),
    Gate("periods", settings.periods, "policies/", is_proved=True),
    Gate("validations", settings.validations, "policies/", is_proved=True),
    Gate("audiences", settings.audiences, "policies/"),
    Gate("owners", settings.owners, "policies/"),
    Gate("cases", settings.cases, "policies/", is_proved=True, lone="gone"),
    Gate("personal columns", settings.personal, "context/", _loses),
    Gate("guards", settings.guards, ".github/", lone="both"),
)


@dataclass(frozen=True, slots=True)
class GateChange:
    """One setting that differs; None on the side that lacks it."""

    gate: Gate
    about: str
    before: Setting | None
    after: Setting | None

    @property
    def at(self) -> Place:
        """Where it stands now; where it is gone, the file that held it."""
        if self.after is not None:
            return self.after.at
        assert self.before is not None
        return Place(self.before.at.path, line=1)

    @property
    def kind(self) -> str:
        """Which row of the table it belongs to."""
        return self.gate.name

    @property
    def sides(self) -> tuple[str | None, str | None]:
        """How it is written on both sides."""
        before, after = self.before, self.after
        return None if before is None else before.shown, None if after is None else after.shown

    @property
    def words(self) -> str:
        """`` `conflict` off (before: error) ``."""
        if self.after is None:
            return f"{self.about} is gone (before: {self.before.shown if self.before else ''})"
        return f"{self.about} {self.after.shown} ({f'before: {self.before.shown}' if self.before else 'new'})"


def changes_of(before: Side, after: Side, is_bundle: bool = False) -> Iterator[GateChange]:
    """What gates differently in *after*, in the order of the table. Of a bundle only what a bundle carries."""
    for gate in GATES:
        if is_bundle and not gate.in_bundle:
            continue
        one, two = dict(gate.read(before)), dict(gate.read(after))
        for about in dict.fromkeys([*one, *two]):
            old, new = one.get(about), two.get(about)
            if old is None or new is None:
                is_told = gate.lone == "both" or (gate.lone == "gone" and new is None)
            else:
                is_told = gate.tells(old.value, new.value)
            if is_told:
                yield GateChange(gate, about, old, new)
