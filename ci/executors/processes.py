"""Work on the cores of this machine: processes that end with the one that started them, however that ends."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TYPE_CHECKING

from ci.executors import calls
from ci.executors.port import R, T

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


class Processes:
    """One pool of one worker for each core: a worker that dies takes only its own item with it."""

    def __init__(self, cpus: int) -> None:
        self._cpus = cpus
        self._idle: list[ProcessPoolExecutor] = []
        self._busy: dict[Future[bytes], ProcessPoolExecutor] = {}
        self._leash: tuple[Connection, Connection] | None = None

    def room(self) -> int:
        """See `Lanes`."""
        return self._cpus

    def start(self, work: Callable[[T], R], item: T) -> Future[bytes]:
        """See `Lanes`."""
        call = pickle.dumps((work, item))
        while True:
            pool = self._idle.pop() if self._idle else self._pool(work.__module__)
            try:
                future = pool.submit(calls.answer, call)
            except BrokenProcessPool:  # it died while it had nothing to do
                pool.shutdown()
                continue
            self._busy[future] = pool
            return future

    def ended(self, future: Future[bytes]) -> bool:
        """See `Lanes`."""
        pool = self._busy.pop(future)
        if isinstance(future.exception(), BrokenProcessPool):
            pool.shutdown()
            return True
        self._idle.append(pool)
        return False

    def look(self) -> None:
        """A worker that dies ends its call: there is nothing to find out."""

    def close(self) -> None:
        """See `Lanes`."""
        if self._leash is not None:
            theirs, ours = self._leash
            ours.close()
            theirs.close()
        for pool in (*self._idle, *self._busy.values()):
            pool.shutdown(cancel_futures=True)
        self._idle, self._busy, self._leash = [], {}, None

    def _pool(self, module: str) -> ProcessPoolExecutor:
        # A fork would copy the threads' locks and a Z3 in the middle of something. The fork server has neither, and
        # loads the modules of the work once: a new worker is there in 0.05 s instead of 2 s (measured on two cores).
        context = get_context("forkserver" if sys.platform == "linux" else "spawn")
        if self._leash is None:
            self._leash = context.Pipe(duplex=False)
            context.set_forkserver_preload([__name__, module])
        return ProcessPoolExecutor(1, context, initializer=_enter, initargs=(self._leash[0],))


def _enter(leash: Connection) -> None:
    """A worker's first step: leave an interrupt to the parent, and end when the parent lets go or is no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(leash,), daemon=True).start()


def _end_with(leash: Connection) -> None:
    leash.poll(None)  # nothing is ever sent: what arrives is the end
    os._exit(1)
