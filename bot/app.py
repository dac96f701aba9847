"""The composition root: builds the Services out of the settings, and watches the bundle they come from.

A bundle that is refused leaves the one before it in service.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.answerers import answerers
from bot.clock import new_id, now
from bot.evidence.anchoring import anchoring, notice_loss
from bot.evidence.artifacts import Artifacts, Shelf
from bot.evidence.store.engine import Store, StoreError, connect
from bot.evidence.store.migrate import HEAD, revision, upgrade
from bot.evidence.store.pulse import has_room, is_writable
from bot.evidence.store.refinements import judged
from bot.evidence.store.tables import served as served_bundle
from bot.evidence.store.tables.papers import shelf_of
from bot.index import BundleIndex
from bot.request.confirmation import settling
from bot.router import Answerer, Thresholds, thresholds
from bot.services import Readiness, Services
from bot.settings import Settings
from bylaw.audit.entry import after
from bylaw.errors import BundleError
from bylaw.signature import Keys

if TYPE_CHECKING:
    from bylaw.compiled import CompiledPolicyBundle
    from bylaw.github.pull_request import Standing
    from bylaw.llm.guarded import Guard
    from bylaw.sealed import SealedBundle
    from bylaw.warehouses.port import Warehouse

BEAT_SECONDS = 1.0  # how long it is believed that the store can, or cannot, be written

_log = logging.getLogger("bylaw.bot")

# a file's time, size and identity: what changes when another bundle is put in its place
_Signature = tuple[int, int, int]


@dataclass
class Bot:
    """What answers questions from the newest good bundle at `path`. Safe to use from several threads."""

    path: Path
    _services: Services
    _signature: _Signature | None
    _close: Callable[[], None]
    _admit: Callable[[BundleIndex], None]
    _keys: Keys = ()
    _refused: str | None = None
    _reloading: threading.Lock = field(default_factory=threading.Lock)
    _pulse: threading.Lock = field(default_factory=threading.Lock)
    _is_beating: bool = False
    _beat_until: float = 0.0

    def services(self) -> Services:
        """The services of the newest bundle that holds; what is being answered goes on with the one it began with."""
        if _signature(self.path) != self._signature and self._reloading.acquire(blocking=False):
            try:
                self._reload()
            finally:
                self._reloading.release()
        return self._services

    def readiness(self) -> Readiness:
        """Is there a bundle, and does the store keep what it is given, in the tables of this version?"""
        services = self.services()
        is_reachable = _is_current(services.store)
        is_writable = is_reachable and self._beats(services.store)
        day = services.index.local(now()).date().toordinal()
        unproven = len(services.index.evaluator.unproven.in_force(day))
        found = (services.bundle_etag, services.commit, is_reachable, self._refused, is_writable, unproven)
        return Readiness(is_writable, *found)

    def settle(self) -> None:
        """For whoever serves long: build what the first question would wait for, look ahead at what will be decided,
        and spare what stays from every search for garbage, which would hold all requests up.
        """
        for answerer in self._services.answerers:
            answerer.prepare(self._services.index)
        self._services.index.evaluator.prepare()
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def close(self) -> None:
        """Let go of the store and the warehouse, and of what `settle` kept from the search for garbage."""
        self._close()
        gc.unfreeze()

    def _beats(self, store: Store) -> bool:
        """Is the store writable, as found out a moment ago at most? Anybody may ask, and it costs a sync."""
        with self._pulse:
            if time.monotonic() >= self._beat_until:
                self._is_beating = is_writable(store, now()) and self._keeps_papers()
                self._beat_until = time.monotonic() + BEAT_SECONDS
            return self._is_beating

    def _keeps_papers(self) -> bool:
        """Has the folder of the artifacts room, where they lie in one of their own?"""
        shelf = self._services.artifacts
        folder = Path(shelf.base) if isinstance(shelf, Artifacts) and shelf.is_folder else None
        return folder is None or not folder.is_dir() or has_room(folder)

    def _learn(self) -> None:
        """What the new bundle says itself need not be anybody's private correction any more."""
        from bot.memory import candidates  # only whoever serves long hears of a newer bundle

        try:
            candidates.retire(self._services, now())
        except StoreError as error:  # the next tick looks again
            _log.warning("what was merged is not known yet", extra={"meta": {"reason": error.message}})

    def _reload(self) -> None:
        seen = _signature(self.path)
        try:
            index = _load(self.path, self._services.answerers, self._keys)
            self._admit(index)
        except BundleError as error:
            self._refused = error.message
            _log.warning("the bundle was refused, the one before it stays", extra={"meta": {"reason": error.message}})
        except StoreError as error:
            _log.warning("whether the bundle is newer is not known yet", extra={"meta": {"reason": error.message}})
            return  # tried again with the next question
        else:
            kept = _kept(self.path, index, self._services.artifacts)
            self._services = replace(
                self._services,
                index=index,
                bundle_etag=index.etag,
                commit=index.commit,
                bundle_artifact=kept,
                thresholds=_thresholds(index),
            ).under(index.rules.autonomy)
            self._refused = None
            self.settle()
            self._learn()
            _log.info("a bundle was loaded", extra={"snapshot_etag": index.etag})
        self._signature = seen


