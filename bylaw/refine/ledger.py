"""Does the loop do good? Errors it mended and errors it made, by model and version of its prompts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FILE = Path(".bylaw") / "refine" / "ledger.jsonl"


@dataclass(frozen=True)
class Judged:
    """A run of which the truth is known: what its last rewrite put right, and what it put wrong."""

    proposer: str
    version: str
    corrected: int
    introduced: int


@dataclass(frozen=True)
class Tally:
    """The judged runs of one proposer."""

    proposer: str
    version: str
    runs: int
    corrected: int
    introduced: int

    def is_off(self, enough: int) -> bool:
        """Has it made more errors than it mended, over *enough* runs? Then it is not asked any more."""
        return self.runs >= enough and self.introduced > self.corrected

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def tallies(judged: Iterable[Judged]) -> list[Tally]:
    """The runs by proposer and version, sorted."""
    together: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in judged:
        together[one.proposer, one.version].append(one)
    return [
        Tally(*who, len(runs), sum(one.corrected for one in runs), sum(one.introduced for one in runs))
        for who, runs in sorted(together.items())
    ]


def is_off(judged: Iterable[Judged], proposer: str, version: str, enough: int) -> bool:
    """Is that proposer not to be asked any more?"""
    return any(one.is_off(enough) for one in tallies(judged) if (one.proposer, one.version) == (proposer, version))


def read_ledger(root: Path) -> Iterator[Judged]:
    """The runs that were judged in the repository at *root*; a line that is none of ours is passed over."""
    try:
        lines = (root / FILE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            said = json.loads(line)
            yield Judged(str(said["proposer"]), str(said["version"]), int(said["corrected"]), int(said["introduced"]))
        except (ValueError, LookupError, TypeError):
            continue


def add_to_ledger(root: Path, judged: Judged) -> None:
    """Add a run that was judged."""
    path = root / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(asdict(judged), sort_keys=True) + "\n")
