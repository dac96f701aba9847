"""Random repositories and traces: every call decided by the gate, and by trying every subset and completion."""

import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest

from bylaw.gate.decision_point import MemoryDecisionPoint, call_of
from bylaw.gate.engine import Gate
from tests.oracle import gate as permissions
from tests.oracle import gate_history as past
from tests.oracle import repositories as worlds
from tests.oracle.reference import Reference

START = datetime(2026, 6, 15, 8, tzinfo=UTC)
DAY = date(2026, 6, 15)
ACTIONS = ("refund", "credit", "verify", "logout")
KEYS = (["customer"], ["order"], ["customer", "order"], None)


def history(pick):
    """One history fact."""
    said = {"same": same} if (same := pick.choice(KEYS)) else {}
    if pick.random() < 0.7:
        said["within"] = pick.choice(("30 seconds", "2 minutes", "5 minutes"))
    if pick.random() < 0.25:
        said["other"] = ["actor"]
    if pick.random() < 0.25:
        said["including_failed"] = True
    kind = pick.choice(("count", "sum", "happened", "since", "previous"))
    if kind != "previous" and pick.random() < 0.3:
        said["not_after"] = [pick.choice(ACTIONS)]
    match kind:
        case "count":
            return {
                "type": "integer",
                "minimum": 0,
                "history": {"count": pick.sample(ACTIONS, pick.randint(1, 2)), **said},
            }
        case "sum":
            return {"type": "decimal", "minimum": 0, "history": {"sum": "price", "of": pick.sample(ACTIONS, 2), **said}}
        case "since":
            return {
                "type": "decimal",
                "unit": "minutes",
                "minimum": 0,
                "maximum": 10,
                "history": {"since": pick.choice(ACTIONS), **said},
            }
    return {"type": "boolean", "history": {kind: pick.choice(ACTIONS), **said}}


def condition(pick, name, fact):
    if fact["type"] == "boolean":
        return {"type": "fact", "parameter": name, "value": pick.random() < 0.5}
    values = (1, 2, 3) if fact["type"] == "integer" else (1, 2, 5, 10)
    return {
        "type": "fact",
        "parameter": name,
        "operator": pick.choice(("<", "<=", ">", ">=", "==")),
        "value": pick.choice(values),
    }


def repository(pick):
    facts = {"price": {"type": "decimal", "minimum": 0}, "flag": {"type": "boolean"}}
    facts |= {f"h{n}": history(pick) for n in range(pick.randint(1, 2))}
    actions = {name: {} for name in ACTIONS}
    if pick.random() < 0.3:
        actions[pick.choice(ACTIONS)] = {"person": True}
    outcomes = {}
    if pick.random() < 0.5:
        outcomes = {"money": {}}
        actions["refund"] = {"outcome": "money"}
        actions["credit"] = {"outcome": "money"}
    policies = []
    for n in range(pick.randint(3, 6)):
        tested = pick.sample(sorted(facts), pick.choice((0, 1, 1, 2)))
        kind = pick.choice(("permitted", "permitted", "permitted", "required", "prohibited"))
        metadata = {
            "source": "s",
            "owner": "o",
            "domain": "gate",
            **({"regulatory_linkage": ["law"]} if pick.random() < 0.4 else {}),
        }
        policies.append(
            {
                "policy_id": f"POL-GATE-{n + 1:03}",
                "conditions": [condition(pick, name, facts[name]) for name in tested],
                "actions": [{"type": kind, "action": pick.choice(ACTIONS)}],
                "metadata": metadata,
            }
        )
    return {"vocabulary": {"facts": facts, "actions": actions, "outcomes": outcomes}, "policies": policies}


def tools(repository):
    bound = {"price": {"from": "argument", "name": "price"}, "flag": {"from": "session"}}
    return {
        name: {"action": name, "facts": bound, "keys": {"customer": "customer", "order": "order"}}
        for name in repository["vocabulary"]["actions"]
    }