def open_bot(
    settings: Settings,
    bundle: Path,
    given: tuple[Answerer, ...] | None = None,
    is_compiled_here: bool = False,
    promoting: Callable[[str, Any, Services], str] | None = None,
    pull_request: Callable[[str], Standing | None] | None = None,
) -> Bot:
    """A bot on the bundle in the file *bundle*, with the three answerers unless others are *given*.

    Raises BundleError when the bundle is refused: there is no earlier one. One that is compiled here may be older than
    the last: whoever checks out an older commit has said so.
    """
    seen = _signature(bundle)
    index = BundleIndex(_read(bundle, settings.bundle_keys, is_compiled_here))
    warehouse, llm = _warehouse(settings, index), _model(settings, index)
    store = connect(settings.store_url, settings.root)
    own = (warehouse, llm, settling(store, now, anchoring(settings)), partial(judged, store))
    served = answerers(*own) if given is None else given
    upgrade(store)

    def admit(newer: BundleIndex) -> None:
        if not is_compiled_here:
            with store.writing() as connection:
                entry = served_bundle.admit(connection, newer.bundle.bundle_metadata, settings.rollback_to, now())
            if entry is not None:
                anchoring(settings)(after(entry))

    def close() -> None:
        for one in (store, llm, warehouse):
            if one is not None:
                one.close()

    try:
        notice_loss(settings, store)
        admit(index)
    except BundleError:
        close()
        raise
    artifacts = shelf_of(settings.artifacts, settings.root, store)
    services = Services(
        index=index,
        bundle_etag=index.etag,
        commit=index.commit,
        store=store,
        artifacts=artifacts,
        answerers=served,
        llm=llm,
        warehouse=warehouse,
        clock=now,
        new_id=new_id,
        thresholds=_thresholds(index),
        lease=timedelta(seconds=settings.lease_seconds),
        bundle_artifact=_kept(bundle, index, artifacts),
        anchor=anchoring(settings),
        promoting=promoting,
        pull_request=pull_request,
    ).under(index.rules.autonomy)
    return Bot(bundle, services, seen, close, admit, settings.bundle_keys)


def _warehouse(settings: Settings, index: BundleIndex) -> Warehouse | None:
    """Where data questions run, None where nobody names one."""
    if settings.warehouse is None:
        return None
    from bylaw.warehouses.registry import open_warehouse

    return open_warehouse(settings.warehouse, statement_seconds=index.rules.autonomy.execution.statement_seconds)


def _model(settings: Settings, index: BundleIndex) -> Guard | None:
    """The language model that is wanted, and all that are registered, opened; None where none is."""
    if not settings.llm.is_any:
        return None
    from bot.agents import open_all
    from bylaw.llm.registry import open_llm

    llm = open_llm(settings.llm, time.monotonic)
    open_all(llm, index.rules.agents)
    return llm


def _thresholds(index: Any) -> Thresholds:
    """The edges of the bundle's own rules."""
    return thresholds(index.rules.routing)


def _read(path: Path, keys: Keys, is_compiled_here: bool = False) -> CompiledPolicyBundle | SealedBundle:
    """The bundle at *path*. All of one that somebody else compiled is read, to be held together."""
    if is_compiled_here:
        from bylaw.sealed import read_sealed

        return read_sealed(path, keys)
    from bylaw.bundle import read

    return read(path, keys)


def _load(path: Path, answerers: tuple[Answerer, ...], keys: Keys) -> BundleIndex:
    """The index of the bundle at *path*, warmed up before anybody waits for it."""
    index = BundleIndex(_read(path, keys))
    for answerer in answerers:
        answerer.prepare(index)
    return index


def _kept(path: Path, index: BundleIndex, artifacts: Shelf) -> str | None:
    """The bundle's fingerprint on the shelf; None when another bundle has taken its place in the file meanwhile."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return None
    return artifacts.put_text(text) if index.etag in text else None


def _signature(path: Path) -> _Signature | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _is_current(store: Store) -> bool:
    try:
        with store.reading() as connection:
            return store.is_reachable() and revision(connection) == HEAD
    except StoreError:
        return False
