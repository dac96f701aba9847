"""`bylaw check`: one run over a repository, and with a base only what is new since then counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path

from bylaw.authored.machines.rules import Rules
from bylaw.logic.formula.ir import ValueMisfit
from ci import pipeline
from ci.executors.port import Executor
from ci.findings import Finding, gates_first, graded, known_before
from ci.gating.findings import Versions, gate_findings
from ci.gating.former import with_former_rules
from ci.gating.guards import changed_guards
from ci.loading.commits.base_commit import files_at
from ci.loading.commits.revision import Revision, revision
from ci.loading.files import NOTHING, Changed, Content
from ci.loading.load import Beyond, Workspace, files_of, rare_collection, read
from ci.loading.source import Source
from ci.loading.source import shown as as_shown
from ci.loading.waivers import PATH as WAIVERS
from ci.measured.ids import MEASURED
from ci.parts import snapshot
from ci.parts.affected import Neighbourhood
from ci.parts.incremental import remembered, updated
from ci.parts.inventory import Inventory, beyond, inventory, is_decisive
from ci.parts.part import Selection, settled
from ci.parts.records import of_records
from ci.parts.snapshot import Snapshot
from ci.pipeline import Run, waived
from ci.progress import Progress
from ci.proofs.answers import Answered, counted
from ci.proofs.focus import Focus
from ci.proofs.registry import ASKED

SMALL = 300  # where nothing is kept, fewer policies are asked about faster whole than in parts
MANY = 1_500  # more policies pay for the start of a process on every core
DIFFERING = 50  # a snapshot that differs in more files, or in more than one of a thousand, is written anew

_RANK = {"error": 0, "warning": 1, "notice": 2}

Executors = Callable[[], AbstractContextManager[Executor]]


@dataclass(frozen=True, slots=True)
class Rows:
    """A warehouse to hold the context against. *record*: write down which columns it has."""

    url: str
    record: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings, and the fingerprints of those that the base already had.

    Of a large repository the workspace holds the words only; every place then carries its line. `recorded` are words
    about what was written down of a warehouse. `raw` is everything that was found, whatever a repository makes of it;
    `rules` are those by which the findings were judged: with a base the ones that gate are the base's.
    """

    workspace: Workspace
    findings: tuple[Finding, ...]
    existing: frozenset[str] = frozenset()
    answers: tuple[Answered, ...] = ()
    recorded: str | None = None
    raw: tuple[Finding, ...] = ()
    rules: Rules | None = None

    @property
    def changes(self) -> tuple[Finding, ...]:
        """The changes of outcome, told or kept quiet."""
        return tuple(f for f in self.raw if f.id == "outcome-change" and "apart" not in f.detail)

    @property
    def new(self) -> tuple[Finding, ...]:
        """The findings that the base did not have."""
        return tuple(f for f in self.findings if f.fingerprint not in self.existing)

    @property
    def failed(self) -> bool:
        """Does a new finding of severity error stand?"""
        return any(finding.severity == "error" for finding in self.new)


def check(
    root: Path,
    at: date | None,
    today: date,
    base: str | None = None,
    progress: Progress | None = None,
    executors: Executors | None = None,
    cache: Path | None = None,
    rows: Rows | None = None,
    is_merged: bool = False,
) -> Checked:
    """Check *root*. Both sides are asked for the same day, so that time alone makes nothing new.

    What gates comes from the base, and what the change does to it is told first; where it *is merged* already, its own
    settings hold.

    *executors* opens the workers for a large set that is asked about whole; left out, this process does all of it.
    *cache* is the folder where the check of a large set leaves what the next one need not ask. *rows* is a warehouse
    that the context is held against, as old as it is on the day *at*, or *today*.
    """
    checked = _checked(root, at, today, base, progress, executors, cache, is_merged)
    return against_rows(checked, root, base, at or today, rows)


@rare_collection()
def _checked(
    root: Path,
    at: date | None,
    today: date,
    base: str | None,
    progress: Progress | None,
    executors: Executors | None,
    cache: Path | None,
    is_merged: bool,
) -> Checked:
    kept = None if cache is None else snapshot.place(cache, root)
    last = None if kept is None else snapshot.read(kept)
    try:
        return _from_last(last, root, at, today, base, progress, executors, kept, is_merged)
    except Changed:  # somebody writes while this reads
        return _from_last(None, root, at, today, base, progress, executors, kept, is_merged)


