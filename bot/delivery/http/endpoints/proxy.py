"""`bylaw guard --mcp --upstream URL`: an MCP server behind the gate, over streamable HTTP, for as many clients as come.

Every client has a session of its own: its id is given out here, belongs to who began it, and stands for the server's
id, which no client learns. A request without a session (the protocol since 2026 has none) has no history of a session
either. What was sent to the server is read to its end, also when the client has gone: only then one knows what it did.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from bot.delivery.http.endpoints.upstream import Answered, Unreachable, Upstream
from bot.delivery.http.frame import Frame, is_foreign
from bot.delivery.http.identity.identity import Identity
from bot.delivery.http.rates import Rates
from bot.gate.messages import INVALID, Message, error, key_of, read, spelled
from bot.gate.passage import Passage, Turn
from bot.gate.tasks import Following
from bot.gate.waiting import Questions
from bot.request.capacity import Slots
from bot.settings import Settings

PATH = "/mcp"
MOST_SESSIONS = 10_000  # beyond them the one that was silent for longest is forgotten
MOST_MESSAGE = 64 * 1024 * 1024  # bytes of one message of the server
QUESTION_SECONDS = 300.0  # how long a call waits for the person who was asked
LINGER_SECONDS, LOOK_SECONDS = 600.0, 0.2  # how long a server hears nothing of a client's end while its calls run
RETRIES, RETRY_SECONDS = 5, 1.0  # when an answer breaks off that can be resumed
_SESSION, _VERSION, _LAST = "mcp-session-id", "mcp-protocol-version", "last-event-id"
_LINES = "text/event-stream"
_ACCEPT = {"Accept": f"application/json, {_LINES}"}
_END = None
_NAMES = ("name", "uri", "taskId")  # the parameter that a request is told by in its head


@dataclass
class _Session:
    """A client's session: the passage of its messages, who began it, and what the server calls it."""

    passage: Passage
    user: str | None
    theirs: str | None = None
    waiting: dict[str, asyncio.Future[Turn]] = field(default_factory=dict)


@dataclass
class Sessions:
    """The sessions by the ids that were given out."""

    _open: OrderedDict[str, _Session] = field(default_factory=OrderedDict)

    def add(self, session: _Session) -> str:
        """The id of one more."""
        name = secrets.token_urlsafe(24)
        self._open[name] = session
        if len(self._open) > MOST_SESSIONS:
            self._open.popitem(last=False)
        return name

    def find(self, name: str, user: str | None) -> _Session | None:
        """The one of that id, if it is this user's."""
        found = self._open.get(name)
        if found is None or found.user != user:
            return None
        self._open.move_to_end(name)
        return found

    def drop(self, name: str) -> None:
        """Forget it."""
        self._open.pop(name, None)


