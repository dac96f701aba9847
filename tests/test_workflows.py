"""What runs on GitHub, ours and a new repository's: valid, pinned, least rights, and no stranger's text in a script."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.cli import COMMANDS
from ci.review.posted.binding import digest_of
from ci.scaffold import init
from tests.test_lock import pyproject
from tests.trips.test_pull_request import Git

ROOT = Path(__file__).resolve().parents[1]
OURS = ROOT / ".github" / "workflows"
ACTION = ROOT / "ci" / "action.yml"
SHARED = ("bundle.yml", "policies-command.yml", "policies-comment.yml", "policies.yml")
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*")
OF_A_NEW_ONE = "your-org/bylaw/ci@v1 # zizmor: ignore[unpinned-uses] your own; name a commit of it to be sure"

RIGHTS: dict[tuple[str, str], dict[str, str]] = {
    ("tests.yml", "tests"): {"contents": "read"},
    ("policies.yml", "review"): {"contents": "read"},
    ("policies-comment.yml", "look"): {"actions": "read", "contents": "read", "pull-requests": "read"},
    ("policies-comment.yml", "post"): {
        "actions": "read",
        "checks": "write",
        "contents": "read",
        "issues": "write",
        "pull-requests": "write",
    },
    ("policies-command.yml", "look"): {"contents": "read", "pull-requests": "read"},
    ("policies-command.yml", "answer"): {"contents": "write", "issues": "write", "pull-requests": "write"},
    ("release.yml", "build"): {"contents": "read"},
    ("release.yml", "attest"): {"attestations": "write", "id-token": "write"},
    ("release.yml", "publish"): {"contents": "write"},
    ("release.yml", "index"): {"id-token": "write"},
    ("docs.yml", "build"): {"contents": "read"},
    ("docs.yml", "publish"): {"id-token": "write", "pages": "write"},
    ("bundle.yml", "compile"): {"contents": "read"},
    ("bundle.yml", "publish"): {"contents": "write"},
}


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("new")
    init(root)
    return root


def tool(name: str, *words: object) -> subprocess.CompletedProcess[str]:
    path = Path(sys.executable).with_name(name)
    return subprocess.run([path, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False)


def loaded(path: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def steps(document: dict[Any, Any]) -> list[dict[str, Any]]:
    jobs = document.get("jobs", {"action": document.get("runs", {})})
    return [step for job in jobs.values() for step in job["steps"]]


EVERY = [*sorted(OURS.glob("*.yml")), ACTION]
EACH = pytest.mark.parametrize("path", EVERY, ids=lambda path: path.name)


def test_the_workflows_have_the_shape_that_github_reads(new: Path) -> None:
    files = [*OURS.glob("*.yml"), *(new / ".github" / "workflows").glob("*.yml")]
    done = tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *sorted(files))
    assert done.returncode == 0, done.stdout
    done = tool("check-jsonschema", "--builtin-schema", "vendor.github-actions", ACTION)
    assert done.returncode == 0, done.stdout


def test_an_audit_of_the_workflows_finds_nothing(new: Path) -> None:
    files = (OURS, ACTION, ROOT / ".pre-commit-hooks.yaml", new)
    done = tool("zizmor", "--offline", "--no-progress", "--persona", "auditor", *files)
    assert done.returncode == 0, done.stdout


def test_the_audit_would_find_a_strangers_text_in_a_script(tmp_path: Path) -> None:
    path = tmp_path / ".github" / "workflows" / "policies.yml"
    path.parent.mkdir(parents=True)
    script = "      - run: echo ${{ github.event.pull_request.title }}\n"
    path.write_text((OURS / "policies.yml").read_text(encoding="utf-8") + script, encoding="utf-8")
    done = tool("zizmor", "--offline", "--no-progress", tmp_path)
    assert done.returncode != 0
    assert "template-injection" in done.stdout


@EACH
def test_no_expression_stands_in_a_script(path: Path) -> None:
    assert [step["run"] for step in steps(loaded(path)) if "${{" in step.get("run", "")] == []


@EACH
def test_every_action_is_pinned_by_its_commit(path: Path) -> None:
    named = re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))
    assert [use for use in named if use != "$/ci" and not PINNED.fullmatch(use)] == []


def test_one_action_is_pinned_to_one_commit() -> None:
    named = {use for path in EVERY for use in re.findall(r"uses: (\S+@.+)", path.read_text(encoding="utf-8"))}
    assert len({use.partition("@")[0] for use in named}) == len(named)


@EACH
def test_no_checkout_leaves_its_token_behind(path: Path) -> None:
    checkouts = [step for step in steps(loaded(path)) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_every_job_has_the_least_rights_and_an_end() -> None:
    found = {}
    for path in sorted(OURS.glob("*.yml")):
        document = loaded(path)
        for name, job in document["jobs"].items():
            found[path.name, name] = job.get("permissions", document["permissions"])
            assert job["timeout-minutes"] <= 60
    assert found == RIGHTS


def test_the_part_that_reads_a_strangers_files_has_no_secret_and_writes_nothing() -> None:
    text = (OURS / "policies.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "github.token" not in text
    assert loaded(OURS / "policies.yml")[True] == {"pull_request": None, "merge_group": None}


def test_the_part_that_may_write_runs_only_the_default_branch() -> None:
    document = loaded(OURS / "policies-comment.yml")
    assert document[True] == {"workflow_run": {"workflows": ["policies"], "types": ["completed"]}}
    post = document["jobs"]["post"]
    (checkout,) = (step for step in post["steps"] if step.get("uses", "").startswith("actions/checkout@"))
    assert checkout["with"] == {"persist-credentials": False}
    assert not [step for step in steps(document) if "run" in step]
    assert "github.event.workflow_run.event == 'pull_request'" in document["jobs"]["look"]["if"]
    assert post["needs"] == "look" and post["steps"][-1]["with"]["digest"] == "${{ needs.look.outputs.digest }}"


def test_the_part_that_answers_runs_nothing_of_the_pull_request() -> None:
    document = loaded(OURS / "policies-command.yml")
    assert document[True] == {"issue_comment": {"types": ["created", "edited"]}}
    own, theirs, action, _ = document["jobs"]["look"]["steps"]
    assert own["with"] == {"persist-credentials": False}
    assert theirs["with"]["path"] == action["with"]["root"] == "pull-request"
    assert not [step for step in steps(document) if "run" in step]


def test_the_part_that_may_answer_reads_only_what_the_other_left() -> None:
    document = loaded(OURS / "policies-command.yml")
    own, artifact, action = document["jobs"]["answer"]["steps"]
    assert own["with"] == {"persist-credentials": False}  # the default branch
    assert artifact["uses"].startswith("actions/download-artifact@")
    assert action["with"]["mode"] == "post"
    assert action["with"]["file"].startswith(artifact["with"]["path"])


def test_who_is_no_owner_or_member_starts_nothing() -> None:
    asked = loaded(OURS / "policies-command.yml")["jobs"]["look"]["if"]
    who = re.findall(r"github\.event\.comment\.author_association == '(\w+)'", asked)
    assert who == ["OWNER", "MEMBER"]
    assert " || " not in re.sub(r"\(.*?\)", "", asked)


def test_what_runs_is_installed_from_hashes_and_nothing_is_built() -> None:
    install = next(step["run"] for step in steps(loaded(ACTION)) if "pip install" in step.get("run", ""))
    assert "--require-hashes --only-binary :all: -r" in install
    whole = set((ROOT / "requirements.lock").read_text(encoding="utf-8").replace(" \\", "").split("\n"))
    for lock in (ROOT / "ci" / "requirements.lock", ROOT / ".ci" / "docs.lock"):
        lines = lock.read_text(encoding="utf-8").split("\n")
        assert {line.removesuffix(" \\") for line in lines} <= whole  # the same versions, and their hashes
    tests = "\n".join(step.get("run", "") for step in steps(loaded(OURS / "tests.yml")))
    assert "--require-hashes -r requirements.lock" in tests
    assert "--no-deps --no-build-isolation --editable ." in tests
    for line in (step["run"] for path in EVERY for step in steps(loaded(path)) if "run" in step):
        assert not re.search(r"\b(uv run|uv sync|uvx|pipx)\b", line)


def test_the_tools_of_a_release_are_pinned_by_hashes() -> None:
    backend = pyproject()["build-system"]["requires"]
    lock = (ROOT / ".ci" / "release.lock").read_text(encoding="utf-8")
    assert [one for one in backend if not re.search(rf"^{re.escape(one)} ", lock, re.MULTILINE)] == []
    named = re.split(r"^(?=\S)", lock, flags=re.MULTILINE)[1:]
    assert [one for one in named if "--hash=sha256:" not in one] == []
    script = (ROOT / ".ci" / "release").read_text(encoding="utf-8")
    assert "--require-hashes" in script
    assert "pip-audit" in script
    assert "--no-isolation" in script  # or the backend would be fetched anew, without its hash


def test_a_tag_that_is_not_the_version_or_has_no_notes_is_not_released(tmp_path: Path) -> None:
    version = pyproject()["project"]["version"]
    assert re.search(rf"^## {re.escape(version)}$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    done = subprocess.run(
        ["bash", ROOT / ".ci" / "release", tmp_path, "v9.9.9"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == f"the tag v9.9.9 is not v{version}, the version of pyproject.toml\n"


def test_only_a_person_lets_a_release_into_the_index() -> None:
    job = loaded(OURS / "release.yml")["jobs"]["index"]
    assert job["environment"] == "pypi" and job["if"] == "vars.PUBLISH == 'true'"
    project = pyproject()["project"]
    assert project["name"] == "bylaw-policies"  # `bylaw` is somebody else's
    assert not [one for one in project["classifiers"] if one.startswith("Private")]


def test_nothing_that_an_untrusted_run_cached_is_ever_read() -> None:
    assert all("cache" not in step.get("uses", "") for path in EVERY for step in steps(loaded(path)))
    used = [step for path in EVERY for step in steps(loaded(path)) if "setup-uv" in step.get("uses", "")]
    assert len(used) == 4
    assert all(uv["with"] == {"version": "0.13.9", "enable-cache": False} for uv in used)


@pytest.mark.parametrize("name", SHARED)
def test_a_new_repository_gets_the_same_workflows(name: str, new: Path) -> None:
    text = (OURS / name).read_text(encoding="utf-8").replace("uses: $/ci\n", f"uses: {OF_A_NEW_ONE}\n")
    assert (new / ".github" / "workflows" / name).read_text(encoding="utf-8") == text


def test_the_hook_for_other_repositories_is_a_verb_and_theirs_names_it(new: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    command, verb = hook["entry"].split()
    assert command == "bylaw"
    assert verb in COMMANDS
    (repository,) = yaml.safe_load((new / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert [used["id"] for used in repository["hooks"]] == [hook["id"]]


# ---- the action's own scripts, run by bash ----------------------------------------------------------------------

# Stands in for the interpreter: writes down what it is asked, and runs the verb where this program knows it.
PYTHON = """#!/usr/bin/env bash
printf '%s\\n' "$@" > "$SAID"
[[ "$4" == review ]] && exit 0
exec "{python}" "$@"
"""

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="the scripts are for bash")


def script(mode: str, number: int = 0) -> str:
    found = [step["run"] for step in steps(loaded(ACTION)) if step.get("if") == f"inputs.mode == '{mode}'"]
    text: str = found[number]
    return text


def run(text: str, folder: Path, cwd: Path, **environ: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run a script of the action as a runner does, with the stand-in for its interpreter."""
    python = folder / "environment" / "bin" / "python"
    python.parent.mkdir(exist_ok=True, parents=True)
    python.write_text(PYTHON.format(python=sys.executable), encoding="utf-8")
    python.chmod(0o755)
    said = folder / "said"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "SAID": str(said), "ENVIRONMENT": str(folder / "environment")}
    env.pop("GITHUB_STEP_SUMMARY", None)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", text],
        cwd=cwd,
        env={**env, "ACTION": str(ROOT / "ci"), "ROOT": ".", **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    return done, said.read_text(encoding="utf-8").splitlines() if said.exists() else []


@pytest.fixture
def git(tmp_path: Path) -> Git:
    repository = Git(tmp_path / "repository")
    init(repository.folder, force=True)
    repository.commit("Begin")
    return repository


@needs_bash
def test_the_untrusted_part_computes_against_where_the_change_began(git: Git, tmp_path: Path) -> None:
    began = git("rev-parse", "HEAD")
    git("checkout", "-q", "-b", "change")
    (git.folder / "change.txt").write_text("x")
    git.commit("Change")
    git("checkout", "-q", "main")
    (git.folder / "other.txt").write_text("x")
    moved = git.commit("Meanwhile")
    git("checkout", "-q", "change")
    hostile = 'out $(touch pwned) `touch pwned` "; touch pwned #.json'
    done, said = run(script("compute"), tmp_path, git.folder, BASE_SHA=moved, OUT=hostile)
    assert done.returncode == 0, done.stderr
    assert said[3:] == ["review", "--compute", hostile, "--base", began, "--root", "."]
    assert said[:3] == ["-P", "-m", "bylaw.cli"]
    assert not (git.folder / "pwned").exists()


@needs_bash
def test_the_trusted_part_posts_the_file(git: Git, tmp_path: Path) -> None:
    done, said = run(script("post"), tmp_path, git.folder, OUT="a file.json", GITHUB_TOKEN="t", DIGEST="sha256:1")
    assert done.returncode == 0, done.stderr
    assert said[3:] == ["review", "--post", "a file.json", "--digest", "sha256:1", "--root", "."]


@needs_bash
def test_what_was_computed_is_named_by_its_digest(git: Git, tmp_path: Path) -> None:
    out, told = git.folder / "review.json", tmp_path / "output"
    out.write_text("found", encoding="utf-8")
    done, _ = run(script("compute"), tmp_path, git.folder, BASE_SHA="", OUT=str(out), GITHUB_OUTPUT=str(told))
    assert done.returncode == 0, done.stderr
    assert told.read_text(encoding="utf-8") == f"digest={digest_of(b'found')}\n"


@needs_bash
def test_a_comment_is_answered_from_the_event_alone(git: Git, tmp_path: Path) -> None:
    environ = {"GITHUB_TOKEN": "t", "ROOT": "pull-request", "BASE_SHA": "", "OUT": "reply.json"}
    done, said = run(script("compute"), tmp_path, git.folder, **environ)
    assert done.returncode == 0, done.stderr
    assert said[3:] == ["review", "--compute", "reply.json", "--root", "pull-request"]


@pytest.mark.slow
@needs_bash
def test_two_clean_changes_that_contradict_each_other_are_named_on_the_branch(git: Git, tmp_path: Path) -> None:
    before = git("rev-parse", "HEAD")
    for name, action in (("008", "store_credit"), ("009", "reject")):
        git("checkout", "-q", "-b", f"change-{name}", "main" if name == "008" else before)
        path = git.folder / f"policies/refund/POL-REFUND-{name}.yaml"
        path.write_text(GIFT.format(name=name, action=action))
        git.commit(f"Say {action}")
        clean, _ = run(script("bundle"), tmp_path, git.folder, BASE_SHA=before)
        assert clean.returncode == 0, clean.stdout
    git("merge", "-q", "--no-edit", "change-008")
    done, _ = run(script("bundle"), tmp_path, git.folder, BASE_SHA=before)
    assert done.returncode == 1
    (named,) = (line for line in done.stdout.splitlines() if "title=conflict::" in line)
    assert "POL-REFUND-008" in named
    assert "POL-REFUND-009" in named


GIFT = """\
policy_id: POL-REFUND-{name}
conditions:
  - {{type: fact, parameter: days_since_purchase, operator: ">", value: 900}}
overrides: [POL-REFUND-001]
reason: Old things.
actions:
  - {{type: required, action: {action}}}
metadata: {{source: leaflet, owner: Gifts, domain: refund}}
"""


@pytest.mark.slow
@needs_bash
def test_the_bundle_of_a_first_push_is_compiled(git: Git, tmp_path: Path) -> None:
    nothing = "0" * 40
    done, _ = run(script("bundle"), tmp_path, git.folder, BASE_SHA=nothing)
    assert done.returncode == 0, done.stdout + done.stderr
    done, _ = run(script("bundle", 1), tmp_path, git.folder, OUT="out")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (git.folder / "out" / "compiled_policy_bundle.json").is_file()


@pytest.mark.slow
@needs_bash
def test_debt_of_the_branch_stops_no_bundle_and_an_unreadable_file_does(git: Git, tmp_path: Path) -> None:
    (git.folder / "policies/gifts").mkdir()
    (git.folder / "policies/gifts/cases.yaml").write_text(
        "- {name: debt, facts: {days_since_purchase: 1, has_receipt: true}, expect: {prohibited: [full_refund]}}\n"
    )
    done, _ = run(script("bundle", 1), tmp_path, git.folder, OUT="out")
    assert done.returncode == 0, done.stdout + done.stderr
    (git.folder / "policies/refund/POL-REFUND-009.yaml").write_text("policy_id: [\n")
    done, _ = run(script("bundle", 1), tmp_path, git.folder, OUT="other")
    assert done.returncode != 0
