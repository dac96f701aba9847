"""`bylaw stats --refinement`: what the bounded loop did, whether it does good, and an alarm where it never does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from statistics import fmean
from typing import Any

from bot.evidence.store.connection import Connection
from bot.evidence.store.refinements import judged_of, runs
from bylaw.refine.ledger import tallies
from bylaw.refine.outcome import alarm


def refinement(connection: Connection, since: datetime | None) -> dict[str, Any]:
    """The metrics of seed 003, 11, over all runs."""
    found = [*runs(connection, since)]
    metrics = [one["metrics"] for one, _ in found]
    links = [_solved(one) for one in metrics]
    judged = [judged_of(one, taken) for one, taken in found if taken is not None]
    return {
        "runs": len(found),
        "iterations": sum(one["num_iters"] for one in metrics),
        "converged": sum(bool(one["converged"]) for one in metrics),
        "oscillations": sum(one["oscillations"] for one in metrics),
        "mean_missing_links_solved": round(fmean(links), 2) if links else 0.0,
        "status_changes": dict(sorted(Counter(map(_change, metrics)).items())),
        "stopped": dict(sorted(Counter(one["stop"] for one in metrics).items())),
        "judged": [one.document() for one in tallies(judged)],
        "alarm": alarm([[step["feedback"]["status"] for step in one["iterations"]] for one, _ in found]),
    }


def _solved(metrics: Mapping[str, Any]) -> int:
    before, after = metrics["missing_links"]["before"], metrics["missing_links"]["after"]
    return 0 if before is None or after is None else before - after


def _change(metrics: Mapping[str, Any]) -> str:
    return f"{metrics['status']['before']} → {metrics['status']['after']}"


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The same for people."""
    yield f"{found['runs']} {'run' if found['runs'] == 1 else 'runs'} of the loop, {found['iterations']} rewrites"
    if not found["runs"]:
        return
    yield f"  {found['converged']:>6}  settled; {found['mean_missing_links_solved']} missing links solved on average"
    yield from (f"  {count:>6}  {change.replace('_', ' ')}" for change, count in found["status_changes"].items())
    yield from (f"  {count:>6}  stopped: {stop.replace('_', ' ')}" for stop, count in found["stopped"].items())
    for one in found["judged"]:
        yield (
            f"  {one['proposer']}, prompts {one['version']}: {one['corrected']} errors mended, "
            f"{one['introduced']} made, in {one['runs']} judged runs"
        )
    if found["alarm"]:
        yield f"  alarm: {found['alarm']}"
