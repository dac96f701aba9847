"""What every test may use: the command as people run it, and the tiny company compiled once."""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import json
import logging
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent

# Hundreds of processes are started, each of which would compile all that it imports: who wants no bytecode beside the
# sources gets it where pytest keeps its own. First of all, as what is imported next is rewritten by pytest.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(HERE.parent / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

# A run writes tens of thousands of small files: in memory, where there is room, that takes a twentieth of the time.
_MEMORY, _ROOM = "/dev/shm", 4 << 30
if "TMPDIR" not in os.environ and Path(_MEMORY).is_dir():
    _about = os.statvfs(_MEMORY)
    if _about.f_bavail * _about.f_frsize > _ROOM and not _about.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = _MEMORY

import pytest  # noqa: E402
import yaml  # noqa: E402
from hypothesis import HealthCheck, is_hypothesis_test, settings  # noqa: E402

from tests import rows  # noqa: E402
from tests.fakes.forked import Forked, engine  # noqa: E402

if TYPE_CHECKING:
    from tests.fakes.github.server import FakeGitHub

# The same examples on every run: what CI finds, everybody finds. `--hypothesis-profile=longer` looks further.
_busy = [HealthCheck.too_slow]  # a loaded machine is no reason to fail
settings.register_profile("fixed", derandomize=True, deadline=None, database=None, suppress_health_check=_busy)
settings.register_profile("longer", max_examples=2_000, deadline=None, suppress_health_check=_busy)
settings.load_profile("fixed")

# Who is started in the background ignores interrupts, and so would every process that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What a check leaves for the next one lies in a folder of this session: no test finds what another run left.
_LEFT = tempfile.TemporaryDirectory(prefix="bylaw-tests-")
os.environ["BYLAW_CACHE"] = _LEFT.name

# What is imported and collected stays: a search for garbage would look at all of it again and again.
gc.disable()

# Rows are read by the ten thousand whenever tests are collected, and libyaml reads them eight times as fast.
yaml.safe_load = functools.partial(yaml.load, Loader=yaml.CSafeLoader)

# Each call of httpx would read the certificates of all authorities, 40 ms, and nobody here speaks TLS.
ssl.create_default_context = functools.cache(ssl.create_default_context)

# Nobody loses a test's files with the power: what is synced in this process need not wait for the disk. Processes that
# tests start, and kill, do wait.
os.fsync = os.fdatasync = lambda _file: None

_SETTINGS = "_hypothesis_internal_use_settings"  # where a property's own settings are

DAY = "2026-06-01"  # the day that the tiny company's questions are asked for


_FEW = 10  # examples of a property that every run tries; of many, a thirtieth, and a third where slow tests run, too

# What is not even collected where its mark is not asked for. Journeys through real processes, and what was collected
# elsewhere, run with the slow tests: what they promise has quicker tests in its own room.
_APART = {"benchmarks": "benchmark", "realworld": "slow", "trips": "slow"}


def _worker() -> tuple[int, int]:
    """Which of how many processes of this run this one is."""
    known = os.environ.get("PYTEST_XDIST_WORKER", "gw0"), os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    return int(known[0].removeprefix("gw")), int(known[1])


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Each worker begins with other files: what one has compiled, with its asserts, the others find."""
    report = yield
    if isinstance(collector, pytest.Directory) and report.passed:
        worker, count = _worker()
        first = len(report.result) * worker // count
        report.result = [*report.result[first:], *report.result[:first]]
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All workers have the same order. Properties look at all of their examples in the run of slow tests alone."""
    if _worker()[1] > 1:
        items.sort(key=lambda item: item.path.parts)
    for item in items:
        if _APART.get(item.path.parent.name) == "slow":
            item.add_marker("slow")
    if settings.default is not settings.get_profile("fixed"):
        return
    own = {id(item.obj): item for item in items if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)}
    for item in own.values():
        if any(item.get_closest_marker(name) for name in ("slow", "longer", "benchmark")):
            continue
        if config.option.markexpr == "slow":
            item.add_marker("slow")
            continue
        chosen = getattr(item.obj, _SETTINGS, None) or settings.default
        few = max(_FEW, chosen.max_examples // (30 if "not slow" in config.option.markexpr else 3))
        setattr(item.obj, _SETTINGS, settings(chosen, max_examples=min(few, chosen.max_examples)))


def pytest_configure(config: pytest.Config) -> None:
    rows.IS_QUICK = "not slow" in config.option.markexpr


def pytest_collection_finish() -> None:
    """What was collected stays until the end: no search for garbage ever looks at it."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 50)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write golden files and transcripts anew.")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What lies apart is looked at when asked for: by its mark, or by its path."""
    mark = _APART.get(collection_path.name) if collection_path.parent == HERE else None
    is_asked = f"not {mark}" not in config.option.markexpr or any(collection_path.name in one for one in config.args)
    return True if mark and not is_asked else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """`-n auto`: one more than there are processors, as some of the time is spent waiting for other processes."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker has all files of a folder: it compiles, imports and starts once what they share."""
    from xdist.scheduler import LoadScopeScheduling

    class Folders(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = Path(nodeid.partition("::")[0])
            return str(path if path.parent.name == HERE.name else path.parent)

    return Folders(config, log) if config.getvalue("dist") == "loadfile" else None


@dataclass(frozen=True)
class Done:
    """How a call of the command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON document and nothing else."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Company:
    """The tiny company: its files, and the folder its bundle lies in. Tests read it; who writes copies it first."""

    root: Path
    output: Path

    @property
    def bundle(self) -> Path:
        return self.output / "compiled_policy_bundle.json"


Command = Callable[..., Done]


_OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG", "TZ")  # what is read when one starts


def run_bylaw(
    *words: object, cwd: Path | None = None, timeout: float = 120, merged: bool = False, **environ: str
) -> Done:
    """Run `bylaw` with these words in a process of its own, without colours; *merged*: what it tells is in `out`.

    It is forked from one that has imported it already, except where *environ* is for the interpreter.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith(("BYLAW_", "GIT_"))}
    env |= {"NO_COLOR": "1", "BYLAW_CACHE": _LEFT.name, **environ}
    place = (cwd or Path()).resolve()
    ends: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT if merged else subprocess.PIPE}
    if not any(name.startswith(_OF_THE_INTERPRETER) for name in environ):
        process = Forked("-m", "bylaw.cli", *words, cwd=place, env=env, **ends)
        out, err = process.communicate(timeout)
        return Done(process.wait(), out, err)
    command = [sys.executable, "-m", "bylaw.cli", *map(str, words)]
    done = subprocess.run(
        command, cwd=place, env=env, stdin=subprocess.DEVNULL, encoding="utf-8", timeout=timeout, check=False, **ends
    )
    return Done(done.returncode, done.stdout, done.stderr or "")


