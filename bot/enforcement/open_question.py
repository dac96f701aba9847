"""A question that the rules leave open, as what the loop refines: facts that follow from other facts, by the text.

A proposal says only which declared fact the policies' words make of others. What then follows is decided by the rules
as always, so no proposal reaches past a prohibition; facts that were told are frozen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, ValidationError

from bot.enforcement.case import Case
from bot.enforcement.writing.unchecked import unchecked_of
from bylaw.canonical import fingerprint
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Decision
from bylaw.logic.formula.expressions import InvalidExpression, parse_expression
from bylaw.logic.formula.ir import ConditionalRule, Formula, Value, ValueMisfit, Variable, atoms, names, negate
from bylaw.logic.formula.notation import infix
from bylaw.logic.solver.sandbox import Sandbox
from bylaw.logic.words.shorter import shorter
from bylaw.refine.evidence import Evidence
from bylaw.refine.feedback import EFFORT
from bylaw.refine.guardrail import Refusal
from bylaw.refine.machine import Mark
from bylaw.refine.program import Predicate
from bylaw.refine.subjects import Candidate

_MOST_RULES = 40  # of the outcome, that are shown
_MOST_PREMISES = 12
_MOST_OPEN = 8  # facts that are tried as premises, the most deciding first

Said = Annotated[str, Field(max_length=1_000)]


class ProposedFact(BaseModel):
    """Where `condition` holds, `fact` has this `value`: what the words of a policy make of what was told."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    condition: Said
    fact: Said
    value: StrictBool | StrictInt | Said
    quote: Annotated[str, Field(max_length=2_000)] | None = None


