"""An MCP server behind the gate, with the official client and server, on pipes and over HTTP, in both protocols."""

import asyncio
import time

import pytest

from tests.gate.doors import DESK, on_pipes, over_http
from tests.gate.shop import REFUND

# Each door and each protocol; a client on pipes starts two interpreters, which takes two seconds.
DOORS = [pytest.param(("pipes", "auto"), marks=pytest.mark.slow), ("http", "legacy"), ("json", "auto")]
ALL = [*DOORS, pytest.param(("pipes", "legacy"), marks=pytest.mark.slow), ("http", "auto"), ("json", "legacy")]


@pytest.fixture(params=DOORS, ids="-".join)
def door(request, bundle_file, tmp_path):
    kind, mode = request.param
    if kind == "pipes":
        yield on_pipes(bundle_file(DESK), tmp_path, mode)
        return
    with over_http(bundle_file(DESK), tmp_path, kind, mode=mode) as found:
        yield found


@pytest.fixture
def http(bundle_file, tmp_path):
    with over_http(bundle_file(DESK), tmp_path, mode="legacy") as found:
        yield found


def said(result):
    return result.content[0].text


def answering(action, content, asked):
    """A person behind a client who answers every question so."""

    async def answer(context, params):
        asked.append(params.message)
        from mcp.types import ElicitResult

        return ElicitResult(action=action, content=content)

    return answer


async def until(happened):
    """Wait for what must come, however slow the machine is."""
    last = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < last
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("door", ALL, indirect=True, ids="-".join)
def test_calls_go_through_the_gate_and_are_kept(door):
    async def conversation():
        async with door.client() as client:
            shown = sorted(tool.name for tool in (await client.list_tools()).tools)
            assert shown == ["hurry", "issue_refund", "sign_out", "trial_refund", "verify"], "nobody may tell"
            denied = await client.call_tool("issue_refund", REFUND)
            assert denied.is_error and "POL-REFUND-003.yaml:" in said(denied)
            hidden = await client.call_tool("tell", {})
            assert hidden.is_error and "a secret" not in str(hidden.content)
            assert said(await client.call_tool("verify", {"customer_id": "c1"})) == "verified c1"
            large = await client.call_tool("issue_refund", {**REFUND, "order_id": "large"})
            assert not large.is_error and len(said(large)) > 300_000
            many = await asyncio.gather(*(client.call_tool("issue_refund", REFUND) for _ in range(5)))
            assert all(one.is_error for one in many)

    asyncio.run(conversation())
    assert door.decisions() == ["deny", "deny", "allow", "allow", *["deny"] * 5]
    assert door.ends() == [True, True] and door.done == ["verify c1", "refund c1"]


def test_a_person_is_asked_what_a_call_waits_for(door):
    async def conversation():
        asked = []
        async with door.client(elicitation_callback=answering("accept", {"is_urgent": True}, asked)) as one:
            assert said(await one.call_tool("hurry", {"order_id": "2"})) == "hurried"
        assert len(asked) == 1 and "Is it urgent?" in asked[0]
        if door.kind == "pipes":
            return
        async with door.client() as client:
            mute = await client.call_tool("hurry", {"order_id": "1"})
            assert mute.is_error and said(mute).startswith("ask: ") and "Is it urgent?" in mute.content[-1].text
        for action, content in (("accept", {"is_urgent": False}), ("accept", {"confirmed": True}), ("decline", None)):
            async with door.client(elicitation_callback=answering(action, content, asked)) as other:
                assert (await other.call_tool("hurry", {"order_id": "3"})).is_error
        assert len(asked) == 4 and all("Is it urgent?" in one for one in asked)

    asyncio.run(conversation())
    assert door.done == ["hurry 2"]


def test_progress_is_heard_and_a_cancelled_call_runs_to_its_end(door):
    async def conversation():
        heard = []

        async def progress(done, total, message):
            heard.append(done)

        async with door.client() as client:
            await client.call_tool("sign_out", {"customer_id": "c1"}, progress_callback=progress)
            call = asyncio.create_task(client.call_tool("sign_out", {"customer_id": "waits"}))
            await until((door.root / "begun").exists)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            (door.root / "go-on").touch()
            await until(lambda: len(door.ends()) == 2)
        return heard

    heard = asyncio.run(conversation())
    assert door.done == ["sign_out c1", "sign_out waits"] and door.ends() == [True, True]
    assert heard == [1, 2, 3] or (door.place and not heard)  # a server that answers in plain JSON tells no progress


def test_what_shadow_lets_through_is_not_waited_for(door):
    async def conversation():
        async with door.client() as client:
            assert said(await client.call_tool("trial_refund", {"customer_id": "c9"})) == "paid"
            await until(door.ends)

    asyncio.run(conversation())
    assert door.done == ["trial c9"] and door.decisions() == ["allow"] and door.ends() == [True]
    assert door.recorded()[0]["ruling"] == "deny"


def test_a_server_that_dies_ends_its_calls_as_failed(door):
    async def conversation():
        async with door.client() as client:
            await client.call_tool("verify", {"customer_id": "c1"})
            try:
                async with asyncio.timeout(20):
                    told = await client.call_tool("issue_refund", {**REFUND, "order_id": "boom"})
                assert told.is_error
            except Exception as error:
                assert "answer" in str(error) or "closed" in str(error).lower()

    asyncio.run(conversation())
    assert door.ends() == [True, False]


def test_a_server_that_hangs_is_given_up(bundle_file, tmp_path):
    async def conversation(door):
        async with door.client() as client:
            with pytest.raises(Exception, match="did not answer"):
                async with asyncio.timeout(20):
                    await client.call_tool("sign_out", {"customer_id": "hangs"})
            assert said(await client.call_tool("verify", {"customer_id": "c1"})) == "verified c1"

    with over_http(bundle_file(DESK), tmp_path, "http", "--patience", "1.5", mode="legacy") as door:
        asyncio.run(conversation(door))
        assert door.ends() == [False, True]


def test_two_clients_at_once_have_a_session_each(http):
    async def talk(customer):
        async with http.client() as client:
            for n in range(10):
                told = await client.call_tool("verify", {"customer_id": f"{customer}{n}"})
                assert said(told) == f"verified {customer}{n}"

    async def both():
        await asyncio.gather(*(talk(name) for name in ("a", "b", "c", "d")))

    asyncio.run(both())
    sessions = {}
    for body in http.recorded():
        if body["event"] == "gate":
            sessions.setdefault(body["session_id"], set()).add(body["keys"]["customer_id"][0])
    assert sorted(map(sorted, sessions.values())) == [["a"], ["b"], ["c"], ["d"]]