@pytest.fixture(scope="session", autouse=True)
def _warehouses_start_at_once() -> Iterator[None]:
    """Each DuckDB has a process of its own all the same; `tests/bylaw/warehouses` starts them as the product does."""
    from bylaw.warehouses import process

    with pytest.MonkeyPatch.context() as patch:
        known = {"PIPE": subprocess.PIPE, "DEVNULL": subprocess.DEVNULL, "Popen": engine}
        patch.setattr(process, "subprocess", SimpleNamespace(**known))
        yield


@pytest.fixture(autouse=True)
def _no_handler_outlives_its_stream() -> Iterator[None]:
    """A server that is set up inside a test writes its log to the standard error of that test, which is then closed."""
    for handler in [*logging.root.handlers]:
        if isinstance(handler, logging.StreamHandler) and getattr(handler.stream, "closed", False):
            logging.root.removeHandler(handler)
    before = [*logging.root.handlers]
    yield
    for handler in [*logging.root.handlers]:
        if type(handler) is logging.StreamHandler and handler not in before:
            logging.root.removeHandler(handler)


def call_bylaw(
    *words: object, cwd: Path | None = None, merged: bool = False, stdin: bytes = b"", **environ: str
) -> Done:
    """Like `run_bylaw`, in this process: for the many calls whose imports would cost more than what they do."""
    from bylaw.cli import main

    out, err = io.StringIO(), io.StringIO()
    argv, sys.argv = sys.argv, ["bylaw", *map(str, words)]
    code: object = 0
    try:
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.chdir(cwd or Path()),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out if merged else err),
        ):
            for name, value in environ.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
            main()
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.argv = argv
    assert isinstance(code, int)
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def call() -> Command:
    """The command inside this process."""
    return call_bylaw


@pytest.fixture(scope="session")
def bylaw() -> Command:
    """The command from outside: `bylaw("check", "--root", folder)` gives exit code, stdout and stderr."""
    return run_bylaw


def copy_company(target: Path) -> Path:
    """The files of the tiny company under *target*, without what a verb may have left beside them."""
    shutil.copytree(HERE / "company", target, ignore=shutil.ignore_patterns(".bylaw"), dirs_exist_ok=True)
    return target


@pytest.fixture(scope="session")
def company(tmp_path_factory: pytest.TempPathFactory) -> Company:
    """The tiny company, compiled once. It has errors on purpose, which keep nothing out of its bundle."""
    root = copy_company(tmp_path_factory.mktemp("company") / "root")
    made = Company(root, root.parent / "compiled")
    done = run_bylaw("compile", "--root", root, "-o", made.output, "--at", DAY)
    assert done.code == 1, done.err
    return made


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a throw-away PostgreSQL cluster, up to the name of a database."""
    from tests.fakes import postgresql as fake

    if reason := fake.missing():
        pytest.skip(reason)
    with fake.cluster() as address:
        yield address


@pytest.fixture
def github(tmp_path: Path) -> Iterator[FakeGitHub]:
    """A GitHub on loopback with the empty repository `acme/policies`; its module says how to use it."""
    from tests.fakes.github.repository import GitRepository
    from tests.fakes.github.server import FakeGitHub

    with FakeGitHub(git=GitRepository.create(tmp_path / "hub.git")) as fake:
        yield fake
    assert fake.defects == [], "answers that GitHub's own description does not allow"
    assert fake.unknown == [], "asked for what the fake does not have"


@pytest.fixture
def company_copy(tmp_path: Path) -> Path:
    """The tiny company's files in a folder of the test's own."""
    return copy_company(tmp_path / "company")
