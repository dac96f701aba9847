"""Which executor a name stands for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bylaw.errors import UsageError
from ci.executors.registry import EXECUTOR_HELP, EXECUTORS, executor, local_cpus
from tests.ci.executors import work
from tests.rows import each

ROOT = Path(__file__).resolve().parents[3]


@each(
    ("name", "cpus", "here"),
    [("serial", 2, True), ("processes", 1, False), ("processes", 2, False), (None, 1, True), (None, 2, False)],
)
def test_a_name_says_where_the_work_is_done(name, cpus, here):
    with executor(name, cpus) as running:
        assert (running.run(work.process, [0]) == [os.getpid()]) is here


def test_without_a_number_all_cores_of_this_process_are_taken():
    alone = f"import os; os.sched_setaffinity(0, [{min(os.sched_getaffinity(0))}])"
    code = f"{alone}; from ci.executors.registry import local_cpus; print(local_cpus())"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "1"
    assert local_cpus() == len(os.sched_getaffinity(0))


@each(
    "name", ["", "threads", "Serial", "dask", "dask://", "dask:host:1", "serial://host:1", "processes://4", "ssh://h:1"]
)
def test_any_other_name_is_wrong_usage(name):
    with pytest.raises(UsageError) as caught, executor(name, 2):
        pass
    assert caught.value.message == f"`{name}` is not an executor"
    assert caught.value.help == "write serial, processes or dask://host:port"


def test_the_text_of_the_option_names_every_executor():
    assert [kind for kind in EXECUTORS if kind not in EXECUTOR_HELP] == []


def test_naming_the_executors_does_not_load_dask():
    code = "import sys, ci.executors.registry; print([m for m in ('distributed', 'dask') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_an_exception_of_work_ends_a_serial_run_too():
    heard = []
    with executor("serial") as running, pytest.raises(UsageError, match="`-1` is negative"):
        running.run(work.refuse, [4, -1, -2], lambda done, of: heard.append((done, of)))
    assert heard == [(1, 3)]
