"""The gate in an agent's own process: `Guard.open(bundle)`, or over HTTP with `server=URL`. Sync and async.

    guard = Guard.open("compiled_policy_bundle.json")
    with guard.session("s-17", actor="amara", facts={"confirmed": True}):
        issue_refund(order_id="17", amount=20)      # a function under @guard.protects("issue_refund")

Actor, session and session facts come from the code around the guard, never from a model. Nothing of a server or a
database is imported unless it is asked for (`store=`, `warehouse=`).
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from threading import Lock
from typing import Any, ParamSpec, TypeVar, cast

from bylaw.bundle import FILE_NAME, read
from bylaw.errors import BundleError, UsageError
from bylaw.gate.answer import GateAnswer
from bylaw.gate.bindings import Call
from bylaw.gate.decision_point import DecisionPoint, MemoryDecisionPoint, call_of, now
from bylaw.gate.engine import Gate
from bylaw.signature import Keys

__all__ = ["Denied", "GateAnswer", "Guard"]

P = ParamSpec("P")
T = TypeVar("T")

_log = logging.getLogger("bylaw.guard")


class Denied(Exception):
    """The call may not be made now; `answer` says why, and what would allow it."""

    def __init__(self, answer: GateAnswer) -> None:
        super().__init__(f"{answer.decision}: {answer.why}")
        self.answer = answer


@dataclass(frozen=True)
class _Around:
    """What the host says of the calls that are made within."""

    session: str | None = None
    actor: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


_NOWHERE = _Around()
_around: ContextVar[_Around] = ContextVar("bylaw_guard", default=_NOWHERE)


@dataclass
class Guard:
    """Decides calls before they are made, and records how they ended."""

    point: DecisionPoint
    is_blocking: bool = False  # does the point wait for a network or a disk?
    _unbound: set[str] = field(default_factory=set, repr=False)  # tools that were asked for and that nobody bound
    _running: set[asyncio.Task[Any]] = field(default_factory=set, repr=False)  # calls that run to their end

    @classmethod
    def open(
        cls,
        bundle: str | Path | None = None,
        *,
        server: str | None = None,
        token: str | None = None,
        store: str | None = None,
        warehouse: str | None = None,
        keys: Keys = (),
        clock: Callable[[], datetime] = now,
    ) -> Guard:
        """A guard on the bundle in a file or folder, read anew when it changes; or on a server (`bylaw serve`).

        *store* is an address like `sqlite:///.bylaw/store.db`: history and audit are then shared and kept. Without it
        history lives as long as the guard. *warehouse* is where lookups run.
        """
        if server is not None:
            from bylaw.gate.remote import RemoteDesk

            return cls(RemoteDesk(server, token), is_blocking=True)
        if bundle is None:
            raise UsageError("a guard needs a bundle, or a server", "Guard.open('compiled_policy_bundle.json')")
        path = Path(bundle)
        shelf = Bundles(path / FILE_NAME if path.is_dir() else path, keys, warehouse)
        if store is not None:
            kept: Any = importlib.import_module("bot.gate.decision_point")
            return cls(kept.open_decision_point(store, shelf.gate, clock), is_blocking=True)
        return cls(MemoryDecisionPoint(shelf.gate, clock))

    # ---- deciding ---------------------------------------------------------------------------------------------------

    def decide(
        self,
        action: str | None = None,
        *,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        facts: Mapping[str, Any] | None = None,
        keys: Mapping[str, Any] | None = None,
        session: str | Mapping[str, Any] | None = None,
        actor: str | None = None,
        at: datetime | date | str | None = None,
        mode: str | None = None,
    ) -> GateAnswer:
        """May this be done now? An allowed call is reserved until `ended` is told of it."""
        return self.point.decide(_placed(call_of(action, tool, arguments, facts, keys, session, actor, at, mode)))

    def ended(self, decision_id: str, ok: bool = True, output: Any = None) -> None:
        """Record how an allowed call ended. Raises UsageError for an unknown, denied or already reported one."""
        self.point.ended(decision_id, ok, output)

    async def adecide(self, action: str | None = None, **given: Any) -> GateAnswer:
        """`decide` for coroutines."""
        return await self._off(functools.partial(self.decide, action, **given))

    async def aended(self, decision_id: str, ok: bool = True, output: Any = None) -> None:
        """`ended` for coroutines."""
        await self._off(functools.partial(self.ended, decision_id, ok, output))

    async def _off(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work) if self.is_blocking else work()

    # ---- around calls -----------------------------------------------------------------------------------------------

    @contextmanager
    def session(
        self, id: str | None = None, *, actor: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> Iterator[None]:
        """What the host knows of the calls within: who acts, in which session, and facts that it vouches for."""
        outer = _around.get()
        merged = _Around(id or outer.session, actor or outer.actor, {**outer.facts, **(facts or {})})
        mark = _around.set(merged)
        try:
            yield
        finally:
            _around.reset(mark)

    @contextmanager
    def call(self, action: str | None = None, **given: Any) -> Iterator[GateAnswer]:
        """Decide, run what is within, record how it ended. Raises Denied before anything within runs."""
        answer = self.decide(action, **given)
        if not answer.is_allowed:
            raise Denied(answer)
        try:
            yield answer
        except BaseException:
            self.ended(answer.decision_id, False)
            raise
        self.ended(answer.decision_id, True)

    @asynccontextmanager
    async def acall(self, action: str | None = None, **given: Any) -> AsyncIterator[GateAnswer]:
        """`call` for coroutines. Of one that is cancelled nobody knows what it did: it stays reserved, for a minute."""
        answer = await self.adecide(action, **given)
        if not answer.is_allowed:
            raise Denied(answer)
        try:
            yield answer
        except asyncio.CancelledError:
            raise
        except BaseException:
            self.ended(answer.decision_id, False)
            raise
        await self.aended(answer.decision_id, True)

    async def made(
        self,
        call: Callable[[], Awaitable[T]],
        action: str | None = None,
        is_done: Callable[[T], bool] = lambda found: True,
        **given: Any,
    ) -> T:
        """Decide, make the *call*, record how it ended: also where who waits for it is cancelled meanwhile, since what
        runs in a thread does not stop then. *is_done* tells of what it gave whether it did anything. Raises Denied.
        """
        answer = await self.adecide(action, **given)
        if not answer.is_allowed:
            raise Denied(answer)
        task = asyncio.ensure_future(self._ending(answer.decision_id, call, is_done))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def _ending(self, decision_id: str, call: Callable[[], Awaitable[T]], is_done: Callable[[T], bool]) -> T:
        try:
            found = await call()
        except asyncio.CancelledError:  # the loop ends
            raise
        except BaseException:
            await self.aended(decision_id, False)
            raise
        await self.aended(decision_id, is_done(found))
        return found

    def protects(self, name: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
        """Decide every call of a function first: *name* is a bound tool, or an action. Raises Denied.

        A tool reads the function's arguments by their names. An action takes them as an agent's facts and as keys.
        """

        def wrap(function: Callable[P, T]) -> Callable[P, T]:
            signature = inspect.signature(function)
            tools = functools.cache(lambda: frozenset(self.point.tools(None, {})))

            def asked(*args: Any, **kwargs: Any) -> dict[str, Any]:
                bound = signature.bind(*args, **kwargs)
                bound.apply_defaults()
                arguments = _named(signature, bound.arguments)
                if name in tools():
                    return {"tool": name, "arguments": arguments}
                return {"action": name, "facts": arguments, "keys": arguments}

            if inspect.iscoroutinefunction(function):

                @functools.wraps(function)
                async def awaited(*args: P.args, **kwargs: P.kwargs) -> Any:
                    async with self.acall(**asked(*args, **kwargs)):
                        return await cast("Any", function(*args, **kwargs))

                return cast("Callable[P, T]", awaited)

            @functools.wraps(function)
            def called(*args: P.args, **kwargs: P.kwargs) -> T:
                with self.call(**asked(*args, **kwargs)):
                    return function(*args, **kwargs)

            return called

        return wrap

    def may_ever(self, tool: str) -> bool:
        """Could the actor of this session ever call *tool*? What may not is best not even shown to a model."""
        around = _around.get()
        found = self.point.tools(around.actor, around.facts)
        if tool not in found and tool not in self._unbound:
            self._unbound.add(tool)
            _log.warning(
                "the tool `%s` is not bound in rules/tools.yaml: nobody may call it, and no model is shown it", tool
            )
        return found.get(tool, False)

    async def amay_ever(self, tool: str) -> bool:
        """`may_ever` for coroutines."""
        return await self._off(functools.partial(self.may_ever, tool))


def _named(signature: inspect.Signature, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by name; those of a `**kwargs` stand beside the others. Raises UsageError for one given twice."""
    found: dict[str, Any] = {}
    for name, value in arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            if twice := sorted(found.keys() & value.keys()):  # one of a parameter that has a place only
                raise UsageError(f"`{twice[0]}` is given twice: what is decided has to be what is done")
            found.update(value)
        elif name not in ("self", "cls"):
            found[name] = value
    return found


