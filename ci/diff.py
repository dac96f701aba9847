"""`bylaw diff`: two versions of a policy set side by side; each is a git ref, a folder or a bundle.

Nothing is proved about either version by itself: their rules are read, and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from bylaw.authored.decisions import Decisions
from bylaw.authored.labels import called, labels
from bylaw.authored.machines.access import Roles
from bylaw.authored.machines.rules import ProofBudgets, Rules
from bylaw.authored.policies import Metadata
from bylaw.authored.vocabulary import Vocabulary
from bylaw.bundle import FILE_NAME, CompiledPolicyBundle, read
from bylaw.bundle import ruleset as ruleset_in
from bylaw.canonical import fingerprint
from bylaw.errors import UsageError
from bylaw.gate.history import HistoryFact, history_facts
from bylaw.logic.formula.ir import Ruleset
from ci.findings import Finding, Place
from ci.formalize.stage import formalize
from ci.formalize.unproven import unproven
from ci.gating.findings import impossible_case
from ci.gating.gates import changes_of
from ci.gating.settings import Side, side_of
from ci.lint.decision_edits import decision_changes
from ci.loading.commits.base_commit import committed_on, files_at
from ci.loading.commits.revision import Revision
from ci.loading.derived.variables import variables
from ci.loading.files import FOLDERS
from ci.loading.load import Workspace, load
from ci.loading.load import read as read_files
from ci.loading.unread import UNREPRESENTABLE
from ci.pipeline import Run, live, written
from ci.proofs.stage import ruleset_of
from ci.proofs.theory import Theory
from ci.proofs.versions.change import Change, Changes, Limits, Unknown, changes
from ci.report.changes import Comparison, GateTold, held, in_words
from ci.rewritten.rules import Speech, narrowed

Texts = Mapping[str, tuple[str, str]]  # of each file, as it is written and as it is read


@dataclass(frozen=True, slots=True)
class Paper:
    """Whose policy it is, what it follows from, and from when until when it holds."""

    owner: str
    domain: str
    source: str
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """One side. `left_out` are policies and files that are in none of its rules: what they are, and their content.

    `texts` are its files as they are written and as they are read, `records` its policies as they are read, all of them
    as fingerprints; a bundle has none. `unchecked` are the sentences of each policy that no logic knows.
    """

    name: str
    ruleset: Ruleset
    vocabulary: Vocabulary
    budgets: ProofBudgets
    day: date | None
    left_out: Mapping[str, str]
    roles: Roles
    papers: Mapping[str, Paper] = field(default_factory=dict)
    texts: Texts = field(default_factory=dict)
    records: Mapping[str, str] = field(default_factory=dict)
    unchecked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    workspace: Workspace | None = None
    rules: Rules | None = None
    decisions: Decisions = field(default_factory=Decisions)

    @property
    def gating(self) -> Side | None:
        """What gates, as far as the version carries it."""
        if self.workspace is not None:
            return side_of(self.workspace)
        return None if self.rules is None else Side(self.rules, self.vocabulary)


def sides(base: str, head: str, root: Path, at: date | None, today: date) -> tuple[Version, Version, date]:
    """Both versions, and the day they are compared on."""
    one, two = (_version(side, root, at, today) for side in (base, head))
    # Who may hear what, and what a comparison may cost, is the base's to say.
    return one, replace(two, roles=one.roles, budgets=one.budgets), at or two.day or today


def diff(base: str, head: str, root: Path, at: date | None, today: date) -> Comparison:
    """Compare *base* with *head* for the day *at*: by default the day of the head's commit, else *today*.

    Raises UsageError for a side that is no bundle, no folder and no git ref, and BundleError for a bundle that is
    refused.
    """
    return compared(*sides(base, head, root, at, today))


def compared(one: Version, two: Version, day: date) -> Comparison:
    """Both versions on *day* and after it."""
    found = _changes(one.ruleset, two.ruleset, day, two.budgets)
    unread = tuple(Unknown(None, None, reason) for reason in _left_out(one, two))
    spoken = {**labels(one.vocabulary), **labels(two.vocabulary)}
    return Comparison(
        (one.name, two.name),
        day,
        Changes(found.changes, (*unread, *found.unknown), found.shared),
        spoken,
        _history(two.vocabulary, found),
        only_remarks(one.texts, two.texts),
        tuple(narrowed(one.ruleset, two.ruleset, speech_of(one, two))),
        tuple(_said_otherwise(one.unchecked, two.unchecked)),
        tuple(_gates(one, two, day)),
        tuple(decision_changes(one.decisions, two.decisions)),
    )


def _gates(one: Version, two: Version, day: date) -> Iterator[GateTold]:
    """What the second version changes of what is checked, with the case that it makes impossible."""
    before, after = one.gating, two.gating
    if before is None or after is None:
        return
    rulesets = (one.ruleset, two.ruleset)
    for change in changes_of(before, after, is_bundle=one.workspace is None or two.workspace is None):
        yield GateTold(change, impossible_case(change, rulesets, one.vocabulary, day))


def _said_otherwise(before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """How the sentences that no logic checks differ."""
    for policy_id in sorted({*before, *after}):
        gone, new = (
            " ".join(f"“{text}”" for text in one.get(policy_id, ()) if text not in other.get(policy_id, ()))
            for one, other in ((before, after), (after, before))
        )
        what = f"says {new} instead of {gone}" if new and gone else f"says {new}" if new else f"no longer says {gone}"
        if new or gone:
            yield f"{policy_id} {what} (not checked by logic)"


def speech_of(one: Version, two: Version) -> Speech:
    """How two versions speak."""
    return speech(one.vocabulary, two.vocabulary, one.ruleset, two.ruleset)


def speech(before: Vocabulary, after: Vocabulary, *sides: Ruleset) -> Speech:
    """How both versions speak; where they differ, like the second."""
    spoken, names = {**labels(before), **labels(after)}, {**called(before), **called(after)}
    return Speech(spoken, names, {name: fact for side in sides for name, fact in side.variables.items()})


def only_remarks(before: Texts, after: Texts) -> int:
    """How many files differ, where all of them differ in comments and layout alone; 0 otherwise, and for bundles."""
    if before.keys() != after.keys():
        return 0
    differing = [path for path, text in before.items() if text != after[path]]
    return len(differing) if all(before[path][1] == after[path][1] for path in differing) else 0


def _history(vocabulary: Vocabulary, found: Changes) -> dict[str, HistoryFact]:
    """The history facts of the newer side, among those that are compared."""
    variables = found.shared.variables
    known = {name: fact for name, fact in vocabulary.facts.items() if name in variables}
    return history_facts(vocabulary.model_copy(update={"facts": known}), variables)


def _changes(before: Ruleset, after: Ruleset, day: date, budgets: ProofBudgets) -> Changes:
    """What changes between the rules of two sides, within the base's *budgets*."""
    one, two = (
        Theory(replace(side, unproven=()), day.toordinal(), budgets.rlimit, budgets.timeout_ms, budgets.memory_mb)
        for side in (before, after)
    )
    return changes(one, two, Limits(budgets.change_boxes, budgets.change_pieces))


