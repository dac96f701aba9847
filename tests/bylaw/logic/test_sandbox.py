"""A question that eats time or memory costs one answer, and the next one is answered."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bylaw.logic.formula.ir import Arith, Atom, Compare, Const, Not, Or, Ref, Variable, conj
from bylaw.logic.solver.sandbox import Sandbox
from bylaw.logic.solver.smt import Reasoner
from bylaw.logic.solver.solver import Effort

VARIABLES = {name: Variable(name, "decimal", minimum=0) for name in "abcdefgh"}
VARIABLES["days"] = Variable("days", "integer", minimum=0, maximum=30)
FEW, MANY = Atom("days", "<", 5), Atom("days", ">", 10)


@pytest.fixture
def sandbox():
    made = Sandbox(VARIABLES, Effort(20_000_000, 2_000, 512))
    yield made
    made.close()


def child(sandbox):
    return sandbox.cell.running.process.pid


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
    assert sandbox.cell.kills == 0


def test_a_killed_process_is_one_unknown_answer(sandbox):
    assert sandbox.check([FEW]).status == "sat"
    os.kill(child(sandbox), signal.SIGKILL)
    sandbox.cell.running.process.wait()
    assert sandbox.check([FEW]).status == "sat"  # seen dead before the question: started again


def test_a_process_that_dies_with_the_question_says_so(sandbox):
    assert sandbox.check([FEW]).status == "sat"
    pid = child(sandbox)
    os.kill(pid, signal.SIGSTOP)
    killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
    killer.start()
    answer = sandbox.check([MANY])
    killer.join()
    assert (answer.status, sandbox.cell.kills) == ("unknown", 1)
    assert "died" in answer.reason
    assert sandbox.check([FEW, MANY]).status == "unsat"


def test_a_process_that_hangs_is_stopped(sandbox):
    sandbox.cell.effort = Effort(20_000_000, 100, 512)
    assert sandbox.check([FEW]).status == "sat"
    os.kill(child(sandbox), signal.SIGSTOP)
    answer = sandbox.check([MANY])
    assert answer.status == "unknown" and "stopped after" in answer.reason
    assert sandbox.check([MANY]).status == "sat"


def test_a_hard_question_ends(sandbox):
    answer = sandbox.check([hard()])
    assert answer.status in ("unknown", "sat", "unsat")
    assert answer.status != "unknown" or answer.reason
    assert sandbox.check([FEW, MANY]).status == "unsat"


def test_too_little_memory_is_one_unknown_answer():
    small = Sandbox(VARIABLES, Effort(2_000_000_000, 5_000, 1))
    try:
        answer = small.check([hard()])
        assert answer.status in ("unknown", "sat")
        assert small.check([FEW, MANY]).status in ("unsat", "unknown")
    finally:
        small.close()


def test_the_child_can_write_no_file(sandbox):
    assert sandbox.check([FEW]).status == "sat"
    shown = Path(f"/proc/{child(sandbox)}/limits").read_text(encoding="ascii").splitlines()
    limits = {line[:26].strip(): line[26:].split() for line in shown}
    assert limits["Max file size"][0] == "0"
    assert limits["Max core file size"][0] == "0"
    assert limits["Max address space"][0] != "unlimited"


def test_closing_leaves_no_process_behind(sandbox):
    sandbox.check([FEW])
    pid = child(sandbox)
    sandbox.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


# ---- nobody is left behind ------------------------------------------------------------------------------------------

OWNER = """
import os, signal, sys
from bylaw.logic.formula.ir import Atom, Variable
from bylaw.logic.solver.sandbox import Sandbox
from bylaw.logic.solver.smt import Reasoner
from bylaw.logic.solver.solver import Effort
sandbox = Sandbox({"days": Variable("days", "integer")}, Effort())
assert sandbox.check([Atom("days", "<", 5)]).status == "sat"
print(sandbox.cell.running.process.pid, flush=True)
if sys.argv[1] == "waits":
    sandbox.cell.running.process.wait()
