"""What the gate says about one call, and what an author would want to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bylaw.authored.causes import Cause
from bylaw.authored.tools import Mode
from bylaw.logic.decide.authorize import Ruling
from bylaw.logic.formula.ir import Value

STRICTEST: Mapping[Ruling, int] = {"deny": 0, "escalate": 1, "ask": 2, "allow": 3}


@dataclass(frozen=True, slots=True)
class Reason:
    """A rule that decides it, where it stands, and its sentence; without a rule what else does."""

    text: str
    policy_id: str | None = None
    rule_id: str | None = None
    path: str | None = None
    line: int | None = None
    decisions: tuple[Cause, ...] = ()  # that the policy comes from

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "policy_id": self.policy_id,
            "rule_id": self.rule_id,
            "path": self.path,
            "line": self.line,
            "text": self.text,
        }
        return {**found, "decisions": [one.as_json() for one in self.decisions]} if self.decisions else found

    @property
    def told(self) -> str:
        """One line for people."""
        place = f" ({self.path}:{self.line})" if self.path else ""
        causes = "".join(f"; decided by {one.words}" for one in self.decisions)
        return f"{self.policy_id}: {self.text}{place}{causes}" if self.policy_id else f"{self.text}{place}"


@dataclass(frozen=True)
class GateAnswer:
    """A decision. `ruling` is what the rules say; `decision` differs from it in shadow mode alone.

    What is behind `reads` is recorded, and told to nobody who only asks.
    """

    decision_id: str
    ruling: Ruling
    mode: Mode
    etag: str
    missing: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    duties: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    not_taken: tuple[str, ...] = ()
    is_pending: bool = False
    is_refused: bool = False  # before any rule was asked: there is no such call
    different: Callable[[], dict[str, Any] | None] = field(default=lambda: None, repr=False, compare=False)
    reads: Reads | None = field(default=None, repr=False)

    @property
    def decision(self) -> Ruling:
        """What the caller is to do."""
        return "allow" if self.mode == "shadow" else self.ruling

    @property
    def is_allowed(self) -> bool:
        """May it be done now?"""
        return self.decision == "allow"

    @cached_property
    def counterfactual(self) -> dict[str, Any] | None:
        """The smallest change that would allow it; None where it is allowed, or nothing would."""
        return None if self.ruling == "allow" else self.different()

    def as_json(self) -> dict[str, Any]:
        """The document of every door."""
        found: dict[str, Any] = {
            "decision": self.decision,
            "missing": list(self.missing),
            "first": list(self.first),
            "duties": list(self.duties),
            "reasons": [reason.as_json() for reason in self.reasons],
            "counterfactual": self.counterfactual,
            "decision_id": self.decision_id,
            "etag": self.etag,
            "mode": self.mode,
        }
        if self.not_taken:
            found["not_taken"] = list(self.not_taken)
        if self.mode == "shadow":
            found["would"] = self.ruling
        return found

    def as_refusal(self, name: str) -> dict[str, Any]:
        """What an agent hears whose call of *name* was not made: why in one line, and the whole document."""
        return {"not_done": name, "why": self.why, **self.as_json()}

    @property
    def why(self) -> str:
        """The reasons in one line, and what would allow it."""
        said = "; ".join(reason.told for reason in self.reasons)
        if self.ruling == "ask" and self.missing:
            said = (
                f"it depends on {', '.join(self.missing)}; {said}"
                if said
                else f"it depends on {', '.join(self.missing)}"
            )
        other = self.counterfactual
        return f"{said}. {other['text']}" if other else said


@dataclass(frozen=True, slots=True)
class Reads:
    """The call as it was read."""

    action: str | None
    tool: str | None
    actor: str | None
    session: str | None
    keys: Mapping[str, str]
    facts: Mapping[str, Value]
    at: int
    day: int
