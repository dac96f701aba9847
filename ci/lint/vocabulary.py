"""Words about words: what a vocabulary says of its own facts, actions and outcomes must hold together."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain
from typing import get_args

from bylaw.authored.conditions import KINDS
from bylaw.authored.vocabulary import Action, Fact, Outcome, Vocabulary
from bylaw.authored.wording import SLOT, Wording
from bylaw.language.glyphs import disguised
from bylaw.language.lexicon import lexicon
from bylaw.language.text import tokens, words_of
from bylaw.language.units import unit_named
from bylaw.logic.formula.ir import Number, ValueMisfit
from ci.findings import Finding, Place, Route
from ci.lint.cycles import cycles
from ci.loading.derived.variables import bound_of, unbounded
from ci.loading.load import Workspace
from ci.loading.schema.nearest import did_you_mean, one_right

_BRACES = re.compile(r"\{[^{}]{0,40}\}?|\}")
ACTIONS_LIVE_IN = "actions are declared in policies/vocabulary.yaml"
FACTS_LIVE_IN = "facts are declared in policies/vocabulary.yaml"
RESERVED_OUTCOMES = ("required", "prohibited", "permitted")  # keys of a case's `expect`
CONDITION_TYPES = tuple(get_args(kind.model_fields["type"].annotation)[0] for kind in KINDS)


def canonical_actions(workspace: Workspace) -> Iterator[Finding]:
    """`same_as` leads to a declared action, and not in a circle."""
    actions = workspace.vocabulary.actions
    for path, name, action in _actions(workspace):
        target = action.same_as
        if target is None:
            continue
        at = Place(path, ("actions", name, "same_as"))
        if target not in actions and not workspace.is_lost(target):
            message = f"the action `{name}` is the same as `{target}`, which no vocabulary declares"
            others = [other for other in actions if other != name]
            help = did_you_mean(target, others, ACTIONS_LIVE_IN)
            yield Finding("unknown-action", message, at, help=help, detail=one_right(target, others))
        elif target in actions and action.outcome not in (None, workspace.vocabulary.outcome_of(target)):
            message = f"the action `{name}` names the outcome `{action.outcome}`, and `{target}` another"
            yield Finding("schema", message, at, help="a second name takes the outcome of the first: leave it out")
    same_as = {name: [action.same_as] for name, action in actions.items() if action.same_as is not None}
    for cycle in cycles(same_as):
        message = f"`same_as` leads in a circle: {_circle(cycle)}"
        at = Place(workspace.path_of_word("actions", cycle[0]), ("actions", cycle[0], "same_as"))
        yield Finding("dangling-reference", message, at, help="one of them is the canonical name: it has no `same_as`")


def outcomes_of_actions(workspace: Workspace) -> Iterator[Finding]:
    """An action's outcome is declared, and no outcome has a name that a case needs for something else."""
    outcomes = workspace.vocabulary.outcomes
    for path, name, action in _actions(workspace):
        if action.outcome is not None and action.outcome not in outcomes and not workspace.is_lost(action.outcome):
            message = f"the action `{name}` has the outcome `{action.outcome}`, which no vocabulary declares"
            at = Place(path, ("actions", name, "outcome"))
            help, fix = did_you_mean(action.outcome, outcomes, _OUTCOMES), one_right(action.outcome, outcomes)
            yield Finding("dangling-reference", message, at, help=help, detail=fix)
    for file in workspace.vocabularies:
        for name in RESERVED_OUTCOMES:
            if name in file.vocabulary.outcomes:
                message = f"`{name}` is a word of the format and cannot be an outcome"
                yield Finding("schema", message, Place(file.path, ("outcomes", name), on_key=True))
        for name, outcome in file.vocabulary.outcomes.items():
            for n, word in enumerate(outcome.restrictive):
                if workspace.vocabulary.outcome_of(word) != name and not workspace.is_lost(word):
                    its = workspace.vocabulary.restrictive(name)[len(outcome.restrictive) :]
                    message = f"`{word}` is no action of the outcome `{name}`"
                    at = Place(file.path, ("outcomes", name, "restrictive", n))
                    help, fix = did_you_mean(word, its, ACTIONS_LIVE_IN), one_right(word, its)
                    yield Finding("unknown-action", message, at, help=help, detail=fix)


_OUTCOMES = "outcomes are declared in policies/vocabulary.yaml"


