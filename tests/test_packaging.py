"""Beside the wheel: the image installs hashed packages as nobody special, the extension starts the server."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from bylaw.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
IMAGE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
EXTENSION = ROOT / "editors" / "vscode"


def test_every_package_of_the_image_is_hashed_or_our_own_wheel() -> None:
    installs = re.findall(r"pip install ([^\n]*)", IMAGE)
    assert len(installs) == 3
    for words in installs:
        assert "--require-hashes" in words or ("--no-index" in words and "--no-deps" in words and ".whl" in words)


def test_the_image_is_built_in_stages_and_runs_as_nobody_special() -> None:
    stages = re.split(r"^FROM ", IMAGE, flags=re.MULTILINE)[1:]
    assert len(stages) == 2
    last = stages[-1]
    assert re.search(r"^USER 1\d{4}$", last, re.MULTILINE) and "COPY --from=build /app /app" in last
    assert 'ENTRYPOINT ["bylaw"]' in last


def test_the_image_is_made_of_files_that_are_there_and_that_docker_may_read() -> None:
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = [word for line in re.findall(r"^COPY (?!--from)(.*)$", IMAGE, re.MULTILINE) for word in line.split()[:-1]]
    assert len(copied) > 6
    for name in copied:
        assert (ROOT / name).exists()
        assert name in let_in or name.split("/")[0] in let_in


@pytest.mark.slow
def test_the_image_builds() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True, check=False).returncode:
        pytest.skip("no docker daemon runs here")
    subprocess.run([docker, "build", "-q", "-t", "bylaw-test", ROOT], check=True)
    done = subprocess.run(
        [docker, "run", "--rm", "bylaw-test", "--version"], check=True, capture_output=True, text=True
    )
    assert "bylaw" in done.stdout


def test_the_extension_starts_a_verb_that_exists() -> None:
    told = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    command, verb = told["contributes"]["configuration"]["properties"]["bylaw.command"]["default"]
    assert command == "bylaw" and verb in COMMANDS
    assert (EXTENSION / told["main"]).is_file()
    assert "files" not in told  # it would leave the packages out that the script needs
    assert (
        told["contributes"]["configuration"]["properties"]["bylaw.command"]["scope"] == "machine"
    )  # no folder sets it


def test_the_script_of_the_extension_is_well_formed_and_names_what_is_declared() -> None:
    script = (EXTENSION / "extension.js").read_text(encoding="utf-8")
    told = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    for command in told["contributes"]["commands"]:
        assert f'"{command["command"]}"' in script
    for name in re.findall(r'require\("([^"/]+)', script):
        assert name == "vscode" or name in told["dependencies"]
    node = shutil.which("node")
    if node is not None:
        subprocess.run([node, "--check", EXTENSION / "extension.js"], check=True)


def test_the_commands_of_the_readme_do_what_it_says(tmp_path: Path, call, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) < 200
    (tmp_path / "bylaw").mkdir()
    monkeypatch.chdir(tmp_path / "bylaw")
    lines = re.findall(r"^bylaw ((?:init|check|ask) [^#\n]*?)\s*(?:#.*)?$", readme, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        assert call(*shlex.split(line)).code == 0
