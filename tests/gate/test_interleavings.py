"""Random clients and servers around a passage: no call is let through that an honest run would not have allowed.

The server here knows what it really did, by the request itself and never by its id. What it was asked and has not
answered may have been done or not: with either, a refund has to be right.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random

import pytest

from bot.gate.passage import Passage
from bylaw.bundle import read
from bylaw.gate.decision_point import MemoryDecisionPoint
from bylaw.gate.engine import Gate
from tests.gate.doors import DESK
from tests.gate.shop import REFUND

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
IDS = [1, "1", 2, "2", 3, 4, "a"]
CUSTOMERS = ["c1", "c2", "c3", "c4"]
TOOLS = ["verify", "issue_refund", "issue_refund", "sign_out"]
OTHERS = ["ping", "tools/list", "nothing/x", "tasks/get", "tasks/result", "tasks/cancel", "resources/list"]


@dataclass
class Job:
    """One call as the server got it, in that order. `ok`: None while it is not known how it ends."""

    message: dict
    order: int
    ok: bool | None = None
    task: str | None = None


@dataclass
class World:
    """A client and a server, a step at a time."""

    passage: Passage
    random: Random
    jobs: list[Job] = field(default_factory=list)
    pending: list[tuple[dict, Job | None]] = field(default_factory=list)
    said: list[dict] = field(default_factory=list)
    followed: list = field(default_factory=list)
    refunds: int = 0

    def customer(self, job):
        return job.message["params"]["arguments"]["customer_id"]

    def tool(self, job):
        return job.message["params"]["name"]

    def may_refund(self, customer):
        """Would an honest run allow it, whatever becomes of what is under way?"""
        mine = [job for job in self.jobs if self.customer(job) == customer]
        if any(self.tool(job) == "issue_refund" and job.ok is not False for job in mine):
            return False
        verified = [job.order for job in mine if self.tool(job) == "verify" and job.ok]
        left = [job.order for job in mine if self.tool(job) == "sign_out" and job.ok is not False]
        return bool(verified) and max(verified) > max(left, default=-1)

    def ask(self):
        """The client says something, under an id that may be in use."""
        pick = self.random.choice
        asked = {"jsonrpc": "2.0", "id": pick(IDS)}
        if self.random.random() < 0.6:
            arguments = {**REFUND, "customer_id": pick(CUSTOMERS)}
            params = {"name": pick(TOOLS), "arguments": arguments}
            if self.random.random() < 0.3:
                params["task"] = pick([{}, {"ttl": 1}])
            asked |= {"method": "tools/call", "params": params}
        else:
            asked |= {"method": pick(OTHERS), "params": {"taskId": f"t{self.random.randrange(4)}"}}
        is_right = self.may_refund(asked["params"].get("arguments", {}).get("customer_id"))
        turn = self.passage.asked(asked)
        if turn.onward is None:
            return
        job = None
        if asked["method"] == "tools/call":
            if asked["params"]["name"] == "issue_refund":
                assert is_right, "a refund that an honest run would have denied"
                self.refunds += 1
            job = Job(turn.onward, len(self.jobs))
            self.jobs.append(job)
        self.pending.append((turn.onward, job))

    def cancel(self):
        asked = {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": self.random.choice(IDS)},
        }
        self.passage.asked(asked)

    def answer(self):
        """The server answers one of the requests that wait, in any order."""
        if not self.pending:
            return
        message, job = self.pending.pop(self.random.randrange(len(self.pending)))
        self.say(message["id"], self.result(message, job))

    def result(self, message, job):
        if job is not None and "task" in message["params"] and self.random.random() < 0.7:
            job.task = f"t{job.order}"
            return {"result": {"task": {"taskId": job.task, "status": "working", "ttl": 10**9}}}
        if job is not None:
            return self.ended(job)
        if message["method"] in ("tasks/get", "tasks/result"):
            return self.told(message["method"], message["params"]["taskId"])
        if message["method"] == "nothing/x":
            return {"error": {"code": -32601, "message": "no such method"}}
        return {"result": {"content": [], "tools": []}}

    def ended(self, job):
        if job.ok is None:
            job.ok = self.random.random() < 0.6
        if not job.ok and job.task is None and self.random.random() < 0.5:
            return {"error": {"code": -32000, "message": "broken"}}
        return {"result": {"content": [], "isError": not job.ok}}

    def told(self, method, task_id):
        job = next((one for one in self.jobs if one.task == task_id), None)
        if job is None:
            return {"error": {"code": -32602, "message": "no such task"}}
        is_done = job.ok is not None or self.random.random() < 0.4
        if method == "tasks/result":
            return self.ended(job)
        if is_done:
            self.ended(job)
        status = "working" if job.ok is None else "completed" if job.ok else "failed"
        return {"result": {"taskId": task_id, "status": status}}

    def say(self, asked, result):
        message = {"jsonrpc": "2.0", "id": asked, **result}
        self.said.append(message)
        self.passage.answered(message)

    def junk(self):
        """Something that is no answer to anything, or one that was said before."""
        if self.said and self.random.random() < 0.7:
            self.passage.answered(dict(self.random.choice(self.said)), is_again=True)  # a stream that is resumed
            return
        method = self.random.choice(["ping", "elicitation/create", "notifications/progress"])
        self.passage.answered({"jsonrpc": "2.0", "id": self.random.choice(IDS), "method": method, "params": {}})

    def poll(self):
        """The proxy asks about a task."""
        if not self.followed:
            return
        question = self.passage.next_of(self.random.choice(self.followed))
        if question is not None:
            self.say(question["id"], self.told(question["method"], question["params"]["taskId"]))


@pytest.fixture(scope="module")
def gate(bundle_file):
    return Gate(read(bundle_file(DESK)))


def lived(gate, seed, steps=400):
    """How many refunds were let through in one world."""
    ticks = count()
    point = MemoryDecisionPoint(lambda: gate, clock=lambda: NOON + timedelta(microseconds=next(ticks)))
    passage = Passage(point, lambda: gate, "bot", "s", {"confirmed": True})
    world = World(passage, Random(seed))
    passage.follow = world.followed.append
    often = [world.ask, world.answer, world.answer, world.poll]
    ways = [*often, *often, *often, world.junk, world.junk, world.cancel]
    for _ in range(steps):
        world.random.choice(ways)()
    return world.refunds


def test_no_interleaving_allows_more_than_an_honest_run(gate):
    assert sum(lived(gate, seed) for seed in range(30)) > 50, "and some are let through"


@pytest.mark.slow
def test_no_interleaving_of_very_many_does(gate):
    assert sum(lived(gate, seed) for seed in range(1_000, 1_400)) > 500