def related_actions(workspace: Workspace) -> Iterator[Finding]:
    """`relations` speak of declared actions."""
    actions = workspace.vocabulary.actions
    for file in workspace.vocabularies:
        for route, name, on_key in _related(file.vocabulary):
            if name not in actions and not workspace.is_lost(name):
                message = f"`relations` names the action `{name}`, which no vocabulary declares"
                help = did_you_mean(name, actions, ACTIONS_LIVE_IN)
                fix = one_right(name, actions)
                yield Finding("unknown-action", message, Place(file.path, route, on_key), help=help, detail=fix)


def _related(vocabulary: Vocabulary) -> Iterator[tuple[Route, str, bool]]:
    for i, group in enumerate(vocabulary.relations.excludes):
        yield from ((("relations", "excludes", i, j), name, False) for j, name in enumerate(group))
    for name, others in vocabulary.relations.implies.items():
        yield ("relations", "implies", name), name, True
        yield from ((("relations", "implies", name, j), other, False) for j, other in enumerate(others))


def default_facts(workspace: Workspace) -> Iterator[Finding]:
    """`defaults` give a known type of condition a declared fact."""
    for file in workspace.vocabularies:
        for domain, kinds in file.vocabulary.defaults.items():
            for kind, fact in kinds.items():
                route = ("defaults", domain, kind)
                if kind not in CONDITION_TYPES:
                    message = f"`defaults` names `{kind}`, which is not a type of condition"
                    help = did_you_mean(kind, CONDITION_TYPES)
                    yield Finding("schema", message, Place(file.path, route, on_key=True), help=help)
                yield from _undeclared_fact(workspace, fact, "`defaults` names", Place(file.path, route))


def scope_facts(workspace: Workspace) -> Iterator[Finding]:
    """Every dimension of a scope is an enum fact."""
    for file in workspace.vocabularies:
        for dimension, name in file.vocabulary.scope.items():
            at = Place(file.path, ("scope", dimension))
            yield from _undeclared_fact(workspace, name, f"the scope `{dimension}` means", at)
            fact = workspace.vocabulary.facts.get(name)
            if fact is not None and fact.type != "enum":
                message = f"the scope `{dimension}` means the fact `{name}`, which is {_a(fact)}"
                yield Finding("type-mismatch", message, at, help="a scope lists values: it needs an enum fact")


def _undeclared_fact(workspace: Workspace, name: str, who: str, at: Place) -> Iterator[Finding]:
    facts = workspace.vocabulary.facts
    if name not in facts and not workspace.is_lost(name):
        message = f"{who} the fact `{name}`, which no vocabulary declares"
        help = did_you_mean(name, facts, FACTS_LIVE_IN)
        yield Finding("unknown-fact", message, at, help=help, detail=one_right(name, facts))


def bounds(workspace: Workspace) -> Iterator[Finding]:
    """`minimum` and `maximum` are values of their fact, in that order."""
    for path, name, fact in _facts(workspace):
        free = unbounded(name, fact)
        found: dict[str, Number] = {}
        for key in ("minimum", "maximum"):
            written = getattr(fact, key)
            if written is None or free.is_finite:
                continue
            try:
                found[key] = bound_of(free, written)
            except ValueMisfit as problem:
                message = f"the {key} of the fact `{name}` does not fit it: {problem}"
                yield Finding("type-mismatch", message, Place(path, ("facts", name, key)))
        if len(found) == 2 and found["minimum"] > found["maximum"]:
            message = f"the maximum `{fact.maximum}` of the fact `{name}` lies below its minimum `{fact.minimum}`"
            help = "exchange the two, or correct one of them"
            yield Finding("value-out-of-domain", message, Place(path, ("facts", name, "maximum")), help=help)