def _left_out(one: Version, two: Version) -> Iterator[str]:
    """Why a comparison does not see everything. What is left out of both sides with one content changed nothing, as
    long as nothing else did: what it makes of a change nobody knows.
    """
    rules = [(side.ruleset.rules, side.ruleset.constraints, side.ruleset.overrides) for side in (one, two)]
    is_alike = rules[0] == rules[1]
    for what in sorted({*one.left_out, *two.left_out}):
        if not is_alike or one.left_out.get(what) != two.left_out.get(what):
            names = [side.name for side in (one, two) if what in side.left_out]
            yield f"{what} has no rules in {' and '.join(f'`{name}`' for name in dict.fromkeys(names))}"


# ---- the sides ------------------------------------------------------------------------------------------------------


def _version(side: str, root: Path, at: date | None, today: date) -> Version:
    """A file is a bundle, a folder a repository (or what `bylaw compile` wrote), anything else a git ref."""
    path = Path(side)
    if path.is_file():
        return of_bundle(side, read(path))
    if path.is_dir():
        written = (file for folder in FOLDERS for file in (path / folder).rglob("*.y*ml"))
        if (path / FILE_NAME).is_file() and next(written, None) is None:
            return of_bundle(side, read(path / FILE_NAME))
        return of_workspace(side, load(path, at, today))
    if side.endswith(".json") or "\0" in side:
        raise UsageError(f"there is no bundle at `{side}`", "compile one with `bylaw compile -o DIR`")
    files, day = files_at(root, side), committed_on(root, side)
    return of_workspace(side, read_files(root, files, Revision(commit_date=day), at or day or today), day)


