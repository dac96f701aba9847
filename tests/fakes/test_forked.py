"""What is forked is a process of its own: its words, folder, environment, files, end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.fakes.forked import Forked

TELLS = "import os, sys; print(*sys.argv, os.getcwd(), os.environ.get('X'), os.environ.get('HOME'))"


def test_it_has_words_a_folder_and_an_environment_of_its_own(tmp_path):
    told = Forked("-c", TELLS, "a b", 1, cwd=tmp_path, env={"X": "x"}, stdout=subprocess.PIPE)
    assert told.communicate() == (f"-c a b 1 {tmp_path} x None\n", "")
    assert told.returncode == 0


def test_it_says_what_an_interpreter_of_its_own_says(tmp_path):
    words = ["-m", "bylaw.cli", "check", "--root", tmp_path / "none"]
    forked = Forked(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    started = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert forked.communicate() == (started.stdout, started.stderr)
    assert forked.returncode == started.returncode == 2


def test_what_was_left_for_the_end_is_done_and_a_failure_is_told():
    code = "import atexit; atexit.register(print, 'left'); print('begun'); 1 / 0"
    failed = Forked("-c", code, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = failed.communicate()
    assert (failed.returncode, out) == (1, "begun\nleft\n")
    assert err.endswith("ZeroDivisionError: division by zero\n")


def test_it_is_waited_for_and_killed():
    with Forked("-c", "import time; print('up', flush=True); time.sleep(600)", stdout=subprocess.PIPE) as running:
        assert running.stdout.readline() == "up\n"
        assert running.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(0.05)
        os.kill(running.pid, signal.SIGKILL)
        assert running.wait(60) == -signal.SIGKILL
        running.kill()  # nothing is there any more
