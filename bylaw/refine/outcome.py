"""How a run is told: the final format of seed 003, section 12, and the files of its iterations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bylaw.canonical import canonical_json, fingerprint, plain, write_atomically
from bylaw.refine.loop import Run
from bylaw.refine.machine import Stop
from bylaw.refine.subjects import Candidate

ALARM = "no run of this batch ever decided anything: look at how programs are made before trusting any of them"
_MOST = 5  # reasons and premises in a sentence

STOPS: Mapping[Stop, str] = {
    "entailed": "the query follows",
    "refuted": "the opposite of the query follows",
    "no_improvement": "the last rewrite was no better",
    "regression": "the last rewrite was worse",
    "oscillation": "a form that was tried before came back",
    "max_iterations": "as many rewrites as are allowed were tried",
    "budget": "the time for rewrites is over",
    "refused": "a rewrite was refused",
    "no_proposal": "nothing better was proposed",
}


def final(run: Run) -> dict[str, Any]:
    """The run in the format of section 12. Of the same run it has the same bytes, but for the time it took."""
    best = run.best
    return {
        "final_answer": answer(run),
        "final_logic_program": plain(best.document),
        "final_feedback": plain(best.feedback),
        "iterations": [*_iterations(run)],
        "metrics": run.metrics,
    }


def answer(run: Run) -> str:
    """YES, NO or UNDECIDED, and why. What rests on an assumption is *yes, if …* and never *yes*."""
    best, verdict = run.best, verdict_of(run)
    if verdict != "UNDECIDED" and run.has_converged:
        core = best.feedback.get("core", ())
        if best.mark.cases:
            return f"{verdict}: {'all ' if best.mark.cases > 1 else ''}{best.mark.cases} cases hold."
        return f"{verdict}: it follows from {_listed(core)}." if core else f"{verdict}: {STOPS[run.stop]}."
    if verdict != "UNDECIDED" and (found := run.conditional) is not None:
        return f"{verdict}, if {_joined(found.assumptions)}. Nobody has shown that it is so."
    return f"UNDECIDED: {_why_open(run)}"


def verdict_of(run: Run) -> str:
    """YES, NO or UNDECIDED; the first two may hold only if something is so."""
    decided = run.best if run.has_converged else run.conditional
    if decided is None:
        return "UNDECIDED"
    return "NO" if decided.mark.status == "refuted" else "YES"


def _why_open(run: Run) -> str:
    best = run.best
    problems = next((one.problems for one in reversed(run.history) if one.problems), ())
    refused = f" A rewrite was refused: {_joined(problems)}." if run.stop == "refused" and problems else ""
    if best.mark.cases:
        failing = best.feedback.get("failing", [])
        names = _listed([one["case"] for one in failing]) if failing else "none that is named"
        return f"{best.mark.cases_held} of {best.mark.cases} cases hold; still to mend: {names}.{refused}"
    if best.mark.status == "inconsistent":
        return f"{_listed(best.feedback['core'])} contradict each other.{refused}"
    if best.mark.status == "unknown":
        return f"the solver could not settle it: {_joined(best.feedback.get('notes', ()))}.{refused}"
    if best.document.get("query") == "":
        return "nothing is asked, and what is said holds together."
    lacking = [one for one in best.feedback.get("missing", ()) if not one["blocked_by"]]
    if lacking:
        return f"it would follow with {' and '.join(lacking[0]['missing'][:_MOST])}, which is not known.{refused}"
    stopped = [one for one in best.feedback.get("missing", ()) if one["blocked_by"]]
    if stopped:
        needed = _listed(stopped[0]["blocked_by"])
        return f"{stopped[0]['rule']} would need {needed}, which is known to be otherwise.{refused}"
    return f"no rule leads there; {STOPS[run.stop]}.{refused}"


def _listed(names: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in names[:_MOST]]
    rest = [f"{len(names) - _MOST} more"] if len(names) > _MOST else []
    parts = [*shown, *rest]
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _joined(texts: Sequence[str]) -> str:
    return "; ".join(texts[:_MOST])


def _iterations(run: Run) -> Iterable[dict[str, Any]]:
    for k, one in enumerate(run.history):
        if one.mark.is_silent:
            continue
        found: Candidate | None = one.candidate
        feedback = {"status": "refused", "problems": list(one.problems)}
        yield {
            "k": k,
            "llm_output": plain(one.proposed if found is None or one.proposed else found.document),
            "feedback": feedback if found is None else plain(found.feedback),
            "metrics": {
                "missing_links": one.mark.missing_links,
                "fidelity": one.mark.fidelity,
                "cases_held": one.mark.cases_held,
                "cases": one.mark.cases,
                "assumptions": [] if found is None else list(found.assumptions),
            },
        }


def files(run: Run) -> dict[str, Any]:
    """What is kept of a run, by the file names of section 11; each exchange with a model is a file of its own."""
    told = final(run)
    kept: dict[str, Any] = {}
    for one in told["iterations"]:
        kept[f"iter_{one['k']}_llm_output.json"] = one["llm_output"]
        kept[f"iter_{one['k']}_feedback.json"] = one["feedback"]
    for k, attempt in enumerate(run.history):
        kept |= {f"iter_{k}_{name}.json": plain(paper) for name, paper in attempt.papers.items()}
    return {**kept, "final.json": told}


def write_files(run: Run, folder: Path) -> Path:
    """Write the files of *run* into a folder of *folder* that is named by the run's own fingerprint."""
    kept = files(run)
    timeless = {name: value for name, value in kept.items() if name != "final.json"}
    place = folder / fingerprint(timeless)[:16]
    for name, value in kept.items():
        write_atomically(place / name, canonical_json(value) + "\n", durable=False)
    return place


def alarm(statuses: Iterable[Iterable[str]]) -> str | None:
    """An alarm where no run of a batch ever decided anything: *statuses* are those of the attempts, by run."""
    found = [set(one) for one in statuses]
    is_quiet = not found or any(one & {"consistent_entails", "refuted"} for one in found)
    return None if is_quiet else ALARM
