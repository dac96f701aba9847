"""Z3 in a process that may be killed: a question that eats time or memory costs one answer, never the run.

Limits in the order in which they bite: the solver's own steps (the same on every machine), the wall clock, the memory
of the process. A process that was killed is started again with the next question; one that nobody needs any more is
kept for whoever asks next, with a fresh Z3 context, so a run starts one.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pickle
import socket
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from bylaw.errors import WitnessMismatch
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import Formula, Value, Variable
from bylaw.logic.solver.explain import Bounds, Explained
from bylaw.logic.solver.solver import Effort, Solver, SolverAnswer
from bylaw.logic.solver.wire import answer_from_json, flat

GRACE_SECONDS = 2.0  # beyond the solver's own net, before the process is killed
START_SECONDS = 30.0  # a loaded machine may take long to start a process and load Z3
MOST_BYTES = 16_777_216  # no answer is longer
_numbers = itertools.count()  # of sets of variables, in this process
_GOAL = "?"  # no statement is called so
_FAILED_STARTS = 2  # so many, and it is not tried again
_CODE = (
    "import sys; sys.path[:] = sys.argv[6:]; "
    "from bylaw.logic.solver.child import serve; serve(int(sys.argv[1]), *map(int, sys.argv[2:5]))"
)


class _Running:
    """One process and our end of its pipe. Gone when closed, when nobody holds it, and when this process ends."""

    def __init__(self, effort: Effort) -> None:
        ours, theirs = socket.socketpair()
        paths = [os.path.abspath(path) for path in sys.path]  # noqa: PTH100 - a zip file on the path is no folder
        command = [sys.executable, "-I", "-c", _CODE, str(theirs.fileno()), *map(str, astuple(effort)), "--", *paths]
        with theirs:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # an interrupt from the keyboard is ours to handle
            )
        self.effort, self.owner = effort, os.getpid()
        self.pipe = Connection(ours.detach())
        self.known: set[int] = set()
        self.close = weakref.finalize(self, _end, self.process, self.pipe)

    def is_ready(self) -> bool:
        """Has it loaded Z3 in time?"""
        try:
            return self.pipe.poll(START_SECONDS) and self.pipe.recv_bytes(MOST_BYTES) == b"ready"
        except (EOFError, OSError):
            return False


_idle: list[_Running] = []  # at most one


def _keep(running: _Running, numbers: list[int]) -> None:
    """Let the next one have the process, without what this one told it."""
    try:
        running.pipe.send_bytes(pickle.dumps(("forget", numbers)))
    except (OSError, ValueError):
        running.close()
        return
    _idle.append(running)
    while len(_idle) > 1:
        _idle.pop(0).close()


def _kept(effort: Effort) -> _Running | None:
    """The process that was kept, where it is alive, ours and has the same limits."""
    while _idle:
        running = _idle.pop()
        if running.owner != os.getpid():
            running.close.detach()  # a fork's copy of what is its parent's
        elif running.effort == effort and running.process.poll() is None:
            return running
        else:
            running.close()
    return None


def _end(process: subprocess.Popen[bytes], pipe: Connection) -> None:
    pipe.close()
    process.kill()
    if process.stdin is not None:
        process.stdin.close()
    process.wait()


@dataclass
class Cell:
    """The process behind one or more sandboxes, started when it is first asked."""

    effort: Effort
    kills: int = field(default=0, init=False)
    starts: int = field(default=0, init=False)
    running: _Running | None = field(default=None, init=False)
    _failed: int = field(default=0, init=False)
    _sets: dict[int, Mapping[str, Variable]] = field(default_factory=dict, init=False)

    def add(self, variables: Mapping[str, Variable]) -> int:
        """Take in a set of variables; the number that a question names it by."""
        number = next(_numbers)
        self._sets[number] = variables
        return number

    def ask(self, number: int, *question: Any) -> Mapping[str, Any]:
        """What the process says to *question* about the variables of that number."""
        running = self._started()
        if running is None:
            return _unknown("the solver's process could not be started")
        seconds = self.effort.wall_ms / 1000 + GRACE_SECONDS
        reason = f"the solver was stopped after {seconds:.0f} s"
        try:
            if number not in running.known:
                running.pipe.send_bytes(pickle.dumps(("variables", number, dict(self._sets[number]))))
                running.known.add(number)
            running.pipe.send_bytes(pickle.dumps(("ask", number, *question)))
            if running.pipe.poll(seconds):
                said: dict[str, Any] = json.loads(running.pipe.recv_bytes(MOST_BYTES))
                if said.get("is_last"):
                    self.close()
                return said
        except (EOFError, OSError, ValueError):
            reason = f"the solver's process died, most likely at its limit of {self.effort.memory_mb} MB"
        self.close()
        self.kills += 1
        return _unknown(reason)

    def close(self) -> None:
        """Let go of the process."""
        if self.running is not None:
            self.running.close()
        self.running = None

    def __del__(self) -> None:
        """Whoever asks next may have the process."""
        if self.running is not None and not sys.is_finalizing():
            _keep(self.running, list(self._sets))

    def _started(self) -> _Running | None:
        if self.running is not None and self.running.process.poll() is not None:
            self.close()
        self.running = self.running or _kept(self.effort)
        if self.running is None and self._failed < _FAILED_STARTS:
            self.starts += 1
            with contextlib.suppress(OSError):
                self.running = _Running(self.effort)
            if self.running is None or not self.running.is_ready():
                self._failed += 1
                self.close()
        return self.running


def _unknown(reason: str) -> Mapping[str, Any]:
    return {"status": "unknown", "model": None, "reason": reason}


class Sandbox(Solver):
    """A solver behind a process boundary. Use it from one thread; `close` it, or let it end with its owner."""

    def __init__(self, variables: Mapping[str, Variable], effort: Effort, cell: Cell | None = None) -> None:
        self.variables, self.effort = variables, effort
        self.cell = cell or Cell(effort)
        self._number = self.cell.add(variables)

    def check(self, formulas: Sequence[Formula]) -> SolverAnswer:
        """Unsat iff no case of the domains satisfies all *formulas*; unknown, with the limit, where one was hit."""
        return self._answer("check", formulas)

    def simplest(
        self, formulas: Sequence[Formula], prefer: Mapping[str, Sequence[Value]] | None = None
    ) -> SolverAnswer:
        """Like `check`, with a model that does not depend on what was asked before."""
        return self._answer("simplest", formulas, prefer)

    def core(self, named: Mapping[str, Formula]) -> tuple[str, ...]:
        """Names of formulas that already exclude each other; empty when that could not be shown."""
        said = self._said("core", list(named), list(named.values()))
        return tuple(name for name in said.get("core", ()) if name in named)

    def explain(
        self,
        statements: Mapping[str, Formula],
        goal: Formula | None,
        candidates: Mapping[str, Formula],
        bounds: Bounds,
        hints: Sequence[Sequence[str]] = (),
    ) -> Explained:
        """How *goal* stands to *statements*, and which *candidates* would entail it: see `explain.explain`."""
        ends = {} if goal is None else {_GOAL: goal}
        named = {**statements, **candidates, **ends}
        extra = (len(statements), _GOAL, astuple(bounds), [list(one) for one in hints])
        return Explained.read(self._said("explain", list(named), list(named.values()), extra))

    def extended(self, more: Mapping[str, Variable]) -> Sandbox:
        """A sandbox that knows *more* variables as well, in the same process."""
        return Sandbox({**self.variables, **more}, self.effort, self.cell)

    def close(self) -> None:
        """Let go of the process; another question starts it again."""
        self.cell.close()

    def _answer(self, method: str, formulas: Sequence[Formula], extra: Any = None) -> SolverAnswer:
        answer = answer_from_json(self._said(method, [], formulas, extra))
        if answer.model is not None and not all(truth(formula, answer.model) is True for formula in formulas):
            raise WitnessMismatch(f"the solver's case {answer.model} does not satisfy what it was asked")
        return answer

    def _said(self, method: str, names: list[str], formulas: Sequence[Formula], extra: Any = None) -> Mapping[str, Any]:
        said = self.cell.ask(self._number, method, names, flat(formulas), extra)
        if "error" in said:
            raise WitnessMismatch(str(said["error"]))
        return said