def phrases(workspace: Workspace) -> Iterator[Finding]:
    """Phrases fit what the fact can be: `{value}` stands for a number or a date, other values are keys."""
    for path, name, fact in _facts(workspace):
        route: Route = ("facts", name, "phrases")
        if isinstance(fact.phrases, dict):
            known = ["true", "false"] if fact.type == "boolean" else list(fact.values)
            for key in fact.phrases:
                if key not in known:
                    at = Place(path, (*route, key), on_key=True)
                    yield _stray_phrase(name, fact, key, known, at)
        elif fact.phrases and fact.type == "boolean":
            message = f"the phrases of the boolean fact `{name}` do not say whether it holds"
            help = 'write {"true": [...], "false": [...]}'
            yield Finding("schema", message, Place(path, route), help=help)
        for at, phrase in _phrases(fact, path, route):
            if fact.type in ("boolean", "enum"):
                if "{value}" in phrase:
                    message = f"the phrase `{phrase}` of the fact `{name}` takes a `{{value}}`, but it is {_a(fact)}"
                    yield Finding("type-mismatch", message, at, help="`{value}` stands for a number or a date")
            elif not isinstance(fact.phrases, dict) and "{value}" not in phrase:
                message = f"the phrase `{phrase}` of the fact `{name}` never says its value"
                yield Finding("type-mismatch", message, at, help="write `{value}` where the number or the date stands")


def _stray_phrase(name: str, fact: Fact, key: str, known: list[str], at: Place) -> Finding:
    if fact.type == "enum":
        message = f"the phrases of the fact `{name}` name `{key}`, which is not one of its values"
        return Finding("value-out-of-domain", message, at, help=did_you_mean(key, known))
    if fact.type == "boolean":
        message = f"the phrases of the boolean fact `{name}` stand under `true` and `false`, not under `{key}`"
        return Finding("schema", message, at, help=did_you_mean(key, known))
    message = f"the phrases of the fact `{name}` are a list with `{{value}}` in them: it is {_a(fact)}"
    return Finding("schema", message, at)


def _phrases(fact: Fact, path: str, route: Route) -> Iterator[tuple[Place, str]]:
    if isinstance(fact.phrases, dict):
        for key, listed in fact.phrases.items():
            yield from ((Place(path, (*route, key, i)), phrase) for i, phrase in enumerate(listed))
    else:
        yield from ((Place(path, (*route, i)), phrase) for i, phrase in enumerate(fact.phrases))


def ambiguous_values(workspace: Workspace) -> Iterator[Finding]:
    """No word means two values of one fact."""
    for path, name, fact in _facts(workspace):
        meanings: dict[str, str] = {}
        for value in fact.values:
            meanings.setdefault(value.casefold(), value)
        for value, synonyms in fact.values.items():
            for i, word in enumerate((value, *synonyms)):
                other = meanings.setdefault(word.casefold(), value)
                if other != value:
                    message = f"`{word}` means two values of the fact `{name}`: `{other}` and `{value}`"
                    at = Place(path, ("facts", name, "values", value, *((i - 1,) if i else ())), on_key=not i)
                    yield Finding("duplicate-key", message, at)


_NEGATING = frozenset(("not", "never", "cannot"))


def negative_labels(workspace: Workspace) -> Iterator[Finding]:
    """An action is called by what it does: "may not borrow, denied" says nothing clear."""
    for path, name, action in _actions(workspace):
        words = words_of(action.label or "")
        if any(word in _NEGATING or word.endswith("n't") for word in words):
            message = f"the label of the action `{name}` is negative: a denial of it would be read twice"
            help = "call it by what it does, and prohibit it where it may not be done"
            yield Finding("negative-label", message, Place(path, ("actions", name, "label")), help=help)


def doubled_units(workspace: Workspace) -> Iterator[Finding]:
    """No form says the unit of its value twice: `{value}` brings it along."""
    for path, name, fact in _facts(workspace):
        for form in ("given", "denied"):
            text = getattr(fact.label, form, None) or ""
            behind = [token.word for token in tokens(text.partition(SLOT)[2])]
            unit = lexicon().unit(behind, 0) if behind and fact.unit else None
            if SLOT in text and unit is not None and unit[0] == unit_named(fact.unit):
                said = text.replace(SLOT, f"5 {fact.unit}")
                message = f"the form `{form}` of the fact `{name}` says its unit twice: “{said}”"
                at = Place(path, ("facts", name, "label", form))
                yield Finding("doubled-unit", message, at, help="write `{value}` without a unit behind it")


