"""Writes a policy repository of any size, the same for the same numbers, in four kinds.

`shared`: thirteen facts for everybody, pairs kept apart now by one fact, now by another. `growing`: every outcome has
facts of its own. `sparse`: within an outcome each policy has its own range of days. In all three at most one pair in
a thousand that answers one outcome conflicts. `dense`: nearly everything meets everything.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

Kind = Literal["shared", "growing", "sparse", "dense"]

PER_OUTCOME = 400  # the promise is for at most 500
ACTIONS = 6

PRODUCTS = ("tv", "laptop", "phone", "shirt", "book", "other")
TIERS = ("standard", "gold", "vip")
CHANNELS = ("online", "in-store", "phone_order")
REGIONS = ("US", "EU", "APAC", "LATAM")
FLAGS = ("has_receipt", "is_member", "is_gift")

SHARED = f"""  has_receipt: {{type: boolean, label: has the receipt}}
  is_member: {{type: boolean, label: is a member}}
  is_gift: {{type: boolean, label: is a gift}}
  product: {{type: enum, values: {{{", ".join(f"{word}: []" for word in PRODUCTS)}}}}}
  tier: {{type: enum, values: {{{", ".join(f"{word}: []" for word in TIERS)}}}}}
  channel: {{type: enum, values: {{{", ".join(f"{word}: []" for word in CHANNELS)}}}}}
  region: {{type: enum, values: {{{", ".join(f"{word}: []" for word in REGIONS)}}}}}
  days: {{type: integer, unit: days, minimum: 0, maximum: 100000}}
  age: {{type: integer, unit: years, minimum: 0, maximum: 150}}
  amount: {{type: decimal, unit: USD, minimum: 0}}
  price: {{type: decimal, unit: USD, minimum: 0}}
  visits: {{type: integer, minimum: 0}}
  topic: {{type: integer, minimum: 0}}"""


def generate(root: Path, count: int, kind: Kind = "sparse", seed: int = 7) -> None:
    """*count* policies of one *kind* under *root*."""
    rng = random.Random(seed)
    outcomes = (count + PER_OUTCOME - 1) // PER_OUTCOME
    words = ['schema_version: "1.0"', "facts:", SHARED]
    if kind == "growing":
        for o in range(outcomes):
            words += _own_facts(o)
    words.append("actions:")
    for o in range(outcomes):
        words += [f"  act_{o}_{a}: {{outcome: out_{o}}}" for a in range(ACTIONS)]
    words += ["  notify: {}", "outcomes:"]
    words += [f"  out_{o}: {{complete: {str(o == 0).lower()}}}" for o in range(outcomes)]
    folders = [root / "policies" / "bench" / f"part_{part:03d}" for part in range((count + 999) // 1000)]
    for folder in folders:
        folder.mkdir(parents=True)
    (root / "policies" / "vocabulary.yaml").write_text("\n".join(words) + "\n")
    for i in range(count):
        (folders[i // 1000] / f"{policy_id(i)}.yaml").write_text(policy(rng, i, outcomes, kind))


def policy_id(i: int) -> str:
    """The id of policy *i*."""
    return f"POL-BENCH-{i + 1:06d}"


def policy(rng: random.Random, i: int, outcomes: int, kind: Kind) -> str:
    """The text of policy *i*."""
    outcome, slot = i % outcomes, i // outcomes
    tests = "\n".join(f"- {{type: {test}}}" for test in _TESTS[kind](rng, outcome, slot))
    return f"""schema_version: "1.0"
policy_id: {policy_id(i)}
origin: explicit
scope: {{}}
conditions:
{tests}
actions:
- {{type: required, action: act_{outcome}_{rng.randrange(ACTIONS)}, source_text: the handbook says so}}
exceptions: []
metadata:
  source: handbook {i}
  owner: Team {i % 17}
  effective_date: "2024-01-01"
  domain: bench
  regulatory_linkage: []
"""


def _own_facts(o: int) -> Iterator[str]:
    for k in range(PER_OUTCOME // 50):
        yield f"  o{o}_flag_{k}: {{type: boolean}}"
        yield f"  o{o}_count_{k}: {{type: integer, minimum: 0}}"


def _reach(rng: random.Random) -> int:
    """One policy in seven reaches into its neighbour's range."""
    return 3 if rng.random() < 0.15 else 0


def _sparse(rng: random.Random, outcome: int, slot: int) -> Iterator[str]:
    low = slot * 20
    yield f"fact, parameter: days, between: [{low}, {low + 19 + _reach(rng)}]"
    yield f"boolean_flag, parameter: {rng.choice(FLAGS)}, value: true"
    yield f"fact, parameter: region, operator: in, value: [{', '.join(rng.sample(REGIONS, 2))}]"
    yield f"fact, parameter: amount, operator: '{rng.choice(('<=', '>'))}', value: {rng.randint(1, 500)}"


def _shared(rng: random.Random, outcome: int, slot: int) -> Iterator[str]:
    """A cell of a grid over four facts; what it says about the others keeps nobody apart."""
    cell, product = divmod(slot, len(PRODUCTS))
    cell, tier = divmod(cell, len(TIERS))
    age, band = divmod(cell, 5)
    yield f"product_category, parameter: product, value: {PRODUCTS[product]}"
    yield f"fact, parameter: tier, operator: '==', value: {TIERS[tier]}"
    yield f"fact, parameter: amount, between: [{band * 100}, {band * 100 + 99 + _reach(rng)}]"
    yield f"fact, parameter: age, between: [{age * 20}, {age * 20 + 19}]"
    yield f"fact, parameter: {rng.choice(('price', 'visits', 'topic'))}, operator: '<=', value: {rng.randint(100, 900)}"
    yield f"fact, parameter: channel, operator: in, value: [{', '.join(rng.sample(CHANNELS, 2))}]"


def _growing(rng: random.Random, outcome: int, slot: int) -> Iterator[str]:
    own = rng.randrange(PER_OUTCOME // 50)
    low = slot * 10
    yield f"fact, parameter: o{outcome}_count_0, between: [{low}, {low + 9 + _reach(rng)}]"
    yield f"boolean_flag, parameter: o{outcome}_flag_{own}, value: {rng.choice(('true', 'false'))}"
    yield f"fact, parameter: o{outcome}_count_{max(own, 1)}, operator: '<=', value: {rng.randint(10, 900)}"
    yield f"fact, parameter: region, operator: in, value: [{', '.join(rng.sample(REGIONS, 2))}]"


def _dense(rng: random.Random, outcome: int, slot: int) -> Iterator[str]:
    yield f"fact, parameter: days, operator: '<=', value: {rng.randint(1, 5000)}"
    yield f"fact, parameter: amount, operator: '{rng.choice(('<=', '>'))}', value: {rng.randint(1, 500)}"
    yield f"boolean_flag, parameter: {rng.choice(FLAGS)}, value: true"
    yield f"fact, parameter: region, operator: in, value: [{', '.join(rng.sample(REGIONS, 3))}]"


_TESTS = {"sparse": _sparse, "shared": _shared, "growing": _growing, "dense": _dense}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--kind", choices=get_args(Kind), default="sparse")
    given = parser.parse_args()
    generate(given.root, given.count, given.kind)
