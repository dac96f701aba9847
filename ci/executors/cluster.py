"""Work on a Dask cluster that somebody else started. `distributed` is an extra, loaded here and when it is used."""

from __future__ import annotations

import logging
import pickle
import socket
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any

from bylaw.errors import BylawError, UsageError
from ci.executors import calls
from ci.executors.apart import LOOK_SECONDS
from ci.executors.port import R, T

CONNECT_SECONDS = 5.0  # a scheduler that is there answers in milliseconds
EMPTY_SECONDS = 30.0  # a cluster may be starting workers, or starting them again


class Cluster:
    """The workers of a cluster that somebody else started, each asked for one call at a time."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._mark = calls.code_mark()
        self._client: Any = None
        self._workers = 0
        self._looked_at = self._seen_at = 0.0
        self._connected()

    def room(self) -> int:
        """One call a worker: whoever dies takes no neighbour along. Workers may come and go, so count now and then."""
        if time.monotonic() - self._looked_at > LOOK_SECONDS:
            self.look()
        return self._workers

    def start(self, work: Callable[[T], R], item: T) -> Future[bytes]:
        """See `Lanes`."""
        pool = self._connected().get_executor(pure=False)  # pure: an equal call would not be made again
        future: Future[bytes] = pool.submit(calls.answer, pickle.dumps((work, item)), self._mark)
        return future

    def ended(self, future: Future[bytes]) -> bool:
        """See `Lanes`. The scheduler itself tries again elsewhere, until its own number of workers has died."""
        from distributed import KilledWorker

        if future.cancelled():
            raise self._gone()
        error = future.exception()
        if isinstance(error, ImportError):
            raise UsageError(f"a worker of the cluster cannot load this program: {error}", calls.SAME) from error
        return isinstance(error, KilledWorker)

    def look(self) -> None:
        """See `Lanes`."""
        try:
            self._workers = len(self._connected().nthreads())
        except (OSError, CancelledError) as error:
            raise self._gone() from error
        self._looked_at = time.monotonic()
        if self._workers:
            self._seen_at = self._looked_at
        elif self._looked_at - self._seen_at > EMPTY_SECONDS:
            raise BylawError(
                f"the Dask cluster at `{self._address}` has no worker",
                f"start some with `dask worker {self._address}`, and run the command again",
            )

    def close(self) -> None:
        """Give up what waits on the cluster. What a worker has begun it ends for itself: it is not ours to kill."""
        if self._client is not None:
            self._client.close()  # the scheduler forgets the calls of a client that has left
        self._client = None

    def _gone(self) -> BylawError:
        return BylawError(
            f"the Dask cluster at `{self._address}` stopped answering",
            "see whether its scheduler still runs, and run the command again",
        )

    def _connected(self) -> Any:
        if self._client is None:
            self._client = _client(self._address)
            self._looked_at, self._seen_at = 0.0, time.monotonic()
        return self._client


def _client(address: str) -> Any:
    """A connection to the scheduler at *address*, which is HOST:PORT."""
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError(
            "Dask is not installed here", "install it with `pip install 'bylaw-policies[dask]'`"
        ) from error
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
        raise UsageError(f"`{address}` is not the address of a Dask scheduler", "write dask://host:port")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is told by our own errors
    try:
        # A Dask client waits without end for whoever accepts and says nothing; a scheduler speaks first.
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS) as line:
            if not line.recv(1):
                raise ConnectionError("it hung up")
        found = Client(f"tcp://{address}", timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call] # theirs
    except (OSError, UnicodeError) as error:  # a host's name may be none at all
        raise UsageError(
            f"no Dask scheduler answers at `{address}`", "start one with `dask scheduler`, or leave out --executor"
        ) from error
    return found