def _from_last(
    last: Snapshot | None,
    root: Path,
    at: date | None,
    today: date,
    base: str | None,
    progress: Progress | None,
    executors: Executors | None,
    kept: Path | None,
    is_merged: bool,
) -> Checked:
    """The check of *root*, from what the *last* one knew."""
    found, shown = files_of(root, NOTHING if last is None else last.known), revision(root)
    now = inventory(root, found, shown, at or shown.commit_date or today)
    old = None if base is None else inventory(root, files_at(root, base, now.files.values()), Revision(), now.at, now)
    if kept is None and max(len(side.policies) for side in (now, old or now)) < SMALL:
        after = pipeline.recorded(pipeline.check(now.workspace(), now.at, progress))
        if old is None:
            told = waived(after.findings, after.workspace, now.at)
            return Checked(after.workspace, told, answers=after.proofs.answers, raw=after.raw)
        before = pipeline.recorded(pipeline.check(old.workspace(), now.at, progress))
        compared = against(before, after, Gating(root, str(base), is_merged))
        return replace(compared, answers=after.proofs.answers)
    gating = None if base is None else Gating(root, base, is_merged)
    return in_parts(now, old, progress, executors, kept, last, gating)


def against_rows(checked: Checked, root: Path, base: str | None, at: date, rows: Rows | None) -> Checked:
    """*checked*, and what a warehouse says of the context. A file that *base* has alike brings nothing new.

    Without a warehouse nobody knows whether a waiver of what only a warehouse can find is idle.
    """
    rules = checked.rules or checked.workspace.rules
    if rows is None:
        unknown = {waiver.finding for waiver in rules.waivers.waivers if waiver.id in MEASURED}
        return replace(checked, findings=tuple(f for f in checked.findings if not _is_idle(f, unknown)))
    from ci.measured.recorded import told
    from ci.measured.registry import measure  # SQL is read only where rows are

    files = [file for file in files_of(root) if not isinstance(file, Finding) and not file.path.startswith("policies/")]
    workspace = replace(read(root, files, Revision(), at), rules=rules)
    measured = measure(workspace, rows.url, at, rows.record)
    found = graded(measured.findings, rules.ci.severities)
    standing = {finding.fingerprint for finding in found}
    stands = [one for one in waived(found, workspace, at) if one.id != "idle-waiver" or _is_idle(one, standing)]
    rest = [one for one in checked.findings if not _is_idle(one, standing)]
    before = {} if base is None else {f.path: f.data for f in files_at(root, base) if not isinstance(f, Finding)}
    alike = {file.path for file in files if before.get(file.path) == file.data}
    existing = {finding.fingerprint for finding in stands if finding.at.path in alike}
    both = sorted([*rest, *stands], key=lambda finding: _RANK[finding.severity])
    broken = sum(one.severity == "error" for one in found)
    words = told(measured.recorded, workspace.context, broken) if rows.record else None
    return replace(checked, findings=gates_first(both), existing=checked.existing | existing, recorded=words)


def _is_idle(finding: Finding, waived_: Set[str]) -> bool:
    """Is it about an idle waiver of one of these fingerprints?"""
    return finding.id == "idle-waiver" and finding.rules[0] in waived_


@dataclass(frozen=True, slots=True)
class Gating:
    """Where files beside the policy folders are compared (None: nowhere), since which commit; and whether the change is
    in already."""

    root: Path | None = None
    base: str = ""
    is_merged: bool = False

    def rules(self, before: Rules, after: Rules) -> Rules:
        """The rules by which *after* is judged."""
        return after if self.is_merged else with_former_rules(before, after)

    def told(self, before: Run, after: Run, is_asked: bool = True) -> list[Finding]:
        """What *after* does to its own checks."""
        if self.is_merged:
            return []
        guards = changed_guards(self.root, self.base) if self.root is not None else ({}, {})
        sides, known = (before.workspace, after.workspace), (before.ruleset, after.ruleset)
        return gate_findings(Versions(sides, known, after.at, guards), after if is_asked else None)


def against(before: Run, after: Run, gating: Gating) -> Checked:
    """What *after* has that *before* had not, each new finding on a line that changed where one is part of it."""
    old = {path: source.text for path, source in before.workspace.sources.items()}
    changed = {path for path, source in after.workspace.sources.items() if old.get(path) != source.text}
    told = [*_changes(before, after), *gating.told(before, after)]
    rules = gating.rules(before.workspace.rules, after.workspace.rules)
    existing = _existing(before.raw, after.raw, lambda finding: _stood(finding, before, changed))
    found = _compared(after.raw, existing, changed, told, after.workspace, rules)
    return _waived(found, after.at, waived(before.findings, before.workspace, after.at))


