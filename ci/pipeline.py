"""The first trip: a folder of YAML → findings, records and a bundle.

    load → lint → formalize → proofs → layers → compile

What only `compile` needs is imported there: a check starts without it.
A stage that fails for a policy marks its record, and the failure table of seed 000 says what still runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from bylaw.authored.labels import labels
from bylaw.canonical import canonical_json, write_atomically
from bylaw.errors import BylawError, UsageError
from bylaw.logic.formula.ir import Facts, Ruleset, Unproven
from bylaw.logic.words.prose import case_in_words
from ci.findings import Finding, graded
from ci.formalize.stage import formalize
from ci.formalize.unproven import unproven
from ci.lint.confirmations import unkept_by
from ci.lint.registry import LINTS
from ci.loading.derived.layers import assign, default_assignment, describe
from ci.loading.derived.record import PolicyRecord
from ci.loading.derived.variables import variables
from ci.loading.files import FOLDERS
from ci.loading.load import Workspace, load, rare_collection
from ci.loading.unread import LEFT_OUT, UNREPRESENTABLE, Unread, is_blocking, section_of, unread
from ci.loading.waivers import accepted
from ci.progress import Progress
from ci.proofs.decided import with_decisions
from ci.proofs.focus import Focus
from ci.proofs.sourced import with_sources
from ci.proofs.stage import Proofs, prove, ruleset_of
from ci.proofs.tools import tools


@dataclass(frozen=True, slots=True)
class Run:
    """What one trip found. `at` is the day the questions were asked for.

    `raw` are the findings as bad as they usually are: no setting of the repository has taken one away.
    `lost` are the findings, whatever their severity, that keep something its author wrote out of any bundle; `unproven`
    are the rules, and `unread` the files of context/, that could not be read. Of a part nobody asks for these.
    """

    workspace: Workspace
    ruleset: Ruleset
    proofs: Proofs
    findings: tuple[Finding, ...]
    at: date
    raw: tuple[Finding, ...] = ()
    lost: tuple[Finding, ...] = ()
    unproven: tuple[Unproven, ...] = ()
    unread: tuple[Unread, ...] = ()

    @property
    def failed(self) -> bool:
        """Does a finding of severity error stand?"""
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def in_doubt(self) -> tuple[Unproven, ...]:
        """The unproven rules that would be in force on the day asked for."""
        return tuple(one for one in self.unproven if one.holds_on(self.at.toordinal()))

    @property
    def deciding(self) -> Ruleset:
        """The ruleset as cases are decided by it: with the rules that could not be read."""
        return replace(self.ruleset, unproven=self.unproven)

    def stopping(self, allows_errors: bool) -> tuple[str, ...]:
        """Why nothing is compiled, each with its place; none where it is. What is merely left out stops nothing."""
        if allows_errors:
            return tuple(self._told(one) for one in self.lost if is_blocking(one))
        lost = [self._told(one) for one in self.lost if section_of(one.at.path) not in LEFT_OUT]
        return tuple(dict.fromkeys((*lost, *(f"{one.path}:{one.line}: {one.reason}" for one in self.in_doubt))))

    def _told(self, finding: Finding) -> str:
        return f"{finding.at.path}:{self.workspace.position(finding.at)[0]}: {finding.message}"


def run(root: Path, at: date | None, today: date, progress: Progress | None = None) -> Run:
    """Check the repository at *root* as of *at*: by default the day of its commit, outside git *today*."""
    workspace = load(root, at, today, progress)
    done = recorded(check(workspace, workspace.at or today, progress))
    return replace(done, findings=waived(done.findings, workspace, done.at))


def waived(findings: Sequence[Finding], workspace: Workspace, at: date) -> tuple[Finding, ...]:
    """*findings* of a whole repository, with what its people have accepted until a day that is still to come.

    Nobody accepts what would be missing in a bundle without a word.
    """
    rules = workspace.rules
    severity, entries = rules.ci.severities.get("idle-waiver"), rules.waivers.waivers
    return accepted(findings, entries, at, severity, workspace.position, UNREPRESENTABLE, rules.waivers.longest_days)


@rare_collection()
def check(workspace: Workspace, at: date, progress: Progress | None = None, focus: Focus | None = None) -> Run:
    """Every stage over a loaded workspace; the proofs ask about what is in *focus*."""
    found = written(workspace)
    known = variables(workspace.vocabulary)
    records, problems = formalize(workspace, known, progress)
    found += problems
    ruleset = ruleset_of(workspace, records, known)
    spoken = labels(workspace.vocabulary)

    def words(facts: Facts) -> str:
        return case_in_words(facts, spoken)

    proofs = prove(workspace, records, ruleset, at.toordinal(), words, progress, focus)
    if focus is None:  # what is asked about a part is never compiled
        proofs = replace(proofs, records=layered(proofs.records, workspace))
    found += proofs.findings
    found += tools(workspace, ruleset, at.toordinal())
    found = list(with_sources(found, workspace))
    severities = workspace.rules.ci.severities
    done = Run(workspace, ruleset, proofs, tuple(graded(found, severities)), at, tuple(graded(found, {})))
    if focus is not None:
        return done
    drafts = drafts_of(workspace)
    lost = tuple(finding for finding in found if finding.id in UNREPRESENTABLE and finding.at.path not in drafts)
    missed = unproven(workspace, records, found)
    return replace(done, lost=lost, unproven=missed, unread=unread(workspace, lost))


def recorded(run: Run) -> Run:
    """*run* of a whole repository with what its decisions on record say of what it found."""
    if not run.workspace.decisions.decisions:
        return run
    found = of_records(run.raw, run.workspace)
    return replace(run, findings=tuple(graded(found, run.workspace.rules.ci.severities)), raw=tuple(graded(found, {})))


def of_records(found: Sequence[Finding], workspace: Workspace) -> list[Finding]:
    """What was *found* of everything, with the decisions that are kept no more and those behind policies."""
    return list(with_decisions([*found, *unkept_by(found, workspace)], workspace))


def written(workspace: Workspace) -> list[Finding]:
    """What is wrong with what was written, before anything is made of it."""
    return [*workspace.findings, *(finding for lint in LINTS for finding in lint(workspace))]


def layered(records: Sequence[PolicyRecord], workspace: Workspace) -> list[PolicyRecord]:
    """Stage 4 for every record; a text-only policy goes to the default layer."""
    done = []
    for record in records:
        if record.status["formalization"] == "failed":
            assignment = default_assignment(workspace.rules.layers)
        else:
            assignment = assign(describe(record.policy, record.level.number), workspace.rules.layers)
        done.append(record.after("layer_assignment", "complete", layer_assignment=assignment.to_json()))
    return done


def drafts_of(workspace: Workspace) -> frozenset[str]:
    """The files of policies that are drafts, also of those that do not fit their model."""
    return frozenset(
        path
        for path, source in workspace.sources.items()
        if path.startswith("policies/") and isinstance(source.data, dict) and source.data.get("draft") is True
    )


def live(workspace: Workspace) -> Workspace:
    """*workspace* without its drafts, which are checked like every other policy and hold for nobody."""
    drafts = drafts_of(workspace)
    if not drafts:
        return workspace
    return replace(
        workspace,
        policies=tuple(file for file in workspace.policies if file.path not in drafts),
        findings=tuple(finding for finding in workspace.findings if finding.at.path not in drafts),
    )


def without_drafts(run: Run) -> Run:
    """What of *run* is compiled: the same trip without the drafts, where there are any."""
    kept = live(run.workspace)
    return run if kept is run.workspace else replace(check(kept, run.at), findings=run.findings)


def bundle_text(run: Run, sign_key: str | None = None) -> str:
    """The bundle's one text, signed where there is a key. Raises UsageError for one that nobody would read back."""
    from bylaw.bundle import dump
    from bylaw.references import broken
    from ci.compile import compile_bundle

    run = without_drafts(run)
    bundle = compile_bundle(run.workspace, run.proofs, run.deciding, run.unread)
    if (problem := next(broken(bundle, run.ruleset), None)) is not None:
        root = run.workspace.root
        raise UsageError(f"`{root}` does not compile: {problem}", f"see all findings with `bylaw check --root {root}`")
    return dump(bundle, sign_key)


