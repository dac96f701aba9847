"""Stage 2 of seed 000: every policy gets its rules, constraints and decision graph, or stays text only.

What an author wrote under `formal` replaces its own derivation and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from bylaw.authored.policies import FormalConstraint, LogicRule, Policy
from bylaw.logic.formula.expressions import InvalidExpression, parse_expression
from bylaw.logic.formula.ir import ConditionalRule, Constraint, Formula, Source, Variable, conj
from bylaw.logic.formula.notation import infix, smtlib
from bylaw.logic.formula.terms import parse_term
from bylaw.logic.solver.sandbox import Sandbox
from bylaw.logic.solver.solver import Effort, SolverAnswer
from bylaw.logic.words.graph import Graph, graph_problems
from bylaw.logic.words.shorter import shorter
from ci.findings import Finding, Route
from ci.formalize.graph import build_graph
from ci.formalize.lower import Lowering
from ci.formalize.rules import Formalizer, RuleDraft, leads_nowhere
from ci.formalize.written_graph import GraphReader
from ci.loading.derived.priority import Level, derive
from ci.loading.derived.record import Added, Later, PolicyRecord, Result, ordinal
from ci.loading.load import PolicyFile, Workspace
from ci.progress import Progress, each

UNDECLARED = frozenset(
    ("unknown-fact", "unknown-action", "unknown-requirement", "unknown-target", "invalid-expression")
)


@dataclass
class Terms:
    """The vocabulary's `terms`, lowered once a domain: a term may use a default that differs between domains."""

    workspace: Workspace
    variables: Mapping[str, Variable]
    findings: list[Finding] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    _known: dict[str, dict[str, Formula]] = field(default_factory=dict)

    def of(self, domain: str) -> Mapping[str, Formula]:
        """Term, in lower case → its formula. A term with a finding is left out, and remembered as broken."""
        if domain not in self._known:
            self._known[domain] = dict(self._lowered(domain))
        return self._known[domain]

    def _lowered(self, domain: str) -> list[tuple[str, Formula]]:
        found = []
        for name, conditions in sorted(self.workspace.vocabulary.terms.items()):
            path = self.workspace.path_of_word("terms", name)
            lowering = Lowering(self.workspace.vocabulary, self.variables, domain, f"the term `{name}`", path)
            formula = lowering.all_of(conditions, ("terms", name))
            told = (*lowering.findings, *lowering.notes)
            self.findings += [finding for finding in told if finding not in self.findings]
            if formula is not None:
                found.append((name.casefold(), formula))
            else:
                self.broken.add(name.casefold())
        return found


def formalize(workspace: Workspace, variables: Mapping[str, Variable], progress: Progress | None = None) -> Result:
    """A record for every policy, formalized where it can be; and everything that could not."""
    terms = Terms(workspace, variables)
    for domain in sorted(workspace.beyond.domains):
        terms.of(domain)
    budgets = workspace.rules.ci.proofs
    sandbox = Sandbox(variables, Effort(budgets.rlimit, budgets.timeout_ms, budgets.memory_mb))
    records: list[PolicyRecord] = []
    findings: list[Finding] = []
    try:
        for file in each("formalizing", workspace.policies, progress):
            record, found = _formalized(file, workspace, variables, terms, sandbox)
            records.append(record)
            findings += found
    finally:
        sandbox.close()
    vocabulary = workspace.vocabulary
    misled = {action.casefold() for action in vocabulary.actions if leads_nowhere(vocabulary, action) is not None}
    echoes = Echoes(workspace, terms.broken | misled)
    return records, [finding for finding in (*terms.findings, *findings) if not echoes.has(finding)]


@dataclass(frozen=True, slots=True)
class Echoes:
    """Words that are unknown only because their own declaration has a finding: that one says it all."""

    workspace: Workspace
    broken: Collection[str]

    def has(self, finding: Finding) -> bool:
        """Does the finding only repeat what is told about a vocabulary?"""
        if finding.id not in UNDECLARED:
            return False
        word = str(finding.detail.get("word", ""))  # without one only a vocabulary that is lost whole explains it
        bare = re.sub(r"^(no_|not[ _])\s*", "", word, flags=re.IGNORECASE)
        return word.casefold() in self.broken or any(map(self.workspace.is_lost, (word, bare, f"has_{bare}")))


