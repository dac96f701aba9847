"""Words that are declared and never used: a vocabulary that nobody reads grows until nobody can."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bylaw.authored.conditions import AllOf, AnyOf, Condition, FactCheck, Not
from bylaw.authored.policies import Policy, PolicyException
from bylaw.authored.vocabulary import Vocabulary
from ci.findings import Finding, Place
from ci.loading.load import Workspace

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def unused_words(workspace: Workspace) -> Iterator[Finding]:
    """Every fact, action, outcome and term is used by a policy, a case or another word."""
    used = used_words(workspace)
    for section in ("facts", "actions", "outcomes", "terms"):
        for name in sorted(getattr(workspace.vocabulary, section)):
            if name.casefold() not in used:
                message = f"the {section[:-1]} `{name}` is declared and never used"
                at = Place(workspace.path_of_word(section, name), (section, name), on_key=True)
                yield Finding("unused-word", message, at, help="delete it, or write the policy that needs it")


def used_words(workspace: Workspace) -> set[str]:
    """Every name that something speaks of, in small letters: names compare case-insensitively."""
    vocabulary = workspace.vocabulary
    used = set(_of_vocabulary(vocabulary))
    for file in workspace.policies:
        used.update(_of_policy(file.policy, vocabulary))
    for entry in workspace.cases:
        used.update(entry.case.facts)
        for key, expected in entry.case.expect.items():
            used.add(key)
            used.update(item for item in _listed(expected) if isinstance(item, str))
    for tool in workspace.rules.tools.tools.values():
        used.update(tool.actions, tool.facts)
    used.update(_of_misfits(workspace))
    return {name.casefold() for name in used} | workspace.beyond.words


def _of_misfits(workspace: Workspace) -> Iterator[str]:
    """Every word in the text of a policy or of cases that do not fit: they were meant to use it."""
    declaring = {file.path for file in workspace.vocabularies}
    paths = {f.at.path for f in workspace.findings if f.id == "schema" and f.at.path.startswith("policies/")}
    for path in sorted(paths - declaring):
        if (source := workspace.sources.get(path)) is not None:
            yield from words_in(source.text, workspace.vocabulary)


def words_in(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Every word that a file which does not fit its model may use."""
    words = set(_names_in(text))
    for word in words:
        yield from _meanings(word)
    for name, fact in vocabulary.facts.items():
        if not words.isdisjoint(fact.values):
            yield name  # by a target


def words_of(policy: Policy, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The names that a policy speaks of, in small letters and sorted."""
    return tuple(sorted({name.casefold() for name in _of_policy(policy, vocabulary)}))


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | dict) else [value]


def _of_vocabulary(vocabulary: Vocabulary) -> Iterator[str]:
    yield from vocabulary.scope.values()
    for kinds in vocabulary.defaults.values():
        yield from kinds.values()
    for group in vocabulary.relations.excludes:
        yield from group
    for name, others in vocabulary.relations.implies.items():
        yield from (name, *others)
    for action in vocabulary.actions.values():
        yield from (word for word in (action.outcome, action.same_as) if word is not None)
    for outcome in vocabulary.outcomes.values():
        yield from outcome.restrictive
    for fact in vocabulary.facts.values():
        if fact.history is not None:
            yield from (*fact.history.actions, *fact.history.not_after)
            yield from (fact.history.sum,) if fact.history.sum else ()
    for conditions in vocabulary.terms.values():
        yield from _of_conditions(conditions, vocabulary)


def _of_policy(policy: Policy, vocabulary: Vocabulary) -> Iterator[str]:
    yield from _of_conditions(policy.conditions, vocabulary)
    for action in policy.actions:
        yield action.action
        yield from _of_conditions(action.when, vocabulary)
        for name in action.requires:
            yield from _meanings(name)
    yield from _of_exceptions(policy.exceptions, vocabulary)
    if policy.formal is not None:
        for rule in policy.formal.logic_rules or ():
            yield rule.consequent
            yield from _names_in(rule.antecedent, rule.z3_expr)
        for constraint in policy.formal.constraints:
            yield from _names_in(constraint.expression, constraint.z3_expr)


def _of_exceptions(exceptions: Iterable[PolicyException], vocabulary: Vocabulary) -> Iterator[str]:
    for exception in exceptions:
        yield from _of_conditions(exception.conditions, vocabulary)
        yield from exception.replaces
        if exception.action is not None:
            yield exception.action
        yield from _of_exceptions(exception.exceptions, vocabulary)


def _meanings(name: str) -> Iterator[str]:
    """Every word that a required name can mean: itself, and what it negates (`no_receipt`, `not has_receipt`)."""
    yield name
    bare = re.sub(r"^(no_|not )\s*", "", name.strip(), flags=re.IGNORECASE)
    if bare != name:
        yield from (bare, f"has_{bare}")


def _of_conditions(conditions: Sequence[Condition], vocabulary: Vocabulary) -> Iterator[str]:
    for condition in conditions:
        yield from _of_condition(condition, vocabulary)


def _of_condition(condition: Condition | list[Condition], vocabulary: Vocabulary) -> Iterator[str]:
    match condition:
        case list():
            yield from _of_conditions(condition, vocabulary)
        case AllOf(all_of=items):
            yield from _of_conditions(items, vocabulary)
        case AnyOf(any_of=branches):
            for branch in branches:
                yield from _of_condition(branch, vocabulary)
        case Not(not_=branch):
            yield from _of_condition(branch, vocabulary)
        case FactCheck():
            yield from (word for word in (condition.parameter, condition.value_of) if word is not None)
            if condition.target != "general":
                yield from vocabulary.facts_with_value(condition.target.rpartition(":")[2])


def _names_in(*texts: str | None) -> Iterator[str]:
    for text in texts:
        yield from _NAME.findall(text or "")
