"""`bylaw review --compute`: what a pull request does to the policies, as a document of data.

The head is what lies in the folder, the base the commit at which its branch left the other one. Nothing here asks
GitHub, and nothing of it needs a secret.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from bylaw.canonical import plain
from bylaw.logic.formula.ir import Unproven
from ci import pipeline, recorded
from ci.check import Checked, Executors, Gating, against, check
from ci.diff import only_remarks, sides, speech, texts_of
from ci.formalize.stage import UNDECLARED, formalize
from ci.loading.commits.base_commit import files_at
from ci.loading.commits.git import commit_of
from ci.loading.commits.revision import Revision, folder, revision
from ci.loading.derived.record import PolicyRecord
from ci.loading.derived.variables import variables
from ci.loading.files import Content
from ci.loading.load import Beyond, Workspace, files_of, rare_collection
from ci.loading.unread import UNREPRESENTABLE
from ci.parts.inventory import Inventory, inventory
from ci.parts.part import Selection, settled
from ci.parts.records import is_record
from ci.pipeline import Run
from ci.progress import Progress
from ci.review.computed.decisions import governing
from ci.review.computed.document import (
    LONGEST,
    MOST,
    Counts,
    Coverage,
    GoverningDecision,
    OpenQuestion,
    RecordedAnswers,
    ReviewDocument,
    Suggestion,
    Timing,
    WaiverItem,
    clipped,
    escaped_path,
)
from ci.review.computed.found import Line, appended, change, found
from ci.review.computed.hunks import Diff, diff_since, forked_at
from ci.review.computed.speech import Speech, speech_of
from ci.review.computed.touched import MOST_SURVEYED, covered, graphs, surveyed, touched
from ci.rewritten.rules import narrowed

WHOLE = 1_000  # more policies are checked in parts; then neither their bundle nor their cases are at hand
MOST_STANDING = 100_000
_NAME = 100  # letters of a request's name
MOST_CASES = 20  # missing ones that are written out
_KEPT_OUT = UNREPRESENTABLE | UNDECLARED | {"type-mismatch", "unit-mismatch", "value-out-of-domain"}


@dataclass
class Laps:
    """How long each part of the work took."""

    clock: Callable[[], float]
    laps: list[Timing] = field(default_factory=list)
    _last: float = 0.0

    def __post_init__(self) -> None:
        self._last = self.clock()

    def lap(self, what: str) -> None:
        """The part that ends here."""
        now = self.clock()
        self.laps.append(Timing(what=what, seconds=round(max(0.0, now - self._last), 3)))
        self._last = now


@dataclass(frozen=True, slots=True)
class Looked:
    """The check against the base, every place with its line; and both runs, of a set that was read whole."""

    checked: Checked
    runs: tuple[Run, Run] | None
    records: Sequence[PolicyRecord]


@rare_collection()
def compute(
    root: Path,
    base: str,
    today: date,
    at: date | None = None,
    pull_request: int | None = None,
    clock: Callable[[], float] = time.perf_counter,
    progress: Progress | None = None,
    executors: Executors | None = None,
    log: str | None = None,
    is_merged: bool = False,
) -> ReviewDocument:
    """The review of what lies in *root* against *base*; *log* is a file of recorded answers, or a store's address.

    What gates comes from the base; where the change *is merged* already, from itself.

    Raises UsageError where git knows no such commit, and for a log that is none or does not hold.
    """
    laps = Laps(clock)
    shown, base_sha = revision(root), forked_at(root, base)
    diff = diff_since(root, base_sha)
    now = inventory(root, files_of(root), shown, at or shown.commit_date or today)
    laps.lap("reading git")
    if len(now.policies) <= WHOLE:
        looked = _whole(now, Gating(root, base_sha, is_merged), diff)
    else:
        checked = check(root, now.at, today, base_sha, progress, executors, is_merged=is_merged)
        looked = _parts(now, diff, checked)
    laps.lap("checking both sides")
    etag = _etag(looked.runs[1]) if looked.runs is not None else None
    laps.lap("compiling")
    line = _lines(now)
    cases = _cases(looked, diff, line)
    laps.lap("looking for cases")
    held = None
    if log is not None:
        held = _recorded(log, root, base_sha, now.at)
        laps.lap("deciding recorded answers anew")
    return ReviewDocument(
        schema_version="1.0",
        head_sha=commit_of(root, "HEAD"),
        base_sha=base_sha,
        pull_request=pull_request,
        folder=_folder(root),
        is_dirty=(shown.commit or "").endswith("-dirty"),
        at=now.at.isoformat(),
        etag=etag,
        without_etag=None if etag else _why_no_etag(looked),
        timings=laps.laps,
        coverage=cases.coverage,
        missing_cases=cases.missing,
        missing_case_count=cases.count,
        case_suggestions=list(cases.suggestions),
        recorded=held,
        decisions=_decisions(now, base_sha),
        **_told(now, looked, diff, line),
        **_rewritten(looked),
    )


def _decisions(now: Inventory, base_sha: str) -> list[GoverningDecision]:
    """The records about what the change touches. Of a large set the records alone are read for it."""
    paths = [path for path in now.shared if is_record(path)]
    if not paths:
        return []
    return governing(now.root, base_sha, now.part(paths, Beyond(), Selection()).read().decisions)[:MOST]


def _folder(root: Path) -> str:
    where = folder(root)
    return f"{escaped_path(where.removesuffix('/'))}/" if where else ""


def _whole(now: Inventory, gating: Gating, diff: Diff) -> Looked:
    """Both sides, each of them whole."""
    old = inventory(now.root, files_at(now.root, gating.base), Revision(), now.at)
    before, after = (pipeline.recorded(pipeline.check(side.workspace(), now.at)) for side in (old, now))
    checked = against(before, after, gating)
    told, raw = (tuple(settled(after.workspace, found)) for found in (checked.findings, checked.raw))
    placed = replace(checked, findings=told, raw=raw, answers=after.proofs.answers)
    return Looked(placed, (before, after), touched(after.proofs.records, diff.files))


def _parts(now: Inventory, diff: Diff, checked: Checked) -> Looked:
    """A large set: what changed is checked with everyone who may matter to it, and read once more for its graphs."""
    part: Workspace = now.part([*now.words, *diff.files], checked.workspace.beyond, Selection()).read()
    records, _ = formalize(part, variables(part.vocabulary))
    return Looked(checked, None, touched(records, diff.files))


def _etag(run: Run) -> str | None:
    """The etag of the head's bundle; None where something that was written is in no bundle."""
    if run.stopping(allows_errors=False):
        return None
    from bylaw.bundle import etag
    from ci.compile import compile_bundle

    run = pipeline.without_drafts(run)
    bundle = compile_bundle(run.workspace, run.proofs, run.deciding, run.unread)
    return etag(plain(bundle.model_dump(mode="python", by_alias=True)))


