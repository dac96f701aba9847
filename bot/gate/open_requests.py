"""The requests of one client that its server has not answered: an id is in use until then, whatever it is asked by.

An id whose answer was given up stays in use for good: what comes late is the answer to that, and to nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition
from typing import Literal

from bot.gate.messages import Message
from bylaw.gate.answer import GateAnswer

Kind = Literal["call", "list", "task", "other"]
MOST_OPEN = 10_000  # requests of one client that wait for its server
MOST_ANSWERED = 100_000  # that are remembered for a stream which is read once more


@dataclass(frozen=True, slots=True)
class Opened:
    """A request that waits. `answer` is the decision of a call, None while nobody has decided it."""

    kind: Kind
    message: Message
    answer: Future[GateAnswer] | None = None


@dataclass
class OpenRequests:
    """The open requests by the key of their id."""

    _open: dict[str, Opened] = field(default_factory=dict)
    _lost: set[str] = field(default_factory=set)
    _answered: OrderedDict[str, Kind] = field(default_factory=OrderedDict)
    _turn: Condition = field(default_factory=Condition)

    def open(self, key: str, kind: Kind, message: Message) -> str | None:
        """Take the id into use; why it cannot be, None where it was."""
        with self._turn:
            if key in self._open or key in self._lost:
                return "the id is in use"
            if len(self._open) + len(self._lost) >= MOST_OPEN:
                return "too many requests are open"
            self._open[key] = Opened(kind, message)
        return None

    def decide(self, key: str, answer: Future[GateAnswer], message: Message) -> None:
        """The call of that id goes on to the server as *message*, by that decision."""
        with self._turn:
            self._open[key] = Opened("call", message, answer)

    def release(self, key: str) -> None:
        """The request was answered here: its server never saw it."""
        with self._turn:
            self._open.pop(key, None)
            self._turn.notify_all()

    def answered(self, key: str) -> Opened | None:
        """The request that is answered now, no longer open; None for an answer to nobody, or a second one."""
        with self._turn:
            found = self._open.get(key)
            if found is None or (found.kind == "call" and found.answer is None):
                return None
            del self._open[key]
            is_list = "list" in (found.kind, self._answered.get(key))  # whatever the id was used for since
            self._answered[key] = "list" if is_list else found.kind
            if len(self._answered) > MOST_ANSWERED:
                self._answered.popitem(last=False)
            self._turn.notify_all()
        return found

    def answered_before(self, key: str) -> Kind | None:
        """What was answered under that id before."""
        with self._turn:
            return self._answered.get(key)

    def give_up(self, only: str | None = None) -> dict[str, Opened]:
        """The requests that nobody answers any more, or the *only* one. Their ids are never free again."""
        with self._turn:
            left = {key: one for key, one in self._open.items() if only is None or key == only}
            for key in left:
                del self._open[key]
                self._lost.add(key)
            self._turn.notify_all()
        return left

    def is_open(self, key: str) -> bool:
        """Does the request wait for the server?"""
        with self._turn:
            return key in self._open

    def is_call(self, key: str) -> bool:
        """Does a call of that id wait for the server?"""
        with self._turn:
            found = self._open.get(key)
            return found is not None and found.answer is not None

    @property
    def has_calls(self) -> bool:
        """Does a call wait for the server?"""
        with self._turn:
            return any(one.answer is not None for one in self._open.values())

    def wait_for_calls(self, seconds: float) -> bool:
        """Wait until no call is under way. False: after *seconds* one still is."""
        with self._turn:
            return self._turn.wait_for(lambda: all(one.answer is None for one in self._open.values()), seconds)
