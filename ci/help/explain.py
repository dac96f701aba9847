"""`bylaw explain ID`: a policy, a rule, a word, a decision or a finding id, said in words with its places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

from bylaw.authored.causes import Causes, caused
from bylaw.authored.labels import called, labels
from bylaw.authored.machines.layers import IN_WORDS
from bylaw.authored.state import state_of
from bylaw.errors import UsageError
from bylaw.gate.words import history_in_words
from bylaw.logic.decide.conflicts import Conflicts
from bylaw.logic.decide.unproven import UnprovenRules
from bylaw.logic.formula.ir import ConditionalRule, Unproven
from bylaw.logic.words.prose import rule_in_lines
from bylaw.logic.words.readable import readable
from ci.help.meanings import MEANINGS
from ci.help.records import explain_records, record_names
from ci.loading.derived.record import PolicyRecord
from ci.loading.derived.tabular import drawn_table
from ci.loading.schema.nearest import did_you_mean
from ci.pipeline import Run, run
from ci.proofs.grounds import listed

FEW = 1_000  # ids of a repository that are explained at once, for whoever asks for the next one


def explanations(root: Path, id: str, at: date | None, today: date) -> dict[str, str]:
    """What *id* means, and beside it what every other id does, where there are few. Raises UsageError as `explain`."""
    done = run(root, at, today)
    names = _names(done)
    told = {name: text for name in names if (text := _told(done, name)) is not None} if len(names) <= FEW else {}
    if id not in told:
        if (text := _told(done, id)) is None:
            kinds = "an id is that of a policy, a rule, a word, a metric, an entity, a record or a finding"
            raise UsageError(f"nothing here is called `{id}`", did_you_mean(id, names) or kinds)
        told[id] = text
    return told


def _told(done: Run, id: str) -> str | None:
    """What every kind of thing called *id* is; a metric and a fact may share a name."""
    found = [
        lines for speak in (_policy, _unread, _rule, _word, _record, _decision) if (lines := list(speak(done, id)))
    ]
    return "\n\n".join("\n".join(lines) for lines in found) or None


def _record(done: Run, id: str) -> Iterator[str]:
    return explain_records(done.workspace, id)


def _names(done: Run) -> list[str]:
    workspace = done.workspace
    vocabulary = workspace.vocabulary
    return [
        *(file.policy.policy_id for file in workspace.policies),
        *(rule.policy_id for rule in done.unproven if rule.policy_id),
        *(rule.rule_id for rule in done.ruleset.rules),
        *vocabulary.facts,
        *vocabulary.actions,
        *vocabulary.outcomes,
        *vocabulary.terms,
        *workspace.decisions.decisions,
        *record_names(workspace),
        *MEANINGS,
    ]


def _policy(done: Run, id: str) -> Iterator[str]:
    record = next((r for r in done.proofs.records if r.policy.policy_id == id.upper()), None)
    if record is None:
        return
    metadata = record.policy.metadata
    yield f"{record.policy.policy_id}  {record.path}"
    yield f"  source: {metadata.source}; owner: {metadata.owner or 'nobody'}"
    yield f"  level {record.level.number} ({record.level.name}): {record.level.reason}"
    if period := _period(record):
        yield f"  {period}"
    for one in Causes(done.workspace.decisions).told("policy", record.policy.policy_id, metadata.decision):
        yield f"  decided by {one.words}"
    layers = record.enriched.get("layer_assignment", {})
    if layers:
        first = layers["primary_layer"]
        ordered = sorted(layers["assigned_layers"], key=lambda layer: layer != first)
        cycle = done.workspace.rules.layers.layers[first].update_cycle
        yield f"  an assistant gets it {listed([IN_WORDS[layer] for layer in ordered])}; updated {cycle}"
    if record.policy.draft:
        yield "  a draft: checked, and not compiled"
    if not record.policy.is_active:
        yield "  not in force: nobody has confirmed it yet"
    yield from _unproven(done, [rule for rule in done.in_doubt if rule.policy_id == record.policy.policy_id])
    if record.texts:
        yield "\n  not checked by logic"
        yield from (f"    “{text}”" for text in record.texts)
    spoken, names = labels(done.workspace.vocabulary), called(done.workspace.vocabulary)
    table = drawn_table(record.policy, done.workspace.vocabulary)
    if table is not None:
        yield ""
        yield from (f"  {line}" for line in table.lines())
    for rule in record.rules if table is None else ():
        yield ""
        yield f"  {rule.rule_id}  line {rule.source.line}"
        yield from (f"    {line}" for line in rule_in_lines(_short(done, rule), spoken, names))
        if rule.source.text:
            yield f"    “{rule.source.text}”"
    for constraint in record.constraints:
        yield f"\n  {constraint.constraint_id}  line {constraint.source.line}\n    always: {constraint.text}"
    for finding in done.findings:
        if record.policy.policy_id in finding.policies:
            yield f"\n  {finding.severity}[{finding.id}] {finding.message}"


def _unread(done: Run, id: str) -> Iterator[str]:
    """A policy whose file is none."""
    found = [rule for rule in done.unproven if rule.policy_id == id.upper()]
    if found:
        yield f"{found[0].policy_id}  {found[0].path}"
        yield f"  owner: {found[0].owner or 'nobody'}"
        yield from _unproven(done, found)


def _unproven(done: Run, rules: Iterable[Unproven]) -> Iterator[str]:
    """What nobody decides while *rules* cannot be read."""
    names = called(done.workspace.vocabulary)
    for rule in rules:
        words = [names[word] for word in (*rule.outcomes, *rule.actions)]
        about = "anything" if rule.is_everything else ", ".join(dict.fromkeys(words)) or "nothing"
        yield f"  unproven: it cannot be read, so nothing is decided that it may change ({about})"
        yield f"    {rule.path}:{rule.line}: {rule.reason}"


def _short(done: Run, rule: ConditionalRule) -> ConditionalRule:
    return replace(rule, guard=readable(rule.guard, done.ruleset.variables))


def _period(record: PolicyRecord) -> str:
    metadata = record.policy.metadata
    since = f"from {metadata.effective_date}" if metadata.effective_date else ""
    until = f"until {metadata.expiry_date}" if metadata.expiry_date else ""
    return " ".join(part for part in ("in force" if since or until else "", since, until) if part)


def _rule(done: Run, id: str) -> Iterator[str]:
    rule: ConditionalRule | None = next((r for r in done.ruleset.rules if r.rule_id.casefold() == id.casefold()), None)
    if rule is None:
        return
    yield f"{rule.rule_id} of {rule.policy_id}  {rule.source.path}:{rule.source.line}"
    words = done.workspace.vocabulary
    yield from (f"  {line}" for line in rule_in_lines(_short(done, rule), labels(words), called(words)))
    if rule.source.text:
        yield f"  “{rule.source.text}”"


def _word(done: Run, id: str) -> Iterator[str]:
    vocabulary = done.workspace.vocabulary
    for section, kind in (("facts", "fact"), ("actions", "action"), ("outcomes", "outcome"), ("terms", "term")):
        declared = getattr(vocabulary, section)
        if id not in declared:
            continue
        path = done.workspace.path_of_word(section, id)
        yield f"{id}  {kind}, {path}:{done.workspace.line(path, (section, id))}"
        label = getattr(declared[id], "label", None)
        if label:
            yield f"  {label}"
        if section == "facts":
            fact = declared[id]
            unit = f" in {fact.unit}" if fact.unit else ""
            values = f": {', '.join(fact.values)}" if fact.values else ""
            yield f"  {fact.type}{unit}{values}"
            if fact.history is not None:
                yield f"  computed: {history_in_words(fact.history)}"
        if section == "actions" and (outcome := vocabulary.outcome_of(id)):
            yield f"  answers `{outcome}`: {called(vocabulary)[outcome]}"
        users = sorted({rule.policy_id for rule in done.ruleset.rules if _speaks_of(rule, section, id)})
        if users:
            yield f"  used by {', '.join(users)}"
        if owners := sorted(_owners(done, users)):
            yield f"  owner: {', '.join(owners)}"
        yield from _unproven(done, _changing(done, section, id))


def _owners(done: Run, policies: Iterable[str]) -> set[str]:
    """Who owns these policies: a word has no owner of its own."""
    chosen = set(policies)
    found = (record.policy for record in done.proofs.records if record.policy.policy_id in chosen)
    return {policy.metadata.owner for policy in found if policy.metadata.owner}


def _changing(done: Run, section: str, id: str) -> tuple[Unproven, ...]:
    """The rules that cannot be read and may change what is decided of an action or an outcome."""
    if not done.in_doubt or section not in ("actions", "outcomes"):
        return ()
    rules, day = UnprovenRules(done.deciding, Conflicts(done.ruleset)), done.at.toordinal()
    if section == "outcomes":
        return rules.about_outcome(id, day)
    return rules.about(done.workspace.vocabulary.canonical(id), day)


def _speaks_of(rule: ConditionalRule, section: str, id: str) -> bool:
    if section == "facts":
        from bylaw.logic.formula.ir import names

        return id in names(rule.guard)
    return id in (rule.effect.action, rule.effect.outcome)


def _decision(done: Run, id: str) -> Iterator[str]:
    decision = done.workspace.decisions.decisions.get(id)
    if decision is None:
        return
    path = done.workspace.decisions.sources.get(id, "")
    yield f"{id}  {path}"
    yield f"  {state_of(decision, done.workspace.decisions)}: {decision.option}"
    if decision.deciders:
        yield f"  decided by {', '.join(decision.deciders)}"
    yield f"  {decision.rationale}"
    for kind, names in caused(done.workspace.decisions, id, _named_by(done)).items():
        yield f"  {kind}: {', '.join(names)}"


def _named_by(done: Run) -> Iterator[tuple[str, str, str]]:
    """The policies and metrics that name the decision they come from."""
    for record in done.proofs.records:
        if record.policy.metadata.decision:
            yield "policy", record.policy.policy_id, record.policy.metadata.decision
    for name, metric in sorted(done.workspace.context.metrics.items()):
        if metric.decision:
            yield "metric", name, metric.decision
