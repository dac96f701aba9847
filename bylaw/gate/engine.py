"""The gate: one call, the rules of one bundle and what happened before → one answer. Every door calls this.

Same call, same facts, same history, same bundle: the same answer but for its id.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from bylaw.authored.causes import causes_in
from bylaw.authored.labels import labels
from bylaw.authored.tools import LookupFact
from bylaw.bundle import CompiledPolicyBundle, ruleset
from bylaw.errors import UsageError
from bylaw.gate.answer import STRICTEST, GateAnswer, Reads, Reason
from bylaw.gate.bindings import Call, Meaning, Reader, clip
from bylaw.gate.events import Event, Ledger, Scope, Timeline, micros, moment_of
from bylaw.gate.history import MOST_RESERVED, HistoryFact, PendingCall, history_facts, reserved, values
from bylaw.gate.keys import Keys
from bylaw.gate.port import LookUps, NoLookups
from bylaw.logic.decide.authorize import Authorization, Authorizer
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import ConditionalRule, Unproven, Value, ValueMisfit
from bylaw.logic.words.changes import changes_in_words
from bylaw.logic.words.prose import rule_in_words
from bylaw.logic.words.shorter import shorter

MOST_DIFFERENCES = 5_000  # counterfactuals that are remembered
MOST_UNPROVEN = 8  # rules that cannot be read, told with a call that one of them may speak of
MOST_WAITING = 3  # rules that would allow a denied call, told with it
TOO_MANY = "more calls are open than anybody can say the end of"
PENDING = "pending: another call was allowed and has not ended; with it this one would be decided otherwise"


class WrongMoment(UsageError):
    """The call lies before the last decision of its session."""


@dataclass(frozen=True)
class _Variant:
    """One way in which reserved calls may end: the facts that follow, and the answer to them."""

    facts: Mapping[str, Value]
    found: Authorization
    misfit: str | None = None

    @property
    def strictness(self) -> int:
        return STRICTEST["deny" if self.misfit else self.found.ruling]


@dataclass
class Gate:
    """The gate of one bundle. Not safe for several threads at once: whoever shares it takes turns."""

    bundle: CompiledPolicyBundle
    lookups: LookUps = field(default_factory=NoLookups)
    evaluator: Evaluator | None = None

    def __post_init__(self) -> None:
        vocabulary = self.bundle.vocabulary
        self._evaluator = self.evaluator or Evaluator(ruleset(self.bundle), is_indexed=True)
        persons = {vocabulary.canonical(name) for name, action in vocabulary.actions.items() if action.person}
        self.authorizer = Authorizer(self._evaluator, persons)
        variables = self._evaluator.ruleset.variables
        self.history: Mapping[str, HistoryFact] = history_facts(vocabulary, variables)
        bound = self.bundle.rules.tools
        counted = frozenset(bound.keys).union(*(fact.same for fact in self.history.values()))
        self.reader = Reader(vocabulary, variables, bound.tools, Keys(bound.keys), counted)
        self._labels = labels(vocabulary)
        self._happened: dict[str, list[str]] = {}
        for name, fact in self.history.items():
            if fact.kind == "happened":
                for action in fact.actions:
                    self._happened.setdefault(action, []).append(name)
        spoken = frozenset[str]().union(*(self.authorizer.facts_of(action) for action in vocabulary.actions))
        self._used = [fact for name, fact in self.history.items() if name in spoken or fact.kind == "happened"]
        self._uses_sessions = any(not fact.same for fact in self._used)
        self._leading = sorted({fact.same[0] for fact in self._used if fact.same})
        self._reasons: dict[tuple[int, str], Reason] = {}
        self._fixed = frozenset(name for name, fact in vocabulary.facts.items() if not fact.changeable)
        self._differences: dict[tuple[str, int, frozenset[tuple[str, Value]]], dict[str, Any] | None] = {}
        self._bearing: dict[str, tuple[list[HistoryFact], list[HistoryFact]]] = {}

    @property
    def etag(self) -> str:
        """The bundle's."""
        return self.bundle.bundle_metadata.etag

    def prepare(self) -> Gate:
        """For whoever decides many calls: build what the first one would wait for."""
        self._evaluator.prepare()
        return self

    def decide(
        self,
        call: Call,
        ledger: Ledger,
        now: datetime,
        decision_id: str,
        find: Callable[[Scope], Timeline] | None = None,
        known: Meaning | None = None,
    ) -> GateAnswer:
        """The answer to *call*, which nothing here records. *known* is what it means where that was read before.

        Raises WrongMoment where it lies before the session's last decision.
        """
        find = find or ledger.line
        meaning = known or self.read(call)
        at = self._moment(call, meaning, ledger, now, find)
        day = self.bundle.context.calendar.local(moment_of(at)).date().toordinal()
        mode = self._mode(call)
        reads = Reads(meaning.action, call.tool, call.actor, call.session, meaning.keys, dict(meaning.facts), at, day)
        answer = GateAnswer(decision_id, "deny", mode, self.etag, not_taken=meaning.not_taken, reads=reads)
        if meaning.refused is not None or meaning.action is None:
            return replace(answer, reasons=(Reason(meaning.refused or "nothing covers it"),), is_refused=True)
        asked = PendingCall(at, call.session, call.actor, meaning.keys)
        mine, rest = self._histories(meaning.action)
        besides = next(values(rest, asked, find))
        variants = [self._variant(meaning, {**besides, **found}, day) for found in values(mine, asked, find)]
        strictest = min(variants, key=lambda one: one.strictness)
        is_pending = any(one.strictness != strictest.strictness for one in variants)
        if not is_pending and len(variants) > 1 and strictest.strictness == STRICTEST["allow"]:
            is_pending = len(reserved(mine, asked, find)) > MOST_RESERVED
            if is_pending:
                return replace(answer, reasons=(Reason(f"pending: {TOO_MANY}"),), is_pending=True)
        return self._told(answer, strictest, is_pending)

    def _histories(self, action: str) -> tuple[list[HistoryFact], list[HistoryFact]]:
        """The history facts that can bear on *action*, and those that only say what else is to be done."""
        if action not in self._bearing:
            facts = self.authorizer.facts_of(action)
            mine = [fact for fact in self._used if fact.name in facts]
            self._bearing[action] = mine, [fact for fact in self._used if fact.name not in facts]
        return self._bearing[action]

    def read(self, call: Call) -> Meaning:
        """What *call* means, its lookups included."""
        seen: dict[Any, Any] = {}

        def look_up(bound: LookupFact, arguments: Mapping[str, Any]) -> Any:
            return self.lookups.value(bound, arguments, call.actor, seen)

        return self.reader.read(call, look_up)

    def event_of(self, answer: GateAnswer) -> Event | None:
        """What an allowed answer reserves; None where it reserves nothing."""
        reads = answer.reads
        if not answer.is_allowed or reads is None:
            return None
        return Event(
            answer.decision_id,
            reads.session,
            reads.actor,
            reads.action or "",
            reads.keys,
            reads.facts,
            reads.at,
            tool=reads.tool,
        )

    def tools(self, actor: str | None, session_facts: Mapping[str, Any], now: datetime) -> dict[str, bool]:
        """The bound tools, and whether the actor could ever call each on that day."""
        day = self.bundle.context.calendar.local(now).date().toordinal()
        return {name: self.may_ever(name, session_facts, day) for name in sorted(self.reader.tools)}

    def may_ever(self, tool: str, session_facts: Mapping[str, Any], day: int) -> bool:
        """Could any call of *tool* be anything but denied? With what the host knows of the session."""
        bound = self.reader.tools.get(tool)
        if bound is None:
            return False
        if bound.mode == "shadow":
            return True
        vocabulary = self.bundle.vocabulary
        facts: dict[str, Value] = {}
        for name, raw in session_facts.items():
            variable = self._evaluator.ruleset.variables.get(name)
            if variable is not None and name not in self.history and raw is not None:
                try:
                    facts[name] = variable.read(raw)
                except ValueMisfit:
                    return False
        declared = [vocabulary.canonical(name) for name in bound.actions if name in vocabulary.actions]
        return any(self.authorizer.may_ever(action, facts, day) for action in declared)

    def shown(self, facts: Mapping[str, Value]) -> dict[str, Any]:
        """Facts as JSON."""
        variables = self._evaluator.ruleset.variables
        return {name: variables[name].show(value) for name, value in sorted(facts.items())}

    def known(self, shown: Mapping[str, Any]) -> dict[str, Value]:
        """Facts out of JSON, as far as they are still declared and can still have the value."""
        found: dict[str, Value] = {}
        for name, raw in shown.items():
            variable = self._evaluator.ruleset.variables.get(name)
            if variable is not None:
                with suppress(ValueMisfit):
                    found[name] = variable.recall(raw)
        return found

    # ---- one variant ------------------------------------------------------------------------------------------------

    def _variant(self, meaning: Meaning, history: Mapping[str, Value], day: int) -> _Variant:
        assert meaning.action is not None
        facts = dict(meaning.facts)
        misfit = None
        for name, value in history.items():
            variable = self._evaluator.ruleset.variables[name]
            try:
                facts[name] = variable.read(value)
            except ValueMisfit as found:
                misfit = misfit or str(found)
        return _Variant(facts, self.authorizer.authorize(meaning.action, facts, day), misfit)

    def _told(self, answer: GateAnswer, variant: _Variant, is_pending: bool) -> GateAnswer:
        assert answer.reads is not None and answer.reads.action is not None
        action, facts, found = answer.reads.action, variant.facts, variant.found
        reads = replace(answer.reads, facts=facts)
        reasons = [Reason(PENDING)] if is_pending else []
        if variant.misfit is not None:
            reasons.append(Reason(variant.misfit))
            return replace(answer, reasons=tuple(reasons), is_pending=is_pending, reads=reads)
        reasons += [self._unproven(one, action, reads.actor) for one in found.unproven[:MOST_UNPROVEN]]
        for broken in found.broken:
            source = broken.source
            text = f"such a case does not exist: {broken.said}"
            reasons.append(Reason(text, broken.policy_id, broken.constraint_id, source.path, source.line))
        reasons += [self._reason(i, answer.reads.actor) for i in found.rules]
        if not (found.rules or found.broken or found.unproven):
            reasons.append(Reason(f"no rule allows `{action}` here, and what no rule allows is denied"))
            waiting = self.authorizer.allowing(action, reads.day)[:MOST_WAITING]
            reasons += [self._reason(i, answer.reads.actor, "does not hold here: ") for i in waiting]
        if found.ruling == "escalate" and self.bundle.vocabulary.actions[action].person:
            reasons.append(Reason(f"`{action}` is for a person to do"))
        first = tuple(
            name for name in found.required if any(facts.get(f) is False for f in self._happened.get(name, ()))
        )
        return replace(
            answer,
            ruling=found.ruling,
            missing=found.missing,
            first=first,
            duties=tuple(name for name in found.required if name not in first),
            reasons=tuple(reasons),
            is_pending=is_pending,
            different=partial(self._different, action, facts, reads.day),
            reads=reads,
        )

    def _reason(self, i: int, actor: str | None, lead: str = "") -> Reason:
        rule: ConditionalRule = self._evaluator.ruleset.rules[i]
        if not self._may_read(rule.audience, actor):
            return Reason(f"{lead}a rule that is not for you to read", rule.policy_id)
        known = self._reasons.get((i, lead))
        if known is None:
            text = rule.source.text
            if not text:
                short = replace(rule, guard=shorter(rule.guard, self._evaluator.ruleset.variables))
                text = rule_in_words(short, self._labels)
            source = rule.source
            causes = causes_in(self.bundle.policies.get(rule.policy_id, {}))
            known = Reason(f"{lead}{text}", rule.policy_id, rule.rule_id, source.path, source.line, causes)
            self._reasons[i, lead] = known
        if not any(one.audience for one in known.decisions):
            return known
        return replace(known, decisions=tuple(c for c in known.decisions if self._may_read(c.audience, actor)))

    def _unproven(self, rule: Unproven, action: str, actor: str | None) -> Reason:
        if not self._may_read(rule.audience, actor):
            return Reason(f"a rule that may speak of `{action}` cannot be read", rule.policy_id)
        text = f"a rule that may speak of `{action}` cannot be read: {rule.reason}"
        return Reason(text, rule.policy_id, None, rule.path, rule.line)

    def _may_read(self, audience: Collection[str], actor: str | None) -> bool:
        return not audience or not set(audience).isdisjoint(self.bundle.rules.roles.roles_of(actor or "anonymous"))

    def _different(self, action: str, facts: Mapping[str, Value], day: int) -> dict[str, Any] | None:
        """The smallest change that would allow it. An agent that is stopped asks again: it is looked for once."""
        asked = action, day, frozenset(facts.items())
        if asked not in self._differences:
            if len(self._differences) >= MOST_DIFFERENCES:
                self._differences.clear()
            self._differences[asked] = self._difference(action, facts, day)
        return self._differences.get(asked)

    def _difference(self, action: str, facts: Mapping[str, Value], day: int) -> dict[str, Any] | None:
        found = self.authorizer.counterfactual(action, facts, day, fixed=self._fixed, past=self.history)
        if found is None:
            return None
        variables = self._evaluator.ruleset.variables
        return {
            "changes": [
                {
                    "fact": step.fact,
                    "from": None if step.before is None else variables[step.fact].show(step.before),
                    "to": variables[step.fact].show(step.after),
                    "test": changes_in_words([step], self._labels).removeprefix("if ").rpartition(" (now ")[0],
                }
                for step in found.steps
            ],
            "text": f"It would be allowed {changes_in_words(found.steps, self._labels)}.",
        }

    # ---- when, and how strictly -------------------------------------------------------------------------------------

    def _moment(
        self, call: Call, meaning: Meaning, ledger: Ledger, now: datetime, find: Callable[[Scope], Timeline]
    ) -> int:
        """The moment of the call. Clocks of several machines differ: without one from the host it is never earlier
        than what the same history holds already.
        """
        last = None if call.session is None else ledger.last_at(call.session)
        if call.at is not None:
            at = micros(call.at)
            if last is not None and at < last:
                raise WrongMoment(
                    f"`at` lies before the last decision of the session `{clip(call.session or '')}`",
                    "leave it out, or give the moment of the call",
                )
            return at
        at = max(micros(now), last or 0)
        for line in map(find, self._scopes(call, meaning)):
            if line.events:
                at = max(at, line.events[-1].at)
        return at

    def _scopes(self, call: Call, meaning: Meaning) -> Iterable[Scope]:
        """Where history is looked for at all."""
        if call.session is not None and self._uses_sessions:
            yield "", call.session
        for key in self._leading:
            if key in meaning.keys:
                yield key, meaning.keys[key]

    def _mode(self, call: Call) -> Any:
        tool = None if call.tool is None else self.reader.tools.get(call.tool)
        return "shadow" if tool is not None and tool.mode == "shadow" and call.mode != "enforce" else "enforce"
