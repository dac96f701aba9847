"""What a newcomer and a runner meet first: the ritual, the workflow, the hooks, the licence, the recipes."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.cli import COMMANDS
from tests.rows import each

ROOT = Path(__file__).parent.parent
RITUAL = [
    "run pytest -n auto -m not benchmark and not longer",
    "run ruff check .",
    "run ruff format --check .",
    "run mypy",
    "run lint-imports",
]

NO_TEST = 5  # what pytest ends with when there was none to run

# Stands in for uv: writes down what it is asked, fails where it is told to.
FAKE_UV = """#!/usr/bin/env bash
echo "$*" >> "$UV_SAID"
[[ "$*" == "$UV_FAILS_AT" ]] && exit "$UV_FAILS_WITH"
exit 0
"""


def ritual(folder: Path, fails_at: str = "", fails_with: int = 1) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run `.ci/run` with a stand-in for uv; what it said, and what it asked uv to do."""
    bin_ = folder / "bin"
    bin_.mkdir()
    fake = bin_ / "uv"
    fake.write_text(FAKE_UV, encoding="utf-8")
    fake.chmod(0o755)
    said = folder / "said"
    environment = {
        **os.environ,
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "UV_SAID": str(said),
        "UV_FAILS_AT": fails_at,
        "UV_FAILS_WITH": str(fails_with),
    }
    done = subprocess.run(
        ["bash", str(ROOT / ".ci" / "run")], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    return done, said.read_text(encoding="utf-8").splitlines()


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="the ritual is a bash script")


@needs_bash
def test_the_ritual_runs_every_step_in_order_and_names_it(tmp_path: Path) -> None:
    done, asked = ritual(tmp_path)
    assert done.returncode == 0, done.stderr
    assert asked == RITUAL
    assert [line for line in done.stdout.splitlines() if line.startswith("+ ")] == [f"+ uv {step}" for step in RITUAL]
    assert done.stdout.splitlines()[-1] == "passed"


@needs_bash
@pytest.mark.parametrize(("step", "code"), [*((step, 1) for step in RITUAL), (RITUAL[0], NO_TEST)])
def test_the_ritual_stops_at_the_first_failure_and_says_which(tmp_path: Path, step: str, code: int) -> None:
    done, asked = ritual(tmp_path, fails_at=step, fails_with=code)
    assert done.returncode == 1
    assert asked == RITUAL[: RITUAL.index(step) + 1]
    assert done.stderr.strip() == f"FAILED: uv {step} (exit code {code})"
    assert "passed" not in done.stdout


def test_the_ritual_can_be_executed() -> None:
    assert (ROOT / ".ci" / "run").stat().st_mode & stat.S_IXUSR


def delivered() -> list[Path]:
    return [
        ROOT / ".ci" / "run",
        ROOT / ".pre-commit-config.yaml",
        ROOT / ".github" / "CONTRIBUTING.md",
        *sorted((ROOT / ".github" / "workflows").glob("*.yml")),
    ]


@each("path", delivered(), ids=lambda path: path.name)
def test_no_file_names_a_registry_or_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"https?://|(?<!emit-)index-url|extra-index|find-links|/home/|/root/|/work/", text)


def workflow(name: str) -> dict[Any, Any]:
    loaded = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def test_the_workflow_runs_the_ritual_with_the_least_rights() -> None:
    tests = workflow("tests.yml")
    assert tests["permissions"] == {"contents": "read"}
    (job,) = tests["jobs"].values()
    assert "permissions" not in job
    assert job["timeout-minutes"] <= 60
    install, ritual = [step["run"] for step in job["steps"] if "run" in step]
    assert "--require-hashes -r requirements.lock" in install and ritual == "bash .ci/run"
    checkout = next(step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@"))
    assert checkout["with"] == {"persist-credentials": False}


def test_the_workflow_uses_no_secret_and_no_text_of_strangers() -> None:
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "pull_request_target" not in text
    assert set(re.findall(r"\$\{\{ *([^} ]+) *\}\}", text)) == {"github.ref", "matrix.python"}


def test_hooks_are_local() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repo["repo"] for repo in hooks["repos"]] == ["local"]
    assert all(hook["entry"].startswith("uv run ") for repo in hooks["repos"] for hook in repo["hooks"])


def test_the_licence_is_the_one_the_project_names() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_a_pull_request_begins_with_a_template_that_names_the_ritual() -> None:
    text = (ROOT / ".github" / "pull_request_template.md").read_text(encoding="utf-8")
    assert "bash .ci/run" in text and (ROOT / ".ci" / "run").is_file()
    assert "CONTRIBUTING.md" in text and (ROOT / ".github" / "CONTRIBUTING.md").is_file()


def test_the_changelog_of_the_first_version_is_one_page() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    verbs = set(re.findall(r"`bylaw ([a-z]+)", "\n".join(lines)))
    assert verbs and verbs <= set(COMMANDS)


def test_contributing_has_the_seven_recipes_and_the_lock() -> None:
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \((.)\) ", text, re.MULTILINE) == ["a", "b", "c", "d", "e", "f", "g"]
    recipe = [line.strip("# \\\n") for line in (ROOT / "tests" / "test_lock.py").read_text("utf-8").splitlines()[1:4]]
    assert " ".join(recipe[:2]) in text
    assert recipe[2] in text
