"""A policy question, answered: facts from the words, the decision from the rules, one missing fact asked at a time.

Unknown is never assumed: an outcome is given only when every completion of what is unknown agrees. What cannot be
decided goes to the people who own the rule.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain, islice
from typing import Any

from bot.claims.judge import Found, holds
from bot.claims.models import Claim, read_claims
from bot.conversation import Ask, Citation, Question, Turn
from bot.enforcement import author, template
from bot.enforcement.case import Case
from bot.enforcement.judged.checks.result import AnswerDraft, Judge
from bot.enforcement.judged.reading import found_by_template, situation
from bot.enforcement.judged.verdict import owners, verdict
from bot.enforcement.propose import is_needed, propose
from bot.enforcement.question.case.bounds import Bound, cases
from bot.enforcement.question.case.days import changes, written
from bot.enforcement.question.case.facts import Reading
from bot.enforcement.question.case.proposed import Held, not_used
from bot.enforcement.question.case.replies import asks_why
from bot.enforcement.question.intent import asking_clause, asks_what_follows, asks_what_holds
from bot.enforcement.question.lookups import lookups
from bot.enforcement.question.memory import Memory, load
from bot.enforcement.question.restrictive import most_restrictive
from bot.enforcement.question.topic import offers
from bot.enforcement.question.topic.covered import Coverage, coverage, is_of_another_deed
from bot.enforcement.question.topic.recognise import Topic, hinted, naming, topic
from bot.enforcement.question.topic.scope import Scope, following, scope_of, told_alone
from bot.enforcement.question.understanding import understand
from bot.enforcement.turn import said, turn_of
from bot.enforcement.writing import missing, write
from bot.enforcement.writing.different import different
from bot.enforcement.writing.overview import MOST_RULES, of_words, overview, told
from bot.enforcement.writing.unchecked import Unchecked, unchecked, unchecked_of
from bot.index import BundleIndex
from bylaw.llm.guarded import Guard
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Conflict, Decision, Evaluator, OutcomeResult
from bylaw.logic.formula.ir import ConditionalRule, Value

_MOST_CHANGES = 12  # of the rules, within the days that are asked about
_MOST_CITED = 3  # of the rules that were only looked at
_NO_RULE = "No rule of ours speaks about this."
_NEW: Mapping[str, Any] = {}  # the state of a conversation that begins
_HELD: Mapping[str, Any] = {"outcomes": {}, "different": (), "ask": None, "choices": ()}  # of an answer held back

_logger = logging.getLogger("bylaw.enforcement")


def answer(question: Question, state: dict[str, Any], index: BundleIndex, llm: Guard | None = None) -> Turn:
    """Answer *question* in the conversation that *state* carries. What the checks hold back goes to the owners.

    The reply bears no names yet: others who ask the same are given the same turn.
    What is decided may be put into words by *llm*; it is asked for nothing else.
    """
    asked = (question.text, index.local(question.asked_at).date(), index.readers(question.actor.id))
    is_first = not state and llm is None  # then it depends on nothing else, and others may ask the same
    return index.recently(_answered)(*asked) if is_first else _answered(index, *asked, state, llm)


def _answered(
    index: BundleIndex,
    text: str,
    today: date,
    readers: frozenset[str],
    state: Mapping[str, Any] = _NEW,
    llm: Guard | None = None,
) -> Turn:
    case = case_of(text, today, state, index, index.evaluator_of(readers))
    papers: dict[str, Any] = {}
    if llm is not None and is_needed(case):
        proposed, exchange = propose(case, llm)
        papers["model_read"] = exchange.paper()
        case = case_of(text, today, state, index, case.evaluator, proposed=proposed)
    turn = _over_days(case, readers, llm)
    return replace(turn, artifacts={**turn.artifacts, **papers}) if papers else turn


def _over_days(case: Case, readers: frozenset[str], llm: Guard | None) -> Turn:
    """The answer over all days that are asked about: one, or one for each stretch between which the rules change it.

    What has to be asked for one stretch is asked before any is told. No model words an answer of several.
    """
    starts = [] if case.memory.days is None else changes(case.memory.days, case.evaluator.ruleset.rules)
    if len(starts) < 2:
        return _turn_of(case, readers, llm)
    cases = [_part(case, start) for start in starts[:_MOST_CHANGES]]
    turns = [_turn_of(part, readers, None) for part in cases]
    for part, turn in zip(cases, turns, strict=True):
        if turn.reply.status not in ("answered", "refused"):
            return _turn_of(replace(part, is_part=False), readers, llm)
    told = [k for k, turn in enumerate(turns) if not k or turn.reply.text != turns[k - 1].reply.text]
    answered = [turn for turn in turns if turn.reply.status == "answered"]
    rest = starts[_MOST_CHANGES : _MOST_CHANGES + 1]
    if not answered or len(told) + len(rest) < 2:
        return _turn_of(case, readers, llm)
    lines = [f"From {written(starts[k])}:\n{turns[k].reply.text}" for k in told]
    lines += [f"From {written(day)} on the rules change again: ask for a day after it." for day in rest]
    cited = dict.fromkeys(one for turn in turns for one in turn.reply.citations)
    update = {"text": said(case, lines), "citations": tuple(cited), "outcomes": {}, "different": (), "path": ()}
    return replace(answered[0], reply=answered[0].reply.model_copy(update=update))


def _turn_of(case: Case, readers: frozenset[str], llm: Guard | None) -> Turn:
    if case.picked == offers.SOMETHING_ELSE:  # the question itself is on the list of missing policies
        return turn_of(case, "refusal", "refused", [_NO_RULE, *missing.lines(_near(case), case.evaluator, False)], ())
    turn = None if case.picked else _uncovered(case, readers)
    if turn is not None:
        return turn
    case = _settled(case)
    rules = None if case.picked else _overview(case, readers)
    if rules is not None:
        return _delivered(case, rules)
    case = _restricted(case)
    turn = plain(case)
    if llm is not None and turn.reply.status == "answered" and not case.withheld:
        turn = _authored(case, turn, llm)
    if turn.reply.status == "refused" and not case.scope.outcomes and (texts := _texts(case, readers)):
        return _quoted(case, texts)
    return _with_texts(case, readers, _delivered(case, _with_different(case, turn)))


def case_of(
    text: str,
    today: date,
    state: Mapping[str, Any],
    index: BundleIndex,
    evaluator: Evaluator,
    given: Mapping[str, Value] | None = None,
    proposed: Held | None = None,
) -> Case:
    """What *text*, said *today*, is about, by the rules of *evaluator*. Facts *given* count more than those read."""
    before = load(state, evaluator.ruleset.variables)
    memory, reading, is_declined = understand(text, today, before, index, evaluator, proposed)
    if proposed is not None and proposed.domain in index.rules_by_domain:
        memory = replace(memory, topic=_in_domain(memory.topic, proposed.domain, index))
    given = given or {}
    facts = {**memory.facts, **given}
    told = frozenset(name for name, value in facts.items() if memory.facts.get(name, value) == value)
    memory = replace(memory, facts=facts)
    on = memory.days.start if memory.days else today
    bounds, (about, decision, scope) = _weighed_within(text, memory, reading, index, evaluator, on.toordinal())
    memory = replace(memory, topic=about)
    words = write.Words(index.vocabulary)
    read = tuple(one for one in reading.reads if given.get(one.fact, one.value) == one.value)
    unclear, asked = reading.unclear, before.asking if memory.number == before.number else None
    left = tuple(not_used(proposed, reading))
    memory = replace(memory, topic=_carried(memory.topic, scope))
    case = Case(text, today, index, evaluator, words, memory, read, unclear, decision, scope, asked, is_declined)
    case = replace(case, bounds=bounds)
    is_proposed = bool(proposed and proposed.domain and proposed.reads)
    pick = offers.picked(text, before.offered, index)
    return replace(case, told=told, unused=left, is_proposed=is_proposed, picked=pick, on=on)


def _weighed(
    text: str,
    about: Topic,
    facts: Mapping[str, Value],
    said: Mapping[str, Value],
    index: BundleIndex,
    evaluator: Evaluator,
    day: int,
) -> tuple[Topic, Decision, Scope]:
    """What *text* is about, what the rules decide where *facts* hold, and the part of it that is asked for."""
    decision = evaluator.decide(facts, day)
    matter = (facts, said, index, evaluator, decision, day)
    scope = scope_of(about, *matter)
    if scope.is_offer and asks_what_follows(text):
        followed = naming(about, following(said, decision, evaluator), index)
        if set(scope.choices) <= {*followed.outcomes, *followed.actions}:  # else some of it is still open
            return followed, decision, scope_of(followed, *matter)
    return about, decision, scope


def _weighed_within(
    text: str, memory: Memory, reading: Reading, index: BundleIndex, evaluator: Evaluator, day: int
) -> tuple[Mapping[str, Bound], tuple[Topic, Decision, Scope]]:
    """The same, with the bounds that were told, where all the cases that they leave come out alike."""
    now, said = {one.fact for one in reading.unclear if one.tests}, reading.facts
    found = [
        _weighed(text, memory.topic, {**memory.facts, **case}, said | told, index, evaluator, day)
        for case in (cases(memory.bounds, evaluator) if memory.bounds else ())
        for told in [{name: value for name, value in case.items() if name in now}]
    ]
    if found and len({_said_of(decision, scope) for _, decision, scope in found}) == 1:
        return memory.bounds, found[0]
    return {}, _weighed(text, memory.topic, memory.facts, said, index, evaluator, day)


def _said_of(decision: Decision, scope: Scope) -> Hashable:
    """What an answer of that scope says, but for the rules that it cites."""
    duties = tuple((kind, action) for kind, action, _ in scope.duties)
    taken = tuple(decision.outcomes[name].action for name in scope.outcomes)
    clashes = tuple((one.outcome, one.action) for one in decision.conflicts)
    return (*(scope.outcomes, scope.actions, scope.silent, scope.missing, scope.choices), duties, taken, clashes)


def _part(case: Case, on: date) -> Case:
    """*case* by the rules of another of its days, as one of several parts of an answer."""
    decision = case.evaluator.decide(case.facts, on.toordinal())
    return _about(replace(case, decision=decision, on=on, is_part=True), case.memory.topic)


def _carried(topic: Topic, scope: Scope) -> Topic:
    """*topic* with what it turned out to be about, so that the conversation goes on with it."""
    return topic if topic.is_named else replace(topic, outcomes=scope.outcomes, actions=scope.actions)


def _in_domain(topic: Topic, domain: str, index: BundleIndex) -> Topic:
    """*topic* with the domain that a model found, where the words alone leave it unsure."""
    if topic.is_sure(index.rules.enforcement.classify_by_model_below):
        return topic
    domains = (domain, *(one for one in topic.domains if one != domain))
    return replace(
        topic, domains=domains, areas=(domain,), confidence=float(index.rules.enforcement.classify_by_model_below)
    )


def draft_of(case: Case, text: str, judge: Judge | None = None, found: Found | None = None) -> AnswerDraft:
    """*text* as an answer to *case*, and what was *found* in it, ready for the checks."""
    said, topic, told = case.text, case.memory.topic, case.told
    index, evaluator, facts, day = case.index, case.evaluator, case.facts, case.day
    return AnswerDraft(said, text, index, evaluator, facts, day, case.decision, case.scope, topic, judge, told, found)


def _authored(case: Case, turn: Turn, llm: Guard) -> Turn:
    """*turn* in the words of a model, else in its own with a line that says why."""
    written = author.write(case, draft_of(case, turn.reply.text), llm)
    if written.text is None:
        _logger.warning("the plain writer answers", extra={"meta": {"model": written.model, "reason": written.reason}})
    text = said(case, [written.text]) if written.text else f"{turn.reply.text}\n{write.fallback(written.reason)}"
    reply = turn.reply.model_copy(update={"text": text, "meta": written.meta()})
    return replace(turn, reply=reply, artifacts={**turn.artifacts, **written.papers()})


def _with_different(case: Case, turn: Turn) -> Turn:
    """*turn* with what would have to be different for each outcome that it gives."""
    trials = case.index.rules.enforcement.different_trials
    if turn.reply.status != "answered" or not turn.reply.outcomes or not trials or case.bounds:
        return turn
    found = different(case.words, case.evaluator, case.facts, case.day, case.decision, turn.reply.outcomes, trials)
    return replace(turn, reply=turn.reply.model_copy(update={"different": tuple(found)}))


def _delivered(case: Case, turn: Turn) -> Turn:
    """*turn* with the verdict on it. Our own words come with what they claim and are not read again."""
    claims, ask = read_claims(turn.artifacts.get("policy", {}).get("claims", [])), turn.reply.ask
    claims += () if ask is None else (Claim(kind="asks", quote=ask.question, fact=ask.fact),)
    draft = draft_of(case, turn.reply.text, None, found_by_template(case, turn.reply.text, claims))
    found = verdict(draft)
    held = found.verdict in ("invalid", "impossible") and turn.reply.status == "answered"
    artifacts = {**turn.artifacts, "verdict": found.model_dump(mode="json")}
    log = {**turn.log, "compliance_score": found.score}
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


# ---- what is answered -----------------------------------------------------------------------------------------------


def plain(case: Case) -> Turn:
    """The answer of the plain writer: what is decided, what is asked, or who can decide. It is not checked yet."""
    conflicts = _conflicts(case)
    if conflicts:
        return _escalated_conflict(case, conflicts)
    about = case.scope.outcomes
    is_allowed = any(kind == "permitted" for kind, _, _ in case.scope.duties)
    if case.scope.actions and not case.scope.is_named and not is_allowed:
        about = told_alone(case.scope.actions, case.reads, case.decision, case.index)
    decided = [name for name in about if case.decision.outcomes[name].action is not None]
    primary = case.scope.outcomes[0] if case.scope.outcomes else None
    is_open = bool(case.scope.missing) and (primary is None or primary not in decided)
    if is_open:
        return _asked(case) or _escalated_unknown(case)
    if decided or case.scope.duties or case.scope.silent:
        return _decided(case, decided)
    return _spoken_of(case) or _which(case) or _refused(case)


def _uncovered(case: Case, readers: Collection[str]) -> Turn | None:
    """What is said where nothing that is asked is declared. It leaves the conversation as it was."""
    found = coverage(case.text, case.told_now, case.index)
    is_told_anew = bool(case.unclear) and case.memory.topic.is_named
    goes_on_with = bool(case.asked or is_told_anew or set(case.facts) - {read.fact for read in case.reads})
    if case.is_proposed or (goes_on_with and (not found.unknown or case.told_now or not asks_what_holds(case.text))):
        return None
    if found.is_covered:
        return _doubted(case, found) if is_of_another_deed(case.text, case.told_now, case.index) else None
    if texts := _texts(case, readers):
        return _quoted(case, texts)
    if case.told_now and case.scope.is_offer and (turn := _which(case, found)) is not None:
        return turn
    about = f": nothing in them speaks of {write.quoted(found.typed)}" if found.unknown else ""
    lines = [f"Our rules do not cover this{about}."]
    turn = _missing(case, lines, found.unknown or found.asked, _near(case))
    return replace(turn, is_aside=True)


def _doubted(case: Case, found: Coverage) -> Turn | None:
    """Ask whether a question is about what it names, where it would do something that no rule speaks of."""
    scope = case.scope
    named = scope.choices or (*scope.outcomes, *scope.actions)
    return _which(replace(case, scope=replace(scope, choices=named, is_offer=True)), found)


def _texts(case: Case, readers: Collection[str]) -> list[Unchecked]:
    """What stands in policies as text alone about what is asked."""
    asked = coverage(case.text, case.told_now, case.index).asked
    return unchecked(asked or case.text.split(), readers, case.index, case.day)


def _overview(case: Case, readers: Collection[str]) -> Turn | None:
    """The rules themselves, where somebody asks for them and tells no case that they decide."""
    said = {read.fact: read.value for read in case.reads}  # what was said before belongs to the case, not to the rules
    if not case.memory.topic.is_named and (one := hinted(case.memory.topic)):  # told what it is about, people go on
        case = _about(case, offers.topic_of(one[0], case.index))
    about, text = case.memory.topic, case.text
    found = overview(text, about, said, case.index, case.evaluator, case.day, readers)
    is_decided = any(case.decision.outcomes[name].action is not None for name in case.scope.outcomes[:1])
    is_decided = is_decided or any(action in case.scope.actions for _, action, _ in case.scope.duties)
    if found is None or ((said or case.bounds) and is_decided):
        return None
    lines = told(case.words, found, said, case.evaluator.ruleset.variables)
    if not found.about:  # all that it names is unknown
        return turn_of(case, "refusal", "refused", lines, ())
    following = None if found.is_whole else _to_ask(case, case.scope.missing)
    ask = None if following is None else _ask(case, following)
    lines += [] if ask is None else [f"{write.DEPENDS} {ask.question}"]
    return _citing(turn_of(case, "policy", "answered", lines, found.rules[:MOST_RULES], (), ask), found.texts)


def _about(case: Case, topic: Topic) -> Case:
    """*case* as one about *topic*."""
    said = {read.fact: read.value for read in case.reads}
    scope = scope_of(topic, case.facts, said, case.index, case.evaluator, case.decision, case.day)
    return replace(case, memory=replace(case.memory, topic=topic), scope=scope)


def _settled(case: Case) -> Case:
    """*case* with the outcomes decided that no rule decides for sure, and that come out alike whatever is not known."""
    about = case.scope.outcomes if case.scope.is_named else case.scope.outcomes[:1]
    found = {name: result for name in about if (result := _alike(case, name)) is not None}
    if not found:
        return case
    undecided = {name: facts for name, facts in case.decision.undecided.items() if name not in found}
    decision = replace(case.decision, outcomes={**case.decision.outcomes, **found}, undecided=undecided)
    left = {fact for name in about for fact in undecided.get(name, ())}
    missing = tuple(fact for fact in case.scope.missing if fact in left)
    return replace(case, decision=decision, scope=replace(case.scope, missing=missing))


def _alike(case: Case, outcome: str) -> OutcomeResult | None:
    """The action that an undecided outcome gets in every completion, and the strongest rule that may give it."""
    if outcome not in case.decision.undecided or _conflicts(case):
        return None
    rules = lookups(case.index).ranked(outcome, case.evaluator, case.day)
    waiting = [rule for rule in rules if truth(rule.guard, case.facts) is not False]
    actions = dict.fromkeys(taken for rule in waiting for name, taken in rule.effect.takes if name == outcome)
    told = situation(case, "")
    action = next((one for one in actions if holds(told, one)), None)
    rule = next((rule for rule in waiting if (outcome, action) in rule.effect.takes), None)
    return None if rule is None else OutcomeResult(action, rule.policy_id, rule.rule_id)


def _restricted(case: Case) -> Case:
    """*case* with the most restrictive outcome in place of one that declined facts could decide."""
    missing, outcome = case.scope.missing, next(iter(case.scope.outcomes), None)
    if outcome is None or not any(name in case.memory.declined for name in missing):
        return case
    if case.decision.outcomes[outcome].action is not None or _conflicts(case):
        return case
    found = most_restrictive(outcome, case.facts, case.day, case.index, case.evaluator)
    if found is None:
        return case
    undecided = {name: facts for name, facts in case.decision.undecided.items() if name != outcome}
    decision = replace(case.decision, outcomes={**case.decision.outcomes, outcome: found}, undecided=undecided)
    return replace(case, decision=decision, scope=replace(case.scope, missing=()), withheld=missing)


def _conflicts(case: Case) -> list[Conflict]:
    about = set(case.scope.outcomes[:1] if not case.scope.is_named else case.scope.outcomes)
    return [
        c for c in case.decision.conflicts if c.outcome in about or (not c.outcome and c.action in case.scope.actions)
    ]


def _decided(case: Case, decided: Sequence[str]) -> Turn:
    told = [*template.decided(case, decided)]
    cited = [line.rule for line in told if line.rule is not None]
    told += template.duties(case, case.scope.duties, is_explained=not decided, cited=cited)
    cited = list({line.rule.rule_id: line.rule for line in told if line.rule is not None}.values())
    lines = [line.text for line in told]
    silence = "No policy in force requires, forbids or expressly allows this in the case as told"
    lines += [f"{silence}: {case.words.action(action)}." for action in case.scope.silent]
    cited += [rule for rule in _rules_of(case, case.scope.silent) if rule not in cited][:_MOST_CITED]
    following = _to_ask(case, case.withheld)  # whoever declined one question may still answer another
    ask = None if following is None else _ask(case, following)
    if ask is not None:
        lines = [*_unheard(case, ask.fact), *lines, f"{write.CHANCE} {ask.question}"]
    if ask is None and _is_more_of_nothing(case):
        lines.insert(0, write.NOTHING_NEW)
    turn = turn_of(case, "policy", "answered", lines, cited, decided, ask)
    claims = [claim.model_dump(mode="json", exclude_defaults=True) for line in told for claim in line.claims]
    return replace(turn, artifacts={**turn.artifacts, "policy": {**turn.artifacts["policy"], "claims": claims}})


def _is_more_of_nothing(case: Case) -> bool:
    """Does the turn go on with what was said ("and for a cat?", "40") in words that tell nothing of it?"""
    is_silent = not (case.reads or case.unclear or case.is_declined) and bool(case.facts)
    return is_silent and not topic(case.text, case.index).is_named


def _to_ask(case: Case, missing: Sequence[str]) -> str | None:
    """The most deciding fact that the person has not declined, one that has a question of its own first."""
    facts = case.index.vocabulary.facts
    left = [name for name in missing if name not in case.memory.declined and name in facts]
    return next((name for name in left if facts[name].ask), next(iter(left), None))


def _ask(case: Case, name: str) -> Ask:
    choices = write.choices(case.index.vocabulary.facts[name])
    return Ask(fact=name, question=write.question(case.words, name), choices=choices)


def _which(case: Case, found: Coverage | None = None) -> Turn | None:
    """Ask what it is about, where the words do not leave but one thing. What they do not name may be something else.

    Nothing is offered to words that name nothing, tell of no case but its kind, and ask nothing: "market share of
    phones".
    """
    named = case.scope.choices[: offers.MOST]
    is_bare = bool(case.told_now) and all(isinstance(read.value, str) for read in case.told_now)
    if not named or (case.scope.is_offer and is_bare and not asking_clause(case.text)):
        return None
    case = replace(case, memory=replace(case.memory, offered=named))
    choices = offers.choices(named, case.index.vocabulary)
    if not case.scope.is_offer:
        return turn_of(case, "policy", "needs_choice", [write.WHICH], (), choices=choices)
    owners, found = _near(case), found or coverage(case.text, case.told_now, case.index)
    lines = [write.unnamed(found.typed), missing.otherwise(owners)]
    turn = turn_of(case, "policy", "needs_choice", lines, (), choices=choices)
    meta = missing.meta(found.unknown or found.asked, owners)
    return replace(turn, reply=turn.reply.model_copy(update={"meta": meta}))


def _asked(case: Case) -> Turn | None:
    """Ask for a missing fact, if there is one to ask for."""
    name = _to_ask(case, case.scope.missing)
    if name is None:
        return None
    ask = _ask(case, name)
    lines = [ask.question]
    if case.is_declined and case.asked:
        lines.insert(0, f"Without knowing that ({case.words.fact(case.asked)}) it depends on something else.")
    return turn_of(case, "policy", "needs_fact", [*_unheard(case, name), *lines], _open_rules(case, 1), (), ask)


def _unheard(case: Case, name: str) -> list[str]:
    """What to say where *name* was asked for, and nothing in this turn is an answer: who asks why hears why."""
    if case.asked != name or case.is_declined or case.reads or case.unclear:
        return []
    if not asks_why(case.text):
        return [write.UNHEARD]
    tested = lookups(case.index).facts
    policies = dict.fromkeys(rule.policy_id for rule in _open_rules(case) if name in tested[rule.rule_id])
    outcome = case.words.outcome(case.scope.outcomes[0]) if case.scope.outcomes else "the answer"
    return [write.why_asked(outcome, list(policies)[:_MOST_CITED])]


def _escalated_unknown(case: Case) -> Turn:
    """Nothing is left to ask: name what is missing, and who can decide without it."""
    missing = write.listing(case.words.fact(name) for name in case.scope.missing)
    rules = _open_rules(case)
    about = case.words.outcome(case.scope.outcomes[0]) if case.scope.outcomes else "this"
    lines = [f"I cannot decide {about} without knowing: {missing}.", _whom_to_ask(case, rules)]
    return turn_of(case, "policy", "escalated", lines, rules[:_MOST_CITED])


def _escalated_conflict(case: Case, conflicts: Sequence[Conflict]) -> Turn:
    rules = [case.index.rule(rule_id) for rule_id in dict.fromkeys(r for c in conflicts for r in c.rules)]
    said = [f"{rule.policy_id} says {case.words.action(rule.effect.action)}" for rule in rules]
    lines = [f"The policies contradict each other here, and none of them gives way: {write.listing(said)}."]
    lines.append(_whom_to_ask(case, rules))
    return turn_of(case, "policy", "escalated", lines, rules)


def _spoken_of(case: Case) -> Turn | None:
    """The rules about what the words say, where they name nothing that is decided and tell no case."""
    is_told = bool(case.reads) and bool(case.scope.choices)
    found = None if is_told else of_words(case.text, case.index, case.evaluator, case.day)
    if found is None:
        return None
    lines = told(case.words, found, case.facts, case.evaluator.ruleset.variables)
    return turn_of(case, "policy", "answered", lines, found.rules[:MOST_RULES])


def _refused(case: Case) -> Turn:
    """No rule speaks about it. Say so, whom to ask, and what is covered."""
    words = [read.words for read in case.reads]
    if not case.scope.outcomes:
        return _missing(case, [_NO_RULE], words, _near(case))
    rules = lookups(case.index).answering(case.scope.outcomes[:1], case.evaluator, case.day)
    what = case.words.outcome(case.scope.outcomes[0])
    owners = sorted({owner for rule in rules if (owner := case.index.owner(rule.policy_id))})
    lines = [f"No policy in force decides this case: {what}.", _whom_to_ask(case, rules)]
    return _missing(case, lines, words, owners, is_asked=True)


def _quoted(case: Case, texts: Sequence[Unchecked]) -> Turn:
    """What is said from policies that are text alone: their own sentences, and that no logic checked them."""
    lines = [one.quoted for one in texts[:_MOST_CITED]]
    owners = dict.fromkeys(one.owner for one in texts[:_MOST_CITED] if one.owner)
    asked = [f"What follows from it in a case, {write.listing(owners)} can say."] if owners else []
    turn = turn_of(case, "policy", "answered", [*lines, *asked], ())
    return replace(_citing(turn, texts[:_MOST_CITED]), is_aside=True)


def _citing(turn: Turn, texts: Iterable[Unchecked]) -> Turn:
    """*turn* with the policies of *texts* among those that it cites."""
    cited, commit = turn.reply.citations, turn.reply.commit
    named = {one.id for one in cited}
    more = (Citation(id=one.policy_id, path=one.path, line=1, commit=commit) for one in texts)
    return replace(
        turn, reply=turn.reply.model_copy(update={"citations": (*cited, *(one for one in more if one.id not in named))})
    )


def _with_texts(case: Case, readers: Collection[str], turn: Turn) -> Turn:
    """*turn* with what the policies that it cites say beside their rules, in words that no logic knows."""
    reply = turn.reply
    if reply.status != "answered":
        return turn
    texts = unchecked_of((one.id for one in reply.citations), readers, case.index, case.day)
    lines = [f"Also: {one.quoted}" for one in texts]
    return replace(turn, reply=reply.model_copy(update={"text": "\n".join([reply.text, *lines])})) if lines else turn


def _near(case: Case) -> list[str]:
    """Whom to ask what no rule answers."""
    return missing.owners(case.memory.topic, case.index, case.evaluator)


def _missing(
    case: Case, lines: Sequence[str], words: Sequence[str], owners: Sequence[str], is_asked: bool = False
) -> Turn:
    """What is said of a question that no rule answers: it goes on the list of missing policies."""
    whom = [] if case.is_part else missing.lines(() if is_asked else owners, case.evaluator, is_asked)
    turn = turn_of(case, "refusal", "refused", [*lines, *whom], ())
    return replace(turn, reply=turn.reply.model_copy(update={"meta": missing.meta(words, owners)}))


def _whom_to_ask(case: Case, rules: Iterable[ConditionalRule]) -> str:
    owners: dict[str, list[str]] = {}
    for rule in rules:
        policies = owners.setdefault(case.index.owner(rule.policy_id) or "nobody is named as owner", [])
        if rule.policy_id not in policies:
            policies.append(rule.policy_id)
    if not owners:
        return "Please ask the people who own the policies."
    named = [f"{owner} ({', '.join(policies[:3])})" for owner, policies in sorted(owners.items())[:3]]
    return f"Please ask {write.listing(named)}."


def _open_rules(case: Case, most: int | None = None) -> list[ConditionalRule]:
    """The rules that the missing facts could still make fire, at *most* so many: the likeliest domain comes first."""
    known, missing, first = lookups(case.index), frozenset(case.scope.missing), case.memory.topic.domains[:1]
    ranked = known.ranked(case.scope.outcomes[0], case.evaluator, case.day) if case.scope.outcomes else []
    rules = ranked or sorted(_rules_of(case, case.scope.actions), key=lambda rule: (rule.level, rule.rule_id))
    near = (rule for rule in rules if rule.domain in first)
    far = (rule for rule in rules if rule.domain not in first)
    waiting = (rule for rule in chain(near, far) if not missing.isdisjoint(known.facts[rule.rule_id]))
    return list(islice(waiting, most))


def _rules_of(case: Case, actions: Sequence[str]) -> list[ConditionalRule]:
    """The rules in force that speak of *actions*, whether or not they fire."""
    speaking = lookups(case.index).speaking(actions, case.evaluator, case.day)
    return sorted((rule for rule in speaking if rule.effect.action in actions), key=lambda rule: rule.rule_id)
