"""A fresh clone that lies alone: its tests are collected, and only one module can look for what may lie beside it."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.beside import beside, find_beside
from tests.test_house import ROOT, tracked

THE_ONE = ROOT / "tests" / "beside.py"


def names_the_folder(node: ast.AST) -> bool:
    """Is this a path that goes up, or a part of one, and ends in the folder beside the repository?"""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        node = node.right
    elif not isinstance(node, ast.Constant) or "../shared" not in str(node.value):
        return False
    return isinstance(node, ast.Constant) and "shared" in str(node.value).split("/")


def sentences(tree: ast.AST) -> set[ast.AST]:
    """Docstrings, which may say where data come from."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('DATA = Path(__file__).parents[3] / "shared" / "seeds"', True),
        ('DATA = ROOT / "../shared/seeds"', True),
        ('DATA = Path("../shared/seeds")', True),
        ('generate(root, 60, "shared")', False),
        ('"""The rows of ../shared/seeds."""', False),
    ],
)
def test_a_path_into_the_folder_is_seen(line: str, found: bool) -> None:
    tree = ast.parse(line)
    assert any(names_the_folder(node) for node in set(ast.walk(tree)) - sentences(tree)) is found


def test_no_other_module_of_the_tests_names_the_folder() -> None:
    named = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if path in (THE_ONE, Path(__file__)):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named += [f"{path.relative_to(ROOT)}:{node.lineno}" for node in set(ast.walk(tree)) - sentences(tree)
                  if names_the_folder(node)]  # fmt: skip
    assert named == [], "ask tests/beside.py for the path: it skips who asks for what is not there"


def test_who_asks_for_what_is_not_there_is_skipped_with_the_reason() -> None:
    assert find_beside("no", "such") is None
    with pytest.raises(pytest.skip.Exception, match=r"\.\./shared/no/such is not beside this repository"):
        beside("no", "such")


@pytest.mark.slow
def test_a_clone_without_the_folder_collects_all_of_its_tests(tmp_path: Path) -> None:
    """Every module is imported, also those of slow tests and benchmarks; what has its data there says so."""
    clone = tmp_path / "clone"
    for path in tracked():
        target = clone / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-m", "", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-4_000:]
    assert "../shared/realworld/policies/retail is not beside this repository" in done.stdout