def write(run: Run, directory: Path, sign_key: str | None = None) -> Path:
    """Write the enriched records and, last, the bundle; the bundle's path. Nothing is left half-written.

    Raises UsageError where they would be read as policies the next time, where nothing can be written, and for a key
    that does not sign.
    """
    root, target = run.workspace.root.resolve(), directory.resolve()
    if target == root or any(target.is_relative_to(root / folder) for folder in FOLDERS):
        raise UsageError("a bundle cannot be written into the repository it is compiled from", "name another folder")
    try:
        return _written(run, directory, sign_key)
    except (FileExistsError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        raise UsageError(f"`{directory}` cannot be written: {_reason(error)}", "name another folder") from None
    except OSError as error:
        raise BylawError(f"`{directory}` could not be written: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return (error.strerror or "the system gives no reason").lower()


def _written(run: Run, directory: Path, sign_key: str | None) -> Path:
    from bylaw.bundle import FILE_NAME
    from ci.compile import enriched

    run = without_drafts(run)
    text = bundle_text(run, sign_key)
    records = directory / "policies"
    files = enriched(run.proofs.records)
    for name, record in files.items():
        write_atomically(records / name, canonical_json(record) + "\n", durable=False)
    for stale in sorted(records.glob("POL-*.json")):
        if stale.name not in files:
            stale.unlink(missing_ok=True)  # another compile may have been here first
    write_atomically(directory / FILE_NAME, text)
    return directory / FILE_NAME


def build(root: Path, directory: Path, today: date) -> tuple[Run, Path]:
    """Check and compile *root* into *directory*, as `compile --allow-errors` does.

    Raises UsageError when what is not only left out or unproven cannot be read.
    """
    done = run(root, None, today)
    if reasons := done.stopping(allows_errors=True):
        raise UsageError(
            f"`{root}` does not compile: {len(reasons)} of its files cannot be read; {reasons[0]}",
            f"see all of them with `bylaw check --root {root}`",
        )
    return done, write(done, directory)
