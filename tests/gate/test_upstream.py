"""Exchanges of the proxy with its server: a connection serves one after the other, and none that is not sound."""

import asyncio

import pytest

from bot.delivery.http.endpoints.upstream import Unreachable, Upstream

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
WHOLE = HEAD + b"Content-Length: 2\r\n\r\n{}"
CLOSING = HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}"
MORE = WHOLE + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen"
PIECES = HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"
END = b"0\r\n\r\n"


class Fake:
    """A server that says what it is told to, counts its connections, and keeps what it was sent."""

    def __init__(self, said, then=None, after=0.0):
        self.said, self.then, self.after = said, then, after
        self.connections, self.asked = 0, []

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.asked.append(head + await reader.readexactly(2))
                writer.write(self.said)
                if self.then is not None:
                    await asyncio.sleep(self.after)
                    writer.write(self.then)
                if self.said is CLOSING:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def exchanged(fake, count=3, pause=0.05, reads=True):
    """What each of so many exchanges brought."""
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    upstream = Upstream(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp")
    found = []
    for _ in range(count):
        async with upstream.exchange("POST", {}, b"{}") as answered:
            found.append(
                b"".join([piece async for piece in answered.pieces]) if reads else await anext(answered.pieces)
            )
        await asyncio.sleep(pause)
    server.close()
    return found


@pytest.mark.parametrize(
    ("fake", "connections"),
    [
        (Fake(WHOLE), 1),
        (Fake(PIECES, END), 1),
        (Fake(CLOSING), 3),
        (Fake(MORE), 3),
        (Fake(WHOLE, b"HTTP/1.1 408 Late\r\n\r\n", 0.01), 3),
    ],
    ids=["whole", "in pieces", "closing", "with another answer behind it", "with a word while it rests"],
)
def test_a_connection_serves_again_where_it_is_sound(fake, connections):
    assert asyncio.run(exchanged(fake)) == [b"{}"] * 3
    assert (fake.connections, len(fake.asked)) == (connections, 3), "and nothing is sent twice"


@pytest.mark.parametrize(("after", "connections"), [(0.0, 1), (1.0, 3)], ids=["an end that comes", "one that does not"])
def test_an_answer_that_nobody_reads_on_ends_its_exchange(after, connections):
    fake = Fake(PIECES, END, after)
    assert asyncio.run(exchanged(fake, reads=False)) == [b"{}"] * 3
    assert fake.connections == connections


def test_a_request_whose_answer_never_comes_is_not_sent_again():
    fake = Fake(CLOSING[:20])

    async def broken():
        fake.said = WHOLE
        server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
        upstream = Upstream(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp", seconds=0.2)
        async with upstream.exchange("POST", {}, b"{}") as answered:
            assert [piece async for piece in answered.pieces] == [b"{}"]
        fake.said = b""
        with pytest.raises(Unreachable):
            async with upstream.exchange("POST", {}, b"{}"):
                pass
        server.close()

    asyncio.run(broken())
    assert len(fake.asked) == 2
