"""Answers of every level on the packaged rules: for what becomes of an answer, whatever it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from bot.conversation import Acceptance, Factors, RiskAssessment, Turn
from bot.router import Answerer
from bylaw.authored.machines.access import Roles
from bylaw.authored.machines.autonomy import Autonomy
from ci.loading.rules import load_defaults
from tests.fakes.frame import said, services

HOURS = {5: 24, 4: 48, 3: 72, 2: 7 * 24, 1: None}  # seed 004, 8.2
ROLES = {
    "roles": {"all": {}, "finance": {}, "boss": {"steward": True}},
    "users": {"grace": ["boss"], "ben": ["finance"], "ida": ["finance"], "jo": ["all"]},
    "default_role": "all",
}
RULES = SimpleNamespace(
    autonomy=Autonomy.model_validate(load_defaults()["autonomy"]), roles=Roles.model_validate(ROLES)
)


@dataclass(frozen=True)
class Index:
    """An index of the packaged rules, in UTC."""

    rules: Any = field(default_factory=lambda: RULES)

    def local(self, moment):
        return moment


_RISK = RiskAssessment(
    error_likelihood=Decimal("0.8"),
    expected_cost=Decimal("0.6"),
    factors=Factors(complexity=Decimal(1), source_risk=Decimal(1), novelty=Decimal(1), ambiguity=Decimal(0)),
    decision="BLOCK",
    rationale="too risky",
    escalation_path=("finance", "Nobody Known"),
)


def at_level(asked, _state, _index):
    """ "level 3": an answer of that level; "plan 5": a plan of that level that waits for a yes."""
    word, _, number = asked.text.partition(" ")
    level = int(number)
    hours = HOURS[level]
    status = "pending" if word == "plan" else {2: "recommended", 1: "escalated"}.get(level, "answered")
    wait = Acceptance(required=level < 4, timeout_minutes=None if hours is None else hours * 60)
    given = {"level": level, "acceptance": wait, "sql": "SELECT 1", "risk": _RISK if level == 1 else None}
    tells = {4: ("grace",), 1: ("ben", "ida")}.get(level, ())
    return Turn(said(asked, "data", status, "so much", **given), {}, tells=tells)


ANSWERERS = (Answerer("data", lambda text, _: 1.0, at_level, lambda _: []),)


def level_services(root, url="sqlite:///store.db", **others):
    """A frame that answers at any level, by the packaged rules."""
    return services(root, url, index=Index(), answerers=ANSWERERS, **others).under(RULES.autonomy)
