"""What a change does to its own checks, as findings: told before all others, and by no setting kept quiet.

First each setting that differs, then what the base's settings would have found besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from bylaw.authored.labels import labels
from bylaw.authored.vocabulary import Vocabulary
from bylaw.canonical import plain
from bylaw.logic.formula.ir import Constraint, Facts, Ruleset, ValueMisfit, names, negate
from bylaw.logic.words.prose import case_in_words
from ci import pipeline
from ci.findings import ID_OF_GATES, Finding, Place, graded, known_before
from ci.gating.former import with_former_gates
from ci.gating.gates import GateChange, changes_of
from ci.gating.settings import side_of
from ci.loading.load import Workspace
from ci.pipeline import Run
from ci.proofs.theory import Theory

LEAD = "this changes what is checked: "
MOST = 20  # settings of one kind, and findings that were hidden, that are told one by one


@dataclass(frozen=True, slots=True)
class Versions:
    """Both versions: as they were read, their rules, and the files beside them that gate."""

    workspaces: tuple[Workspace, Workspace]
    rulesets: tuple[Ruleset, Ruleset]
    at: date
    guards: tuple[Mapping[str, str], Mapping[str, str]] = field(default_factory=lambda: ({}, {}))


def gate_findings(versions: Versions, after: Run | None) -> list[Finding]:
    """What gates differently, and what that hides; of a set too large to be asked again, that it was not asked."""
    before, now = (side_of(*pair) for pair in zip(versions.workspaces, versions.guards, strict=True))
    changes = list(changes_of(before, now))
    told = [*_changed(changes, versions)]
    if any(change.gate.is_proved for change in changes):
        told += _hidden(versions.workspaces, after) if after is not None else [_not_asked()]
    return told


def _changed(changes: Sequence[GateChange], versions: Versions) -> Iterator[Finding]:
    counts: dict[str, int] = {}
    for change in changes:
        kind = change.gate.name
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= MOST:
            yield _of_change(change, versions)
    for kind, count in counts.items():
        if count > MOST:
            about = f"{count - MOST:,} more {kind}"
            at = next(change.at for change in changes if change.gate.name == kind)
            yield _finding(about, at, ("more", kind, str(count)), "look at the diff of these files")


def _of_change(change: GateChange, versions: Versions) -> Finding:
    case = impossible_case(change, versions.rulesets, versions.workspaces[0].vocabulary, versions.at)
    gone = f"; there is no case any more with {case['words']}" if case else ""
    help = f"it is for the owners of `{change.gate.owns}` to decide"
    after = change.after.shown if change.after else "gone"
    before = change.before.shown if change.before else "new"
    about = (change.gate.name, change.about, before, after)
    return replace(
        _finding(f"{change.words}{gone}", change.at, about, help),
        counterexample=case,
        status="COUNTEREXAMPLE" if case else None,
        detail={"gate": change.gate.name, "about": change.about, "before": before, "after": after},
    )


def _finding(about: str, at: Place, rules: tuple[str, ...], help: str) -> Finding:
    return Finding(ID_OF_GATES, f"{LEAD}{about}", at, rules=rules, help=help)


# ---- cases that are no more -----------------------------------------------------------------------------------------


def impossible_case(
    change: GateChange, rulesets: tuple[Ruleset, Ruleset], words: Vocabulary, at: date
) -> dict[str, Any] | None:
    """A case that the base knows and the change makes impossible, in the base's *words*; None for what makes none."""
    before, after = rulesets
    match change.gate.name:
        case "minimum" | "maximum" | "values":
            facts = _lost_value(change, before)
        case "invariants":
            facts = _broken(change, before, after, at)
        case _:
            return None
    if not facts:
        return None
    shown = {name: before.variables[name].show(value) for name, value in sorted(facts.items())}
    return {"facts": plain(shown), "words": case_in_words(facts, labels(words)), "at": at.isoformat()}


def _lost_value(change: GateChange, before: Ruleset) -> Facts | None:
    """One value that the fact can no longer have."""
    name = str(change.at.route[1]) if len(change.at.route) > 1 else ""
    known = before.variables.get(name)
    if known is None or change.before is None or change.after is None:
        return None
    old, new = change.before.value, change.after.value
    if change.gate.name == "values":
        lost: Any = min(old - new)
    elif old is not None:
        lost = old
    elif known.kind in ("integer", "decimal"):
        lost = new - 1 if change.gate.name == "minimum" else new + 1
    else:
        return None
    try:
        return {name: known.read(lost)}
    except (ValueMisfit, TypeError):
        return None


def _broken(change: GateChange, before: Ruleset, after: Ruleset, at: date) -> Facts | None:
    """A case of the base that a new or another invariant does not let exist."""
    found = next((one for one in after.constraints if _is_it(one, change)), None)
    if found is None or not names(found.formula) <= before.variables.keys():
        return None
    theory = Theory(before, at.toordinal(), 1_000_000)
    answer = theory.reasoner.check([negate(found.formula), *theory.invariants(at.toordinal())])
    if answer.model is None:
        return None
    full = theory.completed(answer.model, at.toordinal(), ())
    return {name: value for name, value in full.items() if name in names(found.formula)}


def _is_it(one: Constraint, change: GateChange) -> bool:
    return change.about == f"the invariant `{one.constraint_id}` of {one.policy_id}"


# ---- what is hidden -------------------------------------------------------------------------------------------------


def _hidden(workspaces: tuple[Workspace, Workspace], after: Run) -> Iterator[Finding]:
    """What the head would be found to say under the base's settings, and is not found to say under its own."""
    before = workspaces[0]
    former = pipeline.check(with_former_gates(before, after.workspace), after.at)
    known = known_before(former.raw, after.raw)
    loud = [
        one
        for one in graded(former.raw, before.rules.ci.severities)
        if one.severity in ("error", "warning") and one.fingerprint not in known
    ]
    for one in loud[:MOST]:
        yield _would_stand(one)
    if len(loud) > MOST:
        yield _finding(
            f"with the settings of the base {len(loud) - MOST:,} more findings stand",
            loud[MOST].at,
            ("hidden", "more", str(len(loud))),
            "change the settings in a pull request of their own first",
        )


def _would_stand(finding: Finding) -> Finding:
    place = Place(finding.at.path, line=1) if finding.id == "failing-case" else finding.at
    about = f"with the settings of the base, `{finding.id}` stands: {finding.message}"
    return replace(
        finding,
        id=ID_OF_GATES,
        message=f"{LEAD}{about}",
        at=place,
        rules=("hidden", finding.fingerprint),
        help="it is for the owners of what changed it to decide whether that is meant",
        detail={"hidden": finding.id, "owners": finding.detail.get("owners", [])},
        members=(),
    )


def _not_asked() -> Finding:
    return _finding(
        "what the settings of the base would have found besides is not known: the set is too large to be asked twice",
        Place("policies/vocabulary.yaml", line=1),
        ("hidden", "unknown"),
        "change the settings in a pull request of their own first",
    )