def _why_no_etag(looked: Looked) -> str:
    if looked.runs is None:
        return f"more than {WHOLE:,} policies are not compiled for a review"
    return "a rule or a file cannot be read, so nothing is compiled"


# ---- what it says ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Cases:
    """What cases show of the policies that changed, and which are missing."""

    coverage: Coverage | None = None
    missing: str = ""
    count: int = 0
    suggestions: tuple[Suggestion, ...] = ()


def _cases(looked: Looked, diff: Diff, line: Line) -> _Cases:
    if looked.runs is None or not 0 < len(looked.records) <= MOST_SURVEYED:
        return _Cases()
    before, after = looked.runs
    now, then = surveyed(after, looked.records, before, touched(before.proofs.records, diff.files))
    # What a contradiction, or a rule that cannot be read, leaves undecided would be written down as if it were meant.
    is_open = bool(after.in_doubt) or any(finding.id == "conflict" for finding in looked.checked.new)
    missing = "" if is_open else now.yaml(MOST_CASES)
    coverage = Coverage(before=then, after=covered(now.survey.coverage))
    fixes = () if is_open else tuple(appended(now.entries(MOST_CASES), diff, line))
    return _Cases(coverage, missing if len(missing) <= LONGEST else "", len(now.survey.missing), fixes)


def _recorded(log: str, root: Path, base_sha: str, day: date) -> RecordedAnswers:
    """What of *log* would be different: numbers and names of requests, no word of what was asked."""
    answers = recorded.read_log(log, root)  # before anything is compared: it may be no log
    one, two, _ = sides(base_sha, str(root), root, day, day)
    found = recorded.compare(*answers, one, two, day)
    return RecordedAnswers(
        answers=found.answer_count,
        different=found.different_count,
        not_under_base=found.new_count,
        left_out=found.left_out_count,
        examples=[clipped(name, _NAME) for name in found.examples],
        calls=found.calls,
    )


