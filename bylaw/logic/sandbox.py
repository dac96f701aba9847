"""Z3 in a process that may be killed: a question that eats time or memory costs one answer, never the run.

The child is our own code and gets our own values through a pipe; nothing a policy says is ever executed. Limits in
the order in which they bite: the solver's own steps (the same on every machine), the wall clock, the memory of the
process.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bylaw.errors import BylawError
from bylaw.logic.ir import Formula, Variable, conj, disj, negate

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from bylaw.logic.smt import Answer

GRACE_SECONDS = 2.0  # beyond the solver's own net, before the process is killed
START_SECONDS = 30.0  # a loaded machine may take long to start a process and load Z3


@dataclass
class Sandbox:
    """`Reasoner` behind a process boundary. Use it from one thread; `close` it, or let it end with its owner."""

    variables: Mapping[str, Variable]
    rlimit: int
    wall_ms: int
    memory_mb: int
    kills: int = field(default=0, init=False)
    _child: BaseProcess | None = field(default=None, init=False)
    _pipe: Connection | None = field(default=None, init=False)

    def check(self, formulas: Sequence[Formula]) -> Answer:
        """Unsat iff no case of the domains satisfies all *formulas*; unknown, with the limit, where one was hit."""
        answer: Answer = self._ask("check", list(formulas))
        return answer

    def equivalent(self, one: Formula, other: Formula) -> Answer:
        """Unsat iff *one* and *other* hold in exactly the same cases; a model tells them apart."""
        return self.check([disj([conj([one, negate(other)]), conj([negate(one), other])])])

    def core(self, named: Mapping[str, Formula]) -> tuple[str, ...]:
        """Names of formulas that already exclude each other; empty when that could not be shown."""
        found = self._ask("core", dict(named))
        return found if isinstance(found, tuple) else ()

    def close(self) -> None:
        """Let go of the process."""
        self._kill()

    def _ask(self, method: str, argument: Any) -> Any:
        from bylaw.logic.smt import Answer

        pipe = self._started()
        if pipe is None:
            return Answer("unknown", reason="the solver's process could not be started")
        with contextlib.suppress(OSError):
            pipe.send((method, argument))
        seconds = self.wall_ms / 1000 + GRACE_SECONDS
        reason = f"the solver was stopped after {seconds:.0f} s"
        try:
            if pipe.poll(seconds):
                found = pipe.recv()
                if isinstance(found, BylawError):
                    raise found
                return found
        except (EOFError, OSError):
            reason = f"the solver's process died, most likely at its limit of {self.memory_mb} MB"
        self._kill()
        self.kills += 1
        return Answer("unknown", reason=reason)

    def _started(self) -> Connection | None:
        if self._child is None or not self._child.is_alive() or self._pipe is None:
            self._kill()
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            arguments = (theirs, self.variables, self.rlimit, self.wall_ms, self.memory_mb)
            self._child = context.Process(target=_serve, args=arguments, daemon=True)
            self._child.start()
            theirs.close()
            try:
                if not self._pipe.poll(START_SECONDS) or self._pipe.recv() != "ready":
                    self._kill()
            except (EOFError, OSError):
                self._kill()
        return self._pipe

    def _kill(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.join()
        if self._pipe is not None:
            self._pipe.close()
        self._child, self._pipe = None, None


def _serve(pipe: Connection, variables: Mapping[str, Variable], rlimit: int, wall_ms: int, memory_mb: int) -> None:
    """The child: answers one question at a time until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    from bylaw.logic.smt import Reasoner

    reasoner = Reasoner(variables, rlimit=rlimit, wall_ms=wall_ms)
    reasoner.check([])  # loads Z3 before memory is limited: its libraries are not what is measured
    limit = _in_use() + memory_mb * 1_048_576
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    pipe.send("ready")
    while True:
        try:
            method, argument = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send(getattr(reasoner, method)(argument))
        except BylawError as error:
            pipe.send(error)


def _in_use() -> int:
    """The address space of this process in bytes; where the system does not say, a generous guess."""
    try:
        with open("/proc/self/statm", encoding="ascii") as stream:  # noqa: PTH123 - a device of the system, not a file
            return int(stream.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return 1_073_741_824
