"""From four corrections in Slack to an answer that has changed for all: real processes, a pull request, a merge."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from time import monotonic

import pytest

from bot.delivery.listeners.heard import said_at
from bylaw.demos.warehouse import build
from tests.conftest import Command
from tests.fakes.forked import Forked
from tests.fakes.github.server import FakeGitHub
from tests.fakes.slack.payloads import BOT
from tests.fakes.slack.reading import shown
from tests.fakes.slack.server import FakeSlack
from tests.fakes.voltmark import ROOT
from tests.waiting import wait_until

SENIORS = ("UADA", "UBO", "UCY", "UDEE")
PEOPLE = "".join(f"  {user}: [senior_analyst]\n" for user in SENIORS) + "  UGRACE: [steward]\n  UFAY: [analyst]\n"
ASKED = f"<@{BOT}> order count by channel last month"
METRIC = "context/metrics/order_count.yaml"
BUNDLE = "out/compiled_policy_bundle.json"


@pytest.fixture
def root(tmp_path: Path, github: FakeGitHub, bylaw: Command) -> Path:
    """The organisation's repository, on GitHub and here, compiled, with its data."""
    folder = tmp_path / "repository"
    for name in ("policies", "context", "rules"):
        shutil.copytree(ROOT / name, folder / name)
    roles = folder / "rules/roles.yaml"
    listed = roles.read_text(encoding="utf-8").replace("users:\n", f"users:\n{PEOPLE}", 1)
    roles.write_text(f"{listed}attributes: {{UGRACE: {{github: grace-h}}}}\n", encoding="utf-8")
    files = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.yaml")}
    github.commit("main", files)
    github.state.people |= {"grace-h": "write"}
    build(folder / "data.duckdb", said_at(FakeSlack().next_ts()).date())
    compiled(folder, bylaw)
    return folder


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as fake:
        fake.channel("C1", *SENIORS, "UFAY", "UGRACE")
        yield fake
    assert fake.defects == []


def compiled(root: Path, bylaw: Command) -> None:
    done = bylaw("compile", "--root", root, "-o", root / "out")
    assert (root / BUNDLE).is_file(), done.err


@contextmanager
def serving(root: Path, slack: FakeSlack) -> Iterator[Forked]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("BYLAW_", "GITHUB_"))}
    env["BYLAW_SLACK_API_URL"], env["BYLAW_SLACK_BOT_TOKEN"] = slack.api, slack.bot_token
    env["BYLAW_SLACK_SIGNING_SECRET"] = slack.secret
    words = ["-m", "bylaw.cli", "serve", "--bundle", BUNDLE, "--port", "0", "--workers", "1", "--slack", "http"]
    running = Forked(*words, "--warehouse", "duckdb:///data.duckdb", cwd=root, env=env, stdout=subprocess.PIPE)
    try:
        slack.request_url = running.stdout.readline().strip().removeprefix("serving on ") + "/slack/events"
        yield running
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
    assert running.returncode == 0


def answer(slack: FakeSlack, user: str, running: Forked) -> dict:
    ts = slack.say(user, "C1", ASKED)

    def posts() -> list[dict]:
        return [post for post in slack.posts("C1", user) if post["thread_ts"] == ts]

    return wait_until(posts, lambda: running.poll() is None)[0]


def correct(slack: FakeSlack, user: str, running: Forked) -> None:
    slack.modals.pop(user, None)
    post = answer(slack, user, running)

    clicked = -inf

    def opened() -> bool:
        """Is the dialog open? A click is worth three seconds: who sees nothing open clicks again."""
        nonlocal clicked
        if monotonic() > clicked + 3.5:
            slack.click(user, post, "Wrong…")
            clicked = monotonic()
        return bool(slack.modals.get(user))

    wait_until(opened, lambda: running.poll() is None)
    slack.choose(user, "Order count: which rows it counts")
    assert slack.submit(user, wrong_new="channel = 'online'", wrong_reason="stores count themselves, @here") == {}


def test_four_seniors_correct_a_steward_opens_people_merge_and_everybody_is_told(
    root: Path, slack: FakeSlack, github: FakeGitHub, bylaw: Command
) -> None:
    hub = {"GITHUB_API_URL": github.base, "GITHUB_TOKEN": github.token(kind="personal")}
    with serving(root, slack) as running:
        assert "in-store" in shown(answer(slack, "UFAY", running))
        for user in SENIORS[:3]:
            correct(slack, user, running)
        steward = ("--as", "UGRACE", "--bundle", BUNDLE)
        assert bylaw("promote", "list", *steward, "--json", cwd=root).json == {"candidates": []}
        correct(slack, SENIORS[3], running)
        assert "Using your correction of" in shown(answer(slack, "UADA", running))
        assert "in-store" in shown(answer(slack, "UFAY", running)), "nobody else's answer has changed"

        (candidate,) = bylaw("promote", "list", *steward, "--json", cwd=root).json["candidates"]
        name = candidate["candidate"]
        assert bylaw("promote", "open", name, "--repo", "acme/policies", "--bundle", BUNDLE, cwd=root, **hub).code == 2
        words = ("--repo", "acme/policies", "--warehouse", "duckdb:///data.duckdb")
        opened = bylaw("promote", "open", name, *words, *steward, "--json", cwd=root, **hub)
        assert opened.code == 0, opened.err
        (pull,) = github.state.pulls.values()
        assert pull.reviewers == ["grace-h"]
        assert [file.path for file in github.files(pull)] == [METRIC]
        body = pull.body.replace("\\", "")  # Markdown is escaped
        for part in (
            "4 experienced people corrected the same thing",
            "senior_analyst",
            "cases before: 195 of 195 cases hold; after: 195 of 195 cases hold",
            "verified query orders-by-month: ",
            "answers of the last 90 days would change",
        ):
            assert part in body
        assert "UADA" not in pull.body, "who agrees is told by role"
        assert "@here" not in pull.body

        github.git.set_ref("refs/heads/main", github.git.resolve(f"refs/heads/bylaw/{name}"))
        merged = github.git.read_blob(github.git.blob_at("refs/heads/main", METRIC)).decode()
        assert merged == (ROOT / METRIC).read_text(encoding="utf-8") + "filter: channel = 'online'\n"
        (root / METRIC).write_text(merged, encoding="utf-8")
        compiled(root, bylaw)

        fifth = shown(answer(slack, "UFAY", running))
        assert "in-store" not in fifth
        assert "as colleagues corrected it" in fifth
        assert opened.json["url"] in fifth
        assert "Using your correction" not in shown(answer(slack, "UADA", running)), "the private one is retired"
        assert bylaw("promote", "list", *steward, cwd=root).out == "nothing waits for a steward\n"
