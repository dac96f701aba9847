"""What the workers are given to do: functions of a module that every process can load."""

import os
import signal
import sys
import time
from pathlib import Path

from bylaw.errors import GateDenied, UsageError

DEADLINE = 60.0  # nobody waits longer for somebody who does not come


def square(n):
    return n * n


def backwards(item):
    """The square of a number; the first items take longest, so answers arrive in another order than the items."""
    n, of = item
    time.sleep(0.02 * (of - n))
    return n * n


def process(_):
    return os.getpid()


def refuse(n):
    """The number itself, unless it is negative."""
    if n < 0:
        raise UsageError(f"`{n}` is negative", "write a larger one")
    return n


def deny(n):
    """Raises what cannot be unpickled: its two arguments are not those of its base."""
    raise GateDenied("too-many-rows", f"{n} rows")


def nobody_can_pack(_):
    return lambda: None


def solve(n):
    """The only number between n and n + 2, found by Z3."""
    import z3

    x = z3.Int("x")
    solver = z3.Solver()
    solver.add(x > n, x < n + 2)
    assert solver.check() == z3.sat
    return solver.model()[x].as_long()


def loaded(names):
    """Which of *names* this process has loaded."""
    return [name for name in names if name in sys.modules]


def wait_for(path):
    end = time.monotonic() + DEADLINE
    while not path.exists():
        assert time.monotonic() < end, f"nobody wrote {path.name}"
        time.sleep(0.01)


def hold(item):
    """Say in *folder* which process this is, go on when there is a file `go`, and return the number's square."""
    folder, n = item
    mark = Path(folder) / f"{n}.{os.getpid()}"
    mark.touch()
    mark.rename(mark.with_suffix(f".{os.getpid()}.pid"))
    wait_for(Path(folder) / "go")
    return n * n


def holders(folder, count):
    """The processes that at least *count* calls of `hold` in *folder* have told, once they have: number -> process."""
    end = time.monotonic() + DEADLINE
    while True:
        found = {int(path.name.split(".")[0]): int(path.name.split(".")[1]) for path in Path(folder).glob("*.pid")}
        if len(found) >= count:
            return found
        assert time.monotonic() < end, f"{len(found)} of {count} calls have begun"
        time.sleep(0.01)


def die(item):
    """Kill the own process as often as the item says, counted in *folder*; then return the number's square."""
    folder, n, times = item
    tries = Path(folder) / f"{n}.tries"
    with tries.open("a", encoding="ascii") as stream:
        stream.write(".")
    if tries.stat().st_size <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return n * n


def tries(folder, n):
    """How often `die` began the item *n*."""
    return (Path(folder) / f"{n}.tries").stat().st_size


_inside = []


def overlaps(n):
    """How many other calls this process is in the middle of."""
    _inside.append(n)
    time.sleep(0.05)
    found = len(_inside) - 1
    _inside.remove(n)
    return found
