"""An answer rebuilt from what was kept: the bundle it was given from, the question, and what its session brought.

Nothing of today's repository is looked at. Where the rebuilt reply is not the kept one byte for byte, each field that
differs is named, and each paper beside it: an envelope that was edited in the store is seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

from bot.answerers import answerers
from bot.clock import new_id, now
from bot.conversation import Question, Reply, Turn, sayable
from bot.decisions import answer as decisions
from bot.evidence.artifacts import ArtifactError, Shelf
from bot.evidence.store.engine import Store
from bot.evidence.store.tables import audit, sessions
from bot.index import BundleIndex
from bot.memory.recall import retold
from bot.request.orchestrator import rebuild
from bot.router import Answerer, thresholds
from bot.services import Services
from bylaw.audit.entry import AuditEntry
from bylaw.audit.verify import verify
from bylaw.bundle import parse
from bylaw.canonical import canonical_json
from bylaw.errors import BylawError, UsageError
from bylaw.llm.guarded import Guard
from bylaw.llm.recorded import Replayed
from bylaw.warehouses.port import Estimate, Rows, WarehouseError

_ASKED_OF = ("bundle", "reply", "request")  # what the answer is rebuilt from, and itself
_LOST = "put it back from a backup of the store, or of BYLAW_ARTIFACTS; or end a redaction that was interrupted"


@dataclass(frozen=True)
class Difference:
    """One field of the reply: as it was kept, and as it was rebuilt."""

    field: str
    kept: Any
    rebuilt: Any


@dataclass(frozen=True)
class Replay:
    """What replaying found. `text` is the rebuilt reply, the one JSON text of it."""

    request_id: str
    bundle_etag: str
    commit: str | None
    text: str
    differences: tuple[Difference, ...]

    @property
    def is_same(self) -> bool:
        """Byte for byte?"""
        return not self.differences


class NotReplayable(BylawError):
    """An answer of which something needed was not kept, or was taken away."""

    exit_code = 1


def replay(request_id: str, store: Store, artifacts: Shelf) -> Replay:
    """Rebuild the reply to *request_id*.

    Raises UsageError for one nobody knows, NotReplayable where it was redacted, or a paper is missing or was altered.
    """
    entry = recorded(request_id, store)
    if entry.is_redacted:
        raise NotReplayable(_redacted(request_id, entry, store), "what was said is gone for good; its entry stays")
    body = entry.body
    named = body.get("artifacts") or {}
    missing = [name for name in ("bundle", "reply", "request") if name not in named]
    if missing:
        raise NotReplayable(
            f"the answer to `{request_id}` was kept without its {' and '.join(missing)}",
            "answers given from now on are",
        )

    def paper(name: str) -> str:
        try:
            return artifacts.get_text(named[name])
        except ArtifactError as error:
            what = f"the {name.replace('_', ' ')} kept with the answer to `{request_id}` cannot be had: {error.message}"
            raise NotReplayable(what, error.help or _LOST) from error

    kept, asked = paper("reply"), json.loads(paper("request"))
    question = Question.model_validate(asked["question"])
    if asked.get("session") is None:
        raise NotReplayable(f"the session of `{request_id}` was not kept", "answers given from now on can be replayed")
    session = sessions.resumed(question.session_id, question.actor, asked["session"])
    recalled = retold(asked.get("recalled"))
    warehouse = {name: json.loads(paper(name)) for name in ("failure", "names", "plan", "readings") if name in named}
    model = [json.loads(paper(name)) for name in sorted(named) if name.startswith("model_")]
    index = BundleIndex(parse(paper("bundle"), f"the bundle of {request_id}"))
    given = Reply.model_validate_json(kept)
    beside = {name: paper(name) for name in sorted(named) if name not in _ASKED_OF}  # each is still what it was
    past = _services(given, warehouse, model, index, store, artifacts)
    reply, papers = rebuild(question, session, past, recalled)
    text = canonical_json(sayable(reply))
    differences = (*_differences(kept, text), *_papers_that_differ(beside, papers))
    return Replay(request_id, index.etag, index.commit, text, differences)


def recorded(request_id: str, store: Store) -> AuditEntry:
    """The last entry of the chain that holds a reply to *request_id*, and that still matches its own hash."""
    with store.reading() as connection:
        found = [entry for entry in audit.about(connection, request_id) if _event(entry) == "reply"]
    if not found:
        raise UsageError(f"no answer to the request `{request_id}` is recorded", "`bylaw audit export` lists them")
    entry = found[-1]
    if any(one.kind == "edited" and "its own hash" in one.detail for one in verify([entry]).breaks):
        raise NotReplayable(f"the record of `{request_id}` was edited after it was written", "see `bylaw audit verify`")
    return entry


def _redacted(request_id: str, entry: AuditEntry, store: Store) -> str:
    with store.reading() as connection:
        found = audit.redaction_of(connection, entry.seq)
    if found is None:
        return f"what was said in `{request_id}` was erased, and no redaction says so: see `bylaw audit verify`"
    return f"the answer to `{request_id}` {audit.told(found)}"


def _event(entry: AuditEntry) -> Any:
    try:
        return entry.body.get("event")
    except (ValueError, KeyError, AttributeError, TypeError):
        return "reply"  # its own hash will tell


@dataclass(frozen=True)
class _Past:
    """The warehouse as it answered then: the rows are those of the kept reply, masked as they were."""

    given: Reply
    plan: Mapping[str, Any]
    failure: Mapping[str, Any] | None = None
    readings: Sequence[Mapping[str, Any]] = ()
    names: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)

    @property
    def dialect(self) -> str:
        return str(self._of("").get("dialect", "duckdb"))

    def _of(self, sql: str) -> Mapping[str, Any]:
        """The plan of a statement: that of the answer, or of the reading that it belongs to."""
        return next((plan for plan in self.readings if plan["sql"] == sql), self.plan or next(iter(self.readings), {}))

    def explain(self, sql: str) -> Estimate:
        if self.failure is not None:
            raise WarehouseError(self.failure["message"], self.failure["help"])
        plan = self._of(sql)["estimate"]
        scanned = plan["estimated_scan_gb"]
        return Estimate(
            rows=plan["estimated_rows"],
            scan_bytes=None if scanned is None else round(scanned * 1_000_000_000),
            runtime_ms=plan["estimated_runtime_ms"],
            warnings=tuple(plan["warnings"]),
        )

    def run(self, sql: str, limit: int, stop: Event | None = None) -> Rows:
        if sql in self.names:
            return Rows((), tuple(map(tuple, self.names[sql])))
        for plan in (self.plan, *self.readings):
            for looks in ("freshness", "joins"):
                if sql in plan.get(looks, {}):
                    return Rows((looks,), ((plan[looks][sql],),))
            if sql in plan.get("ties", {}):
                return self._with_ties(plan, plan["ties"][sql])
        kept = self._of(sql)
        if kept.get("sql", sql) != sql:
            return Rows((), ())  # a look at the rows that is new since then
        if "result" in kept:
            result = kept["result"]
            is_cut = any(caveat.startswith("Only the first ") for caveat in result["caveats"])
            return Rows(tuple(result["columns"]), tuple(tuple(row) for row in result["rows"]), is_cut)
        is_cut = any(caveat.startswith("Only the first ") for caveat in self.given.caveats)
        return Rows(self.given.columns, self.given.rows, is_cut)

    def _with_ties(self, plan: Mapping[str, Any], tied: Any) -> Rows:
        """What was shown then, and what ranked equal with the last of it; earlier versions kept but the latter."""
        if tied is None:
            raise WarehouseError("it could not be looked up")
        if isinstance(tied, Mapping):
            return Rows((), tuple(map(tuple, tied["rows"])))
        shown = plan["result"]["rows"] if "result" in plan else self.given.rows
        return Rows((), (*map(tuple, shown), *map(tuple, tied)))

    def columns(self, schema: str, table: str) -> tuple[str, ...]:
        known = [plan.get("columns", {}).get(f"{schema}.{table}") for plan in (self.plan, *self.readings)]
        return tuple(next((columns for columns in known if columns is not None), ()))

    def close(self) -> None:
        """Nothing is open."""


def _services(
    given: Reply,
    warehouse: Mapping[str, Any],
    model: Sequence[Mapping[str, Any]],
    index: BundleIndex,
    store: Store,
    artifacts: Shelf,
) -> Services:
    """What answered then. The time that searching took is the one that was kept: it is told in the reply."""
    latency = (given.meta or {}).get("latency_ms", 0)
    readings = iter((0.0, (latency + 0.5) / 1000))

    def decision(question: Question, state: dict[str, Any], index: BundleIndex) -> Turn:
        return decisions.answer(question, state, index, lambda: next(readings), llm)

    def same(answerer: Answerer) -> Answerer:
        return replace(answerer, answer=decision) if answerer.kind == "decision" else answerer

    llm = Guard(Replayed.of(model), lambda: 0.0) if model else None
    is_first = "confirms" in warehouse.get("plan", {}) or "failure" in warehouse  # a yes that came second ran nothing
    past = answerers(_past(given, warehouse), llm, lambda *_: is_first)
    again = tuple(same(answerer) for answerer in past)
    for answerer in again:
        answerer.prepare(index)
    edges = thresholds(index.rules.routing)
    made = Services(index, index.etag, index.commit, store, artifacts, again, now, new_id, edges)
    return replace(made, llm=llm).under(index.rules.autonomy)


def _past(given: Reply, papers: Mapping[str, Any]) -> _Past | None:
    """The warehouse of *papers*; None where none was connected, or none was asked."""
    plan, readings, names = papers.get("plan", {}), papers.get("readings", ()), papers.get("names", {})
    if "failure" in papers:
        return _Past(given, plan, papers["failure"])
    is_asked = plan.get("estimate") is not None or readings or names
    return _Past(given, plan, None, readings, names) if is_asked else None


def _differences(kept: str, rebuilt: str) -> Iterator[Difference]:
    if kept == rebuilt:
        return
    one, two = _fields(kept), _fields(rebuilt)
    for name in sorted({*one, *two}):
        if canonical_json(one.get(name)) != canonical_json(two.get(name)):
            yield Difference(name, one.get(name), two.get(name))


def _papers_that_differ(kept: Mapping[str, str], rebuilt: Mapping[str, str]) -> Iterator[Difference]:
    """The papers beside the answer, its envelope and its evidence, that are not those it is rebuilt with.

    What a model answered then goes into the rebuilding, and how long it took to refine an answer is of then.
    """
    for name in sorted(one for one in kept.keys() & rebuilt.keys() if not one.startswith(("model_", "refinement"))):
        if kept[name] != rebuilt[name]:
            yield Difference(f"paper: {name}", json.loads(kept[name]), json.loads(rebuilt[name]))


def _fields(text: str) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = json.loads(text)
    return fields
