"""A call that became a task ends with the task's result, on pipes and over HTTP: "working" is no end."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

import httpx
import pytest

from bot.gate.tasks import Following, ending_of, following
from tests.gate.doors import DESK, Door, environ, free_port, in_front_of, started, wait_for, words
from tests.gate.shop import REFUND
from tests.rows import each

SERVER = Path(__file__).with_name("tasks_server.py")
FIRST = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


class Client:
    """Asks one thing after the other, and is told what comes."""

    def __init__(self, root):
        self.root, self.count = root, 0

    def ask(self, method, **params):
        self.count += 1
        message = {"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}
        told = self.sent(message)
        assert told["id"] == self.count, told
        return told

    def call(self, name, task=None, **arguments):
        given = {**(REFUND if name == "issue_refund" else {}), "customer_id": "c1", **arguments}
        more = {} if task is None else {"task": task}
        return self.ask("tools/call", name=name, arguments=given, **more)

    def refunds(self):
        """Is a refund let through now?"""
        return "isError" not in json.dumps(self.call("issue_refund")).replace('"isError": false', "")

    def end(self, task_id, status):
        (self.root / task_id).write_text(status)

    def waits(self, happened):
        until = time.monotonic() + 30
        while not happened():
            assert time.monotonic() < until
            time.sleep(0.05)

    @property
    def done(self):
        path = self.root / "done"
        return path.read_text().splitlines() if path.exists() else []

    def ends(self):
        return Door(None, self.root, "").ends()


class OnPipes(Client):
    def __init__(self, root, process):
        super().__init__(root)
        self.process, self.turn = process, Lock()

    def tell(self, message):
        """Say it, and wait for nothing."""
        with self.turn:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def sent(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class OverHttp(Client):
    def __init__(self, root, address):
        super().__init__(root)
        self.address, self.headers = address, dict(HEADERS)

    def tell(self, message):
        """Say it, and wait for no answer that takes long."""
        with suppress(httpx.TimeoutException):
            httpx.post(self.address, json=message, headers=self.headers, timeout=0.5)

    def sent(self, message):
        told = httpx.post(self.address, json=message, headers=self.headers, timeout=30)
        if "mcp-session-id" in told.headers:
            self.headers["Mcp-Session-Id"] = told.headers["mcp-session-id"]
        return told.json()


@contextmanager
def pipes(bundle, root):
    command = [sys.executable, *words(bundle), "--", sys.executable, str(SERVER), "stdio", "0", str(root)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root, env=environ()
    )
    try:
        yield OnPipes(root, process)
    finally:
        process.kill()
        process.communicate()


@contextmanager
def http(bundle, root):
    port = free_port()
    with started(["-m", "tests.gate.tasks_server", "http", str(port), str(root)], root):
        wait_for(port)
        with in_front_of(f"http://127.0.0.1:{port}/mcp", bundle, root) as (address, _):
            yield OverHttp(root, address)


@pytest.fixture(params=[pipes, http], ids=["pipes", "http"])
def client(request, bundle_file, tmp_path):
    with request.param(bundle_file(DESK), tmp_path) as found:
        found.ask("initialize", **FIRST)
        yield found


def test_working_is_no_end_and_the_result_is(client):
    told = client.call("verify", task={"ttl": 1})
    assert told["result"]["task"]["status"] == "working" and client.done == ["verify 600000"]
    assert client.ask("tasks/get", taskId="t0")["result"]["status"] == "working"
    assert not client.refunds() and client.ends() == []
    client.end("t0", "completed")
    client.waits(client.ends)
    assert client.ends() == [True] and client.refunds() and client.done[-1] == "issue_refund c1"


def test_the_end_that_the_client_hears_of_counts_at_once(client):
    client.call("verify", task={})
    client.end("t0", "completed")
    assert client.ask("tasks/result", taskId="t0")["result"]["isError"] is False
    assert client.refunds()


def test_a_task_that_failed_has_failed(client):
    for n, status in enumerate(("error", "failed", "cancelled")):
        client.call("verify", task={})
        client.end(f"t{n}", status)
        client.waits(lambda n=n: len(client.ends()) == n + 1)
    assert client.ends() == [False] * 3 and not client.refunds()


def test_no_limit_is_passed_by_tasks(client):
    client.call("verify")
    assert "task" in client.call("issue_refund", task={"ttl": 1})["result"]
    for told in (
        client.call("issue_refund", task={"ttl": 1}),
        client.ask("tasks/cancel", taskId="t0"),
        client.ask("tasks/result", taskId="t0", _meta=5),
        client.ask("tasks/get", taskId="nothing"),
        client.ask("tasks/result", taskId="nothing"),
        client.call("issue_refund"),
    ):
        assert "error" in told or told["result"]["isError"], told
    assert [one for one in client.done if one.startswith("issue_refund")] == ["issue_refund 600000"]
    assert "cancelled" not in client.done, "what was let through runs to its end"
    client.end("t0", "gone")
    assert not client.refunds(), "nobody knows what became of it: it is reserved as long as the server kept it"


@each("task", [True, [], "x", 1, None], ids=repr)
def test_what_is_no_task_is_no_call(bundle_file, tmp_path_factory, task):
    root = tmp_path_factory.mktemp("task")
    with http(bundle_file(DESK), root) as client:
        client.ask("initialize", **FIRST)
        told = client.ask("tools/call", name="verify", arguments={"customer_id": "c1"}, task=task)
        assert told["error"]["code"] == -32600 and client.done == []


def test_a_client_that_leaves_is_not_told_of_before_its_calls_ended(bundle_file, tmp_path):
    with http(bundle_file(DESK), tmp_path) as client:
        client.ask("initialize", **FIRST)
        client.call("verify", task={})
        assert httpx.delete(client.address, headers=client.headers, timeout=30).status_code == 200
        time.sleep(0.5)
        assert "left" not in client.done
        client.end("t0", "completed")
        client.waits(lambda: client.done[-1] == "left")
        assert client.ends() == [True]


def task(**more):
    return following({"result": more}, {"params": {}}, None)


@each(
    ("result", "seconds"),
    [
        ({"task": {"taskId": "t", "status": "working", "ttl": 120_000}}, 120.0),
        ({"task": {"taskId": "t", "ttl": 1}}, 60.0),
        ({"task": {"taskId": "t", "ttl": None}}, 86_400.0),
        ({"task": {"taskId": "t", "ttl": 10**15}}, 86_400.0),
        ({"task": {"taskId": "t", "ttl": True, "pollInterval": -5}}, 86_400.0),
        ({"task": {"taskId": "t", "status": "completed"}}, 86_400.0),
        ({"resultType": "task", "taskId": "t", "status": "working", "ttlMs": 90_000}, 90.0),
        ({"task": {"taskId": 5}}, None),
        ({"task": "t"}, None),
        ({"task": {"taskId": "t"}, "content": []}, None),  # the tool's own word
    ],
    ids=str,
)
def test_what_is_a_task_and_how_long_it_is_kept(result, seconds):
    found = task(**result)
    assert (None if found is None else found.seconds) == seconds


HEARD = [
    ("tasks/get", {"result": {"taskId": "t", "status": "working", "pollInterval": 200}}, None),
    ("tasks/get", {"result": {"taskId": "t", "status": "input_required"}}, None),
    ("tasks/get", {"result": {"taskId": "other", "status": "failed"}}, None),
    ("tasks/get", {"result": {"taskId": "t", "status": "done"}}, None),
    ("tasks/get", {"error": {"code": -32602}}, None),
    ("tasks/get", {"result": []}, None),
    ("tasks/get", {"result": {"taskId": "t", "status": "failed"}}, False),
    ("tasks/get", {"result": {"taskId": "t", "status": "cancelled"}}, False),
    ("tasks/get", {"result": {"taskId": "t", "status": "completed"}}, None),  # its result is asked for
    ("tasks/get", {"result": {"taskId": "t", "status": "completed", "result": {"content": []}}}, True),
    (
        "tasks/get",
        {"result": {"taskId": "t", "status": "completed", "result": {"content": [], "isError": True}}},
        False,
    ),
    ("tasks/result", {"result": {"content": []}}, True),
    ("tasks/result", {"result": {"content": [], "isError": True}}, False),
    ("tasks/result", {"result": {}}, None),
    ("tasks/result", {"error": {"code": -32602}}, None),
    ("tasks/result", {"result": {"content": []}, "error": {}}, None),
]


@each(("method", "message", "ok"), HEARD, ids=str)
def test_what_is_heard_of_a_task(method, message, ok):
    found = Following("t", {"params": {}}, None, 60.0)
    ending = found.heard(method, message)
    assert (None if ending is None else ending.ok) == ok
    if message.get("result") == {"taskId": "t", "status": "completed"}:
        assert (found.method, found.wait) == ("tasks/result", 0.0)


def test_what_waits_for_an_answer_has_not_been_done():
    assert ending_of({"resultType": "input_required"}).ok is False
