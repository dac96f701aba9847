"""What would allow a call: never what nobody can change, and looked for once."""

from bylaw.guard import Guard
from tests.gate.test_guard import guard as guard  # the shop

CLUB = {
    "vocabulary": {
        "facts": {
            "age": {"type": "integer", "minimum": 0, "maximum": 130, "assertable": True, "changeable": False},
            "has_consent": {"type": "boolean", "assertable": True},
            "is_sober": {"type": "boolean", "assertable": True},
        },
        "actions": {"let_in": {}, "serve": {}},
    },
    "policies": {
        "POL-CLUB-001": {
            "when": [{"parameter": "age", "operator": ">=", "value": 18}],
            "permitted": ["let_in", "serve"],
        },
        "POL-CLUB-002": {
            "when": [{"parameter": "has_consent", "value": True}, {"parameter": "is_sober", "value": True}],
            "permitted": "let_in",
        },
    },
}
ROWS = [
    ("let_in", {"age": 17, "has_consent": False, "is_sober": True}, {"has_consent"}),
    ("let_in", {"age": 17, "has_consent": False, "is_sober": False}, {"has_consent", "is_sober"}),
    ("serve", {"age": 17}, None),
    ("serve", {"has_consent": True}, {"age"}),  # unknown: to be told is not to change
]

# an account: what was moved and what is asked for must stay below its limit, and the amount below what lies there
ACCOUNT = {
    "vocabulary": {
        "facts": {
            "amount": {"type": "decimal", "minimum": 0, "assertable": True},
            "balance": {"type": "decimal", "minimum": 0, "assertable": True, "changeable": False},
            "is_signed": {"type": "boolean", "assertable": True},
            "moved": {
                "type": "decimal",
                "minimum": 0,
                "history": {"sum": "amount", "of": ["move"], "same": ["account"]},
            },
        },
        "actions": {"move": {}},
    },
    "policies": {
        "POL-BANK-001": {
            "permitted": "move",
            "formal": {
                "logic_rules": [
                    {
                        "rule_id": "R-BANK-001a",
                        "antecedent": "moved + amount <= 100 and amount <= balance and is_signed",
                        "consequent": "move",
                        "type": "permitted",
                    }
                ]
            },
        }
    },
}
KEY = {"account": "a"}
MOVES = [
    ({"amount": 40, "balance": 500, "is_signed": False}, {"is_signed": True}),
    ({"amount": 41, "balance": 500, "is_signed": True}, {"amount": 40}),
    ({"amount": 41, "balance": 500, "is_signed": False}, {"amount": 40, "is_signed": True}),
    ({"amount": 41, "balance": 30, "is_signed": False}, {"amount": 30, "is_signed": True}),
]


def test_a_limit_and_other_facts_are_told_together(bundle_file):
    guard = Guard.open(bundle_file(ACCOUNT))
    guard.ended(guard.decide("move", facts={**MOVES[0][0], "amount": 60, "is_signed": True}, keys=KEY).decision_id)
    for facts, way in MOVES:
        found = guard.decide("move", facts=facts, keys=KEY).counterfactual
        assert found and {step["fact"]: step["to"] for step in found["changes"]} == way, (facts, found)


def test_what_nobody_can_change_is_no_way(bundle_file):
    guard = Guard.open(bundle_file(CLUB))
    for action, facts, way in ROWS:
        found = guard.decide(action, facts=facts).counterfactual
        assert (found and {step["fact"] for step in found["changes"]}) == way, (action, facts)


def test_who_asks_again_is_told_the_same(guard, monkeypatch):
    gate, looked = guard.point.gate(), []
    search = gate.authorizer.counterfactual
    monkeypatch.setattr(gate.authorizer, "counterfactual", lambda *a, **b: looked.append(a) or search(*a, **b))
    told = [guard.decide("full_refund", keys={"customer_id": "c"}, actor=f"a{n}").counterfactual for n in range(3)]
    assert told[0] is not None and told == [told[0]] * 3 and len(looked) == 1
