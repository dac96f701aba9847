"""A policy question, answered: facts from the words, the decision from the rules, one missing fact asked at a time.

Unknown is never assumed: an outcome is given only when every completion of what is unknown agrees. What cannot be
decided goes to the people who own the rule.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from bot.claims.models import Claim, read_claims
from bot.conversation import Question, Turn
from bot.enforcement.case import Case
from bot.enforcement.held_answer import answer_held
from bot.enforcement.judged.reading import draft_of, found_by_template
from bot.enforcement.judged.verdict import owners, verdict
from bot.enforcement.plain_writer import ask_for, asked_next, plain
from bot.enforcement.question.asking import asks_open, named_policies
from bot.enforcement.question.carrying import split_beginning
from bot.enforcement.question.topic import NO_TOPIC
from bot.enforcement.read import read_question
from bot.enforcement.turn import compose_text, turn_of
from bot.enforcement.uncovered import citing
from bot.enforcement.unproven import names_policy, undecidable, with_unproven
from bot.enforcement.weighed import restricted, settled
from bot.enforcement.writing import write
from bot.enforcement.writing.overview import MOST_RULES, Wanted, lines_of, overview
from bot.enforcement.writing.unchecked import unchecked_of
from bot.index import BundleIndex
from bylaw.logic.decide.evaluate import Evaluator

if TYPE_CHECKING:
    from bylaw.llm.guarded import Guard
    from bylaw.refine.ledger import Judged

_NEW: Mapping[str, Any] = {}  # the state of a conversation that begins
_HELD: Mapping[str, Any] = {"outcomes": {}, "different": (), "ask": None, "choices": ()}  # of an answer held back

_logger = logging.getLogger("bylaw.enforcement")


def answer(
    question: Question,
    state: dict[str, Any],
    index: BundleIndex,
    llm: Guard | None = None,
    judged: Callable[[], Sequence[Judged]] = lambda: (),
) -> Turn:
    """Answer *question* in the conversation that *state* carries. What the checks hold back goes to the owners.

    The reply bears no names yet: others who ask the same are given the same turn.
    What is decided may be put into words by *llm*; it is asked for nothing else.
    """
    asked = (question.text, index.local(question.asked_at).date(), index.readers(question.actor.id))
    items = question.options.get("items")
    is_first = not state and llm is None and items is None  # then it depends on nothing else: others may ask the same
    turn = index.recently(_answered)(*asked) if is_first else _answered(index, *asked, state, llm, items)
    if question.options.get("mode") is None:
        return turn
    from bot.enforcement.refining import refined  # hardly any question asks for it

    return refined(turn, question, state, index, llm, judged)


def _answered(
    index: BundleIndex,
    text: str,
    today: date,
    readers: frozenset[str],
    state: Mapping[str, Any] = _NEW,
    llm: Guard | None = None,
    items: object = None,
) -> Turn:
    evaluator = index.evaluator_of(readers)
    is_anew, rest = split_beginning(text)
    state = _NEW if is_anew and rest else state
    read = read_question(text, today, state, index, llm, items)
    decide = partial(_turn_of, readers=readers, llm=llm)
    turn = answer_held(read, today, state, index, evaluator, readers, decide)
    meta = {**(turn.reply.meta or {}), **read.meta}
    reply = turn.reply.model_copy(update={"meta": meta}) if read.meta else turn.reply
    return replace(turn, reply=reply, artifacts={**turn.artifacts, **read.papers})


def _turn_of(case: Case, readers: frozenset[str], llm: Guard | None) -> Turn:
    if not names_policy(case) and (turn := undecidable(case, readers)) is not None:
        return turn
    case = settled(case)
    if (rules := _overview(case, readers)) is not None:
        is_told = names_policy(case) and bool(case.decision.unproven)  # what a policy says is no answer from it
        return with_unproven(case, readers, rules if is_told else _delivered(case, rules))
    if (turn := undecidable(case, readers)) is not None:
        return turn
    case = restricted(case)
    turn = plain(case)
    if llm is not None and turn.reply.status == "answered" and not case.withheld:
        turn = _authored(case, turn, llm)
    turn = _with_texts(case, readers, _delivered(case, _with_different(case, turn)))
    return with_unproven(case, readers, turn) if turn.reply.status == "refused" else turn


def _authored(case: Case, turn: Turn, llm: Guard) -> Turn:
    """*turn* in the words of a model, else in its own with a line that says why."""
    from bot.enforcement import author

    written = author.write(case, draft_of(case, turn.reply.text), llm)
    if written.text is None:
        _logger.warning("the plain writer answers", extra={"meta": {"model": written.model, "reason": written.reason}})
    text = (
        compose_text(case, [written.text]) if written.text else f"{turn.reply.text}\n{write.fallback(written.reason)}"
    )
    reply = turn.reply.model_copy(update={"text": text, "meta": written.meta()})
    decided = {"verdict": written.verdicts[-1].model_dump(mode="json")} if written.text else {}
    return replace(turn, reply=reply, artifacts={**turn.artifacts, **written.papers(), **decided})


def _with_different(case: Case, turn: Turn) -> Turn:
    """*turn* with what would have to be different for each outcome that it gives."""
    trials = case.index.rules.enforcement.different_trials
    if turn.reply.status != "answered" or not turn.reply.outcomes or not trials or case.bounds:
        return turn
    from bot.enforcement.writing.different import different  # looks for other cases, which only an answer needs

    found = different(case.words, case.evaluator, case.facts, case.day, case.decision, turn.reply.outcomes, trials)
    return replace(turn, reply=turn.reply.model_copy(update={"different": tuple(found)}))


def _delivered(case: Case, turn: Turn) -> Turn:
    """*turn* with the verdict that decided on it: the one that let a model's words pass, with the judge, else that on
    our words, which come with what they claim and are not read again. Words that do not pass it are not said.
    """
    claims, ask = read_claims(turn.artifacts.get("policy", {}).get("claims", [])), turn.reply.ask
    claims += () if ask is None else (Claim(kind="asks", quote=ask.question, fact=ask.fact),)
    draft = draft_of(case, turn.reply.text, None, found_by_template(case, turn.reply.text, claims))
    found = verdict(draft)
    held = found.verdict in ("invalid", "impossible") and turn.reply.status == "answered"
    own = found.model_dump(mode="json")
    kept = own if held else turn.artifacts.get("verdict", own)
    artifacts = {**turn.artifacts, "verdict": kept}
    log = {**turn.log, "compliance_score": kept["score"]}
    if not held:
        return replace(turn, artifacts=artifacts, log=log)
    _logger.error("an answer of our own did not pass its checks", extra={"meta": {"verdict": found.verdict}})
    named = owners(draft, draft.deciding)
    asked = f"Please ask {write.listing(named)}." if named else ""
    text = f"I have an answer, but it did not pass the checks that every answer has to pass. {asked}".strip()
    reply = turn.reply.model_copy(update={"text": text, "status": "escalated", **_HELD})
    return replace(turn, reply=reply, artifacts=artifacts, log={**log, "duties": {}})


def visible(actor: str, index: BundleIndex) -> Evaluator:
    """The rules that *actor* may be answered from: those for everyone, and those for one of the actor's roles."""
    return index.evaluator_of(index.readers(actor))


