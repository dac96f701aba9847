"""The shelf on S3, against a server on this machine: whole objects, each once, and errors in words."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import requests

from bot.evidence import artifacts
from bot.evidence.artifacts import ArtifactError, shelf
from bylaw.errors import BylawError
from tests.fakes.forked import Forked

pytestmark = pytest.mark.slow

PUT = "import sys; from pathlib import Path; from bot.evidence.artifacts import shelf; "
PUT += "s = shelf('s3://papers/bot', Path('.'));"


@pytest.fixture(scope="module")
def server():
    from moto.server import ThreadedMotoServer  # heavy, and needed by who runs these tests alone

    before = os.environ.get("INITIAL_NO_AUTH_ACTION_COUNT")
    os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "1000000"  # credentials count once the count is set to 0
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    yield "http://{}:{}".format(*running.get_host_and_port())
    running.stop()
    os.environ.pop("INITIAL_NO_AUTH_ACTION_COUNT")
    if before is not None:
        os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = before


@pytest.fixture
def bucket(server, monkeypatch):
    """The bucket `papers`, empty, and an environment that leads to it."""
    requests.post(f"{server}/moto-api/reset", timeout=10)
    requests.post(f"{server}/moto-api/reset-auth", data=b"1000000", timeout=10)
    import boto3

    at(server, monkeypatch)
    s3 = boto3.resource("s3", endpoint_url=server)
    return s3.create_bucket(Bucket="papers")


def at(address, monkeypatch):
    told = {"AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    told |= {"AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    type(shelf("s3://papers", Path()).fs).clear_instance_cache()


def keys(bucket):
    return sorted(one.key for one in bucket.objects.all())


def test_what_is_kept_in_a_bucket_comes_back_and_lies_there_once(bucket):
    kept = shelf("s3://papers/bot", Path())
    name = kept.put({"said": "yes", "ü": [1, None]})
    assert kept.get(name) == {"said": "yes", "ü": [1, None]}
    (only,) = bucket.objects.all()
    assert only.key == f"bot/{name[:2]}/{name}.json"
    before = only.last_modified, only.e_tag
    assert shelf("s3://papers/bot", Path()).put({"ü": [1, None], "said": "yes"}) == name
    (only,) = bucket.objects.all()
    assert (only.last_modified, only.e_tag) == before


def test_what_is_not_there_and_what_was_altered_is_told(bucket):
    kept = shelf("s3://papers/bot", Path())
    with pytest.raises(ArtifactError, match="is not on the shelf"):
        kept.get("0" * 64)
    name = kept.put([1])
    bucket.put_object(Key=f"bot/{name[:2]}/{name}.json", Body=b"[2]")
    with pytest.raises(ArtifactError, match="altered"):
        kept.get(name)


@pytest.mark.parametrize("at_once", [2, 500])
def test_what_is_removed_is_gone_and_the_rest_stays(bucket, monkeypatch, at_once):
    """A few are looked up one by one, many in a list of all."""
    monkeypatch.setattr(artifacts, "_AT_ONCE", at_once)
    kept = shelf("s3://papers/bot", Path())
    names = [kept.put([n]) for n in range(6)]
    bucket.objects.filter(Prefix=f"bot/{names[0][:2]}/").delete()  # by somebody else
    assert kept.remove([*names[:5], "0" * 64]) == 4
    assert keys(bucket) == [f"bot/{names[5][:2]}/{names[5]}.json"]
    assert kept.remove(names[:5]) == 0


def test_what_is_older_is_told_by_the_buckets_own_clock(bucket):
    kept = shelf("s3://papers/bot", Path())
    names = sorted(kept.put([n]) for n in range(3))
    kept.put({"bundle_metadata": {}})
    now = datetime.now(UTC)
    assert [kept.older(now + timedelta(hours=1)), kept.older(now - timedelta(hours=1))] == [names, []]


def test_processes_that_write_the_same_at_once_leave_whole_objects(bucket):
    code = PUT + "[s.put({'n': n, 'text': 'x' * 10000}) for n in range(10)]"
    started = [Forked("-c", code) for _ in range(2)]
    assert [one.wait() for one in started] == [0, 0]
    kept = shelf("s3://papers/bot", Path())
    assert len(keys(bucket)) == 10
    assert sorted(kept.get(Path(key).stem)["n"] for key in keys(bucket)) == list(range(10))


def test_a_bucket_that_is_missing_is_told(bucket):
    with pytest.raises(ArtifactError, match="cannot be kept at `s3://none/bot`: The specified bucket does not exist"):
        shelf("s3://none/bot", Path()).put([1])


def test_wrong_credentials_are_told(bucket, server):
    requests.post(f"{server}/moto-api/reset-auth", data=b"0", timeout=10)
    kept = shelf("s3://papers/bot", Path())
    with pytest.raises(ArtifactError, match="cannot be kept at `s3://papers/bot`: "):
        kept.put([1])
    with pytest.raises(ArtifactError, match="cannot be read at `s3://papers/bot`: "):
        kept.get("0" * 64)


def test_no_credentials_and_nobody_at_the_address_are_told(bucket, monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    type(shelf("s3://papers", Path()).fs).clear_instance_cache()
    with pytest.raises(ArtifactError, match="credentials"):
        shelf("s3://papers/bot", Path()).put([1])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    at(f"http://127.0.0.1:{port}", monkeypatch)
    with pytest.raises(ArtifactError, match="cannot be kept at"):
        shelf("s3://papers/bot", Path()).put([1])


class Cutting:
    """Between a client and a server: after so many bytes of the client's it kills it and hangs up."""

    def __init__(self, server: str, most: int) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self.client: Forked | None = None
        host, _, port = server.removeprefix("http://").partition(":")
        self._to, self._left = (host, int(port)), most
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            mine, _ = self.listening.accept()
            its = socket.create_connection(self._to)
            threading.Thread(target=self._pass, args=(its, mine, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(mine, its, True), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, is_counted: bool) -> None:
        with one, suppress(OSError):  # each closes the end it hears: the other thread may be about to
            while data := one.recv(65_536):
                if is_counted:
                    self._left -= len(data)
                if self._left < 0:
                    self.client.send_signal(signal.SIGKILL)
                    break
                other.sendall(data)
        with suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)


def test_a_writer_that_is_killed_leaves_nothing_and_another_finds_room(bucket, server):
    cutting = Cutting(server, 1_000_000)
    code = PUT + "s.put('x' * 8_000_000)"
    told = {**os.environ, "AWS_ENDPOINT_URL": cutting.url}
    with Forked("-c", code, env=told) as cutting.client:
        assert cutting.client.wait(60) == -signal.SIGKILL
    assert keys(bucket) == []
    kept = shelf("s3://papers/bot", Path())
    assert kept.get(kept.put("x" * 8_000_000)) == "x" * 8_000_000


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    with pytest.raises(BylawError, match="cannot be kept") as raised:
        shelf("s3://papers/bot", Path())
    assert raised.value.help == "install `bylaw-policies[s3]`"