def _formalized(
    file: PolicyFile, workspace: Workspace, variables: Mapping[str, Variable], terms: Terms, sandbox: Sandbox
) -> tuple[PolicyRecord, list[Finding]]:
    policy = file.policy
    level = derive(policy, workspace.rules.priorities)
    raw: Any = workspace.sources[file.path].data
    status: Any = {
        "extraction": "complete",
        "formalization": "pending",
        "conflict_detection": "pending",
        "layer_assignment": "pending",
    }
    record = PolicyRecord(policy, file.path, raw, level, status)
    subject = f"policy `{policy.policy_id}`"
    domain = policy.metadata.domain
    lowering = Lowering(workspace.vocabulary, variables, domain, subject, file.path, (policy.policy_id,))
    formalizer = Formalizer(policy, workspace.vocabulary, lowering, terms.of(domain))
    drafts = formalizer.drafts()
    written = HandWritten(policy, formalizer, variables, lowering, sandbox)
    drafts = written.rules(drafts)
    constraints = written.constraints()
    graph = written.graph()
    notes = [one for one in lowering.notes if one.id == "graph-differs" or not written.has_rules]
    if lowering.findings or drafts is None:
        return record.after("formalization", "failed"), [*lowering.findings, *notes]
    settled = Settled(record, level, workspace.line)
    rules = tuple(settled.rule(draft) for draft in drafts)
    invariants = tuple(settled.constraint(i, c, formula) for i, (c, formula) in enumerate(constraints))
    done = settled.done(rules, invariants, {d.rule_id: d.route for d in drafts}, variables, formalizer.steps())
    return replace(done, graph=graph, liftings=() if written.has_rules else tuple(formalizer.liftings)), notes


@dataclass(frozen=True, slots=True)
class Settled:
    """What every rule of one policy shares: its level, its period, its file."""

    record: PolicyRecord
    level: Level
    line: Callable[[str, Route], int]

    def rule(self, draft: RuleDraft) -> ConditionalRule:
        """The draft with its place, level and period."""
        policy = self.record.policy
        return ConditionalRule(
            rule_id=draft.rule_id,
            policy_id=policy.policy_id,
            domain=policy.metadata.domain,
            effect=draft.effect,
            guard=draft.guard,
            level=self.level.number,
            source=Source(self.record.path, self.line(self.record.path, draft.route), draft.source_text),
            start=ordinal(policy.metadata.effective_date),
            end=ordinal(policy.metadata.expiry_date),
            origin="exception" if draft.is_exception else "formal" if draft.route[0] == "formal" else "action",
            audience=tuple(policy.audience),
        )

    def constraint(self, i: int, written: FormalConstraint, formula: Formula) -> Constraint:
        """An invariant with its place and period."""
        metadata = self.record.policy.metadata
        return Constraint(
            written.constraint_id,
            self.record.policy.policy_id,
            formula,
            written.expression or written.z3_expr or "",
            Source(
                self.record.path,
                self.line(self.record.path, ("formal", "constraints", i)),
                written.natural_language,
            ),
            ordinal(metadata.effective_date),
            ordinal(metadata.expiry_date),
        )

    def done(
        self,
        rules: tuple[ConditionalRule, ...],
        constraints: tuple[Constraint, ...],
        routes: Mapping[str, Route],
        variables: Mapping[str, Variable],
        steps: tuple[str, ...],
    ) -> PolicyRecord:
        """The record with everything this stage adds."""
        formal = Later(partial(_formal, self.record.policy, rules, constraints, variables, steps))
        base = self.record.after("formalization", "complete", formal=formal)
        return replace(base, rules=rules, constraints=constraints, routes=routes, steps=steps)


def _formal(
    policy: Policy,
    rules: tuple[ConditionalRule, ...],
    constraints: tuple[Constraint, ...],
    variables: Mapping[str, Variable],
    steps: Sequence[str],
) -> Added:
    """The key `formal` of seed 000, stage 2; a bundle reads no more of it than the graph."""
    constrained = [
        {
            "constraint_id": c.constraint_id,
            "type": "invariant",
            "expression": c.text,
            "z3_expr": smtlib(c.formula, variables),
            **({"natural_language": c.source.text} if c.source.text else {}),
        }
        for c in constraints
    ]
    return Added(
        {
            "formalization_type": _type(policy),
            "logic_rules": Later(partial(_logic_rules, rules, variables)),
            "constraints": constrained,
            "decision_graph": Later(partial(_graph, rules, variables, steps)),
        }
    )


def _graph(
    rules: tuple[ConditionalRule, ...], variables: Mapping[str, Variable], steps: Sequence[str]
) -> dict[str, Any]:
    return build_graph(rules, variables, steps).to_json()


def _logic_rules(rules: tuple[ConditionalRule, ...], variables: Mapping[str, Variable]) -> list[dict[str, str]]:
    """The antecedent as short as it can be said; `z3_expr` whole: it also says which unknown facts are waited for."""
    guards = [shorter(rule.guard, variables) for rule in rules]
    return [
        {
            "rule_id": rule.rule_id,
            "type": "required" if rule.effect.kind == "outcome" else rule.effect.kind,
            "antecedent": infix(guard, variables),
            "consequent": rule.effect.action,
            "z3_expr": smtlib(rule.guard, variables),
        }
        for rule, guard in zip(rules, guards, strict=True)
    ]


