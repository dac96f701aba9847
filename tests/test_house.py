"""The promises of the house that drift when nobody looks: floors, sizes, tables, schemas, what `--help` loads."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bylaw.cli import COMMANDS, load_verb
from ci.findings import SEVERITIES
from ci.help.meanings import MEANINGS
from ci.help.schemas import stale_schemas
from ci.scaffold import SCHEMAS

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bylaw", "ci", "bot")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
HEAVY = (
    "pydantic_ai",
    "z3",
    "duckdb",
    "github",
    "slack_bolt",
    "slack_sdk",
    "sqlglot",
    "pydantic",
    "fastapi",
    "sqlalchemy",
    "yaml",
    "rich",
)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: what is committed is not known")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def test_every_module_says_what_it_is_and_its_functions_stay_readable():
    assert [problem for path in MODULES for problem in problems(path)] == []


def problems(path: Path) -> Iterator[str]:
    """What a reader would stumble over: no docstring, or a function of more than 80 lines."""
    text = path.read_text(encoding="utf-8")
    if path.name == "__init__.py" and not text.strip():
        return
    tree = ast.parse(text)
    if not ast.get_docstring(tree):
        yield f"{relative(path)}: no docstring"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > 80:
                yield f"{relative(path)}: {node.name} has {length} lines"


def test_every_verb_of_the_table_is_a_command_and_stands_in_the_handbook():
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `bylaw (\w+)", page, flags=re.MULTILINE))
    assert told == set(COMMANDS)
    for verb in COMMANDS:
        assert load_verb(verb).help, f"`bylaw {verb} --help` teaches nothing"


def test_help_loads_nothing_heavy():
    code = "import sys, bylaw.cli\n" + "print([m for m in sys.argv[1:] if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code, *HEAVY], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_every_finding_id_is_explained():
    assert set(MEANINGS) == set(SEVERITIES)


def test_the_committed_schemas_are_those_of_the_models():
    assert stale_schemas(SCHEMAS) == []


def test_every_yaml_file_of_ours_points_its_editor_at_a_schema_that_exists():
    for folder in ("policies", "context", "rules"):
        for path in sorted((ROOT / folder).rglob("*.yaml")):
            first = path.read_text(encoding="utf-8").splitlines()[0]
            found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
            assert found, relative(path)
            assert (path.parent / found[1]).resolve().is_file(), relative(path)


def test_nothing_names_a_machine_or_a_registry():
    hosts = re.compile(r"files\.pythonhosted|pypi\.org|/root/|/work/|registry\.npmjs")
    for path in tracked():
        if path.suffix in (".png", ".duckdb") or path.name in ("test_house.py", "test_delivery.py"):
            continue  # the two that look for such names
        found = hosts.search(path.read_text(encoding="utf-8", errors="replace"))
        assert not found, f"{relative(path)}: {found[0]}"


def test_no_test_folder_shadows_a_package():
    assert not list((ROOT / "tests").rglob("__init__.py"))


def copied(folder: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def contracts(folder: Path) -> subprocess.CompletedProcess[str]:
    linter = Path(sys.executable).with_name("lint-imports")
    return subprocess.run([str(linter), "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)


def test_the_import_contracts_hold(tmp_path):
    shown = contracts(copied(tmp_path))
    assert shown.returncode == 0, shown.stdout


BROKEN = (
    ("bot/index.py", "import ci.findings"),
    ("ci/loading/schema/nearest.py", "import bot.index"),
    ("bylaw/errors.py", "import ci.findings"),
    ("bylaw/logic/formula/ir.py", "import bylaw.bundle"),
    ("bot/index.py", "import yaml"),
    ("ci/loading/schema/nearest.py", "import z3"),
    ("ci/loading/schema/nearest.py", "import github"),
    ("bot/request/orchestrator.py", "import slack_sdk"),
    ("ci/loading/schema/nearest.py", "import bylaw.llm.port"),
    ("bot/index.py", "import pydantic_ai"),
)


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """What is said of a copy in which every floor is broken once."""
    folder = copied(tmp_path_factory.mktemp("broken"))
    for module, line in BROKEN:
        path = folder / module
        path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    shown = contracts(folder)
    assert shown.returncode == 1
    return shown.stdout


@pytest.mark.parametrize(("module", "line"), BROKEN)
def test_a_broken_floor_is_seen(broken, module, line):
    importer = module.removesuffix(".py").replace("/", ".")
    assert f"{importer} -> {line.removeprefix('import ')} (l." in broken
