"""The rule book as values: every policy in words, with its lines, cases, graph and rivals; words, calendar, owners.

It knows nothing of HTML: `ci.site.pages` renders it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from bylaw.authored.labels import labels
from bylaw.authored.machines.layers import IN_WORDS
from bylaw.logic.formula.ir import ConditionalRule, names
from bylaw.logic.words.graph import NOTHING, from_json
from bylaw.logic.words.prose import case_in_words, rule_in_words, sentence
from bylaw.logic.words.shorter import shorter
from ci.coverage.cases import surveyed
from ci.coverage.words import Report, percent
from ci.loading.derived.record import PolicyRecord
from ci.loading.derived.tabular import DrawnTable, drawn_table
from ci.pipeline import Run
from ci.site.drawing import drawn
from ci.site.timeline import Timeline, timeline


@dataclass(frozen=True, slots=True)
class RuleTold:
    """One rule in words, where it stands, and the sentence it was written for."""

    id: str
    line: int
    words: str
    source_text: str
    kind: str


@dataclass(frozen=True, slots=True)
class CaseTold:
    """One case in words, and what it expects."""

    name: str
    words: str
    expects: str
    place: str


@dataclass(frozen=True, slots=True)
class Rival:
    """A policy that contradicts another one somewhere, and how it ends."""

    severity: str
    words: str


@dataclass(frozen=True, slots=True)
class PolicyTold:
    """One policy as its page shows it. *graph* is SVG; *coverage* is a share in per cent, or `-`."""

    id: str
    domain: str
    path: str
    source: str
    owner: str
    level: str
    period: str
    state: str  # in force, not yet, ended, unconfirmed, unproven, or text only
    layer: str
    rules: tuple[RuleTold, ...]
    table: DrawnTable | None  # where the policy came from one
    invariants: tuple[RuleTold, ...]
    texts: tuple[str, ...]
    cases: tuple[CaseTold, ...]
    graph: str | None
    coverage: str
    rivals: tuple[Rival, ...]
    findings: tuple[Rival, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """Something that comes into force, or ends, on a day."""

    day: str
    what: str
    policy: str
    domain: str
    is_past: bool


@dataclass(frozen=True, slots=True)
class Word:
    """A declared fact or action: its name, how people say it, and what it can be."""

    section: str
    name: str
    label: str
    about: str
    used_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Book:
    """The whole rule book of one commit, on one day."""

    title: str
    day: str
    commit: str
    policies: tuple[PolicyTold, ...]
    calendar: tuple[Day, ...]
    words: tuple[Word, ...]
    owners: Mapping[str, tuple[str, ...]]
    conflicts: tuple[Rival, ...]
    coverage: str
    timeline: Timeline

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains, sorted."""
        return tuple(sorted({policy.domain for policy in self.policies}))

    def of(self, domain: str) -> tuple[PolicyTold, ...]:
        """The policies of one domain, by id."""
        return tuple(policy for policy in self.policies if policy.domain == domain)


def book(run: Run, title: str) -> Book:
    """The rule book of a checked repository."""
    workspace = run.workspace
    coverage = surveyed(workspace, run.at, workspace.commit_date or run.at)
    told = _Telling(run, coverage)
    policies = tuple(told.policy(record) for record in sorted(run.proofs.records, key=lambda r: r.policy.policy_id))
    owners: dict[str, list[str]] = defaultdict(list)
    for policy in policies:
        owners[policy.owner or "nobody"].append(policy.id)
    clashes = [one for one in run.findings if one.id in ("conflict", "resolved-conflict")]
    return Book(
        title=title,
        day=run.at.isoformat(),
        commit=workspace.commit or "",
        policies=policies,
        calendar=tuple(sorted(_calendar(run), key=lambda one: (one.day, one.policy))),
        words=tuple(told.words()),
        owners={name: tuple(ids) for name, ids in sorted(owners.items())},
        conflicts=tuple(Rival(one.severity, one.message) for one in clashes),
        coverage=percent(coverage.survey.coverage.tally()),
        timeline=timeline(run),
    )


