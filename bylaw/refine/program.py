"""A logic program as data (seed 003): sorts, constants, predicates, facts, axioms, rules and a query.

What cannot be counted is not guessed: an unknown sort or constant, a wrong arity, a circle of sorts, too much of
anything is named, all of it at once. What a program says is taken as it is; only its words are looked at here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints, ValidationError

from bylaw.canonical import fingerprint
from bylaw.errors import UsageError
from bylaw.logic.formula.tokens import InvalidExpression
from bylaw.refine.notation import Parsed, parse_formula, spell

MAX_BYTES = 524_288
MAX_STATEMENTS = 2_000
_MAX_SHOWN = 8  # problems in one message

Text = Annotated[str, StringConstraints(max_length=8_000)]
Name = Annotated[str, StringConstraints(pattern=r"^[^\W\d]\w*(-\w+)*$", max_length=100)]
Id = Annotated[str, StringConstraints(pattern=r"^\w[\w.-]*$", max_length=100)]


class Part(BaseModel):
    """A part of a program; what is said beside its keys is for people and changes nothing."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Sort(Part):
    """A kind of thing; one that `extends` another is that, too."""

    extends: Name | None = None


class Constant(Part):
    """A thing of a sort."""

    sort: Name | None = None


class Predicate(Part):
    """A word of the program, and how people say it."""

    arity: Annotated[int, Field(ge=0, le=8, strict=True)]
    sorts: tuple[Name, ...] | None = None
    label: Text | None = None
    synonyms: tuple[Text, ...] = ()


class Axiom(Part):
    """What always holds."""

    formula: Text
    id: Id | None = None


class Rule(Part):
    """`condition` → `conclusion`, or a `definition` alone.

    A rule that was added says what it rests on: a verbatim `quote` of the text, or the id of an `axiom`. `replaces` is
    the name of the rule whose place it takes.
    """

    condition: Text = ""
    conclusion: Text = ""
    definition: Text | None = None
    id: Id | None = None
    quote: Text | None = None
    axiom: Id | None = None
    replaces: Text | None = None

    @property
    def meaning(self) -> tuple[str, str]:
        """What it says, whatever it rests on."""
        return (self.condition.strip(), self.conclusion.strip()) if self.definition is None else ("", self.definition)


class Program(Part):
    """A whole program."""

    dsl_version: Literal["1.0", "2.0", "2.1"] = "2.1"
    sorts: Mapping[Name, Sort] = Field(default_factory=dict)
    constants: Mapping[Name, Constant] = Field(default_factory=dict)
    predicates: Mapping[Name, Predicate] = Field(default_factory=dict)
    facts: Mapping[Text, StrictBool] = Field(default_factory=dict)
    axioms: tuple[Axiom, ...] = ()
    rules: tuple[Rule, ...] = ()
    query: Text = ""

    def document(self) -> dict[str, Any]:
        """The program as JSON, without what it leaves out."""
        return self.model_dump(mode="json", exclude_none=True, exclude_defaults=False)


class Ontology(Part):
    """The words of a domain, and axioms that a program may take rules from.

    `negations` are the words that deny in its language, where that is not English.
    """

    sorts: Mapping[Name, Sort] = Field(default_factory=dict)
    predicates: Mapping[Name, Predicate] = Field(default_factory=dict)
    axioms: tuple[Axiom, ...] = ()
    negations: tuple[Text, ...] = ()


@dataclass(frozen=True)
class Spoken:
    """One statement of a program: its name, its kind and what it says. `condition` is there of a rule alone."""

    name: str
    kind: Literal["fact", "axiom", "rule"]
    conclusion: Parsed
    condition: Parsed | None = None


