"""A call on its way to a worker and back, as bytes: whatever comes of it arrives, an exception with its traceback."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import pickle
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from bylaw.errors import BylawError, UsageError

SAME = "install the same bylaw, Python and z3-solver for every worker, and start the workers again"

_ONE_AT_A_TIME = threading.Lock()  # a Dask worker may have many threads, of which Z3 bears one


class InTheWorker(Exception):
    """Where it happened: the traceback of another process, as text."""

    def __str__(self) -> str:
        return f"\n\n{self.args[0]}"


def answer(call: bytes, mark: str = "") -> bytes:
    """The worker's side: unpack a call, make it, pack what comes of it. *mark*: the code that must be running here."""
    try:
        if mark and mark != code_mark():
            raise UsageError(
                "a worker of the cluster runs other code than this command",
                SAME,
            )
        with _ONE_AT_A_TIME:
            work, item = pickle.loads(call)
            return pickle.dumps((None, work(item)))
    except Exception as error:  # raised again by `read`, on the caller's side
        told = traceback.format_exc()
        try:
            packed = pickle.dumps((error, told))
            pickle.loads(packed)
        except Exception:  # an exception that cannot travel: its words can
            packed = pickle.dumps((BylawError(f"{type(error).__name__}: {error}"), told))
        return packed


def read(packed: bytes) -> tuple[BaseException | None, Any]:
    """What `answer` packed: an exception, or None and the answer."""
    error, answer = pickle.loads(packed)
    if error is not None:
        error.__cause__ = InTheWorker(answer)
    return error, answer


@functools.cache
def code_mark() -> str:
    """What decides an answer besides the item: this program's modules, the version of Python and that of Z3."""
    mark = hashlib.sha256(f"{sys.version_info[:2]} {importlib.metadata.version('z3-solver')}".encode())
    for package in ("bylaw", "ci"):
        found = importlib.util.find_spec(package)
        for place in (found.submodule_search_locations or ()) if found is not None else ():
            for path in sorted(Path(place).rglob("*.py")):
                mark.update(path.relative_to(place).as_posix().encode() + b"\0" + path.read_bytes())
    return mark.hexdigest()
