"""Where work can run, by the name that `--executor` takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from bylaw.errors import UsageError
from ci.executors.apart import Apart
from ci.executors.cluster import Cluster
from ci.executors.port import Executor
from ci.executors.processes import Processes
from ci.executors.serial import Serial

EXECUTOR_HELP = "Where the work runs: serial, processes (all cores, the default) or dask://host:port."

EXECUTORS: Mapping[str, Callable[[str, int], Serial | Apart]] = {
    "serial": lambda address, cpus: Serial(),
    "processes": lambda address, cpus: Apart(Processes(cpus)),
    "dask": lambda address, cpus: Apart(Cluster(address)),
}


@contextmanager
def executor(name: str | None = None, cpus: int | None = None) -> Iterator[Executor]:
    """The executor that `--executor` names; without a name all *cpus*. Nothing of it is left when the block ends.

    Raises UsageError for a name that is none, and where a cluster does not answer.
    """
    count = cpus if cpus is not None else local_cpus()
    kind, address = place(name if name is not None else "processes" if count > 1 else "serial")
    running = EXECUTORS[kind](address, count)
    try:
        yield running
    finally:
        running.close()


def place(name: str) -> tuple[str, str]:
    """The kind of executor and its address, empty for this machine. Raises UsageError for a name that is none."""
    kind, _, address = name.partition("://")
    if kind not in EXECUTORS or (kind == "dask") != bool(address):
        raise UsageError(f"`{name}` is not an executor", "write serial, processes or dask://host:port")
    return kind, address


def local_cpus() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
