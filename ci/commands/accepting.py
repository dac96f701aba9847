"""`bylaw cases --accept`: failing cases that expect what is decided now, after a change that was meant.

Only the `expect` of a failing case changes, and the remark above it that said what it once showed. A case in which
policies contradict each other, or in which something is still unknown, is left to people.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from bylaw.logic.decide.evaluate import Decision, Evaluator
from ci import pipeline
from ci.fixes import difference
from ci.loading.load import CaseEntry
from ci.loading.source import Source, locate, read
from ci.proofs.entry import flow
from ci.proofs.questions.failing_case import differences

_SHOWED = re.compile(r"# R-\S+ .*")  # what `cases --missing` wrote above a case


@dataclass(frozen=True, slots=True)
class Accepted:
    """The new text of each file, how many cases changed, and the names of those that are left to people."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    count: int
    left: tuple[str, ...]

    @property
    def difference(self) -> str:
        """Every change as one unified diff."""
        return "".join(difference(path, self.before[path], text) for path, text in sorted(self.after.items()))


def accepted(root: Path, at: date | None, today: date) -> Accepted:
    """What the failing cases of *root* expect once they expect what is decided. Nothing is written."""
    done = pipeline.run(root, at, today)
    failing = {(one.at.path, one.at.route[0]) for one in done.findings if one.id == "failing-case"}
    evaluator = Evaluator(done.deciding)
    wanted: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    left = []
    for entry in done.workspace.cases:
        if (entry.path, entry.index) not in failing:
            continue
        case = entry.case
        facts = {name: done.ruleset.variables[name].read(value) for name, value in case.facts.items()}
        decision = evaluator.decide(facts, (case.at or done.at).toordinal())
        missed = list(differences(done.workspace.vocabulary, case, decision))
        if decision.conflicts or decision.unproven or any(key in decision.undecided for key, _, _ in missed):
            left.append(case.name)
        else:
            wanted[entry.path][entry.index] = {**case.expect, **dict(_now(entry, decision, missed))}
    before = {path: done.workspace.sources[path].text for path in wanted}
    after = {path: _rewritten(done.workspace.sources[path], expected) for path, expected in wanted.items()}
    return Accepted(before, after, sum(map(len, wanted.values())), tuple(left))


def write(root: Path, found: Accepted) -> None:
    """Write the files. Raises UsageError where one cannot be written."""
    for path, text in sorted(found.after.items()):
        try:
            write_atomically(root / path, text)
        except OSError as error:
            raise UsageError(f"cannot write `{root / path}`: {error.strerror or error}") from None


def _now(entry: CaseEntry, decision: Decision, missed: list[tuple[str, Any, Any]]) -> Iterator[tuple[str, Any]]:
    for key, _, found in missed:
        yield key, {**entry.case.expect[key], **found} if isinstance(found, Mapping) else found


def _rewritten(source: Source, expected: Mapping[int, Mapping[str, Any]]) -> str:
    """The file with *expected* in the entries of these positions. Raises UsageError where that cannot be written."""
    rows = source.text.split("\n")
    dropped: set[int] = set()
    for index, expect in expected.items():
        line, column = locate(source, (index, "expect"))
        row = rows[line - 1]
        end = _end(row, column - 1)
        if end is None:
            help = "write it as `expect: {…}` on one line, or correct it by hand"
            raise UsageError(f"{source.path}:{line} holds an `expect` over several lines", help)
        rows[line - 1] = row[: column - 1] + flow(expect) + row[end:]
        first, _ = locate(source, (index,))
        if first > 1 and _SHOWED.fullmatch(rows[first - 2]):
            dropped.add(first - 2)
    text = "\n".join(row for n, row in enumerate(rows) if n not in dropped)
    data = read(source.path, text.encode()).data
    if any(data[index]["expect"] != expect for index, expect in expected.items()):
        raise UsageError(f"`{source.path}` cannot be rewritten", "correct what its cases expect by hand")
    return text


def _end(row: str, start: int) -> int | None:
    """Where the mapping that begins at *start* ends on its line; None where it does not."""
    depth, quote = 0, ""
    for n in range(start, len(row)):
        letter = row[n]
        if quote:
            quote = "" if letter == quote and row[n - 1] != "\\" else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth -= 1
            if depth == 0:
                return n + 1
        elif depth == 0:
            return None
    return None