def _placed(call: Call) -> Call:
    """*call* in the session around it, where it names none itself."""
    around = _around.get()
    return replace(
        call,
        session=call.session or around.session,
        actor=call.actor or around.actor,
        session_facts={**around.facts, **call.session_facts},
    )


class Bundles:
    """The gate of the newest good bundle at a path. One that is refused leaves the one before it in force."""

    def __init__(self, path: Path, keys: Keys = (), warehouse: str | None = None) -> None:
        self._path, self._keys, self._turn = path, keys, Lock()
        self._warehouse: Any = None
        if warehouse is not None:
            from bylaw.warehouses.registry import open_warehouse

            self._warehouse = open_warehouse(warehouse)
        self._seen = self._signature()
        self._gate = self._opened()

    def gate(self) -> Gate:
        """The gate in force."""
        seen = self._signature()
        if seen != self._seen and self._turn.acquire(blocking=False):
            try:
                self._gate = self._opened()
            except BundleError as error:
                _log.warning("the bundle was refused, the one before it stays: %s", error.message)
            finally:
                self._seen = seen
                self._turn.release()
        return self._gate

    def _opened(self) -> Gate:
        bundle = read(self._path, self._keys)
        if self._warehouse is None:
            return Gate(bundle).prepare()
        from bylaw.gate.lookups import WarehouseLookups

        return Gate(bundle, WarehouseLookups(bundle.context, bundle.rules.roles, self._warehouse)).prepare()

    def _signature(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
