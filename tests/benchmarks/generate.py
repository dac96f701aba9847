"""Writes a policy repository of any size, the same for the same numbers: 13 shared facts, few conflicting pairs."""

from __future__ import annotations

import random
from pathlib import Path

PER_OUTCOME = 400

VOCABULARY = """schema_version: "1.0"
facts:
  has_receipt: {type: boolean, label: has the receipt}
  is_member: {type: boolean, label: is a member}
  is_gift: {type: boolean, label: is a gift}
  product: {type: enum, values: {tv: [], laptop: [], phone: [], shirt: [], book: [], other: []}}
  tier: {type: enum, values: {standard: [], gold: [], vip: []}}
  channel: {type: enum, values: {online: [], in-store: [], phone_order: []}}
  region: {type: enum, values: {US: [], EU: [], APAC: [], LATAM: []}}
  days: {type: integer, unit: days, minimum: 0, maximum: 100000}
  age: {type: integer, unit: years, minimum: 0, maximum: 150}
  amount: {type: decimal, unit: USD, minimum: 0}
  price: {type: decimal, unit: USD, minimum: 0}
  visits: {type: integer, minimum: 0}
  topic: {type: integer, minimum: 0}
"""


def generate(root: Path, count: int, seed: int = 7) -> None:
    """*count* policies under *root*. Within an outcome each policy has its own range of days: almost none overlap."""
    rng = random.Random(seed)
    outcomes = (count + PER_OUTCOME - 1) // PER_OUTCOME
    (root / "policies" / "bench").mkdir(parents=True)
    words = [VOCABULARY, "actions:"]
    for o in range(outcomes):
        words += [f"  act_{o}_{a}: {{outcome: out_{o}}}" for a in range(6)]
    words += ["  notify: {}", "outcomes:"] + [f"  out_{o}: {{complete: {str(o == 0).lower()}}}" for o in range(outcomes)]
    (root / "policies" / "vocabulary.yaml").write_text("\n".join(words) + "\n")
    for i in range(count):
        (root / "policies" / "bench" / f"POL-BENCH-{i + 1:06d}.yaml").write_text(policy(rng, i, outcomes))


def policy(rng: random.Random, i: int, outcomes: int) -> str:
    outcome, slot = i % outcomes, i // outcomes
    low = slot * 20
    high = low + 19 + (3 if rng.random() < 0.02 else 0)  # two in a hundred reach into their neighbour's range
    tests = [
        f"- {{type: fact, parameter: days, between: [{low}, {high}]}}",
        f"- {{type: boolean_flag, parameter: {rng.choice(('has_receipt', 'is_member', 'is_gift'))}, value: true}}",
        f"- {{type: fact, parameter: region, operator: in, value: [{', '.join(rng.sample(['US', 'EU', 'APAC'], 2))}]}}",
        f"- {{type: fact, parameter: amount, operator: '{rng.choice(('<=', '>'))}', value: {rng.randint(1, 500)}}}",
    ]
    conditions = "\n".join(tests)
    return f"""schema_version: "1.0"
policy_id: POL-BENCH-{i + 1:06d}
origin: explicit
scope: {{}}
conditions:
{conditions}
actions:
- {{type: required, action: act_{outcome}_{rng.randrange(6)}, source_text: the handbook says so}}
exceptions: []
metadata:
  source: handbook {i}
  owner: Team {i % 17}
  effective_date: "2024-01-01"
  domain: bench
  regulatory_linkage: []
"""