def _type(policy: Policy) -> str:
    """Seed 000, stage 2: up to two conditions are conditional, three that feed one another a procedure, else both."""
    if policy.formal and policy.formal.formalization_type:
        return policy.formal.formalization_type
    if len(policy.conditions) <= 2:
        return "conditional"
    return "procedural" if len(policy.steps) >= len(policy.conditions) else "both"


@dataclass
class HandWritten:
    """What the author wrote under `formal`: parsed by our own readers, never executed."""

    policy: Policy
    formalizer: Formalizer
    variables: Mapping[str, Variable]
    lowering: Lowering
    sandbox: Sandbox

    @property
    def has_rules(self) -> bool:
        """Did the author write the rules by hand? Then actions and exceptions are not read."""
        return self.policy.formal is not None and self.policy.formal.logic_rules is not None

    def rules(self, derived: list[RuleDraft] | None) -> list[RuleDraft] | None:
        """The hand-written rules where there are any, else the derived ones."""
        formal = self.policy.formal
        if formal is None or formal.logic_rules is None:
            return derived
        drafts = [self._rule(rule, ("formal", "logic_rules", i)) for i, rule in enumerate(formal.logic_rules)]
        return None if None in drafts else [draft for draft in drafts if draft is not None]

    def _rule(self, rule: LogicRule, route: Route) -> RuleDraft | None:
        if not self.formalizer.is_declared(rule.consequent, (*route, "consequent")):
            return None
        spoken = self._read(rule.antecedent, (*route, "antecedent"), parse_expression)
        exact = self._read(rule.z3_expr, (*route, "z3_expr"), parse_term)
        guard = exact if exact is not None else spoken
        if guard is None or (rule.z3_expr and exact is None) or (rule.antecedent and spoken is None):
            return None
        if spoken is not None and exact is not None:
            same = self.sandbox.equivalent(spoken, exact)
            if same.status != "unsat":
                self._differs(rule.rule_id, same, (*route, "z3_expr"))
                return None
        effect = self.formalizer.effect(rule.type, rule.consequent)
        return RuleDraft(
            rule.rule_id, effect, conj([self.formalizer.scope, guard]), route, rule.antecedent, type=rule.type
        )

    def _differs(self, rule_id: str, same: SolverAnswer, route: Route) -> None:
        both = f"has a rule `{rule_id}` whose antecedent and z3_expr"
        if same.status == "unknown":
            help = "simplify them, leave one of the two out, or raise the budget under `proofs` in rules/ci.yaml"
            self.lowering.report("unknown-answer", f"{both} could not be compared: {same.reason}", route, help)
            return
        case = f", for instance with {same.model}" if same.model else ""
        help = "z3_expr holds; correct the antecedent or leave it out"
        self.lowering.report("invalid-expression", f"{both} do not mean the same{case}", route, help)

    def constraints(self) -> list[tuple[FormalConstraint, Formula]]:
        """Each invariant and its formula; those with a finding are left out."""
        found = []
        for i, written in enumerate(self.policy.formal.constraints if self.policy.formal else ()):
            route: Route = ("formal", "constraints", i)
            spoken = self._read(written.expression, (*route, "expression"), parse_expression)
            exact = self._read(written.z3_expr, (*route, "z3_expr"), parse_term)
            formula = exact if exact is not None else spoken
            if formula is not None:
                found.append((written, formula))
        return found

    def _read(
        self, text: str | None, route: Route, parse: Callable[[str, Mapping[str, Variable]], Formula]
    ) -> Formula | None:
        if text is None:
            return None
        try:
            return parse(text, self.variables)
        except InvalidExpression as error:
            shown = text if len(text) <= 80 else text[:77] + "..."
            self.lowering.report(
                "invalid-expression", f"has the expression `{shown}`: {error.message}", route, error.help
            )
            return None

    def graph(self) -> Graph | None:
        """The graph that leads everywhere it names, in declared words; whether the rules give the same is proved."""
        written = self.policy.formal.decision_graph if self.policy.formal else None
        requirements = self.formalizer.requirements
        if written is None or written.truncated or requirements is None:
            return None
        at: Route = ("formal", "decision_graph")
        problems = graph_problems(written.model_dump())
        for problem in problems:
            self.lowering.report("dangling-reference", f"has a decision graph in which {problem}", at)
        if problems or self.lowering.findings:
            return None
        read = GraphReader(requirements, self.formalizer.vocabulary, self.variables).read(written)
        if isinstance(read, Graph):
            return read
        for unknown in read:
            self.lowering.note("graph-differs", unknown.message, (*at, *unknown.route), unknown.help)
        return None
