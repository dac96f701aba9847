"""What an orchestrator works with: the bundle's index, the store, the shelf of artifacts, the clock, the answerers.

Built once by `bot.app` (and anew for each bundle); everything that is not a function of its arguments enters here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

from bot.clock import chance
from bot.evidence.artifacts import Shelf
from bot.evidence.store.engine import Store
from bot.router import Answerer, Thresholds, bare

if TYPE_CHECKING:
    from bylaw.audit.entry import Checkpoint
    from bylaw.authored.machines.autonomy import Autonomy
    from bylaw.github.pull_request import Standing
    from bylaw.llm.guarded import Guard
    from bylaw.warehouses.port import Warehouse


@dataclass(frozen=True)
class Lexicons:
    """The closed lists of `rules/autonomy.yaml` that the frame itself listens for."""

    accepted: tuple[str, ...] = ()
    revised: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    ownership: tuple[str, ...] = ()
    liked: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # the words of a phrase -> the preference


@dataclass(frozen=True)
class Services:
    """One bundle being served. `index` is what the answerers look things up in; the frame does not."""

    index: Any
    bundle_etag: str
    commit: str | None
    store: Store
    artifacts: Shelf
    answerers: tuple[Answerer, ...]
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    thresholds: Thresholds
    lease: timedelta = timedelta(seconds=120)
    max_attempts: int = 3  # a question that broke down so often is a human's
    lexicons: Lexicons = Lexicons()
    session_life: timedelta = timedelta(hours=24)
    wait_seconds: float = 10.0  # for another process that answers the very same request
    pause: Callable[[float], None] = field(default=time.sleep)
    chance: Callable[[], float] = field(default=chance)  # from 0 to 1
    bundle_artifact: str | None = None  # the bundle on the shelf, for whoever rebuilds an answer later
    warehouse: Warehouse | None = None  # where lookups of the gate run
    llm: Guard | None = None  # the language model that may judge; it decides nothing
    pull_request: Callable[[str], Standing | None] | None = None  # how the one at an address stands
    promoting: Callable[[str, Any, Services], str] | None = None  # opens a candidate's pull request: where it is
    anchor: Callable[[Checkpoint], None] = field(default=lambda tail: None)  # hears of each entry of the chain

    def under(self, rules: Autonomy) -> Services:
        """These, with what *rules* say of conversations."""
        liked = {
            **{bare(said): ("grain", str(grain)) for grain, one in rules.by_default.items() for said in one.phrases},
            **{
                bare(said): ("care", name)
                for name, one in rules.preferences.items()
                if not one.asks_first
                for said in one.phrases
            },
        }
        heard = (rules.accepted, rules.revised, rules.wrong, rules.ownership)
        accepted, revised, wrong, ownership = (tuple(one.phrases) for one in heard)
        lexicons = Lexicons(accepted, revised, wrong, ownership, liked)
        return replace(self, lexicons=lexicons, session_life=timedelta(hours=rules.session_hours))

    def until(self, gone: Event) -> Services:
        """These, for somebody who may go before the answer is there."""
        return replace(self, answerers=tuple(one.until(gone) for one in self.answerers))

    def recalling(self, recalled: Any) -> Services:
        """These, for the person of whom this is *recalled*."""
        if not recalled:
            return self
        return replace(self, answerers=tuple(one.recalling(recalled, self.index) for one in self.answerers))


@dataclass(frozen=True)
class Readiness:
    """Can questions be answered now? `refused` says why a newer bundle is not the one being served; `unproven_count` is
    how many rules in force cannot be read, so that nothing is answered that they may change.
    """

    is_ready: bool
    bundle_etag: str
    commit: str | None
    store: bool
    refused: str | None = None
    is_writable: bool = True
    unproven_count: int = 0


class Serving(Protocol):
    """Where a front end gets its services, anew for every question: a newer bundle may have appeared."""

    def services(self) -> Services:
        """The services of the newest bundle that holds."""
        ...

    def readiness(self) -> Readiness:
        """Whether everything a question needs is there."""
        ...
