"""The table of lints. A lint takes the workspace and yields findings; the order changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ci.findings import Finding
from ci.lint.askable import unaskable_names
from ci.lint.cases import case_facts, expectations
from ci.lint.confirmations import unkept_decisions, unknown_confirmations
from ci.lint.context import context_references
from ci.lint.decision_links import (
    duplicate_numbers,
    missing_templates,
    overdue_reviews,
    supersessions,
    unnamed_folders,
    unresolved_affects,
    unresolved_markers,
)
from ci.lint.decisions import chronology, decision_cycles
from ci.lint.defaults import assumed_facts
from ci.lint.machines.agents import unserved_tasks
from ci.lint.machines.tools import assertable_money, histories, lookups, tools
from ci.lint.meaning import (
    drafts,
    empty_policies,
    expiring_policies,
    explicit_patterns,
    inactive_policies,
    misplaced_policies,
    missing_owners,
    policies_not_yet_in_force,
    unformalized_exceptions,
)
from ci.lint.quotes import quote_mismatches
from ci.lint.references import (
    audiences,
    condition_ids,
    decisions_named,
    override_cycles,
    overrides,
    policies_of_cases,
    steps,
)
from ci.lint.unused import idle_permissions, idle_replaces, taken_conditions, unused_conditions, unused_settings
from ci.lint.vocabulary import (
    ambiguous_values,
    bounds,
    canonical_actions,
    default_facts,
    doubled_units,
    missing_forms,
    negative_labels,
    odd_characters,
    outcomes_of_actions,
    phrases,
    related_actions,
    same_words,
    scope_facts,
)
from ci.lint.words import unused_words
from ci.loading.load import Workspace

Lint = Callable[[Workspace], Iterable[Finding]]


def catalog(workspace: Workspace) -> Iterator[Finding]:
    """What `ci.lint.catalog` finds, where there is SQL to read: its parser is half of what a check would load."""
    context = workspace.context
    if context.entities or context.metrics or context.verified_queries:
        from ci.lint.catalog import catalog as in_full

        yield from in_full(workspace)


def row_rules(workspace: Workspace) -> Iterator[Finding]:
    """What `ci.lint.machines.rights` finds, where a role is narrowed at all."""
    if any(role.rows for role in workspace.rules.roles.roles.values()):
        from ci.lint.machines.rights import row_rules as in_full

        yield from in_full(workspace)


LINTS: tuple[Lint, ...] = (
    # words about words
    canonical_actions,
    outcomes_of_actions,
    related_actions,
    default_facts,
    scope_facts,
    bounds,
    phrases,
    ambiguous_values,
    same_words,
    # names that must lead somewhere
    overrides,
    override_cycles,
    policies_of_cases,
    steps,
    condition_ids,
    audiences,
    decisions_named,
    context_references,
    catalog,
    row_rules,
    unserved_tasks,
    histories,
    assertable_money,
    tools,
    lookups,
    # decisions
    chronology,
    decision_cycles,
    supersessions,
    duplicate_numbers,
    overdue_reviews,
    unresolved_affects,
    unresolved_markers,
    missing_templates,
    unnamed_folders,
    unknown_confirmations,
    unkept_decisions,
    # cases
    case_facts,
    expectations,
    # what a person should look at
    missing_owners,
    misplaced_policies,
    doubled_units,
    negative_labels,
    missing_forms,
    unaskable_names,
    odd_characters,
    assumed_facts,
    inactive_policies,
    drafts,
    policies_not_yet_in_force,
    expiring_policies,
    empty_policies,
    explicit_patterns,
    unformalized_exceptions,
    quote_mismatches,
    unused_words,
    unused_conditions,
    taken_conditions,
    idle_replaces,
    idle_permissions,
    unused_settings,
)


def lint(workspace: Workspace) -> list[Finding]:
    """Everything that the lints find."""
    return [finding for check in LINTS for finding in check(workspace)]
