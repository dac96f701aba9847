"""Small random policy repositories as parsed YAML, and a way to run the product over one without touching the disk."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from bot.index import BundleIndex
from bot.request.cases import as_json, read_facts
from bylaw import bundle
from ci import pipeline
from ci.loading.file_kinds import Reader
from ci.loading.files import Content
from ci.loading.load import Workspace
from ci.loading.words import merged

AT = date(2026, 6, 15)
DAYS = ("2026-06-01", "2026-06-14", "2026-06-15", "2026-06-16", "2026-07-01", "2026-07-31")
PRIORITIES = {
    "core_value_domains": ["privacy"],
    "cross_department_owners": ["Board"],
    "general_domains": ["operations"],
}
FACTS: dict[str, dict[str, Any]] = {
    "has_receipt": {"type": "boolean"},
    "gift": {"type": "boolean"},
    "days": {"type": "integer", "unit": "days", "minimum": 0},
    "hours": {"type": "decimal", "unit": "hours", "minimum": 0, "maximum": 480},
    "price": {"type": "decimal", "unit": "USD", "minimum": 0},
    "paid": {"type": "decimal", "unit": "USD", "minimum": 0},
    "returns": {"type": "integer", "minimum": 0, "maximum": 5},
    "category": {"type": "enum", "values": {"tv": ["telly"], "shirt": [], "other": []}},
    "tier": {"type": "enum", "values": {"gold": [], "plain": [], "other": []}},
    "ordered_on": {"type": "date", "minimum": "2026-01-01"},
}
ACTIONS: dict[str, dict[str, Any]] = {
    "full": {"outcome": "refund"},
    "credit": {"outcome": "refund"},
    "reject": {"outcome": "refund"},
    "whole": {"same_as": "full"},
    "fast": {"outcome": "shipping"},
    "slow": {"outcome": "shipping"},
    "notify": {},
    "tell": {"same_as": "notify"},
    "escalate": {},
    "disclose": {},
}
PLAIN = sorted(ACTIONS)
IMPLIES = ({"escalate": ["tell"]}, {"reject": ["notify"]}, {"disclose": ["credit"]}, {"notify": ["fast"]})
EXCLUDES = (["notify", "disclose"], ["escalate", "fast"], ["slow", "tell"])
VALUES: dict[str, tuple[Any, ...]] = {
    "days": (7, 14, 30),
    "hours": (24, Decimal("60.5"), 240),
    "price": (50, Decimal("99.99"), 100),
    "paid": (50, 100),
    "returns": (1, 3, 5),
    "ordered_on": ("2026-03-01", "2026-04-01"),
}
ORDERINGS = ("==", "=", "!=", "<", "<=", ">", ">=")


def is_number(fact: str) -> bool:
    return FACTS[fact]["type"] in ("integer", "decimal", "date")


# ---- strategies -----------------------------------------------------------------------------------------------------


@st.composite
def tests(draw: Any, facts: list[str]) -> dict[str, Any]:
    """One condition on one of *facts*."""
    fact = draw(st.sampled_from(facts))
    kind = FACTS[fact]["type"]
    if kind == "boolean":
        return {"type": "boolean_flag", "parameter": fact, "value": draw(st.booleans())}
    if kind == "enum":
        values = sorted(FACTS[fact]["values"])
        written = draw(st.sampled_from(("default", "==", "!=", "in")))
        if written == "default":
            return {
                "type": {"category": "product_category", "tier": "customer_tier"}[fact],
                "value": draw(st.sampled_from(values)),
            }
        value = (
            draw(st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True))
            if written == "in"
            else draw(st.sampled_from(values))
        )
        return {"type": "fact", "parameter": fact, "operator": written, "value": value}
    return draw(number_tests(fact, facts))


@st.composite
def number_tests(draw: Any, fact: str, facts: list[str]) -> dict[str, Any]:
    """One condition on a number or a date."""
    condition: dict[str, Any] = {"type": "fact", "parameter": fact}
    if fact == "days" and draw(st.booleans()):
        condition = {"type": "time_window"}
    if fact == "price" and draw(st.booleans()):
        condition = {"type": "amount_threshold"}
    family = {"days": ["hours"], "hours": ["days"], "price": ["paid"], "paid": ["price"]}.get(fact, [])
    others = [other for other in family if other in facts]
    shape = draw(st.sampled_from(("plain", "plain", "plain", "between", "in", "unit", "value_of")))
    if shape == "value_of" and others:
        return {**condition, "operator": draw(st.sampled_from(ORDERINGS)), "value_of": draw(st.sampled_from(others))}
    values = sorted(VALUES[fact])
    if shape == "between":
        pair = sorted(draw(st.lists(st.sampled_from(values), min_size=2, max_size=2)))
        return {**condition, **draw(st.sampled_from(({"between": pair}, {"operator": "between", "value": pair})))}
    if shape == "in":
        return {
            **condition,
            "operator": "in",
            "value": draw(st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True)),
        }
    if condition["type"] != "fact" and draw(st.booleans()):
        return {**condition, "value": draw(st.sampled_from(values))}
    condition["operator"] = draw(st.sampled_from(ORDERINGS))
    if shape == "unit" and fact in ("days", "hours"):
        amount, unit = draw(
            st.sampled_from(((36, "hours"), (1, "weeks"), (1, "week"), (2880, "minutes"), (10, "days"), (1, "hour")))
        )
        return {**condition, "value": amount, "unit": unit}
    if shape == "unit" and fact == "price":
        condition["unit"] = "USD"
    return {**condition, "value": draw(st.sampled_from(values))}


@st.composite
def conditions(draw: Any, facts: list[str], ids: bool, max_size: int = 3) -> list[dict[str, Any]]:
    """A list of conditions: tests, targeted tests and trees."""
    enums = {value: fact for fact in facts for value in FACTS[fact].get("values", ())}
    found = []
    for i in range(draw(st.integers(0, max_size))):
        shape = draw(st.sampled_from(("test", "test", "target", "target", "any_of", "all_of", "not")))
        one = draw(tests(facts))
        if shape == "target" and enums:
            value = draw(st.sampled_from(sorted(enums)))
            is_shared = value == "other" and {"category", "tier"} <= set(facts)
            one["target"] = f"{enums[value]}:{value}" if is_shared or draw(st.booleans()) else value
        elif shape == "target" and draw(st.booleans()):
            one["target"] = "general"
        elif shape == "any_of":
            branches = draw(
                st.lists(
                    st.one_of(tests(facts), st.lists(tests(facts), min_size=1, max_size=2)), min_size=1, max_size=2
                )
            )
            one = {"any_of": [one, *branches]}
        elif shape == "all_of":
            one = {"all_of": [one, draw(tests(facts))]}
        elif shape == "not":
            one = {"not": draw(st.sampled_from((one, [one, one], {"any_of": [one, draw(tests(facts))]})))}
        if ids and draw(st.booleans()):
            one["id"] = f"c{i}"
        if ids and "any_of" in one and isinstance(one["any_of"][0], dict) and draw(st.booleans()):
            one["any_of"][0]["id"] = f"branch{i}"
        found.append(one)
    return found


def requirements(facts: list[str], written: list[dict[str, Any]], terms: list[str]) -> list[str]:
    """Every name that `requires` may use in a policy with the conditions *written*."""
    names = [
        name
        for c in written
        for name in (c.get("id"), *(b.get("id") for b in c.get("any_of", ()) if isinstance(b, dict)))
        if name
    ]
    if "has_receipt" in facts:
        names += ["has_receipt", "HAS_RECEIPT", "no_receipt", "not has_receipt", "no_has_receipt"]
    if "gift" in facts:
        names += ["gift", "no_gift", "not gift"]
    if any(c.get("type") == "time_window" for c in written):
        names += ["within_window", "within_window"]
    return names + [draw for term in terms for draw in (term, term.upper())]


@st.composite
def exceptions(draw: Any, facts: list[str], depth: int = 2) -> list[dict[str, Any]]:
    """Exceptions with and without force, with nested ones."""
    found = []
    for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2)) if depth == 2 else st.sampled_from((0, 0, 1)))):
        exception: dict[str, Any] = {"description": "an exception"}
        exception["conditions"] = draw(conditions(facts, ids=False, max_size=2))
        action = draw(st.sampled_from((*PLAIN, "none", "none", "full", "credit", "reject", None)))
        if action is not None:
            exception["action"] = action
            if action != "none" and draw(st.integers(0, 4)) == 0:
                exception["type"] = draw(st.sampled_from(("required", "permitted", "prohibited")))
        if draw(st.integers(0, 3)) == 0:
            exception["replaces"] = [draw(st.sampled_from(PLAIN))]
        if depth:
            exception["exceptions"] = draw(exceptions(facts, depth - 1))
        found.append(exception)
    return found


@st.composite
def policies(draw: Any, facts: list[str], terms: list[str], number: int, earlier: list[str]) -> dict[str, Any]:
    """One policy over *facts*."""
    domain = draw(st.sampled_from(("refund", "refund", "refund", "privacy", "operations")))
    written = draw(conditions(facts, ids=True))
    names = requirements(facts, written, terms)
    actions = []
    for _ in range(draw(st.integers(1, 3))):
        type_ = draw(
            st.sampled_from(
                (
                    "required",
                    "required",
                    "prohibited",
                    "permitted",
                    "fallback",
                    "fallback",
                    "conditional",
                    "discovered_pattern",
                )
            )
        )
        action: dict[str, Any] = {"type": type_, "action": draw(st.sampled_from(("full", "credit", "reject", *PLAIN)))}
        if names and draw(st.booleans()):
            action["requires"] = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
        if type_ == "conditional":
            action["when"] = [draw(tests(facts)), *draw(conditions(facts, ids=False, max_size=1))]
        actions.append(action)
    metadata: dict[str, Any] = {
        "source": "handbook",
        "owner": draw(st.sampled_from(("Desk", "Desk", "Board", "TBD"))),
        "domain": domain,
    }
    days = sorted(draw(st.lists(st.sampled_from(DAYS), min_size=2, max_size=2)))
    period = zip(("effective_date", "expiry_date"), days, strict=True)
    metadata |= {key: day for key, day in period if draw(st.integers(0, 3)) == 0}
    if draw(st.integers(0, 4)) == 0:
        metadata["regulatory_linkage"] = ["a law"]
    if draw(st.integers(0, 6)) == 0:
        metadata["tags"] = ["temporary"]
    is_implicit = draw(st.integers(0, 8)) == 0
    policy: dict[str, Any] = {
        "policy_id": f"POL-{'IMP-' if is_implicit else ''}{domain.upper()}-{number:03d}",
        "conditions": written,
        "actions": actions,
        "exceptions": draw(exceptions(facts)),
        "metadata": metadata,
    }
    if is_implicit:
        policy["discovery"] = {"human_validated": draw(st.sampled_from((True, True, False)))}
    scope = {}
    if "category" in facts and draw(st.integers(0, 3)) == 0:
        scope["product_categories"] = draw(st.sampled_from((["tv"], ["tv", "shirt"], ["all"], ["tv", "all"])))
    if draw(st.integers(0, 5)) == 0:
        scope["channels"] = ["all"]
    if scope:
        policy["scope"] = scope
    if earlier and draw(st.integers(0, 2)) == 0:
        policy["overrides"] = [draw(st.sampled_from(earlier))]
        policy["reason"] = "agreed"
    fitting = [text for text, spoken in INVARIANTS.items() if set(spoken) <= set(facts)]
    if fitting and draw(st.integers(0, 5)) == 0:
        policy["formal"] = {"constraints": [{"constraint_id": "C-1", "expression": draw(st.sampled_from(fitting))}]}
    return policy


INVARIANTS = {
    "returns <= 3": ["returns"],
    "□(returns < 5)": ["returns"],
    "days <= 100": ["days"],
    "not has_receipt or days <= 30": ["has_receipt", "days"],
    "price <= paid": ["price", "paid"],
    "price >= 50": ["price"],
    "paid <= 100 or price > paid": ["paid", "price"],
    "has_receipt or gift": ["has_receipt", "gift"],
    "category != tv or tier != gold": ["category", "tier"],
    "hours <= 300.5": ["hours"],
}


@st.composite
def repositories(draw: Any) -> dict[str, Any]:
    """A vocabulary and two to five policies."""
    facts = sorted(draw(st.lists(st.sampled_from(sorted(FACTS)), min_size=2, max_size=4, unique=True)))
    terms = (
        {"loyal": draw(conditions(facts, ids=False, max_size=1)) or [draw(tests(facts))]} if draw(st.booleans()) else {}
    )
    vocabulary: dict[str, Any] = {
        "facts": {fact: FACTS[fact] for fact in facts},
        "actions": ACTIONS,
        "outcomes": {
            "refund": {"complete": draw(st.booleans())},
            "shipping": {"complete": draw(st.integers(0, 3)) == 0},
        },
        "relations": {
            "excludes": draw(st.lists(st.sampled_from(EXCLUDES), max_size=1)),
            "implies": draw(st.sampled_from(({}, *IMPLIES))),
        },
        "terms": terms,
        "scope": {"product_categories": "category"} if "category" in facts else {},
    }
    defaults = {
        "time_window": "days",
        "amount_threshold": "price",
        "product_category": "category",
        "customer_tier": "tier",
    }
    vocabulary["defaults"] = {"*": {kind: fact for kind, fact in defaults.items() if fact in facts}}
    found: list[dict[str, Any]] = []
    for number in range(1, draw(st.integers(2, 5)) + 1):
        earlier = [policy["policy_id"] for policy in found]
        found.append(draw(policies(facts, sorted(terms), number, earlier)))
    return {"vocabulary": vocabulary, "policies": found}


# ---- the product over a repository ----------------------------------------------------------------------------------


def _yaml(data: Any) -> bytes:
    """JSON is YAML; decimals stay exact."""
    return json.dumps(data, default=lambda value: float(value)).encode()


class Product:
    """One repository, checked, compiled and read again from its bundle's text."""

    def __init__(self, repository: dict[str, Any], at: date = AT) -> None:
        reader = Reader()
        reader.take(Content("policies/vocabulary.yaml", _yaml(repository["vocabulary"])))
        reader.take(Content("rules/priorities.yaml", _yaml(PRIORITIES)))
        for policy in repository["policies"]:
            folder = policy["metadata"]["domain"]
            reader.take(Content(f"policies/{folder}/{policy['policy_id']}.yaml", _yaml(policy)))
        words = merged(reader.vocabularies)
        workspace = Workspace(
            root=Path("nowhere"),
            sources=reader.sources,
            vocabulary=words.vocabulary,
            vocabularies=tuple(reader.vocabularies),
            policies=tuple(sorted(reader.policies, key=lambda file: file.policy.policy_id)),
            cases=(),
            context=reader.context(),
            decisions=pipeline_decisions(),
            rules=reader.rules(),
            findings=(*reader.findings, *words.findings),
            at=at,
            policy_ids=frozenset(reader.policy_ids),
            word_paths=words.paths,
        )
        self.run = pipeline.check(workspace, at)
        self.index = BundleIndex(bundle.parse(pipeline.bundle_text(self.run)))

    def decide(self, case: dict[str, Any], day: date) -> dict[str, Any]:
        """What `bylaw decide --json` prints."""
        return as_json(self.index.evaluator.decide(read_facts(case, self.index), day.toordinal()))


def pipeline_decisions() -> Any:
    from ci.loading.decision_records import ingest

    return ingest([])[0]
