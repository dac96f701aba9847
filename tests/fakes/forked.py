"""Python processes that start at once: each is forked from one that has imported the product already.

`Forked("-m", "tests.fakes.serve", folder)` is a process of its own like any other, with its own folder, environment
and files, that other processes may watch and kill; only its imports were done before. Who tests how an interpreter
starts, or what is imported, starts one of its own.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl
from pathlib import Path
from types import ModuleType
from typing import IO, Any

ROOT = Path(__file__).parents[2]
IMPORTED = (
    *(
        "alembic.command",
        "alembic.config",
        "concurrent.futures.process",
        "mcp.server.mcpserver",
        "multiprocessing.queues",
    ),
    *("pydantic.v1", "rapidfuzz.fuzz", "rapidfuzz.process", "sqlglot.dialects.duckdb"),
    *("uvicorn.lifespan.on", "uvicorn.loops.auto", "uvicorn.protocols.http.h11_impl"),
    "uvicorn.protocols.http.httptools_impl",
    *("bot.cli", "bot.delivery.http.serving.serve", "bot.delivery.http.serving.wire", "bot.delivery.slack.app"),
    *("bot.evidence.store.migrate", "bot.memory.opening", "bot.request.scheduler"),
    *("bylaw.cli", "bylaw.guard", "bylaw.logic.solver.smt", "bylaw.warehouses.engine"),
    *("ci.check", "ci.cli", "ci.commands", "ci.commands.fix", "ci.compile", "ci.pipeline", "ci.report.report"),
    *("tests.fakes.frame", "tests.fakes.serve"),
)


class Forked:
    """A running process; what it has of `subprocess.Popen` means the same. Its standard input is empty, or a pipe."""

    def __init__(
        self,
        *words: object,
        cwd: Path = ROOT,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: IO[Any] | int | None = None,
        stderr: IO[Any] | int | None = None,
        pass_fds: Sequence[int] = (),
        start_new_session: bool = False,
    ) -> None:
        self.returncode: int | None = None
        self.stdin: IO[bytes] | None = None
        self.stdout, self.stderr = None, None
        self._told, its = socket.socketpair()
        with ExitStack() as passed, its:
            out, self.stdout = _end(stdout, 1, passed)
            err, self.stderr = (out, None) if stderr == subprocess.STDOUT else _end(stderr, 2, passed)
            files = {1: out, 2: err, **{each: each for each in pass_fds}}
            if stdin == subprocess.PIPE:
                files[0], writing = os.pipe()
                passed.callback(os.close, files[0])
                self.stdin = os.fdopen(writing, "wb")
            socket.send_fds(_parent(), [b"."], [its.fileno(), *files.values()])
        asked = {
            "words": [str(word) for word in words],
            "cwd": str(cwd),
            "env": dict(os.environ if env is None else env),
            "files": [*files],
            "is_apart": start_new_session,
        }
        self._told.sendall(json.dumps(asked).encode() + b"\n")
        self._lines = self._told.makefile("r")
        self.pid = int(self._lines.readline())

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *_: object) -> None:
        self.communicate()

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises TimeoutExpired."""
        if self.returncode is None:
            self._told.settimeout(timeout)
            try:
                told = self._told.recv(8, socket.MSG_WAITALL)
                self.returncode = int(told) if told else -signal.SIGKILL  # whoever would have told has ended, too
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired("python", timeout or 0) from None
            self._lines.close()
            self._told.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What else it says, to its end."""
        with ThreadPoolExecutor(2) as pool:
            said = pool.map(lambda file: file.read() if file else "", (self.stdout, self.stderr))
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        out, err = said
        for file in filter(None, (self.stdout, self.stderr)):
            file.close()
        return out, err

    def send_signal(self, how: int) -> None:
        """Nothing, when it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has ended just now
                os.kill(self.pid, how)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _end(given: IO[Any] | int | None, usual: int, passed: ExitStack) -> tuple[int, io.TextIOWrapper | None]:
    """The descriptor for the process to write to, and where that is read, for a pipe."""
    if given == subprocess.PIPE:
        reading, writing = os.pipe()
        passed.callback(os.close, writing)
        return writing, os.fdopen(reading, encoding="utf-8")
    if given == subprocess.DEVNULL:
        given = os.open(os.devnull, os.O_WRONLY)
        passed.callback(os.close, given)
    return usual if given is None else given if isinstance(given, int) else given.fileno(), None


def engine(command: Sequence[str], **given: Any) -> Forked:
    """The process of a warehouse, which `bylaw.warehouses.process` starts as `python -I -c CODE ...`."""
    assert list(command[:3]) == [sys.executable, "-I", "-c"]
    return Forked(*command[2:], cwd=Path.cwd(), **given)


# ---- the one that all are forked from -------------------------------------------------------------------------------


@functools.cache
def _parent() -> socket.socket:
    mine, its = socket.socketpair()
    with its:
        command = [sys.executable, "-m", "tests.fakes.forked", str(its.fileno())]
        started = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, pass_fds=[its.fileno()])
    atexit.register(started.wait)
    atexit.register(mine.close)
    return mine


def _asked(place: socket.socket) -> tuple[socket.socket, list[int]]:
    """Wait for what is asked of the parent, fork, and go on in the new process alone.

    The parent tells the process id and, when that has ended, its exit code.
    """
    running: dict[int, socket.socket] = {}
    woken, waking = socket.socketpair()
    for end in (woken, waking):
        end.setblocking(False)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([place, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            _tell_ends(running)
        if place not in ready:
            continue
        word, given, *_ = socket.recv_fds(place, 1, 16)
        if not word:
            os._exit(0)
        telling = socket.socket(fileno=given[0])
        if not (pid := os.fork()):
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for each in (place, woken, waking, *running.values()):
                each.close()
            return telling, given[1:]
        for file in given[1:]:
            os.close(file)
        running[pid] = telling
        telling.sendall(f"{pid}\n".encode())


def _tell_ends(running: dict[int, socket.socket]) -> None:
    with suppress(ChildProcessError):  # none is left
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with running.pop(ended[0]) as telling, suppress(OSError):  # nobody waits for it any more
                telling.sendall(f"{os.waitstatus_to_exitcode(ended[1]):8}".encode())


def _run(words: list[str]) -> None:
    """What the interpreter does with these words: a module, or a program."""
    how, what, *rest = words
    sys.argv = [how if how == "-c" else what, *rest]
    sys.path[0] = "" if how == "-c" else str(Path.cwd())
    if how == "-m":
        sys.modules.pop(what, None)
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(what, "<string>", "exec"), main.__dict__)


def _end_as_usual(words: list[str]) -> None:
    """Run *words* and end as the interpreter would, all but its search for garbage in everything imported: 0.6 s."""
    code: object = None
    try:
        _run(words)
    except SystemExit as ended:
        code = ended.code
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit((code or 0) & 0xFF)


def _become(asked: dict[str, Any], given: list[int]) -> list[str]:
    """Have its folder, environment and files; its words."""
    if asked["is_apart"]:
        os.setsid()
    beyond = max(asked["files"]) + 1
    moved = [fcntl(file, F_DUPFD_CLOEXEC, beyond) for file in given]
    for file in given:
        os.close(file)
    for file, number in zip(moved, asked["files"], strict=True):
        os.dup2(file, number)
        os.close(file)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    words: list[str] = asked["words"]
    return words


def main(place: socket.socket) -> None:
    """Import all of it, then fork whatever is asked for. No process looks for garbage in what was imported."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    telling, given = _asked(place)
    with telling:
        asked = json.loads(telling.makefile().readline())
    _end_as_usual(_become(asked, given))


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