def _existing(before: Sequence[Finding], after: Sequence[Finding], stood: Callable[[Finding], bool]) -> frozenset[str]:
    """The fingerprints of what *before* had already. A contradiction of the same rules is another one in other cases:
    whoever rewrites a policy that has one may not bring in the next under its name."""
    known = known_before(after, before)
    return frozenset(f.fingerprint for f in after if f.fingerprint in known and (f.id != "conflict" or stood(f)))


def _stood(finding: Finding, before: Run, changed: Set[str]) -> bool:
    """Did the policies of *finding* contradict each other in its very case before? Asked where one of them changed."""
    places = {finding.at.path, *(place.path for place, _ in finding.related)}
    case = finding.counterexample or {}
    if places.isdisjoint(changed) or "facts" not in case or finding.members[1:]:
        return True
    variables = before.ruleset.variables
    try:
        facts = {name: variables[name].read(value) for name, value in case["facts"].items()}
    except (KeyError, ValueMisfit):
        return False
    day = date.fromisoformat(case["at"]) if case.get("at") else before.at
    decision = before.proofs.evaluator.decide(facts, day.toordinal(), names_unknown=False)
    return any({*finding.policies} <= {*conflict.policies} for conflict in decision.conflicts)


def _compared(
    after: Sequence[Finding],
    existing: frozenset[str],
    changed: set[str],
    told: list[Finding],
    workspace: Workspace,
    rules: Rules,
) -> Checked:
    raw = [*(f if f.fingerprint in existing else anchored(f, changed) for f in after), *told]
    judged = tuple(graded(raw, rules.ci.severities))
    return Checked(workspace, judged, existing, raw=tuple(graded(raw, {})), rules=rules)


def _waived(checked: Checked, at: date, before: Sequence[Finding] = ()) -> Checked:
    """With what people accepted, as the base has it. A waiver that was idle *before* is nothing new.

    Whether a waiver is idle is said of the file as it lies there.
    """
    idle = {finding.fingerprint for finding in before if finding.id == "idle-waiver"}
    judging = checked.rules or checked.workspace.rules
    held = replace(checked.workspace, rules=judging)
    found = [one for one in waived(checked.findings, held, at) if one.id != "idle-waiver"]
    own = replace(checked.workspace, rules=judging.model_copy(update={"waivers": checked.workspace.rules.waivers}))
    found += [one for one in waived(checked.findings, own, at) if one.id == "idle-waiver"]
    told = sorted(found, key=lambda finding: _RANK[finding.severity])
    return replace(checked, findings=gates_first(told), existing=checked.existing | idle)


def _changes(before: Run, after: Run) -> list[Finding]:
    from ci.diff import outcome_changes  # only a check against a base compares versions
    from ci.lint.decision_edits import decision_edits

    return [*outcome_changes(before, after), *decision_edits(before.workspace, after.workspace)]


# ---- large repositories ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asking:
    """How a set is asked about: who hears of it, and who does the work."""

    progress: Progress | None
    executors: Executors | None

    def brought(self, last: Snapshot | None, now: Inventory) -> Snapshot:
        """The snapshot of *now*, from the *last* one as far as that goes."""
        known = updated(last, now) if last is not None else None
        return known if known is not None else self._whole(now)

    def _whole(self, now: Inventory) -> Snapshot:
        if self.executors is None or len(now.policies) < MANY:
            return remembered(now, pipeline.check(now.workspace(), now.at, self.progress))
        from ci.parts.whole import whole

        with self.executors() as executor:
            return whole(now, executor, self.progress)


def checked_again(last: Snapshot | None, now: Inventory) -> tuple[Snapshot, tuple[Finding, ...]]:
    """The findings of *now*, from the *last* check as far as that goes, and what this one leaves for the next."""
    after = _Asking(None, None).brought(last, now)
    words = now.part(now.words, Beyond(), Selection()).read()
    raw = of_records(after, now)
    found = tuple(graded(raw, words.rules.ci.severities))
    return after, _waived(Checked(words, found, raw=raw), now.at).findings


