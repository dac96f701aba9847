"""A policy question whose reading is held: answered, confirmed first, or offered what it may be about.

What is left over in the sentence that asks is named before anything is answered; nothing is answered from facts alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from bot.ask.ground import ground_for
from bot.conversation import Choice, Turn
from bot.enforcement.assemble import assemble_case
from bot.enforcement.case import Case
from bot.enforcement.question import offers
from bot.enforcement.question.asking import asks_for_permission, is_no_question, named_policies
from bot.enforcement.question.lookups import lookups
from bot.enforcement.question.near import drop_declared
from bot.enforcement.question.topic import Topic
from bot.enforcement.read import INSTEAD, NO, NOT_ASKED, PENDING, YES, QuestionRead
from bot.enforcement.turn import turn_of
from bot.enforcement.uncovered import near, quoted, texts_on
from bot.enforcement.unproven import with_unproven
from bot.enforcement.writing import missing, write
from bot.index import BundleIndex
from bylaw.hold.item import HeldItem, Item, Reading
from bylaw.hold.text import see
from bylaw.language.lexicon import closed, stem
from bylaw.language.turns import goes_on
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import ConditionalRule

_MOST_OFFERED = 5

Decide = Callable[[Case], Turn]


def answer_held(
    read: QuestionRead,
    today: date,
    state: Mapping[str, Any],
    index: BundleIndex,
    evaluator: Evaluator,
    readers: frozenset[str],
    decide: Decide,
) -> Turn:
    """The turn for a text that reads so. *decide* gives the answer of a case that is settled."""
    before = {key: value for key, value in state.items() if key != PENDING}
    reading = _readable(read.reading, index, evaluator)
    case = assemble_case(
        read.text, today, before, index, evaluator, reading, is_declined=read.is_declined, is_anew=read.is_anew
    )
    is_more = _goes_on(case)
    if read.is_anew and not case.memory.topic.is_named:
        turn = turn_of(case, "policy", "answered", [write.ASKED_ANEW], ())
    elif read.is_other:
        turn = _unanswered(case, readers, is_other=True)
    elif not case.asks and not is_more and not _asks_what_policies_say(case.text):
        turn = _offer(case, readers)
    elif read.instead is not None or read.is_doubted or _is_confirmed_first(case, is_more):
        turn = _confirmation(case, read.instead)
        if read.instead is not None:  # of two readings neither is remembered before one is picked
            turn = replace(turn, state={**before, PENDING: turn.state[PENDING]})
    else:
        turn = _told(case, decide(_with_against(case)))
    return _with_always(case, replace(turn, reply=turn.reply.model_copy(update={"reading": case.reading.written()})))


def _readable(reading: Reading, index: BundleIndex, evaluator: Evaluator) -> Reading:
    """*reading* without what is asked of rules that are all for others: to this person there is nothing of the kind."""
    held = (one for one in reading.held if one.item.kind != "asks" or _is_for(one.item.named or "", index, evaluator))
    return replace(reading, held=tuple(held))


def _is_for(name: str, index: BundleIndex, evaluator: Evaluator) -> bool:
    """May who asks hear of the outcome or action: does a rule that they may read speak of it, or none at all?"""
    about = {name, index.vocabulary.canonical(name)}
    about |= {index.vocabulary.outcome_of(name) or name}
    rules = [rule for rule in index.ruleset.rules if about & _spoken(rule)]
    return not rules or any(evaluator.knows(rule.rule_id) for rule in rules)


def _spoken(rule: ConditionalRule) -> set[str]:
    return {rule.effect.action, *rule.effect.implied, *(outcome for outcome, _ in rule.effect.takes)}


def _asks_what_policies_say(text: str) -> bool:
    """Does *text* name a policy, and ask no leave: "what does POL-REFUND-001 say?"?"""
    return bool(named_policies(text)) and not asks_for_permission(text)


def _goes_on(case: Case) -> bool:
    """Does a turn that asks nothing by its name go on with what the conversation is about?

    It tells more of the case, declines, says nothing of its own, or opens like more of what was said.
    """
    if not case.memory.topic.is_named:
        return False
    return is_no_question(case.text) or goes_on(case.text) or (bool(case.told_now) and not case.reading.residue)


def _unanswered(case: Case, readers: frozenset[str], is_other: bool = False) -> Turn:
    """Nothing of ours is asked for, or nothing of what was offered: the question is on the list of missing policies."""
    owners = near(case)
    left = [one.text for one in (*case.reading.residue, *case.reading.unknown)]
    unknown = drop_declared(left, case.index)
    first = (
        f"Our rules do not cover this: nothing in them speaks of {write.quoted(unknown)}."
        if unknown
        else missing.NO_RULE
    )
    lines = [first, *missing.lines(owners, case.evaluator, False)]
    turn = with_unproven(case, readers, turn_of(case, "refusal", "refused", lines, ()))
    if is_other:  # the question before it is on the list
        return turn
    return replace(turn, reply=turn.reply.model_copy(update={"meta": missing.meta(left, owners)}))


def _is_confirmed_first(case: Case, is_more: bool) -> bool:
    """Is something of what asks left over, or do the rules of the house want this reading confirmed all the same?"""
    if case.reading.residue and (case.asks or is_more):
        return True
    rules = case.index.rules.enforcement
    wanted = {rules.confirm_for(domain) for domain in case.memory.topic.domains} or {rules.confirm_for(None)}
    is_confirmed = all(one.why in ("confirmed", "picked") for one in case.asks)
    is_weak = any(one.status == "weak" for one in case.asks)
    return not is_confirmed and ("always" in wanted or (is_weak and "weak" in wanted))


def _confirmation(case: Case, instead: Reading | None) -> Turn:
    """What was understood, what is left over, and one click to say whether that is the question."""
    asks = case.asks or tuple(_as_asked(case.memory.topic))
    lines = [f"I understood: {_described(asks, case)}."]
    left = [one.text for one in case.reading.residue]
    lines += [f"Nobody here knows what {write.quoted(left)} means for it."] if left else []
    waiting: dict[str, Any] = {"text": case.text, "items": [one.item.written() for one in _whole(case, asks)]}
    choices: tuple[Choice, ...] = (YES, NO)
    if instead is not None:
        other = [one for one in instead.items if one.item.kind == "asks"]
        facts = [one for one in instead.items if one.item.kind == "fact"]
        label = _described(other, case, facts)
        lines = [f"I can read this in two ways: {_described(asks, case, case.reading.items)}, or {label}."]
        choices = (YES.model_copy(update={"label": "The first"}), Choice(value=INSTEAD, label="The second"), NO)
        waiting[INSTEAD] = [one.item.written() for one in instead.items]
    lines.append("Is that your question?" if instead is None else "Which do you mean?")
    turn = turn_of(case, "policy", "needs_choice", lines, (), choices=choices)
    reply = turn.reply.model_copy(update={"meta": missing.meta(left, near(case))})
    return replace(turn, reply=reply, state={**turn.state, PENDING: waiting})


def _as_asked(topic: Topic) -> Iterator[HeldItem]:
    """What the conversation is about, as items that a person picked."""
    for name in (*(topic.actions or topic.outcomes), *topic.facts):
        yield HeldItem(Item(kind="asks", name=name), "borne", "picked")


def _whole(case: Case, asks: Sequence[HeldItem]) -> Sequence[HeldItem]:
    """The items of the reading, with those that the conversation asked before where this turn asks none."""
    return case.reading.items if case.asks else (*asks, *case.reading.items)


def _described(asks: Iterable[HeldItem], case: Case, facts: Iterable[HeldItem] = ()) -> str:
    """What is asked, by its label, and the quotes of what is told."""
    told = [one.item.quote for one in facts if one.item.kind == "fact" and one.item.quote]
    where = f" where {write.quoted(told)}" if told else ""
    return f"{write.listing([_called(one, case) for one in asks])}{where}"


def _called(one: HeldItem, case: Case) -> str:
    """What is asked, by its label."""
    name = one.item.named or ""
    vocabulary = case.index.vocabulary
    declared = vocabulary.outcomes.get(name) or vocabulary.actions.get(name) or vocabulary.facts.get(name)
    return (declared.label if declared else None) or name.replace("_", " ")


def _told(case: Case, turn: Turn) -> Turn:
    """*turn* with how a weak question and weak facts were understood."""
    weak = [one for one in case.asks if one.status == "weak"]
    first = [f"I read this as a question about {write.listing([_called(one, case) for one in weak])}."] if weak else []
    facts = {one.item.name for one in case.reading.items if one.item.kind == "fact" and one.status == "weak"}
    used = [case.words.told(read.fact, read.value) for read in case.reads if read.fact in facts]
    first += [f"I take it that {write.listing(used)}."] if used else []
    text = "\n".join([*first, turn.reply.text])
    choices = turn.reply.choices or ((NOT_ASKED,) if weak else ())
    state = {**turn.state, PENDING: {"text": case.text, "items": []}} if weak else turn.state
    return replace(turn, reply=turn.reply.model_copy(update={"text": text, "choices": choices}), state=state)


def _with_always(case: Case, turn: Turn) -> Turn:
    """*turn* behind the actions that are told whatever was asked, where the case requires them."""
    actions = case.index.vocabulary.actions
    told = {action for _, action, _ in case.scope.duties} if turn.reply.status == "answered" else set()
    names = [name for name in case.decision.required if name in actions and actions[name].always and name not in told]
    if not names:
        return turn
    lines = [f"{case.words.action(name)[:1].upper()}{case.words.action(name)[1:]}." for name in names]
    update: dict[str, Any] = {"text": "\n".join([*lines, turn.reply.text])}
    if turn.reply.status == "refused":  # what is said is an answer, whatever else was asked
        fired = [case.index.rule(one.rule_id) for one in case.decision.fired]
        rules = [rule for rule in fired if not set(names).isdisjoint(rule.effect.demands)]
        own = turn_of(case, "policy", "answered", lines, rules).reply
        rest = turn.reply.text.partition("\n")[2]
        update = {"kind": "policy", "status": "answered", "citations": own.citations}
        update["text"] = "\n".join([*lines, f"To all else that is asked: {missing.NO_RULE}", rest])
    return replace(turn, reply=turn.reply.model_copy(update=update))


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


def _offer(case: Case, readers: frozenset[str]) -> Turn:
    """Where nothing that is asked is held: topics whose own name shares a word with the question, texts, or nobody."""
    said = texts_on(case, readers)
    if said:
        return quoted(case, said)
    owners, left = near(case), [one.text for one in (*case.reading.residue, *case.reading.unknown)]
    named = offered(case) or (_tested(case) if is_no_question(case.text) else ())
    if not named:
        return replace(_unanswered(case, readers), is_aside=True)
    vocabulary = case.index.vocabulary
    case = replace(case, memory=replace(case.memory, offered=named))
    lines = [write.unnamed(drop_declared(left, case.index)), missing.otherwise(owners)]
    turn = turn_of(case, "policy", "needs_choice", lines, (), choices=offers.choices(named, vocabulary))
    return replace(turn, reply=turn.reply.model_copy(update={"meta": missing.meta(left, owners)}))


def _tested(case: Case) -> tuple[str, ...]:
    """The outcomes that depend on all that is told, where nothing is asked."""
    told, known = case.told_now, lookups(case.index)
    rules = {name: known.answering((name,), case.evaluator, case.day) for name in case.index.vocabulary.outcomes}
    found = [name for name, those in rules.items() if told and told <= known.facts_of(those)]
    return tuple(found[:_MOST_OFFERED])


def offered(case: Case) -> tuple[str, ...]:
    """The outcomes, and the actions that answer none, whose own name shares a word with the text: most words first."""
    index = ground_for(case.index, "policy", case.today).index
    seen = see(case.text)
    stems = {form for token in seen.words(0, len(seen.text.seen)) for form in index.stems(token)}
    vocabulary = case.index.vocabulary
    alone = (name for name, one in vocabulary.actions.items() if one.outcome is None and one.same_as is None)
    stems -= frozenset(map(stem, closed("vague")))  # "customer" stands in most names
    shared = {name: len(index.own_of("asks", name) & stems) for name in (*vocabulary.outcomes, *alone)}
    found = [name for name, count in shared.items() if count and _is_for(name, case.index, case.evaluator)]
    return tuple(sorted(found, key=lambda name: (-shared[name], name))[:_MOST_OFFERED])
