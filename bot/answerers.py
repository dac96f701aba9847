"""The three kinds of answer, and how sure each is that a text is its own.

What answers is loaded with the first question that is its own, and what only recognises one with the first bundle that
has something to recognise: a short command waits for no more than it needs.
"""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from bot.conversation import Question, Turn
from bot.enforcement.question import fit
from bot.enforcement.question.asking import asks_for_permission, is_regulated, is_request
from bot.index import BundleIndex
from bot.router import Answer, Answerer
from bylaw.hold.text import see
from bylaw.language.reports import asks_a_price, asks_for_a_rule, counts, is_report

if TYPE_CHECKING:
    from bot.analytics.plan.plans import Settle
    from bylaw.llm.guarded import Guard
    from bylaw.refine.ledger import Judged
    from bylaw.warehouses.port import Warehouse


def answerers(
    warehouse: Warehouse | None,
    llm: Guard | None = None,
    settle: Settle | None = None,
    judged: Callable[[], Sequence[Judged]] = lambda: (),
) -> tuple[Answerer, ...]:
    """The three. Where two are equally sure, the earlier one speaks. *settle* closes shown plans, where any is kept;
    *judged* is what people made of what the bounded loop recommended.
    """

    def data_from(rows: Warehouse | None) -> Answer:
        def data(question: Question, state: dict[str, Any], index: BundleIndex) -> Turn:
            from bot.analytics import answer as analytics

            known = {entity.base_table.schema_name for entity in index.bundle.context.entities.values()}
            rights = index.rules.roles.rights_of(question.actor.id, known)
            return analytics.answer(question, state, index, rows, rights, settle, llm)

        return data

    def attended(gone: threading.Event) -> Answer:
        from bylaw.warehouses.attended import Attended

        return data_from(None if warehouse is None else Attended(warehouse, gone))

    def decision(question: Question, state: dict[str, Any], index: BundleIndex) -> Turn:
        from bot.decisions import answer as decisions

        return decisions.answer(question, state, index, time.monotonic, llm)

    def policy(question: Question, state: dict[str, Any], index: BundleIndex) -> Turn:
        from bot.enforcement import answer as enforcement

        return enforcement.answer(question, state, index, llm, judged)

    return (
        Answerer(
            "decision",
            _decision_score,
            decision,
            _decision_topics,
            _decision_prepared,
            only_computes=llm is None,
            names=_decision_names,
        ),
        Answerer(
            "data",
            _data_score,
            data_from(warehouse),
            _data_topics,
            _data_prepared,
            attended,
            personal=_personal,
            continues=_data_continues,
        ),
        Answerer("policy", fit.score, policy, fit.topics, only_computes=llm is None, names=_policy_names),
    )


# ---- decisions ------------------------------------------------------------------------------------------------------


def _decision_score(text: str, index: BundleIndex) -> float:
    """How much *text* is a question about a decision. Who may do something is a rule, not what was once decided."""
    if _is_settled(text, index) or not index.bundle.decisions.decisions:
        return 0.0
    from bot.decisions.recognise import asks_otherwise, is_decision_question

    score = is_decision_question(text, index)
    if (
        score and asks_for_permission(text) and asks_for_permission(asks_otherwise(text, index))
    ):  # "should we still …?" asks how a decision stands
        return min(score, float(index.rules.routing.answer_from) / 2)
    return score


def _is_settled(text: str, index: BundleIndex) -> bool:
    """Does *text* ask what may be done, and do the declared words of the policies account for all of it?

    Then no other kind has to be loaded to be compared.
    """
    if index.bundle.bundle_metadata.unread or not asks_for_permission(text) or is_request(text):
        return False
    return index.recently(_is_whole)(text)


def _is_whole(index: BundleIndex, text: str) -> bool:
    from bot.enforcement.assemble import matched  # the answer needs it next

    reading = matched(text, date(2000, 1, 1), index)  # for its kind the day does not matter
    return any(one.item.kind == "asks" for one in reading.items) and not reading.residue


