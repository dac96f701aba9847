"""What was decided, over HTTP (seed 002): asked with an intent, searched, looked up, and what the records are made of.

Everybody is answered from the records that they may read; to anybody else the others do not exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import partial
from threading import Event as Gone
from typing import Annotated, Any, Literal

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from bot.ask.recorded import records_for
from bot.conversation import MAX_TEXT, Actor, Question, Reply, moment, sayable, spoken_json
from bot.decisions.reading import search_for
from bot.decisions.search import KINDS, Wanted, find_records, title_of
from bot.delivery.http import bodies
from bot.delivery.http.attention import attended
from bot.delivery.http.frame import asker, named
from bot.evidence.store.columns import ID_LENGTH
from bot.index import BundleIndex
from bot.request.orchestrator import handle
from bot.services import Serving
from bylaw.authored.decisions import EDGES, Decision, Decisions, Event, Kind, Record
from bylaw.authored.state import state_of

Id = Annotated[str, Field(min_length=1, max_length=ID_LENGTH)]
_ETAG = "X-Snapshot-ETag"


class Asked(BaseModel):
    """A question with its intent. `decision_ref` is an id, a number, an alias or words; `text` the question itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    intent: Id
    decision_ref: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)] | None = None
    session_id: Id | None = None
    user: Id | None = None
    request_id: Id | None = None
    at: Annotated[str, Field(max_length=40)] | None = None


class Search(BaseModel):
    """Words and filters; each filter leaves the records that fit it. `since` and `until` are days, both included."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Annotated[str, Field(max_length=MAX_TEXT)] = ""
    k: Annotated[int, Field(ge=1, le=100)] = 10
    kinds: Annotated[list[Kind], Field(min_length=1, max_length=3)] = Field(default_factory=lambda: list(KINDS))
    person: Id | None = None
    tag: Id | None = None
    status: Id | None = None
    since: date | None = None
    until: date | None = None
    user: Id | None = None


class Found(BaseModel):
    """What a search found, the nearest first; `score` is that of BM25, 0 where no words were given."""

    snapshot_etag: str
    matches: list[dict[str, Any]]


class Node(BaseModel):
    """A record whose neighbours are wanted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    node_id: Id
    user: Id | None = None


class Neighbours(BaseModel):
    """The records one step from a record, each with the edge that leads there and its direction."""

    snapshot_etag: str
    node_id: str
    neighbors: list[dict[str, Any]]


def install(app: FastAPI, serving: Serving) -> None:
    """Add the endpoints to *app*."""

    async def ask(body: Asked, request: Request) -> Response:
        """Answer a question whose intent and decision are named outright."""
        return await attended(request, partial(answered, body, request))

    def answered(body: Asked, request: Request, gone: Gone) -> Response:
        services = serving.services().until(gone)
        known = services.index.rules.intents.intents
        if body.intent not in known:
            raise HTTPException(422, f"`{body.intent}` is no intent: there are {', '.join(sorted(known))}")
        request_id, user = named(request, body.request_id), asker(request, body.user)
        options = {"kind": "decision", "intent": body.intent, "decision_ref": body.decision_ref}
        question = Question(
            text=body.text or body.decision_ref or body.intent.replace("_", " "),
            actor=Actor(id=user) if user else Actor(),
            asked_at=moment(body.at) if body.at else services.clock(),
            session_id=body.session_id or request_id,
            request_id=request_id,
            options={name: value for name, value in options.items() if value is not None},
        )
        return Response(spoken_json(handle(question, services)), media_type="application/json")

    def search(body: Search, request: Request) -> Response:
        """The records that come nearest to words, and that fit every filter."""
        index, user = serving.services().index, asker(request, body.user) or ""
        wanted = Wanted(**body.model_dump(exclude={"user"}))
        decisions = records_for(index, user)
        hits = find_records(wanted, search_for(index, user), decisions)
        matches = [{**_shown(hit.id, hit.kind, decisions), "score": hit.score} for hit in hits]
        return _told({"matches": matches}, decisions)

    def expand(body: Node, request: Request) -> Response:
        """The neighbours of a record, one step away."""
        decisions = _readable(serving.services().index, request, body.user)
        record = _record(body.node_id, decisions)
        found = [{**one, **_shown(str(one["id"]), None, decisions)} for one in _neighbours(record, decisions)]
        return _told({"node_id": record.id, "neighbors": found}, decisions)

    @app.get("/api/enrich/{kind}/{record_id}")
    def enrich(kind: Kind, record_id: Id, request: Request, user: Annotated[str | None, Query()] = None) -> Response:
        """A record, normalised: its links point both ways, its times are UTC."""
        decisions = _readable(serving.services().index, request, user)
        record = _record(record_id, decisions)
        if _kind_of(record) != kind:
            raise HTTPException(404, f"there is no such {kind}")
        return _told(record.model_dump(mode="json", by_alias=True, exclude_none=True), decisions)

    @app.get("/v2/schema/{what}")
    @app.get("/api/schema/{what}")
    def schema(what: Literal["fields", "rels"]) -> Response:
        """The fields of the records with the names they are found under, or the relations and their directions."""
        known = serving.services().index.bundle.decisions
        return _told({what: known.field_catalogue if what == "fields" else known.relation_catalogue}, known)

    bodies.install(app, "/v2/ask", ask, Reply)
    for path in ("/v2/decisions/search", "/api/resolve/text"):
        bodies.install(app, path, search, Found)
    bodies.install(app, "/api/graph/expand_candidates", expand, Neighbours)


def _readable(index: BundleIndex, request: Request, user: str | None) -> Decisions:
    return records_for(index, asker(request, user) or "")


def _record(id: str, decisions: Decisions) -> Record:
    if (record := decisions.record(id)) is None:
        raise HTTPException(404, "there is no such record")
    return record


def _told(document: dict[str, Any], decisions: Decisions) -> Response:
    etag = decisions.snapshot_etag
    return JSONResponse(sayable({"snapshot_etag": etag, **document}), headers={_ETAG: etag})


def _kind_of(record: Record) -> Kind:
    return "decision" if isinstance(record, Decision) else "event" if isinstance(record, Event) else "transition"


def _shown(id: str, kind: Kind | None, decisions: Decisions) -> dict[str, Any]:
    """A record in short: what it is called, its day, and how a decision stands."""
    record = _record(id, decisions)
    shown: dict[str, Any] = {"id": id, "kind": kind or _kind_of(record), "title": title_of(record)}
    shown["timestamp"] = record.timestamp
    if isinstance(record, Decision):
        shown |= {"state": state_of(record, decisions), "status": record.status, "stands": record.stands}
    return {**shown, "tags": list(record.tags), "path": decisions.sources.get(id)}


def _neighbours(record: Record, decisions: Decisions) -> Iterator[dict[str, Any]]:
    """Each neighbour by id, with its edge and direction; what is not readable is none."""
    if isinstance(record, Event):
        yield from ({"id": id, "rel": "LED_TO", "dir": "out"} for id in record.led_to)
    elif isinstance(record, Decision):
        yield from ({"id": id, "rel": "LED_TO", "dir": "in"} for id in record.supported_by)
        for id in record.transitions:
            moved = decisions.transitions[id]
            yield {"id": id, "rel": EDGES[moved.relation], "dir": "in" if moved.to == record.id else "out"}
    else:
        ends = ((record.from_, "in"), (record.to, "out"))
        yield from ({"id": id, "rel": EDGES[record.relation], "dir": way} for id, way in ends if id is not None)
