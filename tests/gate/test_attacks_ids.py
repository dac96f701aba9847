"""A hostile client in front of a real proxy and server, on pipes and over HTTP: ids that are used for two things."""

import json
from random import Random
from threading import Thread

import pytest

from tests.gate.doors import DESK
from tests.gate.test_tasks import FIRST, http, pipes


@pytest.fixture(params=[pipes, http], ids=["pipes", "http"])
def client(request, bundle_file, tmp_path):
    with request.param(bundle_file(DESK), tmp_path) as found:
        found.ask("initialize", **FIRST)
        yield found


def message(method, asked, **params):
    return {"jsonrpc": "2.0", "id": asked, "method": method, "params": params}


def call(name, asked, customer):
    return message("tools/call", asked, name=name, arguments={"customer_id": customer})


class Slow:
    """A check of an identity that takes its time, and fails in the end; `told` is its answer."""

    def __init__(self, client, asked):
        self.client, self.told = client, []
        if hasattr(client, "process"):
            client.process.stdin.write(json.dumps(call("verify", asked, "slow")) + "\n")
            client.process.stdin.flush()
        else:
            self.thread = Thread(target=lambda: self.told.append(client.sent(call("verify", asked, "slow"))))
            self.thread.start()
        client.waits(lambda: "verify slow" in client.done)

    def ends(self):
        (self.client.root / "go").touch()
        self.client.waits(self.client.ends)


REFUND = {"kind": "full", "amount": 20, "days": 3, "order_id": "1", "customer_id": "slow"}


@pytest.mark.parametrize("method", ["ping", "tools/list", "nothing/x", "tasks/get"])
def test_the_answer_to_something_else_is_no_check_of_an_identity(client, method):
    slow = Slow(client, 77)
    told = client.sent(message(method, 77))
    assert told["id"] == 77 and told["error"]["message"] == "the id is in use"
    told = client.sent(message("tools/call", 78, name="issue_refund", arguments=REFUND))
    assert told["result"]["isError"], "nobody was verified"
    assert "id" in client.sent(message("ping", "77")), "a text is another id"
    slow.ends()
    assert client.ends() == [False]
    if hasattr(client, "process"):
        late = json.loads(client.process.stdout.readline())
        assert (late["id"], late["result"]["isError"]) == (77, True)
    told = client.sent(message("tools/call", 79, name="issue_refund", arguments=REFUND))
    assert told["result"]["isError"] and not [one for one in client.done if one.startswith("issue_refund")]


def test_no_hidden_tool_is_shown(client):
    for asked in (5, "5", 6):
        shown = client.sent(message("tools/list", asked))["result"]["tools"]
        assert [tool["name"] for tool in shown] == ["verify"]


def wild(client, seed):
    """Much at once, under few ids: calls, tasks, and whatever else a client can ask."""
    random = Random(seed)
    for _ in range(15):
        asked, customer = random.choice([1, "1", 2, "2", 3]), random.choice(["c1", "slow"])
        params = {"name": random.choice(["verify", "issue_refund", "issue_refund"])}
        params["arguments"] = {**REFUND, "customer_id": customer}
        if random.random() < 0.3 and customer == "c1":
            params["task"] = {"ttl": 1}
        others = ["ping", "nothing/x", "tasks/get", "tasks/result", "tasks/cancel", "tools/list"]
        is_call = random.random() < 0.5
        one = message("tools/call", asked, **params) if is_call else message(random.choice(others), asked, taskId="t0")
        client.tell(one)


@pytest.mark.parametrize("seed", range(2))
def test_nothing_that_is_said_at_once_pays_twice_or_unverified(client, seed):
    client.sent(message("tools/call", 0, name="verify", arguments={"customer_id": "c1"}))
    talkers = [Thread(target=wild, args=(client, (seed, n).__hash__())) for n in range(4)]
    for one in talkers:
        one.start()
    (client.root / "go").touch()
    for one in talkers:
        one.join(90)
    client.end("t0", "completed")
    client.waits(lambda: len([one for one in client.done if one.startswith("issue_refund")]) > 0)
    paid = [one for one in client.done if one.startswith("issue_refund")]
    assert len(paid) == 1 and "slow" not in paid[0], client.done
