"""Why something is so, and what a decision caused: the links between decisions and what they govern, from both sides.

A decision says what it `affects`; a policy or a metric may name the `decision` that it comes from. Either is enough.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bylaw.authored.decisions import Decision, Decisions, spelled
from bylaw.authored.governing import Governing
from bylaw.authored.state import state_of

Governed = tuple[str, str, str]  # policy or metric, its id, the decision that it names


@dataclass(frozen=True, slots=True)
class Cause:
    """A decision as what came of it names it: its id, what was decided, its status, and how it stands in words.

    `audience` are the roles that may read it; everybody where there is none.
    """

    id: str
    title: str
    status: str
    state: str
    audience: tuple[str, ...] = ()

    def as_json(self) -> dict[str, str]:
        """What a verdict says of it."""
        return {"id": self.id, "title": self.title, "status": self.status, "state": self.state}

    @property
    def words(self) -> str:
        """For people: `keep-records-2025` (Keep records of large amounts): Accepted on 20 May 2025."""
        return f"`{self.id}` ({self.title}): {self.state}"

    def is_for(self, roles: Collection[str]) -> bool:
        """May somebody of these roles read it?"""
        return not self.audience or not set(self.audience).isdisjoint(roles)


class Causes:
    """The decisions that policies and metrics come from: those that they name, and those that say they affect them."""

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions
        self._affecting: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._called: dict[str, set[str]] = defaultdict(set)
        for id, one in decisions.decisions.items():
            for name in one.names_beside_id():
                self._called[spelled(name)].add(id)
            for kind in ("policy", "metric"):
                for name in getattr(one.affects, kind):
                    self._affecting[kind, name.casefold()].append(id)

    def of(self, kind: str, id: str, named: str | None = None) -> list[Decision]:
        """The decisions behind one policy or metric, which itself names *named*; those that hold come first."""
        ids = set(self._affecting.get((kind, id.casefold()), ()))
        called = {named} if named in self._decisions.decisions else self._called.get(spelled(named or ""), set())
        if len(called) == 1:
            ids |= called
        return sorted((self._decisions.decisions[id] for id in ids), key=lambda one: (not one.stands, one.id))

    def told(self, kind: str, id: str, named: str | None = None) -> tuple[Cause, ...]:
        """The same as what came of them names them."""
        return tuple(
            Cause(one.id, one.option, one.status, self._state(one), tuple(one.audience))
            for one in self.of(kind, id, named)
        )

    def _state(self, one: Decision) -> str:
        """How it stands, naming no record that is for fewer people than itself."""
        others = (self._decisions.decisions[id] for id in (*one.superseded_by, *one.amended_by))
        shown = {other.id: other for other in others if set(other.audience) in (set(), set(one.audience))}
        return state_of(one, Decisions.model_construct(decisions=shown))


def causes_in(policy: Mapping[str, Any]) -> tuple[Cause, ...]:
    """The decisions behind a policy as a bundle lists them under `decided_by`."""
    found = (one for one in policy.get("decided_by", ()) if isinstance(one, Mapping))
    names = ("id", "title", "status", "state")
    told = (({name: str(one.get(name, "")) for name in names}, one.get("audience", ())) for one in found)
    return tuple(Cause(**said, audience=tuple(audience)) for said, audience in told)


def governing(decisions: Decisions, path: str) -> list[tuple[Decision, str]]:
    """The decisions that govern a file, with the pattern that says so; those that stand come first."""
    wanted = "/".join(part for part in path.replace("\\", "/").split("/") if part not in ("", "."))
    ones = decisions.decisions.values()
    hits = Governing({pattern: [pattern] for one in ones for pattern in one.affects.path}).of(wanted)
    found = ((one, next((pattern for pattern in one.affects.path if pattern in hits), None)) for one in ones)
    covering = [(one, pattern) for one, pattern in found if pattern is not None]
    return sorted(covering, key=lambda pair: (not pair[0].stands, pair[0].id))


def caused(decisions: Decisions, id: str, named: Iterable[Governed] = ()) -> dict[str, list[str]]:
    """What a decision caused, by kind: what it says that it affects, and what names it."""
    decision = decisions.decisions[id]
    found = {kind: list(getattr(decision.affects, kind)) for kind in ("path", "policy", "metric", "package")}
    for kind, name, reference in named:
        one = decisions.named(reference)
        if one is not None and one.id == id and name not in found[kind]:
            found[kind].append(name)
    return {kind: names for kind, names in found.items() if names}
