"""What a person means by "that's wrong, …", as a language model proposes it: one field of one record, its new value.

It is believed only as far as it can be held against what the answer rests on, what is declared and what was said. What
holds stands in the form, which the person sends or not: nothing changes before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from sqlglot import exp

from bot.agents import errand
from bot.conversation import Actor, Reply
from bot.evidence.store.tables.requests import Standing
from bot.memory.changes import Change, field_of
from bot.memory.structure import checked, correctable, current, entity_of, schema_of
from bot.pii import Mask
from bot.services import Services
from bylaw.authored.context import Context
from bylaw.errors import UsageError
from bylaw.language.figures import figures
from bylaw.language.text import words_of
from bylaw.llm.guarded import Limits
from bylaw.llm.port import Deadline, Exchange, ask
from bylaw.llm.prompts import render
from bylaw.semantic.expressions import columns_of, expression

PROMPTS = Path(__file__).parent / "prompts"
Text = Annotated[str, Field(max_length=1_000)]


class ProposedCorrection(BaseModel):
    """What a model says that the person means; `unclear` where it cannot tell."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    object: Text = ""
    field: Text = ""
    new: Text = ""
    words: Text = ""
    unclear: Text = ""


@dataclass(frozen=True)
class Proposed:
    """What holds of it, None where nothing does, and everything that was said."""

    change: Change | None = None
    exchanges: tuple[Exchange[ProposedCorrection], ...] = ()

    def papers(self) -> dict[str, Any]:
        """What is kept beside the request."""
        return {f"model_{number}": one.paper() for number, one in enumerate(self.exchanges, 1)}


def propose(said: str, standing: Standing, services: Services) -> Proposed:
    """What *said* means about the answer of *standing*; what does not hold goes back to the model with the reason."""
    rules, reply = services.index.rules.autonomy.proposals, standing.reply
    if services.llm is None or rules is None or reply is None:
        return Proposed()
    context = services.index.bundle.context
    asker = standing.question.actor
    fields = [one for one in correctable(reply, context) if _readable(one.object, asker, services)]
    if not fields:
        return Proposed()
    limits = Limits(rules.failures, float(rules.rest_seconds), rules.at_once)
    llm = services.llm.under(limits, errand(services.index.rules.agents, "read"))
    deadline, mask = Deadline.after(float(rules.seconds), services.llm.clock), Mask(services.index.rules.pii)
    values: dict[str, Any] = {
        "fields": [
            {"object": one.object, "field": one.field.name, "means": one.field.label, "now": one.now} for one in fields
        ],
        "columns": list(_columns({one.object for one in fields}, context)),
        "names": sorted(context.metrics),
        "question": mask.text(standing.question.text),
        "answer": mask.text(reply.text),
        "said": mask.text(said),
        "proposed": None,
        "objection": None,
    }
    exchanges: list[Exchange[ProposedCorrection]] = []
    for _ in range(1 + rules.repairs):
        prompt = render(PROMPTS, "correction_v1", values, ProposedCorrection, rules.answer_tokens)
        exchanges.append(ask(llm, prompt, ProposedCorrection, deadline))
        value = exchanges[-1].value
        if value is None or value.unclear or not value.object:
            break
        try:
            return Proposed(held(value, said, reply, context), tuple(exchanges))
        except UsageError as error:
            shown = value.model_dump(mode="json", exclude_defaults=True)
            values = {**values, "proposed": shown, "objection": error.message}
    return Proposed(None, tuple(exchanges))


def held(proposed: ProposedCorrection, said: str, reply: Reply, context: Context) -> Change:
    """The change that is proposed, in its one spelling. Raises UsageError for what the answer does not rest on, what
    would not compile, and a value that neither the person nor the context says.
    """
    offered = {(one.object, one.field.name) for one in correctable(reply, context)}
    if (proposed.object, proposed.field) not in offered:
        raise UsageError(f"`{proposed.object}` `{proposed.field}` is no field that may be corrected about this answer")
    if not _stands(proposed.words, said):
        raise UsageError("`words` do not stand in what the person says")
    change = checked(Change(object=proposed.object, field=proposed.field, new=proposed.new), context)
    field = field_of(change)
    assert field is not None  # it was checked
    match field.reads:
        case "word" | "text":
            if not _stands(change.new, said):
                raise UsageError(f"`{change.new}` does not stand in what the person says")
        case "condition" | "expression":
            _hold_sql(change, said, context)
        case "name":
            pass  # `checked` lets only declared ones through
    return change


def _hold_sql(change: Change, said: str, context: Context) -> None:
    """Every column was shown; every value is one that the column lists, that the person says, or that stands there."""
    entity = entity_of(change, context)
    shown = {(one["entity"], one["column"]): one for one in _columns({change.object}, context)}
    for owner, column in columns_of(change.new, entity):
        if (owner, column) not in shown:
            raise UsageError(f"`{column}` is none of the columns that may be named")
    listed = {str(value).casefold() for one in shown.values() for value in one.get("values", ())}
    numbers = {value for figure in figures(said) for value in figure.values}
    now = current(change, context)
    there = {one.this for one in expression(now, entity).find_all(exp.Literal)} if isinstance(now, str) else set()
    for literal in expression(change.new, entity).find_all(exp.Literal):
        text = str(literal.this)
        is_said = _stands(text, said) if literal.is_string else any(str(one) == text for one in numbers)
        if not (is_said or text in there or (literal.is_string and text.casefold() in listed)):
            raise UsageError(f"the value `{text}` is neither declared nor said by the person")


def _columns(objects: set[str], context: Context) -> Iterator[dict[str, Any]]:
    """The columns that a correction of these records may name, with the values they list. No personal data."""
    owners = {entity_of(Change(object=name, field="", new=""), context) for name in objects}
    for name in sorted(owners & context.entities.keys()):
        entity = context.entities[name]
        for part in (*entity.dimensions, *entity.time_dimensions, *entity.facts):
            values = [str(one) for one in getattr(part, "sample_values", ())]
            for owner, column in columns_of(part.sql, name):
                if owner == name and column not in entity.pii:
                    means = {"means": part.description} if part.description else {}
                    yield {"entity": name, "column": column, **means, **({"values": values} if values else {})}
        for one in entity.filters:
            for owner, column in columns_of(one.sql, name):
                if owner == name and column not in entity.pii:
                    yield {"entity": name, "column": column, "means": one.name.replace("_", " ")}


def _stands(words: str, said: str) -> bool:
    """Do the words stand in what was said, one after the other?"""
    wanted, there = words_of(words), words_of(said)
    spans = (there[at : at + len(wanted)] for at in range(len(there)))
    return bool(wanted) and any(span == wanted for span in spans)


def _readable(object_: str, actor: Actor, services: Services) -> bool:
    """May *actor* read the rows behind a record?"""
    context = services.index.bundle.context
    schema = schema_of(object_, context)
    known = {entity.base_table.schema_name for entity in context.entities.values()}
    return schema is None or schema in services.index.rules.roles.schemas_of(actor.id, known)
