"""The inside of a sandbox: one process, one question at a time, until the pipe closes or the parent is gone.

It gets our own values and executes nothing a policy says. It may write no file, grow no further than it is allowed
to, and when it has grown to half of that it says its answer is the last: a fresh process takes over.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import select
import sys
import threading
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

from bylaw.errors import BylawError
from bylaw.logic.formula.ir import Formula, Variable
from bylaw.logic.solver.explain import Bounds, explain
from bylaw.logic.solver.smt import Reasoner
from bylaw.logic.solver.solver import Effort, SolverAnswer
from bylaw.logic.solver.wire import answer_to_json, built, dumped

READY = b"ready"
MB = 1_048_576
_WATCH_SECONDS = 1.0


def serve(fd: int, rlimit: int, wall_ms: int, memory_mb: int) -> None:
    """Answer what comes through the pipe *fd*; standard input is the line on which the parent's death is heard."""
    effort, parent = Effort(rlimit, wall_ms, memory_mb), os.getppid()
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    Reasoner({}).check([])  # loads Z3 before memory is limited: its libraries are not what is measured
    start = _in_use()
    with contextlib.suppress(ValueError, OSError):  # a system that cannot limit memory still has the clock
        resource.setrlimit(resource.RLIMIT_AS, (start + effort.memory_mb * MB,) * 2)
    pipe = Connection(fd)
    pipe.send_bytes(READY)
    reasoners: dict[int, Reasoner] = {}
    while True:
        try:
            question = pickle.loads(pipe.recv_bytes())
        except (EOFError, OSError):
            return
        if question[0] == "variables":
            reasoners[question[1]] = _reasoner(question[2], effort)
            continue
        if question[0] == "forget":
            for number in question[1]:
                reasoners.pop(number, None)
            continue
        said = _answered(reasoners[question[1]], effort, *question[2:])
        said["is_last"] = said.get("is_last", False) or _in_use() - start > effort.memory_mb * MB // 2
        pipe.send_bytes(dumped(said))
        if said["is_last"]:
            return


def _reasoner(variables: Mapping[str, Variable], effort: Effort) -> Reasoner:
    return Reasoner(variables, rlimit=effort.rlimit, wall_ms=effort.wall_ms)


def _answered(reasoner: Reasoner, effort: Effort, method: str, names: list[str], rows: Any, extra: Any) -> Any:
    try:
        return _METHODS[method](reasoner, names, built(rows), extra)
    except BylawError as error:
        return {"error": error.message}
    except MemoryError:
        reason = f"the limit of {effort.memory_mb} MB was reached"
    except RecursionError:
        reason = "the formulas are nested too deep"
    except reasoner.failure as error:  # Z3's own way of saying that it has no memory left, among others
        is_memory = "memory" in str(error)
        reason = f"the limit of {effort.memory_mb} MB was reached" if is_memory else f"the solver failed: {error}"
    return {**answer_to_json(SolverAnswer("unknown", reason=reason)), "is_last": True}


def _check(reasoner: Reasoner, _: list[str], formulas: list[Formula], __: Any) -> Any:
    return answer_to_json(reasoner.check(formulas))


def _simplest(reasoner: Reasoner, _: list[str], formulas: list[Formula], prefer: Any) -> Any:
    return answer_to_json(reasoner.simplest(formulas, prefer))


def _core(reasoner: Reasoner, names: list[str], formulas: list[Formula], _: Any) -> Any:
    return {"core": reasoner.core(dict(zip(names, formulas, strict=True)))}


def _explain(reasoner: Reasoner, names: list[str], formulas: list[Formula], extra: Any) -> Any:
    """*formulas* are those of *names*; *extra* is how many of them are statements, the goal's name, and the bounds."""
    count, goal, bounds, hints = extra
    named = dict(zip(names, formulas, strict=True))
    statements = {name: named[name] for name in names[:count]}
    candidates = {name: named[name] for name in names[count:] if name != goal}
    return explain(reasoner, statements, named.get(goal), candidates, Bounds(*bounds), hints).document()


_METHODS: Mapping[str, Callable[[Reasoner, list[str], list[Formula], Any], Any]] = {
    "check": _check,
    "simplest": _simplest,
    "core": _core,
    "explain": _explain,
}


def _watch(parent: int) -> None:
    """End this process with its parent, however that ended: the line closes, or somebody else has adopted us."""
    while os.getppid() == parent:
        heard, _, _ = select.select([sys.stdin.fileno()], [], [], _WATCH_SECONDS)
        if heard:
            break
    os._exit(0)


def _in_use() -> int:
    """The address space of this process in bytes; where the system does not say, its largest resident size."""
    try:
        with open("/proc/self/statm", encoding="ascii") as stream:  # noqa: PTH123 - a device of the system, not a file
            return int(stream.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