def missing_forms(workspace: Workspace) -> Iterator[Finding]:
    """Where answers use the forms of a label, every form is there that an answer may need."""
    alike: dict[str, list[str]] = {}  # the actions of an outcome that say how they are given
    for _, name, action in _actions(workspace):
        if action.outcome is not None and action.label is not None and action.label.given is not None:
            alike.setdefault(action.outcome, []).append(name)
    prohibited = {one.action for file in workspace.policies for one in file.policy.actions if one.type == "prohibited"}
    for path, name, action in _actions(workspace):
        if action.same_as is not None:
            continue
        given, denied = _forms(action.label)
        others = alike.get(action.outcome or "", [])
        if not given and (denied or others):
            because = "it has a `denied`" if denied else f"`{others[0]}` of the same outcome has one"
            yield _missing_form(path, ("actions", name), "given", because)
        if given and not denied and (action.outcome is not None or name in prohibited):
            because = "another action may be taken instead" if action.outcome is not None else "a policy prohibits it"
            yield _missing_form(path, ("actions", name), "denied", because)
    for path, name, fact in _facts(workspace):
        given, denied = _forms(fact.label)
        if fact.type == "boolean" and given and not denied:
            yield _missing_form(path, ("facts", name), "denied", "it has a `given`, and a case may say either")


def _forms(label: Wording | None) -> tuple[bool, bool]:
    return (False, False) if label is None else (label.given is not None, label.denied is not None)


def _missing_form(path: str, route: tuple[str, str], form: str, because: str) -> Finding:
    section, name = route
    message = f"the label of the {section[:-1]} `{name}` has no `{form}` form: {because}"
    help = f"write `label: {{name: …, {form}: …}}`, a clause without its full stop"
    return Finding("missing-form", message, Place(path, (section, name), on_key=True), help=help)


def odd_characters(workspace: Workspace) -> Iterator[Finding]:
    """What is said to people is what it looks like: no invisible characters, mixed alphabets or stray braces."""
    for file in workspace.vocabularies:
        words = file.vocabulary
        for section, those in (("facts", words.facts), ("actions", words.actions), ("outcomes", words.outcomes)):
            for name, declared in those.items():
                for text in _said(declared):
                    if odd := _odd(text):
                        at = Place(file.path, (section, name), on_key=True)
                        message = f"the words of the {section[:-1]} `{name}` hold {odd}"
                        yield Finding("odd-character", message, at, help="type the words again, without it")
                        break


def _said(declared: Fact | Action | Outcome) -> Iterator[str]:
    """Every text of it that people read or write."""
    label, phrases = declared.label, getattr(declared, "phrases", [])
    said = [] if label is None else [label, label.ask, label.given, label.denied]
    said += [getattr(declared, "ask", None), *(phrases if isinstance(phrases, list) else chain(*phrases.values()))]
    yield from filter(None, said)


def _odd(text: str) -> str | None:
    hidden = next((char for char in text if unicodedata.category(char) in ("Cf", "Co", "Cn")), None)
    if hidden is not None:
        return f"the invisible character `U+{ord(hidden):04X}`"
    if word := disguised(text):
        return f"“{word}”, which is not what it looks like: its letters are of two alphabets, or overlaid"
    braces = _BRACES.search(text.replace(SLOT, ""))
    return f"`{braces[0]}`, which nothing fills: only `{SLOT}` is filled in" if braces else None


def same_words(workspace: Workspace) -> Iterator[Finding]:
    """Names are compared case-insensitively, so two facts or two actions differ in more than that."""
    for section in ("facts", "actions", "outcomes", "terms"):
        first: dict[str, str] = {}
        for name in sorted(getattr(workspace.vocabulary, section)):
            other = first.setdefault(name.casefold(), name)
            if other != name:
                message = f"`{name}` in `{section}` is the same word as `{other}`: capitals make no difference"
                at = Place(workspace.path_of_word(section, name), (section, name), on_key=True)
                related = Place(workspace.path_of_word(section, other), (section, other), on_key=True)
                yield Finding("duplicate-key", message, at, related=((related, "first declared here"),))


def _facts(workspace: Workspace) -> Iterator[tuple[str, str, Fact]]:
    for file in workspace.vocabularies:
        yield from ((file.path, name, fact) for name, fact in file.vocabulary.facts.items())


def _actions(workspace: Workspace) -> Iterator[tuple[str, str, Action]]:
    for file in workspace.vocabularies:
        yield from ((file.path, name, action) for name, action in file.vocabulary.actions.items())


def _a(fact: Fact) -> str:
    return f"{'an' if fact.type in ('integer', 'enum') else 'a'} {fact.type} fact"


def _circle(cycle: tuple[str, ...]) -> str:
    return " → ".join(f"`{name}`" for name in (*cycle, cycle[0]))