def _overview(case: Case, readers: Collection[str]) -> Turn | None:
    """The rules themselves, where somebody asks for them and tells no case that they decide."""
    is_decided = any(case.decision.outcomes[name].action is not None for name in case.scope.outcomes[:1])
    is_decided = is_decided or any(action in case.scope.actions for _, action, _ in case.scope.duties)
    if case.told_now and is_decided and not case.memory.topic.facts:
        return None
    said = {read.fact: read.value for read in case.reads}  # what was said before belongs to the case, not to the rules
    topic = case.memory.topic if not named_policies(case.text) or case.asks else NO_TOPIC
    wanted = Wanted(case.text, topic, said, _asks_for_rules(case))
    found = overview(wanted, case.index, case.evaluator, case.day, readers)
    if found is None:
        return None
    lines = lines_of(case.words, found, said, case.evaluator.ruleset.variables)
    if not found.about:  # all that it names is unknown
        return turn_of(case, "refusal", "refused", lines, ())
    following = None if found.is_whole else asked_next(case, case.scope.missing)
    ask = None if following is None else ask_for(case, following)
    lines += [] if ask is None else [f"{write.DEPENDS} {ask.question}"]
    return citing(turn_of(case, "policy", "answered", lines, found.rules[:MOST_RULES], (), ask), found.texts)


def _asks_for_rules(case: Case) -> bool:
    """Are the rules themselves asked for: in these words, or openly ("when", "how much") and of no case?"""
    if any(one.item.mode == "rules" for one in case.asks):
        return True
    return not (case.facts or case.bounds) and bool(case.asks) and asks_open(case.text)


def _with_texts(case: Case, readers: Collection[str], turn: Turn) -> Turn:
    """*turn* with what the policies that it cites say beside their rules, in words that no logic knows."""
    reply = turn.reply
    if reply.status != "answered":
        return turn
    texts = unchecked_of((one.id for one in reply.citations), readers, case.index, case.day)
    lines = [f"Also: {one.quoted}" for one in texts]
    return replace(turn, reply=reply.model_copy(update={"text": "\n".join([reply.text, *lines])})) if lines else turn