@dataclass(frozen=True)
class _Telling:
    """What every policy is told with."""

    run: Run
    coverage: Report

    def policy(self, record: PolicyRecord) -> PolicyTold:
        """One policy in words."""
        metadata, id = record.policy.metadata, record.policy.policy_id
        rules = [i for i, rule in enumerate(self.coverage.theory.ruleset.rules) if rule.policy_id == id]
        about = [one for one in self.run.findings if id in one.policies]
        clashes = [one for one in about if one.id in ("conflict", "resolved-conflict")]
        return PolicyTold(
            id=id,
            domain=metadata.domain,
            path=record.path,
            source=metadata.source,
            owner=metadata.owner if record.policy.has_owner else "",
            level=f"level {record.level.number} ({record.level.name}): {record.level.reason}",
            period=_period(metadata.effective_date, metadata.expiry_date),
            state=_state(record, self.run.at),
            layer=IN_WORDS.get(record.enriched.get("layer_assignment", {}).get("primary_layer"), ""),
            rules=tuple(self._rule(rule) for rule in record.rules),
            table=drawn_table(record.policy, self.run.workspace.vocabulary),
            invariants=tuple(
                RuleTold(one.constraint_id, one.source.line, f"always: {one.text}", one.source.text or "", "invariant")
                for one in record.constraints
            ),
            texts=record.texts,
            cases=tuple(self._cases(record)),
            graph=self._graph(record),
            coverage=percent(self.coverage.survey.coverage.tally(None, rules)) if rules else "-",
            rivals=tuple(Rival(one.severity, one.message) for one in clashes),
            findings=tuple(Rival(f.severity, f.message) for f in about if f not in clashes),
        )

    def _rule(self, rule: ConditionalRule) -> RuleTold:
        short = replace(rule, guard=shorter(rule.guard, self.run.ruleset.variables))
        vocabulary = self.run.workspace.vocabulary
        actions = {name: action.label for name, action in vocabulary.actions.items() if action.label}
        words = rule_in_words(short, labels(vocabulary), actions).removesuffix(f" ({rule.policy_id})")
        return RuleTold(rule.rule_id, rule.source.line, words, rule.source.text or "", rule.effect.kind)

    def _cases(self, record: PolicyRecord) -> Iterator[CaseTold]:
        """The cases of its domain that the policy decides something in, or that name it."""
        variables = self.run.ruleset.variables
        evaluator, id = self.coverage.theory.evaluator, record.policy.policy_id
        for entry in self.run.workspace.cases:
            case = entry.case
            try:
                facts = {name: variables[name].read(value) for name, value in case.facts.items()}
            except (KeyError, ValueError):
                continue
            decision = evaluator.decide(facts, (case.at or self.run.at).toordinal(), names_unknown=False)
            if id in case.policies or any(fired.policy_id == id for fired in decision.fired):
                expects = "; ".join(f"{key.replace('_', ' ')}: {_shown(value)}" for key, value in case.expect.items())
                place = f"{entry.path}:{self.run.workspace.line(entry.path, (entry.index,))}"
                yield CaseTold(case.name, case_in_words(facts, labels(self.run.workspace.vocabulary)), expects, place)

    def _graph(self, record: PolicyRecord) -> str | None:
        if not record.rules or not record.in_logic:
            return None
        graph = from_json(record.enriched["formal"]["decision_graph"], self.run.ruleset.variables)
        actions, spoken = self.run.workspace.vocabulary.actions, labels(self.run.workspace.vocabulary)
        ends = {name: (actions[name].label or name) if name in actions else name for name in graph.terminals}
        ends[NOTHING] = "says nothing"

        def asked(name: str) -> str:
            test = graph.nodes[name].test
            return name if test is None else f"{sentence(test, spoken)}?"

        return drawn(graph, asked, ends)

    def words(self) -> Iterator[Word]:
        """Every fact and action, with the policies that use it."""
        vocabulary, rules = self.run.workspace.vocabulary, self.run.ruleset.rules
        for name, fact in sorted(vocabulary.facts.items()):
            about = ", ".join(fact.values) or " ".join(part for part in (fact.type, fact.unit or "") if part)
            users = sorted({rule.policy_id for rule in rules if name in names(rule.guard)})
            yield Word("fact", name, fact.label or "", about, tuple(users))
        for name, action in sorted(vocabulary.actions.items()):
            users = sorted({rule.policy_id for rule in rules if rule.effect.action == name})
            yield Word("action", name, action.label or "", action.outcome or "", tuple(users))


def _state(record: PolicyRecord, at: date) -> str:
    metadata = record.policy.metadata
    if record.policy.draft:
        return "a draft: checked, and not compiled"
    if not record.policy.is_active:
        return "not confirmed by anybody yet"
    if metadata.effective_date and metadata.effective_date > at:
        return f"from {metadata.effective_date.isoformat()} on"
    if metadata.expiry_date and metadata.expiry_date < at:
        return f"ended on {metadata.expiry_date.isoformat()}"
    if record.status["formalization"] == "failed":
        return "unproven: it cannot be read, so nothing is decided that it may change"
    return "in force" if record.in_logic and record.policy.has_logic else "in force as text only, not checked by logic"


def _period(start: date | None, end: date | None) -> str:
    since, until = (f"{word} {day.isoformat()}" if day else "" for word, day in (("from", start), ("until", end)))
    return " ".join(part for part in (since, until) if part)


def _calendar(run: Run) -> Iterator[Day]:
    for record in run.proofs.records:
        data, id = record.policy.metadata, record.policy.policy_id
        for what, day in (("comes into force", data.effective_date), ("ends", data.expiry_date)):
            if day is not None:
                yield Day(day.isoformat(), what, id, data.domain, day < run.at)


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{'' if is_one else 'no '}{str(name).replace('_', ' ')}" for name, is_one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value)) or "none"
    return "nothing" if value is None else str(value).replace("_", " ")
