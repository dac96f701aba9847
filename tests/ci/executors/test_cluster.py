"""Work on a Dask cluster: a real scheduler and real workers on this machine, which are killed in the middle."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bylaw.errors import BylawError, UsageError
from ci.executors import calls, cluster
from ci.executors.port import WorkerLost
from ci.executors.registry import executor
from tests.ci.executors import work
from tests.rows import each

ROOT = Path(__file__).resolve().parents[3]
TRIES = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}  # by default three workers more die of an item


class Dask:
    """A scheduler, and the workers that a test starts; everything is gone when the test ends."""

    def __init__(self, folder, program):
        self.folder = folder
        self.program = program
        self.started = []
        told = folder / "scheduler.json"
        words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", str(told)]
        self.scheduler = self._start("dask_scheduler", words)
        work.wait_for(told)
        while not (text := told.read_text(encoding="utf-8")).rstrip().endswith("}"):
            time.sleep(0.01)  # it is being written
        self.address = json.loads(text)["address"].removeprefix("tcp://")

    def worker(self, *words, path=None, nanny="--no-nanny"):
        """Start a worker of one thread that finds the program under *path*; its process."""
        local = ["--host", "127.0.0.1", "--no-dashboard", "--nthreads", "1", "--local-directory", str(self.folder)]
        return self._start("dask_worker", [f"tcp://{self.address}", *local, nanny, *words], path)

    def run(self, function, items, heard=None):
        with executor(f"dask://{self.address}") as running:
            return running.run(function, items, heard)

    def _start(self, module, words, path=None):
        # A session of its own: a nanny's workers can be ended with it. The folder is not one in which `bylaw` lies.
        running = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(path or self.program), **TRIES},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.started.append(running)
        return running

    def close(self):
        for running in reversed(self.started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()


def copied(folder):
    """The program and the work, as a worker would have them installed."""
    for name in ("bylaw", "ci", "tests/ci/executors"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def mark_in(folder):
    code = "from ci.executors.calls import code_mark; print(code_mark())"
    env = {**os.environ, "PYTHONPATH": str(folder)}
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return shown.stdout.strip()


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """What the workers load stays as it is, though somebody edits the sources while the tests run."""
    folder = copied(tmp_path_factory.mktemp("program"))
    with pytest.MonkeyPatch.context() as patch:
        mark = mark_in(folder)
        patch.setattr(calls, "code_mark", lambda: mark)
        yield folder


@pytest.fixture
def dask(tmp_path_factory, program):
    started = Dask(tmp_path_factory.mktemp("dask"), program)
    yield started
    started.close()


@pytest.mark.slow
def test_the_answers_are_those_of_this_process(dask):
    dask.worker()
    dask.worker()
    told = []
    items = [(n, 6) for n in range(6)]
    assert dask.run(work.backwards, items, lambda done, of: told.append((done, of))) == [n * n for n in range(6)]
    assert told[-1] == (6, 6)
    with executor(f"dask://{dask.address}") as running:
        assert os.getpid() not in running.run(work.process, range(4))
        assert running.run(work.square, []) == []
        assert running.run(work.solve, range(6)) == [n + 1 for n in range(6)]
        with pytest.raises(UsageError) as caught:
            running.run(work.refuse, [1, -2, -3])
        assert (caught.value.message, caught.value.help) == ("`-2` is negative", "write a larger one")
        assert "in refuse" in str(caught.value.__cause__)
        with pytest.raises(BylawError, match="GateDenied: 3 rows"):
            running.run(work.deny, [3])
        assert running.run(work.square, [5, 5]) == [25, 25]


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_loses_nothing(dask, tmp_path):
    dask.worker()
    dask.worker()

    def kill():
        os.kill(min(work.holders(tmp_path, 2).items())[1], signal.SIGKILL)
        (tmp_path / "go").touch()

    killing = threading.Thread(target=kill, daemon=True)
    killing.start()
    items = [(str(tmp_path), n) for n in range(8)]
    found = dask.run(work.hold, items)
    killing.join()
    assert [running.poll() for running in dask.started].count(-signal.SIGKILL) == 1
    with executor("serial") as running:
        assert found == running.run(work.hold, items)


@pytest.mark.slow
def test_an_item_that_kills_every_worker_is_named_and_the_rest_is_answered(dask, tmp_path):
    dask.worker(nanny="--nanny")
    dask.worker(nanny="--nanny")
    found = dask.run(work.die, [(str(tmp_path), n, times) for n, times in enumerate([0, 0, 99, 1, 0])])
    assert found == [0, 1, WorkerLost(2), 9, 16]
    assert [work.tries(tmp_path, n) for n in (2, 3)] == [2, 2]


@pytest.mark.slow
def test_a_worker_of_many_threads_does_one_call_at_a_time(dask):
    dask.worker("--nthreads", "4")
    assert dask.run(work.overlaps, range(8)) == [0] * 8


@pytest.mark.slow
def test_a_worker_with_other_code_answers_nothing(dask, tmp_path):
    errors = copied(tmp_path) / "bylaw" / "errors.py"
    errors.write_text(errors.read_text(encoding="utf-8") + "# an older version\n", encoding="utf-8")
    dask.worker(path=tmp_path)
    with pytest.raises(UsageError, match="runs other code than this command") as caught:
        dask.run(work.square, [1])
    assert "install the same bylaw" in caught.value.help


@pytest.mark.slow
def test_a_worker_that_cannot_load_the_work_says_what_is_missing(dask, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("def work(n):\n    return n\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    dask.worker()
    with pytest.raises(ImportError, match="only_here"):
        dask.run(only_here.work, [1])


@pytest.mark.slow
def test_a_scheduler_killed_in_the_middle_is_an_error_that_says_so(dask, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    dask.worker()

    def kill():
        work.holders(tmp_path, 1)
        dask.scheduler.kill()

    killing = threading.Thread(target=kill, daemon=True)
    killing.start()
    with pytest.raises(BylawError, match="stopped answering"):
        dask.run(work.hold, [(str(tmp_path), n) for n in range(4)])
    killing.join()


@pytest.mark.slow
def test_a_cluster_without_workers_is_waited_for_and_then_given_up(dask, monkeypatch):
    late = threading.Timer(1.0, dask.worker)
    late.start()
    assert dask.run(work.square, [7]) == [49]
    late.join()
    dask.started[-1].kill()
    monkeypatch.setattr(cluster, "EMPTY_SECONDS", 1.0)
    with pytest.raises(BylawError, match="has no worker") as caught:
        dask.run(work.square, [7])
    assert caught.value.help.startswith(f"start some with `dask worker {dask.address}`")


def test_nobody_at_the_address_is_wrong_usage():
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # taken, but nobody listens
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        with (
            pytest.raises(UsageError, match=f"no Dask scheduler answers at `{address}`"),
            executor(f"dask://{address}"),
        ):
            pass


def test_somebody_else_at_the_address_is_wrong_usage(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(UsageError, match="no Dask scheduler answers"), executor(f"dask://{address}"):
            pass


@each("address", ["host", "host:", ":8786", "host:http", "host:0", "host:65536", "host:²"])
def test_what_is_no_address_is_wrong_usage(address):
    with pytest.raises(UsageError, match="is not the address of a Dask scheduler"), executor(f"dask://{address}"):
        pass


def test_without_the_extra_the_way_to_install_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="Dask is not installed") as caught, executor("dask://127.0.0.1:8786"):
        pass
    assert caught.value.help == "install it with `pip install 'bylaw-policies[dask]'`"


def test_the_mark_of_the_code_is_that_of_its_text_wherever_it_lies(tmp_path):
    here, there = copied(tmp_path / "here"), copied(tmp_path / "there")
    assert mark_in(here) == mark_in(there)
    (there / "ci" / "executors" / "more.py").touch()
    assert mark_in(here) != mark_in(there)
