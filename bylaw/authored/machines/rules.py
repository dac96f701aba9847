"""How the machines of an organisation behave: one model for each file of `rules/`, and all of them together.

No number has a default here. The packaged files supply the seeds' numbers, a repository's own files what differs.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from bylaw.authored.business import Features
from bylaw.authored.machines.access import Promotion, Roles
from bylaw.authored.machines.agents import Agents
from bylaw.authored.machines.amounts import Positive, Share
from bylaw.authored.machines.autonomy import Autonomy
from bylaw.authored.machines.enforcement import Enforcement, Pii
from bylaw.authored.machines.intents import Intents
from bylaw.authored.machines.layers import LayerRules, Priorities
from bylaw.authored.machines.refinement import AS_PACKAGED, Refinement
from bylaw.authored.machines.risk import Risk
from bylaw.authored.machines.routing import Routing
from bylaw.authored.machines.suites import Evaluation
from bylaw.authored.machines.waivers import Waivers
from bylaw.authored.record import Authored, AuthoredFile, Shortened
from bylaw.authored.tools import Tools

FindingId = Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$", max_length=60)]


class ReportCaps(Authored):
    """What a report shows at most; what it leaves out it counts. `json_bytes` bounds the JSON of `bylaw check`."""

    findings: Positive
    per_group: Positive
    json_bytes: Positive


Conclusion = Literal["failure", "neutral", "success"]


class Conclusions(Authored):
    """What GitHub is told of a change by the severity of what is new: only `failure` stops it."""

    error: Conclusion
    warning: Conclusion
    notice: Conclusion


class ReviewRules(Authored):
    """What the review of a pull request shows at most, and what it makes of what is new."""

    comments: Annotated[int, Field(ge=0, le=100)]  # on lines of one pull request
    rows: Positive  # of a table or a list in the summary
    graphs: Annotated[int, Field(ge=0, le=50)]  # decision graphs in the summary
    nodes: Annotated[int, Field(ge=1, le=200)]  # of a graph, beyond which it is not drawn
    conclusion: Conclusions


class ProofBudgets(Shortened):
    """What one question to the solver may cost. `rlimit` counts the solver's own steps: the same on every machine."""

    retired = frozenset({"boxes_per_guard"})

    rlimit: Positive
    timeout_ms: Positive
    memory_mb: Positive
    guard_pieces: Positive  # of one guard looked at before the solver is asked
    neighbours: Positive  # of one rule, up to which it is asked whether the rule changes anything
    change_boxes: Positive  # looked at in one comparison of two versions, before the solver is asked for cases alone
    change_pieces: Positive  # of one region of change, up to which they are put together as widely as possible


class WarehouseLimits(Authored):
    """What measuring a warehouse may cost. Of a table with more `rows` only the first are read, and that is said."""

    rows: Positive
    values: Positive  # different values of one enum
    seconds: Positive  # of one statement


class CiRules(Shortened, AuthoredFile):
    """`rules/ci.yaml`. Which ids exist is known to `ci.findings`; a severity for an unknown one is a finding there."""

    retired = frozenset({"coverage_threshold", "expressions"})

    severities: dict[FindingId, Literal["error", "warning", "notice", "off"]]
    case_coverage_threshold: Share  # of what cases can show of the policies: rules, bounds, regions, exceptions
    expiring_within_days: Positive
    report: ReportCaps
    review: ReviewRules
    proofs: ProofBudgets
    warehouse: WarehouseLimits


class Rules(Authored):
    """Every file of `rules/`, an attribute each. The bundle carries all but waivers and floors."""

    roles: Roles
    autonomy: Autonomy
    risk: Risk
    enforcement: Enforcement
    layers: LayerRules
    priorities: Priorities
    pii: Pii
    promotion: Promotion
    intents: Intents
    routing: Routing
    ci: CiRules
    agents: Agents = Field(default_factory=Agents)
    features: Features = Features(business_knowledge=False)
    refinement: Refinement = Field(default=AS_PACKAGED, exclude_if=lambda value: value == AS_PACKAGED)
    tools: Tools = Field(default_factory=Tools, exclude_if=lambda value: not value.tools)
    waivers: Waivers = Field(default_factory=lambda: Waivers(longest_days=366), exclude=True)  # a bundle holds none
    evaluation: Evaluation | None = Field(default=None, exclude=True)


RULE_FILES: Mapping[str, type[AuthoredFile]] = {
    "agents": Agents,
    "autonomy": Autonomy,
    "ci": CiRules,
    "enforcement": Enforcement,
    "evaluation": Evaluation,
    "features": Features,
    "intents": Intents,
    "layers": LayerRules,
    "pii": Pii,
    "priorities": Priorities,
    "promotion": Promotion,
    "refinement": Refinement,
    "risk": Risk,
    "roles": Roles,
    "routing": Routing,
    "tools": Tools,
    "waivers": Waivers,
}


def overlay_schema(model: type[AuthoredFile]) -> dict[str, Any]:
    """The JSON Schema of a repository's own file: like the model's, but every key may be left out."""
    schema: dict[str, Any] = _optional(model.model_json_schema())
    return schema


def _optional(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _optional(value) for key, value in schema.items() if key != "required" or isinstance(value, dict)}
    if isinstance(schema, list):
        return [_optional(item) for item in schema]
    return schema