def of_workspace(name: str, workspace: Workspace, day: date | None = None) -> Version:
    """The version that a folder holds."""
    workspace = live(workspace)
    known = variables(workspace.vocabulary)
    records, problems = formalize(workspace, known)
    missed = unproven(workspace, records, [*written(workspace), *problems])
    left_out = {f"the file `{path}`": _content(workspace, path) for path in sorted(_unread(workspace.findings))}
    for rule in missed:
        what = f"the policy `{rule.policy_id}`" if rule.policy_id else f"the file `{rule.path}`"
        left_out[what] = _content(workspace, rule.path)
    ruleset = replace(ruleset_of(workspace, records, known), unproven=missed)
    rules, known_day = workspace.rules, day or workspace.at
    papers = {file.policy.policy_id: _paper(file.policy.metadata) for file in workspace.policies}
    texts = texts_of(workspace)
    read_as = {file.policy.policy_id: texts[file.path][1] for file in workspace.policies if file.path in texts}
    budgets, words = rules.ci.proofs, workspace.vocabulary
    unchecked = {record.policy.policy_id: record.texts for record in records if record.texts}
    kept = (papers, texts, read_as, unchecked, workspace)
    own = workspace.decisions
    return Version(name, ruleset, words, budgets, known_day, left_out, rules.roles, *kept, decisions=own)


def _paper(metadata: Metadata) -> Paper:
    return Paper(metadata.owner, metadata.domain, metadata.source, metadata.effective_date, metadata.expiry_date)


def texts_of(workspace: Workspace) -> dict[str, tuple[str, str]]:
    """Each file as it is written, and as it is read whatever its comments and its layout, as fingerprints."""
    return {path: (fingerprint(one.text), fingerprint(repr(one.data))) for path, one in workspace.sources.items()}


def _unread(findings: tuple[Finding, ...]) -> set[str]:
    return {finding.at.path for finding in findings if finding.id in UNREPRESENTABLE and finding.severity == "error"}


def _content(workspace: Workspace, path: str) -> str:
    source = workspace.sources.get(path)
    return f"{path} unread" if source is None else fingerprint(source.text)


def of_bundle(name: str, bundle: CompiledPolicyBundle) -> Version:
    """The version that a bundle holds. Its policies without rules have no content here, so they are never equal."""
    known = ruleset_in(bundle)
    left_out = {
        f"the policy `{rule.policy_id}`" if rule.policy_id else f"the file `{rule.path}`": f"{name} {rule.path}"
        for rule in known.unproven
    }
    stamped = bundle.bundle_metadata.commit_date
    day = date.fromisoformat(stamped) if stamped else None
    rules = bundle.rules
    papers = {
        policy_id: Paper(shown["owner"], shown["domain"], shown["source"])
        for policy_id, shown in sorted(bundle.policies.items())
    }
    unchecked = {
        policy_id: tuple(map(str, shown["texts"])) for policy_id, shown in bundle.policies.items() if shown.get("texts")
    }
    words, budgets = bundle.vocabulary, rules.ci.proofs
    kept = (known, words, budgets, day, left_out, rules.roles, papers)
    return Version(name, *kept, unchecked=unchecked, rules=rules, decisions=bundle.decisions)


