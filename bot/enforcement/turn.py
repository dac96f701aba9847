"""What a turn hands back: the reply with its citations, what was read, and what is kept beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.conversation import Ask, Choice, Citation, Reply, ReplyKind, ReplyStatus, Turn
from bot.enforcement.case import Case
from bot.enforcement.question.carrying import NEW_CASE
from bot.enforcement.question.lookups import lookups
from bot.enforcement.writing import write
from bylaw.logic.formula.ir import ConditionalRule, names


def turn_of(
    case: Case,
    kind: ReplyKind,
    status: ReplyStatus,
    lines: Sequence[str],
    cited: Sequence[ConditionalRule],
    outcomes: Sequence[str] = (),
    ask: Ask | None = None,
    choices: tuple[Choice, ...] = (),
) -> Turn:
    """The turn that says *lines*, and cites the rules *cited*."""
    variables = case.evaluator.ruleset.variables
    reply = Reply(
        kind=kind,
        status=status,
        text=compose_text(case, lines, kind, ask),
        request_id="",
        session_id="",
        bundle_etag=case.index.etag,
        commit=case.index.commit,
        citations=tuple(_citation(rule, case.index.commit) for rule in cited),
        ask=ask,
        choices=(*choices, NEW_CASE) if _may_begin_anew(case, kind) else choices,
        outcomes=_outcomes(case, outcomes),
        caveats=(write.withheld(case.words, case.withheld),) if case.withheld else (),
        facts={name: variables[name].show(value) for name, value in sorted(case.memory.facts.items())},
        path=_path(case, outcomes),
    )
    memory = replace(case.memory, asking=ask.fact if ask else None)
    return Turn(reply, memory.dump(variables), artifacts=_papers(case), log=_log(case, status))


def _may_begin_anew(case: Case, kind: ReplyKind) -> bool:
    """May facts of an earlier case stand in the answer? What answers what was just asked for is of this one."""
    return kind == "policy" and (case.asked is None or bool(case.asks)) and bool(carried(case))


def compose_text(case: Case, lines: Sequence[str], kind: ReplyKind = "policy", ask: Ask | None = None) -> str:
    """*lines* with what was read, kept and not used beside them: a wrong reading has to be visible."""
    before = carried(case) if kind == "policy" else []
    wanted = {ask.fact, *case.scope.missing} if ask else case.bounded.keys()
    open_ = [name for name in sorted(case.bounded) if name in wanted and name not in case.bounds]
    notes = write.not_understood(case.words, {case.bounded[name].words: name for name in open_})
    notes += dict.fromkeys(f"{words}." for words in case.unused)
    bounds = [case.bounds[name] for name in sorted(case.bounded) if name in case.bounds]
    lines = [*notes, *lines] if ask else [*lines, *notes]
    lines = [write.NEW, *lines] if case.is_new and kind == "policy" else lines
    return "\n".join([*lines, *write.understood(case.words, case.reads, bounds, case.said_of(before))])


def carried(case: Case) -> list[str]:
    """The facts that were told before and that the rules of what is asked, or of what is told with it, test."""
    known, asked, day = lookups(case.index), case.memory.topic, case.day
    actions = case.index.vocabulary.actions
    always = {name for name in case.decision.required if name in actions and actions[name].always}
    rules = (
        *known.answering((*asked.outcomes, *case.scope.outcomes), case.evaluator, day),
        *known.speaking((*asked.actions, *case.scope.actions, *sorted(always)), case.evaluator, day),
        *(rule for _, _, rule in case.scope.duties),
    )
    tested = frozenset(asked.facts).union(*(names(rule.guard) for rule in rules))
    return [name for name in sorted({*case.facts, *case.bounds}) if name in tested - case.told_now]


def _citation(rule: ConditionalRule, commit: str | None) -> Citation:
    return Citation(
        id=rule.policy_id, path=rule.source.path, line=rule.source.line, commit=commit, text=rule.source.text
    )


def _outcomes(case: Case, decided: Sequence[str]) -> dict[str, Any]:
    """The outcomes of the answer as `decide` spells them. One with `declined` is no decision but the most restrictive
    that is possible without those facts.
    """
    found: dict[str, Any] = {}
    for name in decided:
        result = case.decision.outcomes[name]
        found[name] = {"action": result.action, "policy_id": result.policy_id, "rule_id": result.rule_id}
        if case.withheld and name == case.scope.outcomes[0]:
            found[name]["declined"] = list(case.withheld)
    return found


def _path(case: Case, decided: Sequence[str]) -> tuple[str, ...]:
    steps = {step.partition("=")[0]: step for step in case.decision.path}
    rules = [case.index.rule(rule_id) for name in decided if (rule_id := case.decision.outcomes[name].rule_id)]
    used = dict.fromkeys(fact for rule in rules for fact in in_order(case, rule))
    return tuple(steps[fact] for fact in used if fact in steps and fact not in case.bounds)


def _papers(case: Case) -> Mapping[str, Any]:
    """What the answer was made from, to be kept beside the request."""
    found = case.memory.topic
    return {
        "policy": {
            "topic": {"outcomes": list(found.outcomes), "actions": list(found.actions), "domains": list(found.domains)},
            "reads": [{"fact": read.fact, "words": read.words} for read in case.reads],
            "unclear": [
                {"fact": name, "words": bound.words, "reason": write.OPEN}
                for name, bound in sorted(case.bounded.items())
            ],
            "missing": list(case.scope.missing),
            "fired": [rule.rule_id for rule in case.decision.fired],
        }
    }


def _log(case: Case, status: ReplyStatus) -> Mapping[str, Any]:
    """What is recorded of the answer beside the reply: of an escalated one which outcomes nobody decided, of another
    what it says of actions that belong to no outcome.
    """
    about = {"domain": case.memory.topic.domains[0] if case.memory.topic.domains else None}
    if status == "escalated":
        return {**about, "undecided": case.scope.outcomes[:1]}
    if status != "answered":
        return about
    said = {action: kind for kind, action, _ in reversed(case.scope.duties)}
    return {**about, "duties": {**dict.fromkeys(case.scope.silent), **said}}


def in_order(case: Case, rule: ConditionalRule) -> list[str]:
    """The facts of *rule* in the order in which they are asked for."""
    return sorted(names(rule.guard), key=case.evaluator.question_order)
