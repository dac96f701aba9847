"""`bylaw serve --slack` as it is run: it answers, ends when told, and logs no word that anybody said."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.forked import Forked
from tests.fakes.slack import payloads
from tests.fakes.slack.reading import shown
from tests.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("way", ["http", "socket"])
def test_the_command_answers_in_slack(tmp_path, repository, slack, way):
    env = {k: v for k, v in os.environ.items() if not k.startswith("BYLAW_")}
    env["BYLAW_SLACK_API_URL"], env["BYLAW_SLACK_BOT_TOKEN"] = slack.api, slack.bot_token
    env["BYLAW_SLACK_APP_TOKEN"], env["BYLAW_SLACK_SIGNING_SECRET"] = slack.app_token, slack.secret
    command = ["-m", "bylaw.cli", "serve", "--bundle", str(repository.bundle), "--port", "0"]
    running = Forked(*command, "--slack", way, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        address = running.stdout.readline().strip().removeprefix("serving on ")
        assert address, running.communicate()[1]
        if way == "http":
            slack.request_url = f"{address}/slack/events"
        else:
            slack.connected()
        slack.say("UANA", "D1", "Can I return a lamp I bought 12 days ago? I have the receipt.")
        assert slack.sent[-1].status == 200
        wait_until(lambda: slack.posts("D1"), lambda: running.poll() is None)
        assert "policies/refund/POL-REFUND-001.yaml:" in shown(slack.posts("D1")[0])
    finally:
        running.send_signal(signal.SIGTERM)
        told = running.communicate(timeout=60)[1]
    assert running.returncode == 0
    assert "Traceback" not in told
    assert [word for word in ("lamp", slack.bot_token, slack.app_token, slack.secret) if word in told] == []


def test_what_comes_to_several_processes_is_answered_once(tmp_path, repository, slack):
    env = {k: v for k, v in os.environ.items() if not k.startswith("BYLAW_")}
    env["BYLAW_SLACK_API_URL"], env["BYLAW_SLACK_BOT_TOKEN"] = slack.api, slack.bot_token
    env["BYLAW_SLACK_SIGNING_SECRET"] = slack.secret
    command = ["-m", "bylaw.cli", "serve", "--bundle", str(repository.bundle), "--port", "0"]
    words = [*command, "--slack", "http", "--workers", 3]
    running = Forked(*words, cwd=tmp_path, env=env, stdout=subprocess.PIPE)
    try:
        address = running.stdout.readline().strip().removeprefix("serving on ")
        slack.request_url = f"{address}/slack/events"
        ts = slack.next_ts()
        said = "Can I return a lamp I bought 12 days ago? I have the receipt."
        slack.told("UANA", "D1", said, ts, None)
        event = payloads.message(said, "UANA", "D1", ts)
        with ThreadPoolExecutor(12) as pool:
            taken = list(pool.map(lambda retry: slack.attempt(event, retry).status, range(12)))
        assert taken == [200] * 12
        wait_until(lambda: slack.posts("D1"), lambda: running.poll() is None)
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
    assert running.returncode == 0  # whoever was at it has finished
    assert len(slack.posts("D1")) == 1


def test_what_is_missing_is_wrong_usage(tmp_path, repository, bylaw):
    done = bylaw("serve", "--bundle", repository.bundle, "--port", "0", "--slack", "http", cwd=tmp_path)
    assert done.code == 2
    assert "BYLAW_SLACK_SIGNING_SECRET" in done.err
