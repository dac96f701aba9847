"""How right the answers to data questions are, on data and questions that nobody here wrote.

    python -m tests.realworld.measure [--set NAME] [--db NAME] [--id PART] [--failures] [--table FILE]

Each question is asked as `bylaw ask --as analyst` asks it: the whole road from the words to the stored reply, on a
DuckDB file built from the data set's own DDL and CSV, at the time the question names. What counts:

- `right`: rows came, and they are those of the gold statement or of one of its alternatives. The order of columns is
  free; their number is not, an additional column only counts where an alternative has it. The order of rows is free
  unless the record fixes it, and then it is that of the columns which the gold statement sorts by. Numbers are
  compared to four places, a date equals its midnight, a number that JSON can only say as text equals that number; all
  other text is compared letter by letter.
- `wrong`: rows came that are not those, or an answer of another kind. This is the silent wrong number.
- `form`: what was understood came back, and a form for the rest; no rows.
- `clarified`: a question came back. `held`: a statement was proposed and nothing ran. `refused`: said so.
- `error`: an exception, or a failure of the warehouse.

A question that must be refused is `right` only when it is refused: a question back, a form and a proposed statement
are told apart from it in the matrix, and rows are `wrong`. `refusals` is the share of those that got no rows and no
statement: refused, or shown a form. `refused_outright` leaves the forms out. The rows of `refusals.yaml` are held to
the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from itertools import permutations
from pathlib import Path

import duckdb
import sqlglot
import yaml
from sqlglot import exp

from bot import app
from bot.analytics import answer as analytics
from bot.conversation import Actor, Question, Reply, moment
from bot.request.orchestrator import handle
from bot.settings import Settings
from ci.commands import fresh
from tests.beside import beside, find_beside
from tests.realworld.comparison import Row, fingerprint, same

HERE = Path(__file__).resolve().parent
DATA = ("realworld", "analytics")  # below `../shared`
CONTEXTS = HERE / "contexts"
REFUSALS = HERE / "refusals.yaml"
SETS = ("defog_business", "defog_classic", "acme_insurance", "cortex_revenue")
SINGLE = ("acme_insurance", "cortex_revenue")  # one database, and its root lies directly below the set
UNDATED = "2025-01-15 12:00:00"  # the clock of questions that name none
OUTCOMES = ("right", "wrong", "form", "clarified", "held", "refused", "error")
FITS = ("fit:core", "fit:extended", "fit:llm")


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
        return beside(*DATA, self.dataset) if self.dataset in SINGLE else beside(*DATA, self.dataset, self.db)

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
    for line in beside(*DATA, dataset, "dev", "questions.jsonl").read_text(encoding="utf-8").splitlines():
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
def reference(folder: Path, scaled: bool) -> duckdb.DuckDBPyConnection:
    """A copy of its own: the driver opens one file in one way only, and the bot's way is locked down."""
    return _loaded(":memory:", folder, scaled)


@cache
def gold(asked: Asked, statement: str) -> tuple[Row, ...]:
    """The rows of one of the question's accepted statements."""
    return tuple(reference(asked.folder, asked.scaled).execute(statement).fetchall())


# ---- asking


@cache
def sort_keys(statement: str) -> tuple[int, ...]:
    """The places of the columns that *statement* sorts by; all of them where it sorts by something else."""
    tree = sqlglot.parse_one(statement, read="duckdb")
    assert isinstance(tree, exp.Query)
    order = tree.args.get("order")
    columns = [{one.alias_or_name.lower(), one.unalias().sql().lower()} for one in tree.selects]
    found = []
    for key in [one.this for one in order.expressions] if order else []:
        said = {key.sql().lower(), key.name.lower()} if isinstance(key, exp.Column) else {key.sql().lower()}
        places = [i for i, column in enumerate(columns) if said & column]
        found += places[:1] or [-1]
    return tuple(range(len(columns))) if not found or -1 in found else tuple(found)


