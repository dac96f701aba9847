"""A language model as the author of claims about an answer: proposed through the port, held by `bearing`, not trusted.

One repair with the objections of the bearing; two readings, where the rules ask for two, must agree on kind, word and
value: what only one of them has counts as not read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from bot.claims.models import MOST_CLAIMS, Claim
from bot.claims.situation import Situation
from bot.index import BundleIndex
from bylaw.llm.port import LLM, Deadline, Exchange, ask
from bylaw.llm.prompts import render

PROMPTS = Path(__file__).parent / "prompts"
_MOST_OBJECTIONS = 12


class Proposed(BaseModel):
    """What a model says that an answer says."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    claims: Annotated[tuple[Claim, ...], Field(max_length=MOST_CLAIMS)]


@dataclass(frozen=True)
class Read:
    """The claims that were read, and whether two readings had each of them."""

    claims: tuple[Claim, ...]
    is_twice: bool = False


@dataclass(frozen=True)
class ModelReader:
    """A model that reads answers, with its limits; each exchange is handed to `kept`."""

    llm: LLM
    deadline: Deadline
    tokens: int
    readings: int = 1
    repairs: int = 1
    mask: Callable[[str], str] = str
    kept: Callable[[Exchange[Any]], object] = lambda _: None

    def read(self, answer: str, case: Situation, own: tuple[Claim, ...] = ()) -> Read | None:
        """The claims about *answer*; None where the model gave none in time.

        *own* are those that its author returned with it: the first reading, and only mended where they do not hold.
        """
        first = self._reading(answer, case, 1, own)
        if first is None or self.readings < 2:
            return None if first is None else Read(first)
        second = self._reading(answer, case, 2)
        if second is None:
            return Read(first)
        known = {_core(claim, case) for claim in second}
        return Read(tuple(claim for claim in first if claim.kind == "courtesy" or _core(claim, case) in known), True)

    def _reading(
        self, answer: str, case: Situation, number: int, own: tuple[Claim, ...] = ()
    ) -> tuple[Claim, ...] | None:
        """One reading with its repairs: the one with the fewest gaps."""
        best: tuple[int, tuple[Claim, ...]] | None = None
        objections: Sequence[str] = ()
        for attempt in range(1 + self.repairs):
            proposed = own if own and not attempt else self._ask(answer, case, number, objections)
            if proposed is None:
                break
            claims = proposed
            gaps = case.bear(answer, claims).gaps
            if best is None or len(gaps) < best[0]:
                best = len(gaps), claims
            if not gaps:
                break
            objections = [f"{gap.why}: “{gap.quote}”" for gap in gaps[:_MOST_OBJECTIONS]]
        return None if best is None else best[1]

    def _ask(self, answer: str, case: Situation, number: int, objections: Sequence[str]) -> tuple[Claim, ...] | None:
        values = {
            **shown(case.index),
            "question": self.mask(case.query),
            "answer": answer,
            "objections": list(objections),
            "reading": number,
        }
        prompt = render(PROMPTS, "read_answer_v1", values, Proposed, self.tokens)
        exchange = ask(self.llm, prompt, Proposed, self.deadline)
        self.kept(exchange)
        return None if exchange.value is None else exchange.value.claims


def _core(claim: Claim, case: Situation) -> tuple[object, ...]:
    """What two readings have to agree on: kind, word and value, and the conditions."""
    action = claim.action and case.index.vocabulary.canonical(claim.action)
    when = frozenset((one.fact, one.operator, str(one.value), one.unit) for one in claim.when)
    return claim.kind, action, claim.fact, claim.operator or "==", str(claim.value), claim.policy_id, when


def shown(index: BundleIndex) -> dict[str, Any]:
    """The declared words and the kinds of claims, as a prompt shows them."""
    vocabulary = index.vocabulary
    actions = [
        {
            "action": name,
            "label": one.label or name.replace("_", " "),
            "phrases": [said for said in (one.label.given if one.label else None, *one.phrases) if said],
            **({"denied": one.label.denied} if one.label and one.label.denied else {}),
        }
        for name, one in sorted(vocabulary.actions.items())
        if one.same_as is None
    ]
    facts = [
        {
            "fact": name,
            "type": one.type,
            "label": one.label or name.replace("_", " "),
            **({"unit": one.unit} if one.unit else {}),
            **({"values": sorted(one.values)} if one.values else {}),
        }
        for name, one in sorted(vocabulary.facts.items())
    ]
    kinds = (PROMPTS / "kinds_v1.j2").read_text(encoding="utf-8").rstrip()
    return {"actions": actions, "facts": facts, "policies": sorted(index.bundle.policies), "kinds": kinds}