def _decision_names(text: str, index: BundleIndex) -> bool:
    """Is a decision that everybody may read called so?"""
    if not index.bundle.decisions.decisions:
        return False
    from bot.decisions.recognise import is_called

    return is_called(text, index)


def _policy_names(text: str, index: BundleIndex) -> bool:
    """Do the rules name something that *text* says, or may an unread one?"""
    if index.bundle.bundle_metadata.unread:
        return True
    from bot.ask.ground import ground_for

    words = ground_for(index, "policy", date(2000, 1, 1), "").index
    seen = see(text)
    return any(True for passage in seen.text.passages for _ in words.find(seen.words(passage.start, passage.end)))


def _decision_topics(index: BundleIndex) -> Sequence[str]:
    from bot.decisions import answer as decisions

    return decisions.topics(index)


def _decision_prepared(index: BundleIndex) -> None:
    from bot.decisions import answer as decisions

    decisions.prepare(index)


# ---- data -----------------------------------------------------------------------------------------------------------


def _personal(answerer: Answerer, recalled: Any, index: BundleIndex) -> Answerer:
    """*answerer*, for a person of whom something is remembered."""
    from bot.memory import personal  # most people have nothing to be remembered

    return personal.answering(answerer, recalled, index)


def _data_topics(index: BundleIndex) -> Sequence[str]:
    from bot.analytics import prepared

    return prepared.topics(index)


def _data_continues(text: str, state: Mapping[str, Any], index: BundleIndex) -> bool:
    from bot.analytics import prepared

    return prepared.continues(text, state, index)


def _data_prepared(index: BundleIndex) -> None:
    """All that the first data question would otherwise wait for."""
    from bot.analytics import prepared

    importlib.import_module("bot.analytics.answer")
    prepared.prepare(index)


def _data_score(text: str, index: BundleIndex) -> float:
    """How much *text* is a data question."""
    return index.recently(_scored)(text)


def _is_of_the_unread(text: str, index: BundleIndex) -> bool:
    """Does *text* name an entity or a metric whose file cannot be read?"""
    if not index.bundle.bundle_metadata.unread:
        return False
    from bot.analytics import unread

    return unread.named_in(text, index) is not None


def _scored(index: BundleIndex, text: str) -> float:
    """How much *text* is a data question. A word like "remove" makes it a request to write, but no more than likely:
    "can I remove a review?" asks about the policy, and answering that writes nothing."""
    if _is_settled(text, index):
        return 0.0
    edge = float(index.rules.routing.answer_from)
    least = edge if _is_of_the_unread(text, index) else 0.0  # that it cannot be read has to be said
    if not index.bundle.context.entities:
        return least  # there is no data to ask about, or to write to
    from bot.analytics import prepared
    from bot.analytics.writes import begins_with_write, is_write_request

    weights = index.rules.routing.data
    if is_write_request(text):
        if (asks_for_permission(text) and not is_request(text)) or index.recently(_is_whole)(text):
            return 0.0  # "can I remove a review?" wants to know whether it may be done, and so does "cancel my trip"
        return float(weights.write_command if begins_with_write(text) else weights.write_request)
    score = max(least, prepared.score(text, index))
    # "how much does shipping cost to Germany?": of no time and no group, it asks for what holds
    if asks_a_price(text) and not counts(text) and fit.score(text, index) >= edge:
        return min(score, edge)
    if score < index.rules.routing.interrupt_from and asks_for_permission(text):
        return min(score, edge / 2)  # what somebody may is a rule, where data hardly know it
    # "how long does a VIP have to return it?" is about data where no policy is about it
    if asks_for_a_rule(text) or is_regulated(text) or fit.is_of_a_case(text, index):
        return min(score, edge)
    return max(score, float(weights.report)) if is_report(text) else score
