"""Work on this machine's cores, with real processes: killed, interrupted, orphaned."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.errors import BylawError, UsageError
from ci.executors.port import WorkerLost
from ci.executors.registry import executor
from tests.ci.executors import work

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def two():
    with executor("processes", 2) as running:
        yield running


@pytest.fixture(scope="module")
def serial():
    with executor("serial") as running:
        yield running


def is_alive(pid):
    """Does the process run? One that has ended and was not yet asked how does not."""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return shown.stdout.strip() not in ("",) and not shown.stdout.strip().startswith("Z")


def survivors(pids):
    """Who of *pids* still runs after a while that is long enough for everybody to end."""
    end = time.monotonic() + 30
    left = sorted(pids)
    while left and time.monotonic() < end:
        left = [pid for pid in left if is_alive(pid)]
        time.sleep(0.02)
    return left


def outcome(running, function, items):
    try:
        return running.run(function, items)
    except UsageError as error:
        return error.message, error.help


def test_answers_stand_in_the_order_of_the_items_whoever_is_ready_first(two):
    items = [(n, 6) for n in range(6)]
    assert two.run(work.backwards, items) == [n * n for n in range(6)]


def test_no_item_is_no_work(two):
    assert two.run(work.square, []) == []


def test_the_work_is_done_by_as_many_other_processes_as_there_are_cores(tmp_path):
    held = threading.Thread(target=lambda: (work.holders(tmp_path, 2), (tmp_path / "go").touch()))
    held.start()
    with executor("processes", 2) as running:
        running.run(work.hold, [(str(tmp_path), n) for n in range(5)])
        pids = set(running.run(work.process, range(8)))
    held.join()
    assert pids <= set(work.holders(tmp_path, 5).values())
    assert os.getpid() not in pids
    assert len(set(work.holders(tmp_path, 5).values())) == 2
    assert survivors(pids) == []


def test_workers_stay_from_one_run_to_the_next():
    with executor("processes", 1) as running:
        assert running.run(work.process, [0]) == running.run(work.process, [0])


def test_progress_is_told_for_every_item(two):
    told = []
    two.run(work.square, range(7), lambda done, of: told.append((done, of)))
    assert told == sorted(told)
    assert told[-1] == (7, 7)


@settings(max_examples=8)
@given(st.lists(st.integers(-1, 5), max_size=9))
def test_processes_answer_and_refuse_as_this_process_does(two, serial, items):
    assert outcome(two, work.refuse, items) == outcome(serial, work.refuse, items)


def test_an_exception_arrives_as_it_is_with_the_workers_traceback(two):
    with pytest.raises(UsageError) as caught:
        two.run(work.refuse, [1, -2, -3])
    assert (caught.value.message, caught.value.help) == ("`-2` is negative", "write a larger one")
    assert "work.py" in str(caught.value.__cause__)
    assert "in refuse" in str(caught.value.__cause__)


def test_an_exception_that_cannot_travel_arrives_in_words(two):
    with pytest.raises(BylawError, match="GateDenied: 3 rows") as caught:
        two.run(work.deny, [3])
    assert "in deny" in str(caught.value.__cause__)


def test_an_answer_that_cannot_travel_is_an_exception_not_a_lost_worker(two):
    with pytest.raises(Exception, match="lambda"):
        two.run(work.nobody_can_pack, [1])


def test_work_that_is_not_of_a_module_is_refused_before_it_starts(two):
    with pytest.raises(Exception, match="lambda"):
        two.run(lambda n: n, [1])


def test_after_an_exception_the_next_run_works(two):
    with pytest.raises(UsageError):
        two.run(work.refuse, [-1, 2, 3])
    assert two.run(work.square, range(4)) == [0, 1, 4, 9]


def test_z3_runs_in_workers_beside_one_in_this_process(two):
    assert work.solve(1) == 2
    assert two.run(work.solve, range(6)) == [n + 1 for n in range(6)]


def test_large_items_and_answers_travel(two):
    items = ["x" * 3_000_000, "y" * 3_000_000, "z"]
    assert two.run(str.upper, items) == [item.upper() for item in items]


def test_a_worker_killed_in_the_middle_loses_nothing(tmp_path, serial):
    def kill():
        os.kill(min(work.holders(tmp_path, 2).items())[1], signal.SIGKILL)
        (tmp_path / "go").touch()

    killing = threading.Thread(target=kill, daemon=True)
    items = [(str(tmp_path), n) for n in range(8)]
    with executor("processes", 2) as running:
        killing.start()
        found = running.run(work.hold, items)
    killing.join()
    assert found == serial.run(work.hold, items)


def test_a_worker_killed_while_idle_is_replaced():
    with executor("processes", 1) as running:
        [pid] = running.run(work.process, [0])
        os.kill(pid, signal.SIGKILL)
        assert survivors([pid]) == []
        assert running.run(work.square, [3, 4]) == [9, 16]


@pytest.mark.parametrize("cpus", [1, 2])
def test_an_item_that_kills_its_worker_once_is_answered_and_twice_is_named(tmp_path, cpus):
    deaths = [0, 1, 0, 9, 1, 0]
    with executor("processes", cpus) as running:
        found = running.run(work.die, [(str(tmp_path), n, times) for n, times in enumerate(deaths)])
    assert found == [0, 1, 4, WorkerLost(3), 16, 25]
    assert [work.tries(tmp_path, n) for n in range(6)] == [1, 2, 1, 2, 2, 1]
    assert found[3].message.startswith("part 4 of the work was given up")


def test_progress_ends_with_everything_though_an_item_was_given_up(tmp_path):
    told = []
    with executor("processes", 2) as running:
        items = [(str(tmp_path), 0, 9), (str(tmp_path), 1, 0)]
        running.run(work.die, items, lambda done, of: told.append((done, of)))
    assert told[-1] == (2, 2)


HOLDING = """
import sys
from ci.executors.registry import executor
from tests.ci.executors import work
try:
    with executor("processes", 2) as running:
        running.run(work.hold, [(sys.argv[1], n) for n in range(4)])
except KeyboardInterrupt:
    sys.exit("stopped")
"""


@pytest.fixture
def holding(tmp_path):
    """A process, in a group of its own, both of whose workers are in the middle of something."""
    running = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(tmp_path)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with running:
        yield running, set(work.holders(tmp_path, 2).values())
        running.kill()


def test_an_interrupt_from_the_keyboard_stops_everybody_at_once(holding):
    running, workers = holding
    assert [pid for pid in workers if not is_alive(pid)] == []
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: the whole group hears it
    assert running.wait(timeout=30) == 1
    assert running.stderr.read() == "stopped\n"
    assert survivors(workers) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_a_parent_that_was_killed(holding, how):
    running, workers = holding
    os.kill(running.pid, how)
    running.wait(timeout=30)
    assert survivors(workers) == []


def test_a_worker_loads_what_its_work_needs_and_no_more():
    code = (
        "from ci.executors.registry import executor\n"
        "from tests.ci.executors import work\n"
        "import z3\n"
        "with executor('processes', 1) as running:\n"
        "    print(running.run(work.loaded, [['z3', 'distributed', 'pydantic', 'yaml', 'bylaw.errors']]))\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[['bylaw.errors']]"