"""


def is_gone(pid):
    """Does the process end within half a minute? A dead child whose parent has not looked at it is gone as well."""
    for _ in range(300):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("how", ["ends", signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_process_ends_with_its_owner_however_that_ends(how):
    command = [sys.executable, "-c", OWNER, "ends" if how == "ends" else "waits"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as owner:
        pid = int(owner.stdout.readline())
        if how != "ends":
            owner.send_signal(how)
    assert is_gone(pid)


def test_a_process_that_nobody_holds_is_kept_for_the_next_with_the_same_limits():
    made = Sandbox(VARIABLES, Effort())
    made.check([FEW])
    pid = child(made)
    del made
    words = {"days": Variable("days", "boolean")}  # the same name, another fact
    heir, other = Sandbox(words, Effort()), Sandbox(VARIABLES, Effort(wall_ms=5_000))
    assert heir.check([Atom("days", "==", True)]).model == {"days": True}
    assert (child(heir), heir.cell.starts) == (pid, 0)
    del heir
    assert other.check([FEW]).status == "sat"
    assert child(other) != pid and is_gone(pid)
    other.close()


# ---- one process for several sets of words --------------------------------------------------------------------------


def test_an_extended_sandbox_shares_the_process(sandbox):
    wider = sandbox.extended({"is_new": Variable("is_new", "boolean")})
    assert sandbox.check([FEW]).status == "sat"
    assert wider.check([FEW, Atom("is_new", "==", True)]).model["is_new"] is True
    assert sandbox.cell.starts == 1
    sandbox.close()
    assert wider.check([FEW, MANY, Atom("is_new", "==", True)]).status == "unsat"  # told its words again
    assert sandbox.cell.starts == 2


def test_a_process_that_has_grown_is_replaced_unseen():
    """Every set of variables is a Z3 context of some megabytes, so a hundred of them outgrow any 64."""
    small = Sandbox(VARIABLES, Effort(memory_mb=64))
    try:
        for n in range(100):
            wider = small.extended({"tries": Variable("tries", "integer", minimum=0, maximum=n)})
            assert wider.check([FEW, Atom("tries", "<", n)]).status == ("sat" if n else "unsat")
            if small.cell.starts > 1:
                break
        assert small.cell.starts > 1 and small.cell.kills == 0
    finally:
        small.close()


def test_a_process_that_cannot_be_started_is_not_tried_for_ever(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    made = Sandbox(VARIABLES, Effort(rlimit=1))
    assert {made.check([FEW]).reason for _ in range(4)} == {"the solver's process could not be started"}
    assert made.cell.starts == 2


# ---- attacks --------------------------------------------------------------------------------------------------------


def big():
    return Const(10**39)


def test_a_case_with_a_number_of_thousands_of_digits_is_unknown_not_a_crash(sandbox):
    term = big()
    for _ in range(199):
        term = Arith("*", term, big())
    answer = sandbox.check([Compare(Ref("a"), "==", term)])
    assert answer.status == "unknown" and "thousands of digits" in answer.reason
    assert sandbox.cell.kills == 0


def test_no_formula_is_too_deep_to_ask_about(sandbox):
    deep = FEW
    for n in range(5000):
        deep = Not(Or((deep, Atom("days", "==", n))))
    answer = sandbox.check([deep])
    assert answer.status != "unknown" or "too deep" in answer.reason
    assert sandbox.check([FEW, MANY]).status == "unsat"


def test_the_simplest_case_is_the_same_on_either_side_of_the_pipe(sandbox):
    asked = [Atom("days", ">", 3), Compare(Ref("a"), "==", Arith("*", Ref("days"), Const(2)))]
    assert sandbox.simplest(asked) == Reasoner(VARIABLES).simplest(asked)
    assert sandbox.simplest([Atom("days", ">", 3)], {"days": [7]}).model == {"days": 7}
    assert sandbox.implied([FEW], Atom("days", "<", 6)).status == "unsat"