def in_parts(
    now: Inventory,
    old: Inventory | None,
    progress: Progress | None = None,
    executors: Executors | None = None,
    kept: Path | None = None,
    last: Snapshot | None = None,
    gating: Gating | None = None,
) -> Checked:
    """The same as a check of everything, from what the *last* one left; what this one leaves lies in *kept*."""
    asking = _Asking(progress, executors)
    before = asking.brought(last, old) if old is not None else None
    known = [side for side in (before, last) if side is not None]
    after = asking.brought(min(known, key=lambda side: _difference(side.files, now.digests), default=None), now)
    stale = min(DIFFERING, len(after.files) // 1_000)
    is_worth_it = (
        last is None or last.at != after.at or now.read_count > stale or _difference(last.files, after.files) > stale
    )
    if kept is not None and after.is_final and is_worth_it:
        snapshot.write(kept, after)
    words = _with_lines(now.part(now.words, Beyond(), Selection()).read(), now)
    answers, raw = counted(after.statuses, ASKED), of_records(after, now)
    if before is None or old is None or gating is None:
        findings = tuple(graded(raw, words.rules.ci.severities))
        return _waived(Checked(words, findings, answers=answers, raw=raw), now.at)
    changed = {path for path in now.files if before.files.get(path) != after.files[path]}
    runs = _differing(old, before, now, after)
    told = _large_told(runs, gating)
    earlier = old.part(old.words, Beyond(), Selection()).read().rules
    rules = gating.rules(earlier, words.rules)
    existing = _existing(of_records(before, old), raw, lambda one: _stood(one, runs[0], changed))
    compared = _compared(raw, existing, changed, told, words, rules)
    return _waived(replace(compared, answers=answers), now.at, _waived_before(old, before))


def _large_told(runs: tuple[Run, Run], gating: Gating) -> list[Finding]:
    """The changes of outcome, and of what gates; a set that is not asked whole again does not say what that hides."""
    told = gating.told(*runs, is_asked=False)
    return list(settled(runs[1].workspace, [*_changes(*runs), *told]))


def _with_lines(words: Workspace, now: Inventory) -> Workspace:
    """The workspace of the words, with the text of every other file, so that a report shows the lines it names."""
    return replace(words, sources=Shown(words.sources, now.files))


class Shown(Mapping[str, Source]):
    """The sources that were read, and the text of every other file; that is only made for the files somebody looks at.

    A report names few of a hundred thousand files.
    """

    def __init__(self, read: Mapping[str, Source], files: Mapping[str, Content | Finding]) -> None:
        self._read, self._files = read, files

    @cached_property
    def _paths(self) -> dict[str, None]:
        held = (path for path, file in self._files.items() if isinstance(file, Content))
        return dict.fromkeys([*self._read, *held])

    def __getitem__(self, path: str) -> Source:
        """The source of the file at *path*. Raises KeyError where there is none, or another one by now."""
        if path in self._read:
            return self._read[path]
        file = self._files[path]
        if not isinstance(file, Content):
            raise KeyError(path)
        try:
            return as_shown(path, file.data)
        except Changed:
            raise KeyError(path) from None

    def __iter__(self) -> Iterator[str]:
        """The paths: those that were read, then the others."""
        return iter(self._paths)

    def __len__(self) -> int:
        """How many files there are."""
        return len(self._paths)


def _waived_before(old: Inventory, before: Snapshot) -> tuple[Finding, ...]:
    """What the base accepted; most accept nothing, and then nothing is read for it."""
    if WAIVERS not in old.files:
        return ()
    words = old.part(old.words, beyond(before.cards), Selection()).read()
    return waived(before.findings, words, old.at)


def _differing(old: Inventory, before: Snapshot, now: Inventory, after: Snapshot) -> tuple[Run, Run]:
    """Both versions of the policies that differ and of everyone who may fire together with them."""
    differing = {path for path in {*before.files, *after.files} if before.files.get(path) != after.files.get(path)}
    sides = ((old, before), (now, after))
    cards = [{path: side.cards[path] for path in differing if path in side.cards} for _, side in sides]
    if any(map(is_decisive, differing)) or any(card.kind.binds for found in cards for card in found.values()):
        paths = {*differing, *before.cards, *after.cards}
    elif not any(cards):
        paths = {*differing}
    else:
        met = [Neighbourhood(side.cards).touched(found.values()) for (_, side), found in zip(sides, cards, strict=True)]
        paths = {*differing, *met[0], *met[1], *after.cards.binding}
    one, two = (
        pipeline.check(
            files.part([*files.words, *paths], beyond(side.cards), Selection()).read(), now.at, None, Focus()
        )
        for files, side in sides
    )
    return one, two


def _difference(one: Mapping[str, str], other: Mapping[str, str]) -> int:
    return len({path for path, _ in one.items() ^ other.items()})


def anchored(finding: Finding, changed: set[str]) -> Finding:
    """The finding at the first of its places that lies in a *changed* file, its own place among the related ones."""
    if finding.at.path in changed:
        return finding
    for i, (place, _) in enumerate(finding.related):
        if place.path in changed:
            return finding.seen_from(i)
    return finding
