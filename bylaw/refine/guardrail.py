"""What a rewrite may not do, and what it only assumes.

Facts, axioms, words and the query are frozen: a proposal that says anything else about them is refused, whatever it
gives for it. Of the rules all that is new has to rest on something, else the answer holds only *if* it is so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bylaw.logic.formula.ir import FALSE, TRUE, Atom, Formula, Not, conj, names, negate
from bylaw.logic.solver.sandbox import Sandbox
from bylaw.refine.evidence import Evidence, denies_something
from bylaw.refine.feedback import EFFORT
from bylaw.refine.notation import Call
from bylaw.refine.program import Axiom, Program, Reading, Rule, Unreadable, read, rule_name
from bylaw.refine.theory import Statement, Theory, ground

MAX_RULES = 200
_FROZEN = ("facts", "axioms", "constants", "sorts", "predicates", "query", "dsl_version")
_MOST_FACTS = 200  # that the new rules of one proposal may speak of, each looked at by itself
_MOST_INSTANCES = 40  # of one rule, in which it is asked whether the rule contradicts another


class ProposedProgram(BaseModel):
    """A rewrite: all rules that shall hold. What it leaves out of the rest stays as it was."""

    model_config = ConfigDict(frozen=True, extra="allow")

    rules: tuple[Rule, ...] = Field(max_length=MAX_RULES)


@dataclass(frozen=True)
class Refusal:
    """Why a proposal is not looked at."""

    problems: tuple[str, ...]


@dataclass(frozen=True)
class Accepted:
    """A rewrite that may be checked. `assumptions` are what it says without anything to rest on, in words."""

    reading: Reading
    theory: Theory
    assumptions: tuple[str, ...]
    fidelity: float


def review(given: Reading, proposed: Mapping[str, Any], evidence: Evidence) -> Accepted | Refusal:
    """*proposed* as a rewrite of the program *given*, or why it is none."""
    try:
        document = ProposedProgram.model_validate(proposed)
    except ValidationError as error:
        return Refusal((f"it is no program: {error.errors(include_input=False)[0]['msg']}",))
    changed = [*_changes(given.program, proposed)]
    if changed:
        return Refusal(tuple(changed))
    try:
        reading = read(given.program.model_copy(update={"rules": document.rules}))
        theory = ground(reading)
        before = ground(given)
    except Unreadable as error:
        return Refusal(error.problems)
    known = set(given.sayings.values())
    new = [name for name, said in reading.sayings.items() if said not in known]
    problems = [*_unknown_words(given, reading), *_bare(reading, new)] or [*_clashes(before, theory, new)]
    if problems:
        return Refusal(tuple(dict.fromkeys(problems)))
    unsupported = dict(_assumed(reading, new, evidence))
    dropped = [*_dropped(given, reading, [name for name in new if name not in unsupported])]
    assumptions, changes = [*unsupported.values(), *dropped], len(new) + len(dropped)
    fidelity = 1.0 if not changes else round((changes - len(assumptions)) / changes, 6)
    return Accepted(reading, theory, tuple(assumptions), fidelity)


def _changes(given: Program, proposed: Mapping[str, Any]) -> Iterator[str]:
    """What *proposed* says otherwise of what is frozen."""
    if "facts" in proposed:
        yield from _fact_changes(given, proposed["facts"])
    whole = given.document()
    for key in _FROZEN[1:]:
        if key in proposed and not _same(proposed[key], whole.get(key), key):
            yield f"it changes the {key}, which only people may"


def _fact_changes(given: Program, proposed: Any) -> Iterator[str]:
    if not isinstance(proposed, Mapping) or not all(isinstance(name, str) for name in proposed):
        yield "its facts are no facts"
        return
    before, after = dict(given.facts), dict(proposed)
    yield from (f"it adds the fact `{name[:80]}`" for name in sorted(after.keys() - before.keys()))
    yield from (f"it drops the fact `{name}`" for name in sorted(before.keys() - after.keys()))
    yield from (
        f"it flips the fact `{name}`" for name in sorted(before) if after.get(name, before[name]) is not before[name]
    )


def _same(proposed: Any, given: Any, key: str) -> bool:
    """Do two parts of a program say the same, once both have the shape of one?"""
    try:
        return bool(Program.model_validate({key: proposed}).document().get(key) == given)
    except ValidationError:
        return False


def _unknown_words(given: Reading, reading: Reading) -> Iterator[str]:
    known = {_unnamed(note) for note in given.notes}
    yield from (note for note in reading.notes if _unnamed(note) not in known)
    if given.program.predicates:
        return
    spoken = {call.predicate for _, call in _calls(given)}
    spoken |= {call.predicate for call in (given.query.calls if given.query else {}).values()}
    for name, call in _calls(reading):
        if call.predicate not in spoken:
            yield f"`{name}` uses `{call.predicate}`, which the program does not know"


def _unnamed(note: str) -> str:
    """A note without the name of its statement, which a rewrite may give to another one."""
    return re.sub(r"^`[^`]*`", "", note)


def _calls(reading: Reading) -> Iterator[tuple[str, Call]]:
    for one in reading.statements:
        for part in (one.condition, one.conclusion):
            yield from ((one.name, call) for call in (part.calls.values() if part else ()))


def _bare(reading: Reading, new: Sequence[str]) -> Iterator[str]:
    for one in reading.statements:
        if one.name not in new:
            continue
        if one.condition is not None and one.condition.formula in (TRUE, FALSE):
            yield f"the rule `{one.name}` asks for nothing: what holds without a condition is a fact"
        elif one.conclusion.formula in (TRUE, FALSE):
            yield f"the rule `{one.name}` concludes nothing"


def _clashes(before: Theory, after: Theory, new: Sequence[str]) -> Iterator[str]:
    """Rules that contradict each other or what is known, and rules that are facts in disguise."""
    fresh = [one for one in after.statements if one.name in new]
    if not fresh:
        return
    sandbox = Sandbox({**before.variables, **after.variables}, EFFORT)
    rules = [one.formula for one in after.rules]
    old = [one.formula for one in before.rules]
    spoken = sorted({name for one in fresh for name in names(one.formula)})
    if len(spoken) > _MOST_FACTS:
        yield f"its new rules speak of {len(spoken)} facts at once; at most {_MOST_FACTS} are looked at"
        return
    for literal in _ruled_out(sandbox, rules, spoken):
        if not _is_out(sandbox, [*old, literal]):
            said = after.spell(literal if literal.value else Not(Atom(literal.var, "==", True)))
            yield f"its rules alone rule out `{said}`: what holds without a condition is a fact"
    everything, all_before = [one.formula for one in after.statements], [one.formula for one in before.statements]
    if _is_out(sandbox, everything) and not _is_out(sandbox, all_before):
        yield "its rules contradict what is known"
        return
    always = [one.formula for one in before.statements if one.kind == "axiom"]
    for one in fresh:
        yield from _contradicted(sandbox, one, [*rules, *always], always)


def _contradicted(
    sandbox: Sandbox, rule: Statement, rules: Sequence[Formula], always: Sequence[Formula]
) -> Iterator[str]:
    for instance in rule.instances[:_MOST_INSTANCES]:
        if _is_out(sandbox, [*rules, instance.condition]) and not _is_out(sandbox, [*always, instance.condition]):
            yield f"the rule `{rule.name}` contradicts another rule wherever it applies"
            return


def _ruled_out(sandbox: Sandbox, rules: Sequence[Formula], facts: Sequence[str]) -> Iterator[Atom]:
    """The values that *rules* leave to none of *facts*. A case that is found answers for all facts in it."""
    shown: set[tuple[str, bool]] = set()
    for name in facts:
        for value in (True, False):
            if (name, value) in shown:
                continue
            found = sandbox.check([*rules, Atom(name, "==", value)])
            if found.status == "unsat":
                yield Atom(name, "==", value)
            shown.update((fact, case) for fact, case in (found.model or {}).items() if isinstance(case, bool))


def _is_out(sandbox: Sandbox, formulas: Sequence[Formula]) -> bool:
    return sandbox.check([conj(formulas)]).status == "unsat"


def _assumed(reading: Reading, new: Sequence[str], evidence: Evidence) -> Iterator[tuple[str, str]]:
    """The new rules that rest on nothing, by name, each in words with the reason."""
    rules = {rule_name(rule, i): rule for i, rule in enumerate(reading.program.rules)}
    for name in new:
        reason = _unsupported(reading, name, rules[name], evidence)
        if reason is not None:
            condition, conclusion = reading.sayings[name]
            said = f"{condition} → {conclusion}" if condition else conclusion
            yield name, f"{said} ({reason})"


def _unsupported(reading: Reading, name: str, rule: Rule, evidence: Evidence) -> str | None:
    """Why the rule rests on nothing; None where it does on something."""
    if rule.axiom is not None:
        axiom = next((one for one in evidence.ontology.axioms if one.id == rule.axiom), None)
        if axiom is None:
            return f"there is no axiom `{rule.axiom}`"
        return None if _follows(reading, name, axiom) else f"it does not follow from the axiom `{rule.axiom}`"
    if rule.quote is None:
        return "nothing is quoted for it"
    if not evidence.is_verbatim(rule.quote):
        return "what is quoted for it is not in the text"
    spoken = next(one for one in reading.statements if one.name == name)
    parts = [part for part in (spoken.condition, spoken.conclusion) if part]
    used = {call.predicate for part in parts for call in part.calls.values()}
    unspoken = evidence.unspoken(rule.quote, reading.program.predicates, used)
    if unspoken:
        return f"its quote does not speak of {', '.join(unspoken)}"
    if evidence.denies(rule.quote) != denies_something(*parts):
        return "its quote and the rule do not deny the same"
    return None


def _follows(reading: Reading, name: str, axiom: Axiom) -> bool:
    """Is a rule what an axiom says, or less?"""
    program = reading.program.model_copy(update={"facts": {}, "axioms": (axiom,), "query": ""})
    try:
        theory = ground(read(program))
    except Unreadable:
        return False
    rule = next(one for one in theory.statements if one.name == name)
    (premise,) = (one for one in theory.statements if one.kind == "axiom")
    return _is_out(Sandbox(theory.variables, EFFORT), [premise.formula, negate(rule.formula)])


def _dropped(given: Reading, reading: Reading, supported: Sequence[str]) -> Iterator[str]:
    """The rules that a rewrite leaves out and puts none of its *supported* ones, of the same word, in their place."""
    kept, named = (
        set(reading.sayings.values()),
        {rule_name(rule, i): rule for i, rule in enumerate(given.program.rules)},
    )
    rules = {rule_name(rule, i): rule for i, rule in enumerate(reading.program.rules)}
    about = {one.name: {call.predicate for call in one.conclusion.calls.values()} for one in given.statements}
    now = {one.name: {call.predicate for call in one.conclusion.calls.values()} for one in reading.statements}
    replaced = {rules[name].replaces for name in supported if about.get(rules[name].replaces or "") == now[name]}
    for name, said in given.sayings.items():
        if name in named and said not in kept and name not in replaced:
            condition, conclusion = said
            yield f"`{name}` ({condition + ' → ' if condition else ''}{conclusion}) does not hold"