# ---- findings -------------------------------------------------------------------------------------------------------


def outcome_changes(before: Run, after: Run) -> Iterator[Finding]:
    """One `outcome-change` a region, on the line of a policy that changed; `unknown-answer` for what hit a limit."""
    found = _changes(_live_rules(before), _live_rules(after), after.at, before.workspace.rules.ci.proofs)
    spoken = {**labels(before.workspace.vocabulary), **labels(after.workspace.vocabulary)}
    told = Comparison(("base", "head"), after.at, found, spoken, _history(after.workspace.vocabulary, found))
    for change in found.changes:
        yield _finding(change, told, after)
    if any(found.shared.foreign):
        yield _apart(told)
    for limit in found.unknown:
        yield Finding(
            "unknown-answer",
            f"whether this change alters {in_words(limit.subject)} could not be decided: {limit.reason}",
            Place("policies/vocabulary.yaml"),
            rules=("outcome-change", in_words(limit.subject)),
            help="split the change, or simplify the guards it touches",
            status="UNKNOWN",
        )


def _live_rules(run: Run) -> Ruleset:
    """The rules without those of drafts, which change no case."""
    drafts = {file.policy.policy_id for file in run.workspace.policies if file.policy.draft}
    if not drafts:
        return run.ruleset
    kept = run.ruleset
    return replace(
        kept,
        rules=tuple(rule for rule in kept.rules if rule.policy_id not in drafts),
        constraints=tuple(one for one in kept.constraints if one.policy_id not in drafts),
    )


def _apart(told: Comparison) -> Finding:
    """What was not compared: rules whose facts are new, gone, or of another type or unit."""
    sides = told.found.shared.foreign
    policies = sorted({told.rule(n, i).policy_id for n in (0, 1) for i in sides[n]})
    count = sum(map(len, sides))
    return Finding(
        "outcome-change",
        f"{count:,} {'rule speaks' if count == 1 else 'rules speak'} of facts that only one side declares: "
        f"{'its' if count == 1 else 'their'} cases are not compared",
        Place("policies/vocabulary.yaml", ("facts",)),
        policies=tuple(policies),
        rules=("apart",),
        status="SKIPPED",
        detail={"apart": count},
    )


def _finding(change: Change, told: Comparison, after: Run) -> Finding:
    place, others = _places(change, told, after)
    return Finding(
        "outcome-change",
        told.sentence(change),
        place,
        policies=told.policies(change),
        rules=(change.subject.kind, change.subject.name, str(change.before), str(change.after), *told.causes(change)),
        related=others,
        counterexample=told.case(change),
        status="COUNTEREXAMPLE",
        detail={
            "effect": change.tendency,
            "where": told.where(change),
            "subject": in_words(change.subject),
            "before": held(change.before),
            "after": held(change.after),
            "by": [[told.says(n, i) for i in change.by[n]] for n in (0, 1)],
        },
    )


def _places(change: Change, told: Comparison, after: Run) -> tuple[Place, tuple[tuple[Place, str], ...]]:
    """The first differing rule that the head still has, else the policy that lost one; then the rule that now wins."""
    records = {record.policy.policy_id: record for record in after.proofs.records}
    places: list[tuple[Place, str]] = []
    for n in (1, 0):
        for i in change.causes[n]:
            rule = told.rule(n, i)
            record = records.get(rule.policy_id)
            if record is None:
                places.append((Place(rule.source.path, line=1), f"{rule.policy_id} is gone"))
            else:
                route = record.routes.get(rule.rule_id, ("policy_id",))
                places.append((Place(record.path, route), told.says(n, i) if n else f"before, {told.says(n, i)}"))
    for i in change.by[1]:
        rule = told.rule(1, i)
        record = records[rule.policy_id]
        places.append((Place(record.path, record.routes[rule.rule_id]), f"now {told.says(1, i)}"))
    first, *rest = dict.fromkeys(places) or {(Place("policies/vocabulary.yaml"), ""): None}
    return first[0], tuple(other for other in rest if other[0] != first[0])
