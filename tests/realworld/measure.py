"""How right the answers to data questions are, on data and questions that nobody here wrote.

    python -m tests.realworld.measure [--set NAME] [--db NAME] [--id PART] [--failures] [--table FILE]

Each question is asked as `bylaw ask --as analyst` asks it: the whole road from the words to the stored reply, on a
DuckDB file built from the data set's own DDL and CSV, at the time the question names. What counts:

- `right`: rows came, and they are those of the gold statement or of one of its alternatives. The order of columns is
  free; their number is not, an additional column only counts where an alternative has it. The order of rows is free
  unless the question fixes it. Numbers are compared to four places, a date equals its midnight, a number that JSON can
  only say as text equals that number; all other text is compared letter by letter.
- `wrong`: rows came that are not those, or an answer of another kind. This is the silent wrong number.
- `clarified`: a question came back. `held`: a statement was proposed and nothing ran. `refused`: said so.
- `error`: an exception, or a failure of the warehouse.

A question that must be refused is `right` only when it is refused: a question back and a proposed statement are told
apart from it in the matrix, and rows are `wrong`. The rows of `refusals.yaml` are held to the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import permutations
from math import isnan
from pathlib import Path
from typing import Any

import duckdb
import yaml

from bot import app
from bot.analytics import answer as analytics
from bot.conversation import Actor, Question, Reply, moment
from bot.orchestrator import handle
from bot.settings import Settings
from ci import fresh

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "shared" / "realworld" / "analytics"
CONTEXTS = HERE / "contexts"
REFUSALS = HERE / "refusals.yaml"
SETS = ("defog_business", "defog_classic", "acme_insurance", "cortex_revenue")
SINGLE = ("acme_insurance", "cortex_revenue")  # one database, and its root lies directly below the set
UNDATED = "2025-01-15 12:00:00"  # the clock of questions that name none
OUTCOMES = ("right", "wrong", "clarified", "held", "refused", "error")
FITS = ("fit:core", "fit:extended", "fit:llm")
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Asked:
    """One question, and what is accepted. `scaled` asks it of the larger data of the same set."""

    id: str
    dataset: str
    db: str
    text: str
    at: datetime
    expected: str
    tags: tuple[str, ...]
    statements: tuple[str, ...] = ()
    fingerprints: frozenset[str] = frozenset()
    ordered: bool = False
    scaled: bool = False

    @property
    def folder(self) -> Path:
        return DATA / self.dataset if self.dataset in SINGLE else DATA / self.dataset / self.db

    @property
    def root(self) -> Path:
        return CONTEXTS / self.dataset if self.dataset in SINGLE else CONTEXTS / self.dataset / self.db

    @property
    def fit(self) -> str:
        """The tag that says how hard it is, else what is expected."""
        return next((tag for tag in self.tags if tag in FITS), self.expected)


@dataclass(frozen=True)
class Outcome:
    """What came of one question. `milliseconds` of processor time lie between the question and its statement."""

    asked: Asked
    outcome: str
    note: str
    milliseconds: float
    reply: Reply | None = field(default=None, repr=False)


# ---- questions


def questions(dataset: str) -> Iterator[Asked]:
    """The dev questions of a set; those of `acme_insurance` twice, on the small and on the scaled data."""
    for line in (DATA / dataset / "dev" / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        scales = (False, True) if "gold_fingerprint_scaled" in record else (False,)
        for scaled in scales:
            gold = record.get("gold_sql")
            yield Asked(
                id=record["id"] + ("@scaled" if scaled else ""),
                dataset=dataset,
                db=record["db"],
                text=record["question"],
                at=moment(record.get("as_of", UNDATED)),
                expected=record["expected"],
                tags=tuple(record["tags"]),
                statements=(gold, *record.get("gold_sql_alternatives", ())) if gold else (),
                fingerprints=frozenset(record.get("gold_fingerprint_other", ())),
                ordered="gold_fingerprint_ordered" in record,
                scaled=scaled,
            )


def refusals() -> Iterator[Asked]:
    """Our own questions that nobody may get rows for."""
    for row in yaml.safe_load(REFUSALS.read_text(encoding="utf-8")):
        dataset, _, db = row["root"].partition("/")
        tags = (f"kind:{row['kind']}",)
        yield Asked(row["id"], dataset, db or dataset, row["question"], moment(UNDATED), f"refuse_{row['kind']}", tags)


# ---- the data


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    """Where databases, bundles and stores lie for as long as this process runs."""
    return tempfile.TemporaryDirectory(prefix="bylaw-realworld-")


@cache
def database(folder: Path, scaled: bool) -> Path:
    """The DuckDB file of a data set."""
    name = hashlib.sha256(f"{folder} {scaled}".encode()).hexdigest()[:12]
    path = Path(_home().name) / f"{name}.duckdb"
    _loaded(str(path), folder, scaled).close()
    return path


def _loaded(target: str, folder: Path, scaled: bool) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(target)
    with chdir(folder):
        for script in ("ddl.sql", "load_scaled.sql" if scaled else "load.sql"):
            connection.execute(Path(script).read_text(encoding="utf-8"))
    return connection


@cache
def _reference(folder: Path, scaled: bool) -> duckdb.DuckDBPyConnection:
    """A copy of its own: the driver opens one file in one way only, and the bot's way is locked down."""
    return _loaded(":memory:", folder, scaled)