@dataclass
class Door:
    """Where clients come in. *passage* makes that of one session of one user (None: whoever is the host's actor)."""

    upstream: Upstream
    passage: Callable[[str | None, str | None], Passage]
    sessions: Sessions = field(default_factory=Sessions)
    questions: Questions = field(default_factory=Questions)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def answer(self, request: Request) -> Response:
        """One request of a client."""
        if is_foreign(request.headers, request.method):
            return _refused(403, "this origin is not served here")
        given, user = request.headers.getlist(_SESSION), request.state.user
        session = self.sessions.find(given[0], user) if len(given) == 1 else None
        if given and session is None:
            return _refused(404, "there is no such session")
        match request.method:
            case "POST":
                return await self._posted(request, session, user)
            case "GET" if session is not None:
                return await self._listened(request, session)
            case "DELETE" if session is not None:
                return await self._left(request, session, given[0])
        return _refused(400, "a session is needed")

    # ---- a message of the client ------------------------------------------------------------------------------------

    async def _posted(self, request: Request, session: _Session | None, user: str | None) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _refused(415, "a message is sent as application/json")
        message = read(await request.body())
        if message is None:
            return _refused(400, "one message a request")
        is_first = message.get("method") == "initialize" and "id" in message
        if session is None:
            name = secrets.token_hex(16) if is_first else None
            session = _Session(replace(self.passage(user, name), questions=self.questions), user)
        elif is_first:
            return _refused(400, "this session has begun")
        try:
            turn = await asyncio.to_thread(session.passage.asked, message)
        except RecursionError:
            return _refused(400, "the message is nested too deeply")
        if turn.question is not None and (waits := session.waiting.pop(turn.question, None)) is not None:
            if not waits.done():
                waits.set_result(turn)
            return Response(status_code=202)
        return await self._done(request, session, message, turn, is_first)

    async def _done(
        self, request: Request, session: _Session, message: Message, turn: Turn, is_first: bool
    ) -> Response:
        if turn.question is not None and turn.back is not None:
            return _streamed(self._after_the_answer(request, session, turn), {})
        if turn.onward is None:
            if turn.back is None or not _is_request(message):
                return Response(status_code=202)
            return Response(spelled(turn.back), media_type="application/json")
        channel = self._sent(session, turn.onward, self._headers(request, session, turn.onward))
        head = await channel.get()
        headers = {}
        if is_first and isinstance(head, _Head) and head.status < 300:
            session.theirs = head.session
            headers[_SESSION] = self.sessions.add(session)
        if isinstance(head, _Head) and head.is_stream:
            return _streamed(_events(channel), headers)
        if isinstance(head, _Head) and not _is_request(turn.onward):
            return Response(status_code=202 if head.status < 300 else head.status)
        found = await channel.get() if isinstance(head, _Head) else head
        status = head.status if isinstance(head, _Head) else 200
        channel.close()
        return Response(_text(found), status, headers, "application/json")

    async def _after_the_answer(self, request: Request, session: _Session, turn: Turn) -> AsyncIterator[str]:
        """The question; and once it is answered, what that led to."""
        assert turn.question is not None and turn.back is not None
        waits = session.waiting[turn.question] = asyncio.get_running_loop().create_future()
        yield _event(spelled(turn.back))
        try:
            async with asyncio.timeout(QUESTION_SECONDS):
                found = await waits
        except TimeoutError:
            found = session.passage.give_up(turn.question)
        finally:
            session.waiting.pop(turn.question, None)
            session.passage.give_up(turn.question)
        if found.back is not None:
            yield _event(spelled(found.back))
        if found.onward is not None:
            channel = self._sent(session, found.onward, self._headers(request, session, found.onward))
            async for event in _events(channel):
                yield event

    def _headers(self, request: Request, session: _Session, message: Message) -> dict[str, str]:
        """What the server is told beside the message: nothing that a client could say otherwise than in the message."""
        return _told_of({**_ACCEPT, "Content-Type": "application/json", **_known(request, session)}, message)

    # ---- the server's own messages, and the end ---------------------------------------------------------------------

    async def _listened(self, request: Request, session: _Session) -> Response:
        headers = {**_ACCEPT, **_known(request, session)}
        if (last := request.headers.get(_LAST)) is not None and _is_plain(last):
            headers[_LAST] = last
        channel = _Channel()
        task = self._kept(self._listening(session, headers, channel))
        head = await channel.get()
        if isinstance(head, _Head) and head.is_stream:
            return _streamed(_events(channel, task), {})
        channel.close()
        status = head.status if isinstance(head, _Head) else 502
        return _refused(status if status >= 400 else 502, "the server says nothing of itself")

    async def _listening(self, session: _Session, headers: Mapping[str, str], channel: _Channel) -> None:
        try:
            async with self.upstream.exchange("GET", headers, is_patient=True) as answered:
                await channel.put(_Head.of(answered))
                if answered.kind == _LINES:
                    async for event in _parsed(answered.pieces):
                        await channel.put(await _through(session.passage, event, _LAST in headers))
        except Unreachable as problem:
            await channel.put(error(None, str(problem)))
        await channel.put(_END)

    async def _left(self, request: Request, session: _Session, name: str) -> Response:
        self.sessions.drop(name)
        if session.theirs is not None:
            self._kept(self._leaving(session, {**_ACCEPT, **_known(request, session)}))
        return Response(status_code=200)

    async def _leaving(self, session: _Session, headers: Mapping[str, str]) -> None:
        """Tell the server that the client has gone, once its calls have ended: it would give them up."""
        until = asyncio.get_running_loop().time() + LINGER_SECONDS
        while session.passage.is_busy and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(LOOK_SECONDS)
        with suppress(Unreachable):
            async with self.upstream.exchange("DELETE", headers):
                pass

    # ---- tasks ------------------------------------------------------------------------------------------------------

    def _follower(self, session: _Session, headers: Mapping[str, str]) -> Callable[[Following], None]:
        """What takes on the tasks that calls of this request become; it is called by another thread."""
        loop = asyncio.get_running_loop()

        def follow(task: Following) -> None:
            loop.call_soon_threadsafe(lambda: self._kept(self._following(session, task, headers)))

        return follow

    async def _following(self, session: _Session, task: Following, headers: Mapping[str, str]) -> None:
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        task.wake = lambda: loop.call_soon_threadsafe(woken.set)
        until = loop.time() + task.seconds
        while loop.time() < until and not task.is_over:
            with suppress(TimeoutError):
                async with asyncio.timeout(task.wait):
                    await woken.wait()
            woken.clear()
            question = session.passage.next_of(task)
            if question is not None:
                channel = _Channel()
                channel.close()
                await self._exchanged(session, question, _told_of(headers, question), channel)
        session.passage.forget(task)

    # ---- one exchange -----------------------------------------------------------------------------------------------

    def _sent(self, session: _Session, message: Message, headers: Mapping[str, str]) -> _Channel:
        channel = _Channel()
        session.passage.follow = self._follower(session, headers)
        self._kept(self._exchanged(session, message, headers, channel))
        return channel

    def _kept(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _exchanged(
        self, session: _Session, message: Message, headers: Mapping[str, str], channel: _Channel
    ) -> None:
        """Send *message* and put what comes into *channel*, until it is answered."""
        passage, asked, why = session.passage, message.get("id"), "the server ended before it answered"
        try:
            async with self.upstream.exchange("POST", headers, spelled(message).encode()) as answered:
                head = _Head.of(answered)
                if 300 <= head.status < 400:
                    raise Unreachable("the server sends elsewhere, which is not followed")
                await channel.put(head)
                if head.is_stream:
                    left = await self._streaming(passage, asked, answered.pieces, channel)
                else:
                    left = None
                    found = read(await _whole(answered.pieces))
                    if found is not None:
                        # an answer here is the answer to this: what it calls itself names nothing else
                        told = {**found, "id": asked} if found.get("method") is None else found
                        heard = await asyncio.to_thread(passage.answered, told)
                        if heard is not None:
                            await channel.put(spelled(heard))
            for _ in range(RETRIES):
                if left is None or not (left.is_open and left.last):
                    break
                await asyncio.sleep(left.retry)
                again = {**{name: value for name, value in headers.items() if name != "Content-Type"}, _LAST: left.last}
                async with self.upstream.exchange("GET", again) as answered:
                    left = await self._streaming(passage, asked, answered.pieces, channel)
        except Unreachable as problem:
            why = str(problem)
        finally:
            is_open = _is_request(message)
            if is_open and passage.requests.is_open(key_of(asked)):
                for said in await asyncio.to_thread(passage.over, why, asked):
                    await channel.put(spelled(said))
            if is_open and not channel.has_answer:
                await channel.put(spelled(error(asked, why)))
            await channel.put(_END)

    async def _streaming(self, passage: Passage, asked: Any, pieces: AsyncIterator[bytes], channel: _Channel) -> _Left:
        """Pass a stream on; what of it is left where it broke off."""
        left = _Left()
        async for event in _parsed(pieces):
            left.last, left.retry = event.id or left.last, event.retry or left.retry
            message = read(event.data) if event.data else None
            await channel.put(await _through(passage, event))
            if message is not None and message.get("method") is None and key_of(message.get("id")) == key_of(asked):
                left.is_open = False
                channel.has_answer = True
                break
        return left


@dataclass
class _Left:
    """What is known of a stream that broke off."""

    last: str = ""
    retry: float = RETRY_SECONDS
    is_open: bool = True


@dataclass(frozen=True)
class _Head:
    """How the server's answer begins."""

    status: int
    is_stream: bool
    session: str | None

    @classmethod
    def of(cls, answered: Answered) -> _Head:
        return cls(answered.status, answered.kind == _LINES, answered.headers.get(_SESSION))


class _Channel:
    """What is on its way to a client, who may have gone."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Any] = asyncio.Queue(64)
        self._is_closed = self.has_answer = False

    async def put(self, item: Any) -> None:
        """Give it to the client, when it takes it."""
        if isinstance(item, str) and not item.startswith("event:"):
            self.has_answer = True
        if not self._is_closed and item != "":
            await self._queue.put(item)

    async def get(self) -> Any:
        """The next of it."""
        return await self._queue.get()

    def close(self) -> None:
        """The client takes no more."""
        self._is_closed = True
        while not self._queue.empty():
            self._queue.get_nowait()


# ---- events of a stream ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Event:
    """One event: its data, and what makes it resumable."""

    data: str
    id: str = ""
    retry: float = 0.0


async def _parsed(pieces: AsyncIterator[bytes]) -> AsyncIterator[_Event]:
    """The events of a stream. Raises Unreachable for one that is too long."""
    held = b""
    async for piece in pieces:
        held = (held + piece).replace(b"\r\n", b"\n")
        *whole, held = held.split(b"\n\n")
        for block in whole:
            yield _event_of(block)
        if len(held) > MOST_MESSAGE:
            raise Unreachable("the server says more at once than is read")


def _event_of(block: bytes) -> _Event:
    data, id_, retry = [], "", 0.0
    for line in block.decode("utf-8", "replace").split("\n"):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "data":
                data.append(value)
            case "id" if _is_plain(value):
                id_ = value
            case "retry" if value.isdigit() and len(value) < 6:
                retry = int(value) / 1000
    return _Event("\n".join(data), id_, retry)


async def _through(passage: Passage, event: _Event, is_again: bool = False) -> str:
    """The event as the client sees it; nothing of what is no message, or none for it."""
    lines = f"id: {event.id}\n" if event.id else ""
    if not event.data:
        return f"event: message\n{lines}data: \n\n" if lines else ""
    message = read(event.data)
    if message is None:
        return ""
    heard = await asyncio.to_thread(passage.answered, message, is_again)
    if heard is None:
        return f"event: message\n{lines}data: \n\n" if lines else ""
    return f"event: message\n{lines}data: {spelled(heard)}\n\n"


def _event(text: str) -> str:
    return f"event: message\ndata: {text}\n\n"


async def _events(channel: _Channel, task: asyncio.Task[None] | None = None) -> AsyncIterator[str]:
    """What a client of a stream gets."""
    try:
        while (item := await channel.get()) is not _END:
            if isinstance(item, str):
                yield item if item.startswith("event:") else _event(item)
    finally:
        channel.close()
        if task is not None:
            task.cancel()


async def _whole(pieces: AsyncIterator[bytes]) -> bytes:
    found = bytearray()
    async for piece in pieces:
        found += piece
        if len(found) > MOST_MESSAGE:
            raise Unreachable("the server says more at once than is read")
    return bytes(found)


# ---- small things ---------------------------------------------------------------------------------------------------


def _streamed(events: AsyncIterator[str], headers: Mapping[str, str]) -> Response:
    return StreamingResponse(events, media_type=_LINES, headers={"Cache-Control": "no-store", **headers})


def _refused(status: int, why: str) -> Response:
    return JSONResponse(error(None, why, INVALID), status)


def _text(found: Any) -> str:
    return found if isinstance(found, str) else spelled(found or {})


def _known(request: Request, session: _Session) -> dict[str, str]:
    """The session as the server calls it, and the version of the protocol."""
    found = {} if session.theirs is None else {_SESSION: session.theirs}
    version = request.headers.get(_VERSION)
    return found if version is None or not _is_plain(version) else {**found, _VERSION: version}


def _told_of(headers: Mapping[str, str], message: Message) -> dict[str, str]:
    """*headers*, which tell what *message* tells."""
    params = message.get("params")
    named = next((params[name] for name in _NAMES if name in params), None) if isinstance(params, dict) else None
    told = {"Mcp-Method": message.get("method"), "Mcp-Name": named}
    kept = {name: value for name, value in headers.items() if name not in told}
    if _VERSION not in kept:
        return kept
    return {**kept, **{name: value for name, value in told.items() if isinstance(value, str) and _is_plain(value)}}


def _is_request(message: Message) -> bool:
    return "id" in message and "method" in message


def _is_plain(text: str) -> bool:
    return 0 < len(text) <= 500 and text.isascii() and text.isprintable()


def application(door: Door, settings: Settings, new_id: Callable[[], str]) -> ASGIApp:
    """*door* inside the limits of every server: who asks is known, how much and how often is bounded."""
    app = Starlette(routes=[Route(PATH, door.answer, methods=["GET", "POST", "DELETE"])])
    rooms = Slots(settings.limits.connections), Slots(1)
    return Frame(app, settings, new_id, Identity.set_up(settings), Rates(), *rooms)
