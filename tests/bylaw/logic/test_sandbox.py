"""A question that eats time or memory costs one answer, and the next one is answered."""

import os
import signal
import threading
from pathlib import Path

import pytest

from bylaw.logic.ir import Arith, Atom, Compare, Const, Not, Ref, Variable, conj
from bylaw.logic.sandbox import Sandbox

VARIABLES = {name: Variable(name, "decimal", minimum=0) for name in "abcdefgh"}
VARIABLES["days"] = Variable("days", "integer", minimum=0, maximum=30)
FEW, MANY = Atom("days", "<", 5), Atom("days", ">", 10)


@pytest.fixture
def sandbox():
    made = Sandbox(VARIABLES, rlimit=20_000_000, wall_ms=2_000, memory_mb=512)
    yield made
    made.close()


def product(*names):
    term = Ref(names[0])
    for name in names[1:]:
        term = Arith("*", term, Ref(name))
    return term


def hard():
    """A system that Z3 does not settle within a few steps: cubes that add up, nothing linear about it."""
    cubes = [product(name, name, name) for name in "abc"]
    return conj(
        [
            Compare(Arith("+", cubes[0], Arith("+", cubes[1], cubes[2])), "==", Const(42)),
            Compare(product(*"abcdefgh"), "==", Const(7)),
            Compare(Arith("-", product("a", "b", "c"), product("d", "e", "f")), ">", product("g", "h", "g", "h")),
        ]
    )


def test_it_answers_what_the_reasoner_answers(sandbox):
    assert sandbox.check([FEW, MANY]).status == "unsat"
    answer = sandbox.check([FEW])
    assert answer.status == "sat" and answer.model["days"] < 5
    assert sandbox.equivalent(FEW, Not(Atom("days", ">=", 5))).status == "unsat"
    assert set(sandbox.core({"few": FEW, "many": MANY, "flagless": Atom("days", ">", 1)})) == {"few", "many"}
    assert sandbox.kills == 0


def test_a_killed_process_is_one_unknown_answer(sandbox):
    assert sandbox.check([FEW]).status == "sat"
    os.kill(sandbox._child.pid, signal.SIGKILL)
    sandbox._child.join()
    assert sandbox.check([FEW]).status == "sat"  # seen dead before the question: started again


def test_a_process_that_dies_with_the_question_says_so(sandbox):
    assert sandbox.check([FEW]).status == "sat"
    child = sandbox._child.pid
    os.kill(child, signal.SIGSTOP)
    killer = threading.Timer(0.3, os.kill, (child, signal.SIGKILL))
    killer.start()
    answer = sandbox.check([MANY])
    killer.join()
    assert (answer.status, sandbox.kills) == ("unknown", 1)
    assert "died" in answer.reason
    assert sandbox.check([FEW, MANY]).status == "unsat"


def test_a_process_that_hangs_is_stopped(sandbox):
    sandbox.wall_ms = 100
    assert sandbox.check([FEW]).status == "sat"
    os.kill(sandbox._child.pid, signal.SIGSTOP)
    answer = sandbox.check([MANY])
    assert answer.status == "unknown" and "stopped after" in answer.reason
    assert sandbox.check([MANY]).status == "sat"


def test_a_hard_question_ends(sandbox):
    answer = sandbox.check([hard()])
    assert answer.status in ("unknown", "sat", "unsat")
    assert answer.status != "unknown" or answer.reason
    assert sandbox.check([FEW, MANY]).status == "unsat"


def test_too_little_memory_is_one_unknown_answer():
    small = Sandbox(VARIABLES, rlimit=2_000_000_000, wall_ms=20_000, memory_mb=1)
    try:
        answer = small.check([hard()])
        assert answer.status in ("unknown", "sat")
        assert small.check([FEW, MANY]).status in ("unsat", "unknown")
    finally:
        small.close()


def test_the_child_can_write_no_file(sandbox):
    assert sandbox.check([FEW]).status == "sat"
    shown = Path(f"/proc/{sandbox._child.pid}/limits").read_text(encoding="ascii").splitlines()
    limits = {line[:26].strip(): line[26:].split() for line in shown}
    assert limits["Max file size"][0] == "0"
    assert limits["Max core file size"][0] == "0"
    assert limits["Max address space"][0] != "unlimited"


def test_closing_leaves_no_process_behind(sandbox):
    sandbox.check([FEW])
    child = sandbox._child.pid
    sandbox.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
