"""Calls that wait for an answer of the person behind the client."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from bot.gate.messages import OURS, Message, key_of

MOST_QUESTIONS = 1_000  # that wait for an answer; beyond them the oldest is dropped

Owner = tuple[str | None, str | None]  # an actor and a session


class Waiting(NamedTuple):
    """A call that waits for an answer of the person behind the client; *is_held*: its request is not answered yet."""

    call: Message
    facts: frozenset[str]
    denied: Message
    owner: Owner
    is_held: bool


@dataclass
class Questions:
    """The questions that wait, each under a name that nobody can guess and that holds once."""

    _open: OrderedDict[str, Waiting] = field(default_factory=OrderedDict)
    _turn: Lock = field(default_factory=Lock)

    def add(self, waiting: Waiting) -> str:
        """The name of one more."""
        name = OURS + secrets.token_urlsafe(16)
        with self._turn:
            self._open[name] = waiting
            if len(self._open) > MOST_QUESTIONS:
                self._open.popitem(last=False)
        return name

    def take(self, name: str, owner: Owner) -> Waiting | None:
        """The one of that name, no longer open; None where its *owner* has none."""
        with self._turn:
            found = self._open.get(name)
            return self._open.pop(name) if found is not None and found.owner == owner else None

    def of_call(self, asked: object, owner: Owner) -> str | None:
        """The question that holds up the call of that id."""
        with self._turn:
            mine = ((name, one) for name, one in self._open.items() if one.is_held and one.owner == owner)
            return next((name for name, one in mine if key_of(one.call["id"]) == key_of(asked)), None)