def compare(seed, calls, count=None):
    pick = random.Random(seed)
    world = repository(pick)
    product = worlds.Product(world)
    bundle = product.index.bundle
    rules = bundle.rules.model_copy(update={"tools": type(bundle.rules.tools).model_validate({"tools": tools(world)})})
    gate = Gate(bundle.model_copy(update={"rules": rules}))
    point = MemoryDecisionPoint(lambda: gate)
    asked = Reference(world["vocabulary"], world["policies"], worlds.PRIORITIES)
    facts = world["vocabulary"]["facts"]
    histories = {name: fact for name, fact in facts.items() if "history" in fact}
    persons = frozenset(name for name, action in world["vocabulary"]["actions"].items() if action.get("person"))
    log, waiting, now, told = [], [], Fraction(0), 0
    for _ in range(calls):
        now += pick.choice((0, 0, 1, 15, 30, 45, 60, 75, Fraction(1, 2)))
        while waiting and pick.random() < 0.55:
            n, decision_id = waiting.pop(pick.randrange(len(waiting)))
            log[n].ok, log[n].recorded = pick.random() < 0.75, 10_000 + told
            told += 1
            point.ended(decision_id, log[n].ok)
        call = {
            "at": now,
            "session": pick.choice(("s1", "s2", None)),
            "actor": pick.choice(("ann", "ben", None)),
            "keys": {key: pick.choice(("1", "2")) for key in ("customer", "order") if pick.random() < 0.85},
        }
        action = pick.choice(ACTIONS)
        known = {"price": Fraction(pick.choice((1, 2, 5)))} if pick.random() < 0.8 else {}
        known |= {"flag": pick.random() < 0.5} if pick.random() < 0.8 else {}
        said, facts_seen = set(), {}
        for chosen in past.subsets(log, now):
            found = {name: past.value(fact["history"], fact, log, chosen, call) for name, fact in histories.items()}
            case = {**known, **{name: value for name, value in found.items() if value is not past.UNKNOWN}}
            key = tuple(sorted(case.items()))
            if key not in facts_seen:
                relevant = {name: value for name, value in case.items() if name in asked.grid}
                facts_seen[key] = permissions.ruling(asked, action, relevant, DAY, persons)[0]
            said.add(facts_seen[key])
        expected = past.strictest(said)
        answer = point.decide(
            call_of(
                tool=action,
                arguments={**call["keys"], **({"price": str(float(known["price"]))} if "price" in known else {})},
                facts={"flag": True, "price": 0, **dict.fromkeys(histories, 0)},  # an agent's own word opens nothing
                session={"id": call["session"], "facts": {"flag": known["flag"]} if "flag" in known else {}},
                actor=call["actor"],
                at=START + timedelta(seconds=float(now)),
            )
        )
        where = f"seed {seed}: {action} {call} {known}\n{world}\n{log}\nexpected {said} found {answer.as_json()}"
        pending = len([event for event in log if event.ok is None and now - event.at < 60])
        assert answer.ruling == expected or (pending > 6 and answer.ruling == "deny"), where
        if count is not None:
            count.update([expected, *(["pending"] if answer.is_pending else [])])
        if answer.is_allowed:
            log.append(
                past.Happened(action, now, call["session"], call["actor"], call["keys"], known, None, 5_000 + len(log))
            )
            log[-1].recorded = 10_000 + told
            told += 1
            waiting.append((len(log) - 1, answer.decision_id))
    return calls


@pytest.mark.parametrize("seed", range(12))
def test_random_calls_and_traces_are_decided_as_by_trying(seed):
    compare(seed, 25)


@pytest.mark.longer
def test_ten_thousand_random_calls_and_traces():
    done = seed = 0
    said = Counter()
    while done < 10_000:
        done += compare(1_000 + seed, 40, said)
        seed += 1
    print(dict(said), "in", seed, "repositories")
    assert min(said[ruling] for ruling in past.STRICTEST) > 100, "each ruling is seen"