def _accepted(asked: Asked, rows: Sequence[Row]) -> bool:
    for statement in asked.statements:
        if same(rows, gold(asked, statement), sort_keys(statement) if asked.ordered else None):
            return True
    width = len(rows[0]) if rows else 0
    orders = permutations(range(width)) if asked.fingerprints and 0 < width <= 5 else ()
    return any(fingerprint([tuple(row[i] for i in order) for row in rows]) in asked.fingerprints for order in orders)


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
        case "needs_choice" if reply.form is not None:
            return "form", _line(reply.text)
        case "needs_choice" | "needs_fact" | "pending":
            return "clarified", _line(reply.text)
        case "recommended" | "escalated":
            return "held", _line(reply.text)
        case "refused" if reply.sql is not None:
            return "error", _line(reply.text)
        case _:
            return ("refused" if asked.expected == "answer" else "right"), _line(reply.text)


def _difference(asked: Asked, reply: Reply) -> str:
    wanted = gold(asked, asked.statements[0])
    ours, theirs = (len(reply.rows), len(reply.columns)), (len(wanted), len(wanted[0]) if wanted else 0)
    if ours != theirs:
        return f"{ours[0]}x{ours[1]} instead of {theirs[0]}x{theirs[1]}"
    if asked.ordered and same(reply.rows, wanted):
        return "the rows in another order"
    return f"other values: {_line(str(reply.rows[:1]))} instead of {_line(str(wanted[:1]))}"


def _line(text: str) -> str:
    return " ".join(text.split())[:160]


def measure(sets: Iterable[str] = (*SETS, "refusals"), db: str | None = None, id: str | None = None) -> list[Outcome]:
    """Ask everything that has a context. Questions about a database without one are left out."""
    asked = (one for name in sets for one in (refusals() if name == "refusals" else questions(name)))
    return [ask(one) for one in asked if _is_chosen(one, db, id) and one.root.is_dir()]


def _is_chosen(asked: Asked, db: str | None, id: str | None) -> bool:
    return db in (None, asked.db) and (id is None or id in asked.id)


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
    groups = {fit: [one for one in asked if one.asked.fit == fit] for fit in FITS}
    return {
        **{fit.replace(":", "_"): share(group, "right") for fit, group in groups.items() if group},
        "refusals": share(refuse, "right") + (share(refuse, "form") if refuse else 0),
        "refused_outright": share(refuse, "right"),
        "silent_wrong": share(outcomes, "wrong"),
        "wrong_of_given": share([one for one in asked if one.outcome in ("right", "wrong")], "wrong"),
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
    return "\n".join([*lines, *_totals(outcomes)])


def table(outcomes: Sequence[Outcome]) -> str:
    """The report to keep: without times, and without notes, which quote words and rows of others."""
    lines = ["# What the questions of others came to", ""]
    lines += ["Written by `python -m tests.realworld.measure --table tests/realworld/outcomes.md`."]
    lines += ["`@scaled` asks the same of more data.", "", "| question | fit | outcome |", "|---|---|---|"]
    lines += [f"| {one.asked.id} | {one.asked.fit} | {one.outcome} |" for one in outcomes]
    return "\n".join([*lines, *(line for line in _totals(outcomes) if "_ms:" not in line)])


def _totals(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for groups in _grouped(outcomes):
        yield from ("", *_counted(groups))
    yield ""
    yield from (f"- {name}: {value:.3f}" for name, value in figures(outcomes).items())


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
    parser.add_argument("--table", type=Path, help="Write the outcomes into this file as well.")
    given = parser.parse_args(words)
    if find_beside(*DATA) is None:
        print("the folder shared/realworld is not beside this repository", file=sys.stderr)
        return 2
    outcomes = measure(given.set or (*SETS, "refusals"), given.db, given.id)
    if given.failures:
        print(failures(outcomes), end="\n\n")
    print(report(outcomes))
    if given.table:
        given.table.write_text(f"{table(outcomes)}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