@dataclass(frozen=True)
class Reading:
    """A program with every text read. `notes` are about words that are used and not declared, and sorts that differ."""

    program: Program
    statements: tuple[Spoken, ...]
    query: Parsed | None
    notes: tuple[str, ...] = ()

    @cached_property
    def sayings(self) -> Mapping[str, tuple[str, str]]:
        """What each rule says, in the one spelling, by name."""
        return {
            one.name: ("" if one.condition is None else spell(one.condition.formula), spell(one.conclusion.formula))
            for one in self.statements
            if one.kind == "rule"
        }

    @property
    def meaning(self) -> str:
        """The fingerprint of what its rules say, in any order: two rewrites with the same one are the same."""
        return fingerprint(sorted(set(self.sayings.values())))

    @cached_property
    def kinds(self) -> Mapping[str, frozenset[str]]:
        """Each sort and all that it is."""
        return lineages(self.program.sorts)


class Unreadable(UsageError):
    """A program that is no program. `problems` are all that is wrong with it."""

    def __init__(self, problems: Sequence[str], help: str | None = None) -> None:
        self.problems = tuple(problems)
        shown, more = problems[:_MAX_SHOWN], len(problems) - _MAX_SHOWN
        rest = f"; and {more} more" if more > 0 else ""
        super().__init__(f"the program cannot be read: {'; '.join(shown)}{rest}", help)


def load_json(text: str) -> Any:
    """The JSON of a file that somebody wrote. Raises Unreadable for one that is too large, or nested too deeply."""
    if len(text) > MAX_BYTES:
        raise Unreadable([f"it has {len(text)} characters, at most {MAX_BYTES} are read"])
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Unreadable([f"it is not JSON: {why}"]) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object says a thing twice")
    return found


def read_program(data: Any, ontology: Ontology | None = None) -> Reading:
    """The program in *data*, with the words of *ontology*. Raises Unreadable, which names all that is wrong."""
    try:
        program = data if isinstance(data, Program) else Program.model_validate(data)
    except ValidationError as error:
        raise Unreadable([_said(one) for one in error.errors(include_input=False, include_url=False)]) from None
    if ontology is not None:
        words = {"sorts": {**ontology.sorts, **program.sorts}, "predicates": program.predicates or ontology.predicates}
        program = program.model_copy(update=words)
    return read(program)


def read(program: Program) -> Reading:
    """*program* with every text read. Raises Unreadable."""
    count = len(program.facts) + len(program.axioms) + len(program.rules)
    if count > MAX_STATEMENTS:
        raise Unreadable([f"it has {count} statements, at most {MAX_STATEMENTS} are read"])
    problems: list[str] = []
    statements = tuple(_statements(program, problems))
    query = _parsed("the query", program.query, problems) if program.query.strip() else None
    notes = tuple(dict.fromkeys(_look_at_words(program, statements, query, problems)))
    names = [one.name for one in statements]
    problems += [f"two statements are called `{name}`" for name in sorted({n for n in names if names.count(n) > 1})]
    if problems:
        raise Unreadable(list(dict.fromkeys(problems)))
    return Reading(program, statements, query, notes)


def lineages(sorts: Mapping[str, Sort]) -> Mapping[str, frozenset[str]]:
    """Each sort and all that it is. A circle ends where it began: `read` names it."""
    found: dict[str, frozenset[str]] = {}
    for name in sorts:
        line: list[str] = []
        at: str | None = name
        while at is not None and at not in line:
            line.append(at)
            at = sorts[at].extends if at in sorts else None
        found[name] = frozenset(line)
    return found


def _said(error: Any) -> str:
    place = ".".join(map(str, error["loc"])) or "it"
    return f"`{place[:80]}`: {error['msg'][:1].lower()}{error['msg'][1:]}"