def _rewritten(looked: Looked) -> dict[str, Any]:
    """Conditions that stand before several actions at once, and whether nothing but comments and layout differs."""
    if looked.runs is None:
        return {}
    one, two = looked.runs
    said = speech(one.workspace.vocabulary, two.workspace.vocabulary, one.ruleset, two.ruleset)
    lines = narrowed(one.ruleset, two.ruleset, said)
    count = only_remarks(texts_of(one.workspace), texts_of(two.workspace))
    return {"narrowed": [clipped(line) for line in lines[:MOST]], "only_comments_in": count}


def _told(now: Inventory, looked: Looked, diff: Diff, line: Line) -> dict[str, Any]:
    """What the check found, as fields of the document."""
    checked = looked.checked
    told = [finding for finding in checked.findings if finding.id != "outcome-change"]
    changes = checked.changes
    severity = next((one.severity for one in checked.new if one.id == "outcome-change"), None)
    new = [finding for finding in told if finding.fingerprint not in checked.existing]
    words, said = looked.checked.workspace.vocabulary, _speech(looked)
    listed = [found(finding, diff, False, line, said) for finding in new[:MOST]]
    old = [finding for finding in told if finding.fingerprint in checked.existing]
    listed += [found(finding, diff, True, line, said) for finding in old[: MOST - len(listed)]]
    unknown = list(_unknown(looked))
    drawn = list(graphs(looked.records[:MOST_SURVEYED], words, said))
    severities = Counter(finding.severity for finding in checked.new)
    return {
        "policy_count": len(now.policies),
        "changed_files": sorted(map(escaped_path, diff.files))[:MOST],
        "findings": listed,
        "counts": Counts(
            error=severities["error"],
            warning=severities["warning"],
            notice=severities["notice"],
            existing=len(checked.findings) - len(checked.new),
        ),
        "standing": sorted({finding.fingerprint for finding in checked.findings})[:MOST_STANDING],
        "changes": [change(finding, said) for finding in changes[:MOST]] if severity is not None else [],
        "change_count": len(changes),
        "change_severity": severity,
        "nothing_else_changes": not unknown,
        "unknown": unknown[:100],
        "waivers": _waivers(checked),
        "graphs": drawn,
        "graph_count": len(looked.records),
        "open_questions": [
            OpenQuestion(
                question=answered.question,
                undecided=answered.unknown,
                skipped=answered.skipped,
                asked=answered.asked,
                why=[clipped(reason, 300) for reason, _ in answered.reasons[:20]],
            )
            for answered in checked.answers
            if answered.open
        ],
    }


def _speech(looked: Looked) -> Speech:
    """The labels of both versions; of a large set those of the head."""
    if looked.runs is None:
        return speech_of([looked.checked.workspace.vocabulary])
    return speech_of(run.workspace.vocabulary for run in looked.runs)


def _waivers(checked: Checked) -> list[WaiverItem]:
    """Those that only the head has."""
    held = checked.rules.waivers.waivers if checked.rules is not None else []
    new = [one for one in checked.workspace.rules.waivers.waivers if one not in held]
    return [WaiverItem(finding=one.finding, until=one.until.isoformat()) for one in new[:MOST]]


def _unknown(looked: Looked) -> list[str]:
    """Why it is not known that nothing else changes: a limit was hit, or a rule cannot be read.

    Whatever a repository makes of such findings: one that is off has left as much open.
    """
    checked = looked.checked
    raw = [finding for finding in checked.raw if finding.fingerprint not in checked.existing]
    limits = [
        clipped(finding.message)
        for finding in raw
        if finding.id == "unknown-answer" and finding.rules[:1] == ("outcome-change",)
    ]
    paths = {finding.at.path for finding in raw if finding.id in _KEPT_OUT and finding.severity == "error"}
    paths |= {rule.path for rule in _missed(looked)}
    limits += [clipped(finding.message) for finding in raw if "apart" in finding.detail]
    return [*limits, *(f"{path} takes no part in the comparison: it has errors" for path in sorted(paths))]


def _missed(looked: Looked) -> Iterator[Unproven]:
    """The rules that cannot be read: of those that both sides have, nobody knows what they make of other changes."""
    before, after = looked.runs or (None, None)
    if before is not None and after is not None:
        is_changed = before.ruleset != after.ruleset
        both = {*before.unproven} & {*after.unproven}
        yield from (rule for rule in (*before.unproven, *after.unproven) if is_changed or rule not in both)


def _lines(now: Inventory) -> Line:
    """The text of a line of the head."""

    @cache
    def lines(path: str) -> list[str]:
        file = now.files.get(path)
        return file.data.decode("utf-8", "replace").split("\n") if isinstance(file, Content) else []

    def line(path: str, number: int) -> str:
        return lines(path)[number - 1] if number <= len(lines(path)) else ""

    return line
