"""A language model as a second reader: asked only where the first one gave up, believed only as far as it can be held.

It is shown what the asker may know of the data: names, other words for them, what they mean, the values of closed
lists; no row and no personal column. What it proposes passes the same compiler, gate and rules, and a person confirms
it before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bot.agents import errand
from bot.analytics import risk
from bot.analytics.asking import is_follow_up
from bot.analytics.proposal import Asked, Proposal, Untenable, held
from bot.analytics.read import Reader
from bot.analytics.reading import Bound, NotUnderstood
from bot.conversation import Binding
from bot.pii import Mask
from bylaw.authored.access import Rights
from bylaw.authored.agents import Agents
from bylaw.authored.autonomy import Proposals
from bylaw.authored.context import Context, Entity, Expressed
from bylaw.canonical import canonical_json
from bylaw.errors import BylawError
from bylaw.llm.guarded import Guard, Limits
from bylaw.llm.port import Deadline, Exchange, ask
from bylaw.prompts import render
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import SemanticQuery, Unanswerable

PROMPTS = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class Proposed:
    """How it ended: what the question means, or None with the reason; and what was said."""

    bound: Bound | None
    reason: str
    model: str
    exchange: Exchange[Proposal]

    def papers(self) -> dict[str, Any]:
        """What is kept beside the request."""
        value = self.exchange.value
        said = None if value is None else value.model_dump(mode="json")
        proposal = {"model": self.model, "prompt": self.exchange.prompt.fingerprint, "proposal": said}
        return {"model_1": self.exchange.paper(), "proposal": {**proposal, "refused": self.reason or None}}

    def meta(self) -> dict[str, Any]:
        """What the reply tells about its author."""
        told = {"author": self.model if self.bound is not None else "reader", "fallback_used": self.bound is None}
        return {**told, **({"fallback_reason": self.reason} if self.reason else {})}


@dataclass(frozen=True)
class Second:
    """The second reader: a model, under the rules and within the rights of who asks."""

    guard: Guard
    rules: Proposals
    agents: Agents
    context: Context
    reader: Reader
    compiler: Compiler
    mask: Mask
    rights: Rights | None

    def read(self, text: str, today: date, unclear: NotUnderstood, previous: SemanticQuery | None) -> Proposed:
        """What the model makes of *text*, which the reader did not understand."""
        deadline = Deadline.after(self.rules.seconds, self.guard.clock)
        limits = Limits(self.rules.failures, float(self.rules.rest_seconds), self.rules.at_once)
        llm = self.guard.under(limits, errand(self.agents, "query"))
        earlier = previous if previous is not None and is_follow_up(text) else None
        values = {
            "catalogue": described(self.context, self.compiler, self.rights, text, self.rules.catalogue_bytes),
            "previous": None if earlier is None else earlier.model_dump(mode="json", exclude_defaults=True),
            "unclear": [self.mask.text(word) for word in unclear.words],
            "question": self.mask.text(text),
        }
        prompt = render(PROMPTS, "query_v1", values, Proposal, self.rules.answer_tokens)
        exchange = ask(llm, prompt, Proposal, deadline)
        if exchange.value is None:
            return Proposed(None, str(exchange.error), llm.name, exchange)
        author = exchange.completion.model if exchange.completion else llm.name
        try:
            bound = self._bound(exchange.value, text, today, earlier, author)
        except (Untenable, BylawError) as problem:
            said = problem.message if isinstance(problem, BylawError) else str(problem)
            return Proposed(None, f"what the language model proposed does not hold: {said}", author, exchange)
        return Proposed(bound, "", author, exchange)

    def _bound(self, proposal: Proposal, text: str, today: date, earlier: SemanticQuery | None, model: str) -> Bound:
        """The proposal as a reading. Raises Untenable, or what the compiler has against it."""
        tokens, stakes, heard = self.reader.overheard(text, today)
        asked = Asked(text, tokens, self.context, [said.words for said in stakes], earlier)
        query = held(proposal, asked)
        compiled = self.compiler.compile(query, self.compiler.visible(self.rights))
        hidden = sorted(name for name in compiled.entities if not _is_shown(self.context.entities[name], self.rights))
        if hidden:
            raise Untenable("it reads what the person who asks may not read")
        label = "" if query.window is None else query.window.label
        bindings = tuple(
            Binding(words=bind.words, kind=bind.kind, name=bind.name or label) for bind in proposal.bindings
        )
        return Bound(query, (*bindings, *stakes), heard, is_follow_up=earlier is not None, author=model)


# ---- what the model is shown


def described(
    context: Context, compiler: Compiler, rights: Rights | None, text: str, most_bytes: int
) -> list[dict[str, Any]]:
    """The records of the catalogue that somebody with *rights* may know; where they are too many, the nearest ones."""
    shown = [name for name, entity in sorted(context.entities.items()) if _is_shown(entity, rights)]
    records = [*_metrics(context, shown, compiler)]
    records += [_entity(context.entities[name], shown, compiler) for name in shown]
    words = risk.content_words(text)
    nearest = sorted(range(len(records)), key=lambda i: (-len(words & _words(records[i])), i))
    kept: list[int] = []
    for i in nearest:
        size = len(canonical_json(records[i]).encode())
        if size <= most_bytes:
            most_bytes -= size
            kept.append(i)
    return [records[i] for i in sorted(kept)]


def _is_shown(entity: Entity, rights: Rights | None) -> bool:
    return rights is None or entity.base_table.schema_name in rights.schemas


def _entity(entity: Entity, shown: Sequence[str], compiler: Compiler) -> dict[str, Any]:
    """An entity without its personal columns."""
    parts: Mapping[str, Sequence[Expressed]] = {
        "dimensions": entity.dimensions,
        "times": entity.time_dimensions,
        "facts": entity.facts,
    }
    leads = sorted({one.right_entity for one in entity.relationships} & set(shown))
    conditions = [one for one in entity.filters if one.apply == "on_request"]
    return _told(
        entity=entity.name,
        synonyms=entity.synonyms,
        description=entity.description,
        **{
            kind: [_part(entity, part) for part in found if _is_open(f"{entity.name}.{part.name}", compiler)]
            for kind, found in parts.items()
        },
        conditions=[_told(name=f"{entity.name}.{one.name}", synonyms=one.synonyms) for one in conditions],
        leads_to=leads,
    )


def _part(entity: Entity, part: Expressed) -> dict[str, Any]:
    is_closed = getattr(part, "is_enum", False)
    return _told(
        name=f"{entity.name}.{part.name}",
        synonyms=part.synonyms,
        description=part.description,
        values=list(getattr(part, "sample_values", ())) if is_closed else [],
    )


def _metrics(context: Context, shown: Sequence[str], compiler: Compiler) -> Iterator[dict[str, Any]]:
    """The metrics that count rows of entities that are shown, and of no others."""
    for name, metric in sorted(context.metrics.items()):
        try:
            bases = compiler.bases_of(name)
        except Unanswerable:
            continue
        if set(bases) <= set(shown):
            yield _told(metric=name, synonyms=metric.synonyms, description=metric.description, of=list(bases))


def _is_open(name: str, compiler: Compiler) -> bool:
    """Is it no personal data?"""
    try:
        compiler.names.field(name)
    except Unanswerable:
        return False
    return True


def _told(**parts: Any) -> dict[str, Any]:
    return {name: value for name, value in parts.items() if value}


def _words(record: Mapping[str, Any]) -> frozenset[str]:
    """The words by which one speaks of a record and of its parts."""
    parts = [part for kind in ("dimensions", "times", "facts", "conditions") for part in record.get(kind, ())]
    names = [str(one.get(kind, "")) for one in (record, *parts) for kind in ("metric", "entity", "name")]
    names += [word for one in (record, *parts) for word in one.get("synonyms", ())]
    return risk.content_words(" ".join(names).replace("_", " ").replace(".", " "))