def _statements(program: Program, problems: list[str]) -> Iterator[Spoken]:
    for text, holds in sorted(program.facts.items()):
        parsed = _parsed(f"the fact `{text[:60]}`", text, problems)
        if len(parsed.calls) != 1 or re.search(r"[^\w(),?\s-]", text) or parsed.variables:
            problems.append(f"the fact `{text[:60]}` is not one predicate with its constants")
            continue
        (call,) = parsed.calls.values()
        spoken = parsed if holds else _parsed("a fact", f"not {call.text}", problems)
        yield Spoken(f"fact:{call.text}", "fact", spoken)
    for i, axiom in enumerate(program.axioms):
        name = axiom.id or f"axiom:{i}"
        yield Spoken(name, "axiom", _parsed(f"the axiom `{name}`", axiom.formula, problems))
    for i, rule in enumerate(program.rules):
        name = rule_name(rule, i)
        condition, conclusion = rule.meaning
        if not conclusion:
            problems.append(f"the rule `{name}` has no conclusion")
            continue
        yield Spoken(
            name,
            "rule",
            _parsed(f"the rule `{name}`", conclusion, problems),
            None if rule.definition is not None else _parsed(f"the rule `{name}`", condition, problems),
        )


def rule_name(rule: Rule, position: int) -> str:
    """What a rule is called: by its id, else by its place."""
    return rule.id or f"rule:{position}"


def _parsed(what: str, text: str, problems: list[str]) -> Parsed:
    try:
        return parse_formula(text)
    except InvalidExpression as error:
        help = f" ({error.help})" if error.help else ""
        problems.append(f"{what}, column {error.column}: {error.message}{help}")
        return Parsed(parse_formula("").formula)


def _look_at_words(
    program: Program, statements: Sequence[Spoken], query: Parsed | None, problems: list[str]
) -> Iterator[str]:
    """Notes on words and sorts; what cannot be counted goes to *problems*."""
    problems += _sort_problems(program)
    arities: dict[str, int] = {name: one.arity for name, one in program.predicates.items()}
    kinds = lineages(program.sorts)
    spoken = [(f"`{one.name}`", part) for one in statements for part in (one.conclusion, one.condition) if part]
    for what, part in [*spoken, *([("the query", query)] if query else [])]:
        for call in part.calls.values():
            arity = arities.setdefault(call.predicate, len(call.args))
            if arity != len(call.args):
                problems.append(f"{what}: `{call.predicate}` takes {arity} arguments, not {len(call.args)}")
                continue
            if call.predicate not in program.predicates and program.predicates:
                yield f"{what} uses `{call.predicate}`, which is not declared"
            yield from _arguments(program, kinds, what, call.predicate, call.args, problems)


def _sort_problems(program: Program) -> Iterator[str]:
    sorts = program.sorts
    for name in sorts:
        seen, at = [name], sorts[name].extends
        while at is not None and at not in seen:
            if at not in sorts:
                yield f"the sort `{name}` extends `{at}`, which is not declared"
                break
            seen.append(at)
            at = sorts[at].extends
        if at == name:
            yield f"the sorts {', '.join(f'`{one}`' for one in sorted(seen))} extend each other in a circle"
    for name, predicate in program.predicates.items():
        if predicate.sorts is not None and len(predicate.sorts) != predicate.arity:
            yield f"the predicate `{name}` has {len(predicate.sorts)} sorts and the arity {predicate.arity}"
    for name, constant in program.constants.items():
        if constant.sort is not None and constant.sort not in sorts:
            yield f"the constant `{name}` is of the sort `{constant.sort}`, which is not declared"


def _arguments(
    program: Program,
    kinds: Mapping[str, frozenset[str]],
    what: str,
    predicate: str,
    args: Sequence[str],
    problems: list[str],
) -> Iterator[str]:
    declared = program.predicates.get(predicate)
    wanted = (declared.sorts if declared else None) or (None,) * len(args)
    for arg, sort in zip(args, wanted, strict=False):
        if arg.startswith("?"):
            if sort is not None and sort not in program.sorts:
                problems.append(f"{what}: `{arg}` is of the sort `{sort}`, which is not declared")
            continue
        if arg not in program.constants:
            problems.append(f"{what}: `{arg}` is no declared constant; a variable begins with `?`")
            continue
        own = program.constants[arg].sort
        if sort is not None and own is not None and sort not in kinds.get(own, frozenset({own})):
            yield f"{what}: `{arg}` is of the sort `{own}`, and `{predicate}` speaks of `{sort}`"