class ProposedFacts(BaseModel):
    """All that is proposed. Whatever else it says of the case is refused with it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: tuple[ProposedFact, ...] = Field(max_length=20)


@dataclass(frozen=True)
class _Bridge:
    """A proposed fact that could be read, and why it rests on nothing, where it does."""

    given: ProposedFact
    condition: Formula
    value: Value
    unsupported: str | None

    @property
    def said(self) -> str:
        """In words."""
        return f"{self.given.condition} → {self.given.fact} = {str(self.given.value).lower()}"


@dataclass(frozen=True)
class OpenQuestion:
    """Does *action* follow in this *case*? `rules` are those of its outcome that whoever asks may read."""

    case: Case
    action: str
    outcome: str | None
    rules: tuple[ConditionalRule, ...]
    readers: frozenset[str]

    @property
    def answer(self) -> type[BaseModel]:
        """Facts that follow from facts."""
        return ProposedFacts

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        """The declared facts."""
        return self.case.evaluator.ruleset.variables

    @cached_property
    def evidence(self) -> Evidence:
        """What the policies of this outcome say, in their words."""
        quoted = [rule.source.text for rule in self.rules if rule.source.text]
        texts = unchecked_of((rule.policy_id for rule in self.rules), self.readers, self.case.index, self.case.day)
        return Evidence("\n".join(dict.fromkeys((*quoted, *(text for one in texts for text in one.texts)))))

    @cached_property
    def is_unproven(self) -> bool:
        """Could a policy of these domains not be formalized? Then nothing is recommended past it."""
        domains = {rule.domain for rule in self.rules}
        return any(
            record.get("domain") in domains
            and record.get("is_active", True)
            and dict(record.get("processing_status", {})).get("formalization") == "failed"
            for record in self.case.index.bundle.policies.values()
        )

    def first(self) -> Candidate:
        """The case as it was told."""
        return self._candidate((), self.case.facts)

    def judge(self, proposed: Mapping[str, Any]) -> Candidate | Refusal:
        """The case with what follows from it, or why the proposal is not looked at."""
        try:
            document = ProposedFacts.model_validate(proposed)
        except ValidationError as error:
            problem = error.errors(include_input=False)[0]
            return Refusal((f"`{'.'.join(map(str, problem['loc']))}`: {problem['msg']}",))
        problems: list[str] = []
        bridges = [bridge for one in document.rules if (bridge := self._read(one, problems)) is not None]
        facts = self._followed(bridges, problems)
        if problems:
            return Refusal(tuple(dict.fromkeys(problems)))
        return self._candidate(bridges, facts)

    def told(self) -> Mapping[str, Any]:
        """The question, the policies' words, and the facts."""
        facts = {
            name: {
                "type": one.kind,
                **({"values": list(one.values)} if one.values else {}),
                "means": self._labelled(name),
            }
            for name, one in sorted(self.variables.items())
        }
        return {
            "task": "Say which unknown fact follows from the known ones by the words of these policies. Give back "
            "every such rule: condition (comparisons of known facts), fact, value and quote. If there is none, none.",
            "question": self.case.text,
            "text": self.evidence.text,
            "words": facts,
            "known": {name: self.variables[name].show(value) for name, value in sorted(self.case.facts.items())},
        }

    # ---- a proposal -------------------------------------------------------------------------------------------------

    def _read(self, one: ProposedFact, problems: list[str]) -> _Bridge | None:
        variable = self.variables.get(one.fact)
        if variable is None:
            problems.append(f"`{one.fact[:60]}` is no declared fact")
            return None
        try:
            condition, value = parse_expression(one.condition, self.variables), variable.read(one.value)
        except (InvalidExpression, ValueMisfit) as error:
            problems.append(f"`{one.condition[:60]}` → `{one.fact}`: {error}")
            return None
        if one.fact in names(condition) or self._is_settled(condition):
            problems.append(f"`{one.condition[:60]}` asks for nothing but what it gives: that is a fact")
            return None
        return _Bridge(one, condition, value, self._unsupported(one, condition))

    def _is_settled(self, condition: Formula) -> bool:
        """Does the condition hold always, or never? What cannot be shown to depend on the case counts as settled."""
        sandbox = Sandbox(self.variables, EFFORT)
        return any(sandbox.check([part]).status != "sat" for part in (condition, negate(condition)))

    def _unsupported(self, one: ProposedFact, condition: Formula) -> str | None:
        if one.quote is None:
            return "nothing is quoted for it"
        if not self.evidence.is_verbatim(one.quote):
            return "what is quoted for it stands in no policy of this question"
        used = sorted({*names(condition), one.fact})
        words = {name: Predicate(arity=0, label=self._labelled(name), synonyms=self._phrases(name)) for name in used}
        unspoken = self.evidence.unspoken(one.quote, words, used)
        if unspoken:
            return f"its quote does not speak of {', '.join(map(self._labelled, unspoken))}"
        denied = one.value is False or any(atom.op == "!=" or atom.value is False for atom in atoms(condition))
        return None if self.evidence.denies(one.quote) == denied else "its quote and the rule do not deny the same"

    def _labelled(self, name: str) -> str:
        return self.case.words.fact(name)

    def _phrases(self, name: str) -> tuple[str, ...]:
        """All that the vocabulary calls a fact: its phrases, without the place of a value, and its values' words."""
        fact = self.case.index.vocabulary.facts[name]
        phrases = fact.phrases
        listed = [one for those in phrases.values() for one in those] if isinstance(phrases, Mapping) else list(phrases)
        values = [word for value, synonyms in fact.values.items() for word in (value, *synonyms)]
        return tuple(str(one).replace("{value}", " ").strip() for one in (*listed, *values) if str(one).strip())

    def _followed(self, bridges: Sequence[_Bridge], problems: list[str]) -> Mapping[str, Value]:
        """The facts with all that follows; one that was told is never another."""
        facts = dict(self.case.facts)
        for _ in bridges:
            for bridge in bridges:
                if truth(bridge.condition, facts) is not True:
                    continue
                name, known = bridge.given.fact, facts.get(bridge.given.fact)
                if known is not None and known != bridge.value:
                    told = "was told otherwise" if name in self.case.facts else "follows otherwise from another"
                    problems.append(f"`{name}` {told}: facts are not for a proposal to change")
                facts.setdefault(name, bridge.value)
        return facts

    # ---- what is found ----------------------------------------------------------------------------------------------

    def _candidate(self, bridges: Sequence[_Bridge], facts: Mapping[str, Value]) -> Candidate:
        decision = self.case.evaluator.decide(facts, self.case.day)
        status, notes = self._status(decision)
        assumptions = tuple(f"{one.said} ({one.unsupported})" for one in bridges if one.unsupported)
        fidelity = 1.0 if not bridges else round((len(bridges) - len(assumptions)) / len(bridges), 6)
        missing = [*self._missing(decision, facts)] if status == "consistent_no_entailment" else []
        links = min((len(one["missing"]) for one in missing), default=None) if missing else None
        feedback = {
            "status": status,
            "core": [fired.rule_id for fired in decision.fired if fired.action == self.action],
            "missing": missing,
            "complete": len(missing) < _MOST_PREMISES and not self._is_measured(decision),
            "notes": notes,
        }
        meaning = fingerprint(sorted(one.said for one in bridges))
        return Candidate(self._program(bridges), feedback, Mark(meaning, status, fidelity, links), assumptions)

    def _status(self, decision: Decision) -> tuple[str, list[str]]:
        """What the rules say of the action; nothing is ever granted past a prohibition or what nobody has proved."""
        if self.action in decision.prohibited:
            return "refuted", [f"{self.action} is prohibited here"]
        if self.outcome is not None and (taken := decision.outcomes[self.outcome].action) is not None:
            is_it = taken == self.action
            decided = "consistent_entails" if is_it else "refuted"
            notes = [] if is_it else [f"the rules say {taken}"]
        elif self.outcome is None and self.action in decision.required:
            decided, notes = "consistent_entails", []
        else:
            clashing = [one for one in decision.conflicts if self.outcome in (one.outcome, *one.outcomes)]
            return "inconsistent" if clashing else "consistent_no_entailment", []
        if self.is_unproven:
            return "unknown", ["a policy of this domain could not be formalized: nobody knows what it would say"]
        return decided, notes

    def _open(self, decision: Decision) -> Sequence[str]:
        return decision.undecided.get(self.outcome or "", ()) or decision.missing_facts

    def _is_measured(self, decision: Decision) -> bool:
        open_ = self._open(decision)
        return len(open_) > 2 or any(not self.variables[name].is_finite for name in open_)

    def _missing(self, decision: Decision, facts: Mapping[str, Value]) -> Iterator[dict[str, Any]]:
        """The facts, one or two, that would decide for the action, each with its value."""
        yield from islice(self._premises(decision, facts), _MOST_PREMISES)

    def _premises(self, decision: Decision, facts: Mapping[str, Value]) -> Iterator[dict[str, Any]]:
        literals = [
            (name, value) for name in self._open(decision)[:_MOST_OPEN] for value in _values(self.variables[name])
        ]
        found: list[frozenset[tuple[str, Value]]] = []
        for chosen in (frozenset(some) for size in (1, 2) for some in combinations(literals, size)):
            added = dict(chosen)
            if len(added) < len(chosen) or any(one <= chosen for one in found):
                continue
            decided = self.case.evaluator.decide({**facts, **added}, self.case.day)
            if self._status(decided)[0] == "consistent_entails":
                found.append(chosen)
                rule = next((one.rule_id for one in decided.fired if one.action == self.action), None)
                yield {"rule": rule, "missing": sorted(_spelled(*one) for one in chosen), "blocked_by": []}

    def _program(self, bridges: Sequence[_Bridge]) -> dict[str, Any]:
        """The case as a logic program: the rules of the outcome in words, and what was added to them."""
        told = [
            {"id": rule.rule_id, "condition": infix(shorter(rule.guard, self.variables), self.variables),
             "conclusion": rule.effect.text}
            for rule in self.rules[:_MOST_RULES]
        ]  # fmt: skip
        added = [one.given.model_dump(mode="json", exclude_none=True) for one in bridges]
        facts = {name: self.variables[name].show(value) for name, value in sorted(self.case.facts.items())}
        return {"facts": facts, "rules": told, "added": added, "query": self.action}


def _values(variable: Variable) -> Sequence[Value]:
    """The values that a fact may have, where these can be listed."""
    return (True, False) if variable.kind == "boolean" else variable.values


def _spelled(name: str, value: Value) -> str:
    return f"{'' if value else 'not '}{name}" if isinstance(value, bool) else f"{name} = {value}"
