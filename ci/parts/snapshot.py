"""What a check leaves behind for the next one: the digest of every file, a card for every policy, and what was found.

It is JSON, it is verified before a word of it is believed, and whatever does not fit is as good as absent: then the
next check asks everything again. It lies with the person who asks, never in the repository: a snapshot that comes with
a commit could say that all is well. Runs that trust each other differently share none.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bylaw.canonical import plain, write_atomically
from ci.findings import Finding, Place
from ci.parts.cards import Card
from ci.proofs.answers import Concern, Row, Statuses

FORMAT = 2
PROGRAM = Path(__file__).resolve().parents[2]

Case = Mapping[str, Any]  # a case's facts as a box in JSON, None where they do not fit the vocabulary


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A finished check. `at` is the ordinal it asked for; `cases` are boxes, by file and position.

    `clashing` are the policies (by path) that contradict each other about a subject, by subject; `complete` are the
    outcomes that every case must get; `expiring` is the number of days in which the end of a policy is told before.
    Where it is not `is_final`, something stayed open that another try may answer: then it is not to be kept.
    """

    at: int
    files: Mapping[str, str]
    cards: Mapping[str, Card]
    cases: Mapping[str, Sequence[Case | None]]
    findings: tuple[Finding, ...]
    statuses: Statuses
    clashing: Mapping[str, tuple[str, ...]]
    complete: tuple[str, ...] = ()
    expiring: int = 0
    is_final: bool = True


@cache
def program() -> str:
    """The digest of everything that an answer depends on and a repository does not hold: this program."""
    digest = hashlib.sha256(f"{FORMAT} {sys.version_info[:2]} {version('z3-solver')}".encode())
    for package in ("bylaw", "ci"):
        for path in sorted((PROGRAM / package).rglob("*")):
            if path.suffix in (".py", ".yaml"):
                digest.update(path.relative_to(PROGRAM).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def place(folder: Path, root: Path) -> Path:
    """The file under *folder* that is about the repository at *root*."""
    return folder / f"check-{hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:32]}.json"


def write(path: Path, snapshot: Snapshot) -> None:
    """Keep *snapshot* for the next check. A folder that cannot be written is no reason to fail."""
    body = "\n".join([json.dumps(_to_json(snapshot), separators=(",", ":")), *_boxes(snapshot.cards)])
    try:
        write_atomically(path, f"{_stamp(body)}\n{body}", durable=False)
    except OSError:
        return


def read(path: Path) -> Snapshot | None:
    """The snapshot in *path*; None where there is none that this very program wrote and nobody has touched since."""
    try:
        stamp, _, body = path.read_bytes().decode().partition("\n")
        if stamp != _stamp(body):
            return None
        first, *boxes = body.split("\n")
        return _from_json(json.loads(first), boxes)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _stamp(body: str) -> str:
    return f"{program()} {hashlib.sha256(body.encode()).hexdigest()}"


def _to_json(snapshot: Snapshot) -> dict[str, Any]:
    words, keys, rows = _Table(), _Table(), _Table()
    return {
        "at": snapshot.at,
        "files": dict(snapshot.files),
        "cards": {
            path: (
                card.ids,
                card.domain,
                words[card.words],
                card.overrides,
                card.days,
                card.ends,
                card.binds,
                keys[card.keys],
            )
            for path, card in snapshot.cards.items()
        },
        "words": words.rows,
        "keys": keys.rows,
        "cases": dict(snapshot.cases),
        "findings": [finding_to_json(finding) for finding in snapshot.findings],
        "statuses": [(*concern, rows[row]) for concern, row in snapshot.statuses.items()],
        "rows": rows.rows,
        "clashing": dict(snapshot.clashing),
        "complete": snapshot.complete,
        "expiring": snapshot.expiring,
    }


class _Table:
    """Rows that many share, each written once; asked for a row, it says where that stands."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._places: dict[Any, int] = {}

    def __getitem__(self, row: Any) -> int:
        if row not in self._places:
            self._places[row] = len(self.rows)
            self.rows.append(row)
        return self._places[row]


def _boxes(cards: Mapping[str, Card]) -> Iterator[str]:
    return (card.boxes for card in cards.values())


def _from_json(data: Mapping[str, Any], boxes: Sequence[str]) -> Snapshot:
    words = [tuple(row) for row in data["words"]]
    keys = [tuple(map(tuple, row)) for row in data["keys"]]
    rows: list[Row] = [tuple((question, status, tuple(why)) for question, status, why in row) for row in data["rows"]]
    known: dict[Concern, Row] = {tuple(concern): rows[n] for *concern, n in data["statuses"]}
    return Snapshot(
        at=data["at"],
        files=data["files"],
        cards={
            path: Card(tuple(ids), domain, words[w], tuple(overrides), tuple(days), ends, binds, keys[k], text)
            for (path, (ids, domain, w, overrides, days, ends, binds, k)), text in zip(
                data["cards"].items(), boxes, strict=True
            )
        },
        cases=data["cases"],
        findings=tuple(map(finding_from_json, data["findings"])),
        statuses=known,
        clashing={subject: tuple(paths) for subject, paths in data["clashing"].items()},
        complete=tuple(data["complete"]),
        expiring=data["expiring"],
    )


# ---- findings -------------------------------------------------------------------------------------------------------


def finding_to_json(finding: Finding) -> dict[str, Any]:
    """Everything a finding says. Its places should carry their lines: the text they point into is not kept."""
    return {
        "id": finding.id,
        "message": finding.message,
        "at": _place_to_json(finding.at),
        "policies": list(finding.policies),
        "rules": list(finding.rules),
        "help": finding.help,
        "related": [[_place_to_json(place), note] for place, note in finding.related],
        "counterexample": plain(finding.counterexample),
        "status": finding.status,
        "detail": plain(finding.detail),
        "severity": finding.severity,
        "members": list(finding.members),
    }


def finding_from_json(data: Mapping[str, Any]) -> Finding:
    """The finding that `finding_to_json` spells. Raises KeyError, TypeError or ValueError for anything else."""
    told: dict[str, Any] = {**data, "at": _place_from_json(data["at"])}
    told |= {key: tuple(data[key]) for key in ("policies", "rules", "members")}
    told["related"] = tuple((_place_from_json(place), note) for place, note in data["related"])
    return Finding(**told)


def _place_to_json(place: Place) -> list[Any]:
    return [place.path, list(place.route), place.on_key, place.line, place.column]


def _place_from_json(data: Sequence[Any]) -> Place:
    path, route, on_key, line, column = data
    return Place(path, tuple(route), on_key, line, column)
