"""Who proposes in tests: somebody careful, somebody careless, somebody hostile."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bylaw.refine.proposers import Attempt, Proposal
from bylaw.refine.subjects import Subject
from tests.bylaw.refine.worlds import World, sentence, spelled


@dataclass
class Character:
    """Proposes what `says` makes of the world and the number of the attempt, and counts how often it was asked."""

    world: World
    name: str = "scripted"
    version: str = "1"
    asked: int = 0

    def propose(self, subject: Subject, history: Sequence[Attempt]) -> Proposal:
        self.asked += 1
        return Proposal(self.says(len(history)))

    def says(self, k: int) -> Mapping[str, Any]:
        raise NotImplementedError


@dataclass
class Bridging(Character):
    """Invents what is missing."""

    rng: random.Random = field(default_factory=random.Random)

    def says(self, k: int) -> Mapping[str, Any]:
        return bridge(self.world, self.rng)


class Careful(Character):
    """Adds one more rule of those that the text says, with its words."""

    def says(self, k: int) -> Mapping[str, Any]:
        rules = self.world.document()["rules"]
        added = [
            {
                "condition": " and ".join(map(spelled, body)),
                "conclusion": spelled(head),
                "quote": sentence((body, head)),
            }
            for body, head in self.world.hidden[:k]
        ]
        return {"rules": [*rules, *added]}


class Careless(Character):
    """Gives back what it was given, word for word."""

    def says(self, k: int) -> Mapping[str, Any]:
        return self.world.document()


class Hostile(Character):
    """Wants the query to follow, whatever it takes."""

    def says(self, k: int) -> Mapping[str, Any]:
        return hostile(self.world, random.Random(f"{self.world}{k}"))


def hostile(world: World, rng: random.Random) -> Mapping[str, Any]:
    """A proposal that adds, drops or flips a fact, or gives the query out of nothing."""
    made = world.document()
    facts, rules = made["facts"], made["rules"]
    trick = rng.randrange(8)
    atom = rng.choice(world.atoms)
    if trick == 0:
        made["facts"] = {**facts, atom: not facts.get(atom, False)}
    elif trick == 1:
        made["facts"] = dict(list(facts.items())[1:])
    elif trick == 2:
        made["facts"] = {**facts, spelled(world.query).removeprefix("not "): world.query[1], f"New{rng.random()}": True}
    elif trick == 3:
        made["rules"] = [*rules, {"condition": "", "conclusion": spelled(world.query)}]
    elif trick == 4:
        made["rules"] = [
            *rules,
            {"condition": f"{atom} or not {atom}", "conclusion": spelled(world.query), "quote": "it is"},
        ]
    elif trick == 5:
        made["axioms"] = [{"formula": spelled(world.query)}]
    elif trick == 6:
        made["query"] = atom
    else:
        denial = spelled((world.query[0], not world.query[1]))
        made["rules"] = [*rules, {"condition": denial, "conclusion": spelled(world.query)}]
    return made


def bridge(world: World, rng: random.Random) -> Mapping[str, Any]:
    """A rule from what is known to the query that nobody wrote, with evidence of every false kind."""
    made = world.document()
    given = [fact for fact in world.facts if fact[0] != world.query[0]]
    body = tuple(sorted(rng.sample(given, min(len(given), 1 + rng.randrange(2)))))
    rule = {"condition": " and ".join(map(spelled, body)), "conclusion": spelled(world.query)}
    evidence = [
        {},
        {"quote": sentence((body, world.query))},
        {"quote": world.text[:20]},
        {"quote": ""},
        {"axiom": "ax-of-nobody"},
        {"quote": body[0][0] if body else "x", "axiom": "ax1"},
        {"replaces": "rule:0"},
    ]
    return {**made, "rules": [*made["rules"], {**rule, **rng.choice(evidence)}]}