@cache
def _gold(folder: Path, scaled: bool, statement: str) -> tuple[Row, ...]:
    return tuple(_reference(folder, scaled).execute(statement).fetchall())


# ---- comparing


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?")


def norm(value: Any) -> Any:
    """A cell as it is compared: as the data sets' own `verify.py` does, and dates that came as text like dates."""
    match value:
        case None | bool():
            return value
        case Decimal():
            return norm(float(value))
        case float():
            if isnan(value):
                return "nan"
            return round(value, 4) if value != int(value) or abs(value) > 1e15 else int(value)
        case datetime():
            midnight = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
            return value.date().isoformat() if midnight else value.replace(tzinfo=None).isoformat(sep=" ")
        case date():
            return value.isoformat()
        case timedelta():
            return str(value)
        case list() | tuple():
            return [norm(item) for item in value]
        case str() if _MOMENT.fullmatch(value):
            return norm(datetime.fromisoformat(value))
        case int() | str():
            return value
        case _:
            return str(value)


def _like(cell: Any, pattern: Any) -> Any:
    """*cell* as a number where the *pattern* is one and JSON had to spell it."""
    if isinstance(cell, str) and isinstance(pattern, int | float) and not isinstance(pattern, bool):
        try:
            return norm(float(cell))
        except ValueError:
            return cell
    return cell


