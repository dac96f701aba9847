"""An open policy question put through the bounded loop: a recommendation with its reasons, never a decision.

Only where somebody asks for it, `rules/features.yaml` allows it, and the rules leave open what was asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from bot.conversation import Question, Reply, Turn
from bot.enforcement.assemble import case_of
from bot.enforcement.case import Case
from bot.enforcement.open_question import OpenQuestion
from bot.enforcement.question.lookups import lookups
from bot.enforcement.weighed import settled
from bot.index import BundleIndex
from bot.pii import Mask
from bylaw.errors import UsageError
from bylaw.language.words import read_words
from bylaw.refine.ledger import Judged, is_off
from bylaw.refine.loop import Run, run
from bylaw.refine.machine import Limits
from bylaw.refine.outcome import answer, files, final
from bylaw.refine.proposers import AxiomProposer, Proposer

if TYPE_CHECKING:
    from bylaw.authored.machines.rules import Rules
    from bylaw.llm.guarded import Guard
    from bylaw.refine.model import ModelProposer

MODE, ITERATIVE = "mode", "iter"  # of a question's options
META, PAPER = "refinement", "refinement"  # of a reply's `meta`, and of the papers kept beside it
MOST_TOKENS = 4_000  # a whole program is longer than an answer to a person
_OPEN = frozenset({"needs_fact", "escalated", "refused"})


def check_is_on(index: BundleIndex) -> None:
    """Raises UsageError where the rules do not allow it."""
    if not index.rules.features.iterative_answers:
        help = "write `iterative_answers: true` into rules/features.yaml, and let people review it"
        raise UsageError("iterative answers are off in this organisation", help)


def is_wanted(question: Question) -> bool:
    """Did somebody ask for the loop?"""
    return question.options.get(MODE) == ITERATIVE


def refined(
    turn: Turn,
    question: Question,
    state: dict[str, Any],
    index: BundleIndex,
    llm: Guard | None,
    judged: Callable[[], Sequence[Judged]] = lambda: (),
) -> Turn:
    """*turn* with what the loop found: an answer that decides stays, an open one may become a recommendation."""
    check_is_on(index)
    readers = index.readers(question.actor.id)
    today = index.local(question.asked_at).date()
    subject = subject_of(_case_of(turn, question.text, today, state, index, readers), readers)
    if subject is None:
        return turn
    rules = index.rules.refinement
    limits = Limits(rules.max_iterations, rules.refusal_policy, float(rules.seconds))
    found = run(subject, _proposer(index, llm, judged), limits, time.monotonic)
    return _told(turn, found, subject)


def _case_of(
    turn: Turn, text: str, today: date, state: Mapping[str, Any], index: BundleIndex, readers: frozenset[str]
) -> Case:
    """What is asked, in the very case that *turn* rests on: its facts, and no other that the words may seem to tell."""
    evaluator = index.evaluator_of(readers)
    facts = {name: evaluator.ruleset.variables[name].read(value) for name, value in turn.reply.facts.items()}
    case = settled(case_of(text, today, state, index, evaluator, facts))
    memory = replace(case.memory, facts=facts)
    return replace(case, memory=memory, decision=evaluator.decide(facts, case.day))


def subject_of(case: Case, readers: frozenset[str]) -> OpenQuestion | None:
    """The question whether the action that is asked for follows; None where no action is."""
    known, vocabulary = lookups(case.index), case.index.vocabulary
    if case.scope.outcomes:
        outcome = case.scope.outcomes[0]
        rules = tuple(known.answering((outcome,), case.evaluator, case.day))
        given = {action for rule in rules for name, action in rule.effect.takes if name == outcome}
        named = [one for one in vocabulary.actions if vocabulary.canonical(one) in given and _is_named(case, one)]
        usual = [one for one in reversed(vocabulary.restrictive(outcome)) if one in given]
        action = next((vocabulary.canonical(one) for one in (*named, *usual)), None)
        return None if action is None else OpenQuestion(case, action, outcome, rules, readers)
    for action in map(vocabulary.canonical, case.scope.actions):
        answered = vocabulary.outcome_of(action)
        about = () if answered is None else known.answering((answered,), case.evaluator, case.day)
        rules = tuple(dict.fromkeys((*about, *known.speaking((action,), case.evaluator, case.day))))
        if rules:
            return OpenQuestion(case, action, answered if about else None, rules, readers)
    return None


def _is_named(case: Case, action: str) -> bool:
    """Do the words of the question hold all the words of the action's name?"""
    said = {word.text for word in read_words(case.text)}
    return {word.text for word in read_words(action.replace("_", " "))} <= said


def _proposer(index: BundleIndex, llm: Guard | None, judged: Callable[[], Sequence[Judged]]) -> Proposer:
    """The model, unless there is none or it makes more errors than it mends."""
    if llm is None:
        return AxiomProposer()
    model = replace(proposer_of(llm, index.rules), mask=Mask(index.rules.pii).text)
    enough = index.rules.refinement.judged_runs
    return AxiomProposer() if is_off(judged(), model.name, model.version, enough) else model


def proposer_of(guard: Guard, rules: Rules) -> ModelProposer:
    """*guard*'s model as a proposer, under the limits of *rules*."""
    from bot.ask.proposed import provider
    from bylaw.refine.model import ModelProposer  # only where a model is asked

    tokens = max(rules.enforcement.model.answer_tokens, MOST_TOKENS)
    return ModelProposer(provider(guard, rules, "write"), float(rules.refinement.seconds), guard.clock, tokens)


def _told(turn: Turn, found: Run, subject: OpenQuestion) -> Turn:
    exchanges = {
        f"model_{name}_{k}": paper for k, one in enumerate(found.history) for name, paper in one.papers.items()
    }
    papers = {**turn.artifacts, PAPER: files(found), **exchanges}
    told = final(found)
    told["metrics"] = {key: value for key, value in told["metrics"].items() if key != "mean_refinement_seconds"}
    told = {**told, "final_answer": f"{answer(found)} (asked: {subject.case.words.action(subject.action)})"}
    meta = {**(turn.reply.meta or {}), META: told}
    update: dict[str, Any] = {"meta": meta}
    is_open = turn.reply.status in _OPEN and turn.reply.kind == "policy" and not found.first.mark.is_right
    if is_open and found.has_converged:
        update |= {"status": "recommended", "text": _text(turn.reply, told), "ask": None, "choices": (), "outcomes": {}}
    elif is_open:
        update["text"] = f"{turn.reply.text}\nTried by proposals: {told['final_answer']}"
    return replace(turn, reply=turn.reply.model_copy(update=update), artifacts=papers)


def _text(reply: Reply, told: dict[str, Any]) -> str:
    """The recommendation before what the rules themselves say."""
    steps = [
        f"  because {one['condition']}, {one['fact']} is {str(one['value']).lower()}: “{one['quote']}”"
        for one in told["final_logic_program"].get("added", ())
        if one.get("quote")
    ]
    note = "This is a recommendation by a proposal that nobody reviewed; the rules by themselves leave it open:"
    return "\n".join([told["final_answer"], *steps, note, reply.text])
