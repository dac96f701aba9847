"""What a check leaves behind for the next one: what every file said, a card for every policy, and what was found.

It is JSON, it is verified before a word of it is believed, and whatever does not fit is as good as absent: then the
next check asks everything again. It lies with the person who asks, never in the repository: a snapshot that comes with
a commit could say that all is well. Runs that trust each other differently share none.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from array import array
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from bylaw.canonical import plain, write_atomically
from bylaw.collection import no_collection
from ci.findings import Finding, Place
from ci.loading.files import Known, Signature
from ci.parts.card_table import Cards
from ci.parts.cards import Kind
from ci.proofs.answers import Concern, Row, Statuses

FORMAT = 5
PARTS = 5  # lines before those of the boxes
NO_SIGNATURE: Signature = (0, 0, 0, 0)
PROGRAM = Path(__file__).resolve().parents[2]

Case = Mapping[str, Any]  # a case's facts as a box in JSON, None where they do not fit the vocabulary


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A finished check. `at` is the ordinal it asked for; `cases` are boxes, by file and position.

    `clashing` are the policies (by path) that contradict each other about a subject, by subject; `complete` are the
    outcomes that every case must get; `expiring` is the number of days in which the end of a policy is told before.
    Where it is not `is_final`, something stayed open that another try may answer: then it is not to be kept.
    `signatures` say how files lay there when they were read, where that can be relied on.
    """

    at: int
    files: Mapping[str, str]
    cards: Cards
    cases: Mapping[str, Sequence[Case | None]]
    findings: tuple[Finding, ...]
    statuses: Statuses
    clashing: Mapping[str, tuple[str, ...]]
    complete: tuple[str, ...] = ()
    expiring: int = 0
    is_final: bool = True
    signatures: Mapping[str, Signature] = field(default_factory=dict)

    @property
    def known(self) -> Known:
        """The files that need not be read again where they lie as they did."""
        return Known(self.signatures, self.files)


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
    body = "\n".join([*(json.dumps(part, separators=(",", ":")) for part in _to_json(snapshot)), *snapshot.cards.boxes])
    try:
        write_atomically(path, f"{_stamp(body.encode())}\n{body}", durable=False)
    except OSError:
        return


def read(path: Path) -> Snapshot | None:
    """The snapshot in *path*; None where there is none that this very program wrote and nobody has touched since."""
    try:
        data = path.read_bytes()
        end = data.index(b"\n")
        if not data.startswith(program().encode()) or data[:end] != _stamp(memoryview(data)[end + 1 :]).encode():
            return None
        with no_collection():
            return _from_json(*_lines(data, end + 1))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _lines(data: bytes, start: int) -> tuple[list[Any], list[str]]:
    """The parts and the boxes that lie in *data* from *start*. It is large: no copy is made of all of it."""
    parts = []
    for _ in range(PARTS):
        end = data.index(b"\n", start)
        parts.append(json.loads(data[start:end]))
        start = end + 1
    boxes = data[start:].decode()
    return parts, boxes.split("\n") if boxes else []


def _stamp(body: bytes | memoryview) -> str:
    return f"{program()} {hashlib.sha256(body).hexdigest()}"


def _to_json(snapshot: Snapshot) -> list[Any]:
    """One part a line: what is small, then the columns of files, cards, statuses and findings, which are long."""
    words, keys, rows, cards = _Table(), _Table(), _Table(), snapshot.cards
    places = {path: n for n, path in enumerate(snapshot.files)}
    policies = [(concern[1], rows[row]) for concern, row in snapshot.statuses.items() if concern[0] == "policy"]
    others = [(*concern, rows[row]) for concern, row in snapshot.statuses.items() if concern[0] != "policy"]
    head = {
        "at": snapshot.at,
        "complete": snapshot.complete,
        "expiring": snapshot.expiring,
        "cases": dict(snapshot.cases),
        "clashing": dict(snapshot.clashing),
        "kinds": [(k.domain, words[k.words], k.days, k.ends, k.binds, k.decision, keys[k.keys]) for k in cards.kinds],
        "words": words.rows,
        "keys": keys.rows,
        "rows": rows.rows,
        "overrides": [(row, *ids) for row, ids in sorted(cards.overrides.items())],
    }
    numbers = array("q", chain.from_iterable(snapshot.signatures.get(path, NO_SIGNATURE) for path in snapshot.files))
    return [
        head,
        [list(snapshot.files), list(snapshot.files.values()), b64encode(numbers).decode()],
        [[places[path] for path in cards.paths], list(cards.ids), list(cards.kind_of)],
        [[id for id, _ in policies], [row for _, row in policies], others],
        [finding_to_json(finding) for finding in snapshot.findings],
    ]


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


def _from_json(parts: Sequence[Any], boxes: Sequence[str]) -> Snapshot:
    head, (paths, digests, packed), (places, ids, kind_of), (policies, rows_of, others), findings = parts
    rows: list[Row] = [tuple((question, status, tuple(why)) for question, status, why in row) for row in head["rows"]]
    known: dict[Concern, Row] = {("policy", id): rows[row] for id, row in zip(policies, rows_of, strict=True)}
    known |= {tuple(concern): rows[row] for *concern, row in others}
    numbers = iter(array("q", b64decode(packed)))
    signatures = zip(paths, zip(numbers, numbers, numbers, numbers, strict=True), strict=True)
    cards = Cards(
        paths=[paths[place] for place in places],
        ids=ids,
        kinds=_kinds(head),
        kind_of=kind_of,
        overrides={row: tuple(ids) for row, *ids in head["overrides"]},
        boxes=boxes,
    )
    if not len(cards.paths) == len(ids) == len(kind_of) == len(boxes) or not {*kind_of} <= {*range(len(cards.kinds))}:
        raise ValueError("the columns do not fit each other")
    return Snapshot(
        at=head["at"],
        files=dict(zip(paths, digests, strict=True)),
        signatures={path: signature for path, signature in signatures if signature != NO_SIGNATURE},
        cards=cards,
        cases=head["cases"],
        findings=tuple(map(finding_from_json, findings)),
        statuses=known,
        clashing={subject: tuple(paths) for subject, paths in head["clashing"].items()},
        complete=tuple(head["complete"]),
        expiring=head["expiring"],
    )


def _kinds(head: Mapping[str, Any]) -> list[Kind]:
    words = [tuple(row) for row in head["words"]]
    keys = [tuple(map(tuple, row)) for row in head["keys"]]
    return [
        Kind(domain, words[w], tuple(days), ends, binds, decision, keys[k])
        for domain, w, days, ends, binds, decision, k in head["kinds"]
    ]


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