def _columns(rows: Sequence[Row]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _sorted(cells: Iterable[Any]) -> list[str]:
    return sorted(json.dumps(cell, default=str) for cell in cells)


def same(found: Sequence[Row], gold: Sequence[Row], ordered: bool) -> bool:
    """Are these the same rows, whatever the order of the columns?"""
    if len(found) != len(gold):
        return False
    if not gold:
        return True
    ours, theirs = _columns([tuple(map(norm, row)) for row in found]), _columns([tuple(map(norm, row)) for row in gold])
    if len(ours) != len(theirs):
        return False
    patterns = [next((cell for cell in column if cell is not None), None) for column in theirs]
    spelled = [[[_like(cell, pattern) for cell in column] for pattern in patterns] for column in ours]
    fits = [
        [i for i in range(len(ours)) if _sorted(spelled[i][j]) == _sorted(column)] for j, column in enumerate(theirs)
    ]
    wanted = [json.dumps(row, default=str) for row in zip(*theirs, strict=True)]
    return any(_rows_equal(spelled, chosen, wanted, ordered) for chosen in _matchings(fits, ()))


def _matchings(fits: list[list[int]], chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every way to give each gold column one of ours that holds its values."""
    if len(chosen) == len(fits):
        yield chosen
        return
    for column in fits[len(chosen)]:
        if column not in chosen:
            yield from _matchings(fits, (*chosen, column))


def _rows_equal(spelled: list[list[list[Any]]], chosen: tuple[int, ...], wanted: list[str], ordered: bool) -> bool:
    columns = [spelled[i][j] for j, i in enumerate(chosen)]
    found = [json.dumps(row, default=str) for row in zip(*columns, strict=True)]
    return found == wanted if ordered else sorted(found) == sorted(wanted)


def fingerprint(rows: Sequence[Row]) -> str:
    """The fingerprint of rows in any order, as `verify.py` computes it."""
    lines = sorted(json.dumps([norm(cell) for cell in row], default=str) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _accepted(asked: Asked, rows: Sequence[Row]) -> bool:
    for statement in asked.statements:
        if same(rows, _gold(asked.folder, asked.scaled, statement), asked.ordered):
            return True
    width = len(rows[0]) if rows else 0
    orders = permutations(range(width)) if asked.fingerprints and 0 < width <= 5 else ()
    return any(fingerprint([tuple(row[i] for i in order) for row in rows]) in asked.fingerprints for order in orders)


# ---- asking


@cache
def _bot(root: Path, database: Path) -> app.Bot:
    """A bot on the context of *root*, compiled anew, opened once."""
    home = Path(_home().name) / hashlib.sha256(f"{root} {database}".encode()).hexdigest()[:12]
    home.mkdir()
    bundle = fresh.bundle(root, home, date(2025, 1, 15))
    return app.open_bot(Settings(root=home, warehouse=f"duckdb://{database}"), bundle, is_compiled_here=True)


def ask(asked: Asked) -> Outcome:
    """Ask one question and judge what came."""
    services = _bot(asked.root, database(asked.folder, asked.scaled)).services()
    name = services.new_id()
    question = Question(text=asked.text, actor=Actor(id="analyst"), asked_at=asked.at, session_id=name, request_id=name)
    started = time.process_time()
    try:
        analytics.answer(question, {}, services.index, None, None)  # without a warehouse it ends at the statement
        milliseconds = (time.process_time() - started) * 1000
        reply = handle(question, services)
    except Exception as problem:  # whatever it is, it is the product's failure and the next question goes on
        return Outcome(asked, "error", f"{type(problem).__name__}: {problem}"[:300], 0.0)
    outcome, note = judge(asked, reply)
    return Outcome(asked, outcome, note, milliseconds, reply)


def judge(asked: Asked, reply: Reply) -> tuple[str, str]:
    """The outcome of one reply, and why in a few words."""
    match reply.status:
        case "answered" if reply.kind != "data":
            return "wrong", f"answered as a {reply.kind}"
        case "answered" if asked.expected != "answer":
            return "wrong", f"{len(reply.rows)} rows for what must be refused"
        case "answered" if _accepted(asked, reply.rows):
            return "right", ""
        case "answered":
            return "wrong", _difference(asked, reply)
        case "needs_choice" | "needs_fact" | "pending":
            return "clarified", _line(reply.text)
        case "recommended" | "escalated":
            return "held", _line(reply.text)
        case "refused" if reply.sql is not None:
            return "error", _line(reply.text)
        case _:
            return ("refused" if asked.expected == "answer" else "right"), _line(reply.text)


def _difference(asked: Asked, reply: Reply) -> str:
    gold = _gold(asked.folder, asked.scaled, asked.statements[0])
    ours, theirs = (len(reply.rows), len(reply.columns)), (len(gold), len(gold[0]) if gold else 0)
    if ours != theirs:
        return f"{ours[0]}x{ours[1]} instead of {theirs[0]}x{theirs[1]}"
    if asked.ordered and same(reply.rows, gold, ordered=False):
        return "the rows in another order"
    return f"other values: {_line(str(reply.rows[:1]))} instead of {_line(str(gold[:1]))}"


def _line(text: str) -> str:
    return " ".join(text.split())[:160]


def measure(sets: Iterable[str] = (*SETS, "refusals"), db: str | None = None, id: str | None = None) -> list[Outcome]:
    """Ask everything that has a context. Questions about a database without one are left out."""
    found = []
    for name in sets:
        for asked in refusals() if name == "refusals" else questions(name):
            if (db in (None, asked.db)) and (id is None or id in asked.id) and asked.root.is_dir():
                found.append(ask(asked))
    return found


# ---- telling


def share(outcomes: Sequence[Outcome], outcome: str) -> float:
    """The part of *outcomes* that ended so; 1 of none are right, 0 of none are wrong."""
    if not outcomes:
        return float(outcome == "right")
    return sum(1 for one in outcomes if one.outcome == outcome) / len(outcomes)


def percentile(values: Sequence[float], part: float) -> float:
    """The value that *part* of the values do not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """What the floors speak of: shares from 0 to 1, and milliseconds."""
    asked = [one for one in outcomes if one.asked.expected == "answer"]
    refuse = [one for one in outcomes if one.asked.expected != "answer"]
    times = [one.milliseconds for one in outcomes if one.outcome != "error"]
    fits = {fit.replace(":", "_"): share([o for o in asked if o.asked.fit == fit], "right") for fit in FITS}
    return {
        **fits,
        "refusals": share(refuse, "right"),
        "silent_wrong": share(outcomes, "wrong"),
        "errors": share(outcomes, "error"),
        "p50_ms": percentile(times, 0.5),
        "p95_ms": percentile(times, 0.95),
    }


def _counted(groups: dict[str, list[Outcome]]) -> Iterator[str]:
    yield f"| {'':34} | {'all':>4} | " + " | ".join(f"{name:>9}" for name in OUTCOMES) + " |"
    yield f"|{'-' * 36}|{'-' * 6}|" + "|".join("-" * 11 for _ in OUTCOMES) + "|"
    for name, outcomes in groups.items():
        counts = Counter(one.outcome for one in outcomes)
        cells = " | ".join(f"{counts[outcome]:>9}" for outcome in OUTCOMES)
        yield f"| {name:34} | {len(outcomes):>4} | {cells} |"


def _grouped(outcomes: Sequence[Outcome]) -> Iterator[dict[str, list[Outcome]]]:
    """By what is expected, by fit, by database."""
    keys = (
        lambda one: one.asked.expected,
        lambda one: one.asked.fit if one.asked.expected == "answer" else "",
        lambda one: f"{one.asked.dataset}/{one.asked.db}{' scaled' if one.asked.scaled else ''}",
    )
    for key in keys:
        groups: dict[str, list[Outcome]] = {}
        for one in sorted(outcomes, key=lambda one: key(one)):
            if key(one):
                groups.setdefault(key(one), []).append(one)
        yield groups


def report(outcomes: Sequence[Outcome]) -> str:
    """Markdown: one line a question, then the matrices and the figures."""
    lines = ["| question | fit | outcome | ms | note |", "|---|---|---|---|---|"]
    for one in outcomes:
        note = one.note.replace("|", "/")
        lines.append(f"| {one.asked.id} | {one.asked.fit} | {one.outcome} | {one.milliseconds:.0f} | {note} |")
    for groups in _grouped(outcomes):
        lines += ["", *_counted(groups)]
    lines += ["", *(f"- {name}: {value:.3f}" for name, value in figures(outcomes).items())]
    return "\n".join(lines)


def failures(outcomes: Sequence[Outcome]) -> str:
    """What did not come out right, with the words and both statements."""
    parts = []
    for one in outcomes:
        if one.outcome == "right":
            continue
        shown = [f"## {one.asked.id} [{one.asked.fit}] {one.outcome}: {one.note}", one.asked.text]
        if one.reply is not None:
            shown += [f"said: {' '.join(one.reply.text.split())}", f"ours: {one.reply.sql}"]
            shown += [f"read: {'; '.join(f'{b.words} -> {b.kind} {b.name}' for b in one.reply.bindings)}"]
        shown += [f"gold: {one.asked.statements[0]}"] if one.asked.statements else []
        parts.append("\n".join(shown))
    return "\n\n".join(parts)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.realworld.measure", description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=(*SETS, "refusals"), action="append", help="Only this set; may be repeated.")
    parser.add_argument("--db", help="Only questions about this database.")
    parser.add_argument("--id", help="Only questions whose id contains this.")
    parser.add_argument("--failures", action="store_true", help="Show what is not right, with words and statements.")
    parser.add_argument("--table", type=Path, help="Write the report into this file as well.")
    given = parser.parse_args(words)
    if not DATA.is_dir():
        print("../shared/realworld is not beside this repository", file=sys.stderr)
        return 2
    outcomes = measure(given.set or (*SETS, "refusals"), given.db, given.id)
    if given.failures:
        print(failures(outcomes), end="\n\n")
    print(report(outcomes))
    if given.table:
        given.table.write_text(report(outcomes) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
