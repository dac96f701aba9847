"""A policy question whose reading is held: answered, confirmed first, or offered what it may be about.

What is left over in the sentence that asks is named before anything is answered; nothing is answered from facts alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from bot.ask.ground import ground_for
from bot.conversation import Choice, Turn
from bot.enforcement.assemble import asked_names, assemble_case
from bot.enforcement.case import Case
from bot.enforcement.question.topic import offers
from bot.enforcement.turn import turn_of
from bot.enforcement.uncovered import near, quoted, texts_on
from bot.enforcement.writing import missing, write
from bot.index import BundleIndex
from bylaw.hold.hold import confirm, hold
from bylaw.hold.item import HeldItem, Reading, read_items
from bylaw.hold.text import see
from bylaw.logic.decide.evaluate import Evaluator

CONFIRM, OTHER = "confirm", "other"
PENDING = "pending"  # of a conversation's state: the reading that waits to be confirmed
_CHOICES = (Choice(value=CONFIRM, label="Yes, that is my question"), Choice(value=OTHER, label="No, something else"))
_NOT_ASKED = Choice(value=OTHER, label="That is not what I asked")
_MOST_OFFERED = 5

Decide = Callable[[Case], Turn]


def pending_reading(text: str, today: date, state: Mapping[str, Any], index: BundleIndex) -> tuple[str, Reading] | None:
    """The text and the reading that *text* confirms; None where nothing waits, or it is something new."""
    waiting = state.get(PENDING)
    if text.strip().casefold() not in (CONFIRM, _CHOICES[0].label.casefold(), "yes") or not isinstance(
        waiting, Mapping
    ):
        return None
    asked = str(waiting.get("text", ""))
    proposal = read_items(list(waiting.get("items", ())), "policy")
    reading = hold(asked, proposal, ground_for(index, "policy", today), "given")
    return asked, confirm(replace(reading, residue=()))


def is_other(text: str, state: Mapping[str, Any]) -> bool:
    """Does *text* say that what was understood is not what is asked?"""
    said = text.strip().casefold()
    return said in (OTHER, _CHOICES[1].label.casefold(), _NOT_ASKED.label.casefold()) and PENDING in state


def answer_held(
    text: str,
    today: date,
    state: Mapping[str, Any],
    index: BundleIndex,
    evaluator: Evaluator,
    reading: Reading,
    readers: frozenset[str],
    decide: Decide,
) -> Turn:
    """The turn for a text that reads so. *decide* gives the answer of a case that is settled."""
    before = {key: value for key, value in state.items() if key != PENDING}
    case = assemble_case(text, today, before, index, evaluator, reading)
    asks = asked_names(reading)
    if not asks and not (case.memory.topic.is_named and case.told_now):
        turn = _offer(case, reading, readers)
    elif reading.residue or _is_confirmed_first(case, asks):
        turn = _confirmation(case, reading)
    else:
        turn = _told(case, reading, decide(_with_against(case)))
    return replace(turn, reply=turn.reply.model_copy(update={"reading": reading.written()}))


def _is_confirmed_first(case: Case, asks: Sequence[HeldItem]) -> bool:
    """Do the rules of the house want this reading confirmed, though nothing of it is left over?"""
    rules = case.index.rules.enforcement
    wanted = {rules.confirm_for(domain) for domain in case.memory.topic.domains} or {rules.confirm_for(None)}
    is_confirmed = bool(asks) and all(one.why == "confirmed" or one.why == "picked" for one in asks)
    is_weak = any(one.status == "weak" for one in asks)
    return not is_confirmed and ("always" in wanted or (is_weak and "weak" in wanted))


def _confirmation(case: Case, reading: Reading) -> Turn:
    """What was understood, what is left over, and one click to say whether that is the question."""
    named = write.listing([_called(one, case) for one in asked_names(reading)])
    lines = [f"I understood: {named}." if named else "I understood what you told, not what you ask."]
    left = [one.text for one in reading.residue]
    lines += [f"Nobody here knows what {write.quoted(left)} means for it."] if left else []
    lines.append("Is that your question?")
    owners = near(case)
    turn = turn_of(case, "policy", "needs_choice", lines, (), choices=_CHOICES)
    waiting = {"text": case.text, "items": [one.item.written() for one in reading.items]}
    reply = turn.reply.model_copy(update={"meta": missing.meta(left, owners)})
    return replace(turn, reply=reply, state={**turn.state, PENDING: waiting})


def _called(one: HeldItem, case: Case) -> str:
    """What is asked, by its label."""
    name = one.item.named or ""
    vocabulary = case.index.vocabulary
    declared = vocabulary.outcomes.get(name) or vocabulary.actions.get(name)
    return (declared.label if declared else None) or name.replace("_", " ")


def _told(case: Case, reading: Reading, turn: Turn) -> Turn:
    """*turn* with how a weak question and weak facts were understood, and what is told whatever was asked."""
    weak = [one for one in asked_names(reading) if one.status == "weak"]
    first = [f"I read this as a question about {write.listing([_called(one, case) for one in weak])}."] if weak else []
    facts = {one.item.name for one in reading.items if one.item.kind == "fact" and one.status == "weak"}
    used = [case.words.told(read.fact, read.value) for read in case.reads if read.fact in facts]
    first += [f"I take it that {write.listing(used)}."] if used else []
    first += [f"{case.words.action(name)[:1].upper()}{case.words.action(name)[1:]}." for name in _always(case)]
    text = "\n".join([*first, turn.reply.text])
    choices = turn.reply.choices or ((_NOT_ASKED,) if weak else ())
    state = {**turn.state, PENDING: {"text": case.text, "items": []}} if weak else turn.state
    return replace(turn, reply=turn.reply.model_copy(update={"text": text, "choices": choices}), state=state)


def _always(case: Case) -> list[str]:
    """The actions that are told whatever was asked, where the case requires them and the answer has not named them."""
    actions = case.index.vocabulary.actions
    told = {action for _, action, _ in case.scope.duties}
    return [name for name in case.decision.required if name in actions and actions[name].always and name not in told]


def _with_against(case: Case) -> Case:
    """*case* with the outcomes of its domains that the facts already decide against what the person hoped for."""
    vocabulary, domains = case.index.vocabulary, set(case.memory.topic.domains)
    found = [
        name
        for name, result in sorted(case.decision.outcomes.items())
        if result.action is not None
        and (declared := vocabulary.actions.get(result.action)) is not None
        and declared.against
        and name not in case.scope.outcomes
        and result.rule_id is not None
        and case.index.rule(result.rule_id).domain in domains
    ]
    return case if not found else replace(case, scope=replace(case.scope, outcomes=(*case.scope.outcomes, *found)))


def _offer(case: Case, reading: Reading, readers: frozenset[str]) -> Turn:
    """Where nothing that is asked is held: topics whose own name shares a word with the question, texts, or nobody."""
    said = texts_on(case, readers)
    if said:
        return quoted(case, said)
    index = ground_for(case.index, "policy", case.today).index
    seen = see(case.text)
    stems = {form for token in seen.words(0, len(seen.text.seen)) for form in index.stems(token)}
    vocabulary = case.index.vocabulary
    outcomes = [name for name in sorted(vocabulary.outcomes) if not index.own_of("asks", name).isdisjoint(stems)]
    alone = [
        name
        for name, action in sorted(vocabulary.actions.items())
        if action.outcome is None and action.same_as is None and not index.own_of("asks", name).isdisjoint(stems)
    ]
    named = (*outcomes, *alone)[:_MOST_OFFERED]
    owners, left = near(case), [one.text for one in (*reading.residue, *reading.unknown)]
    meta = missing.meta(left, owners)
    if named:
        case = replace(case, memory=replace(case.memory, offered=named), picked=None)
        lines = [write.unnamed(left), missing.otherwise(owners)]
        turn = turn_of(case, "policy", "needs_choice", lines, (), choices=offers.choices(named, vocabulary))
        return replace(turn, reply=turn.reply.model_copy(update={"meta": meta}))
    lines = [missing.NO_RULE, *missing.lines(owners, case.evaluator, False)]
    turn = turn_of(case, "refusal", "refused", lines, ())
    return replace(turn, reply=turn.reply.model_copy(update={"meta": meta}), is_aside=True)
