"""What an untrusted workflow left for a trusted one: whose run it was, by GitHub's word, and its artifact, as data.

A run for a fork's pull request names no pull request. It is found by the branch it ran for and counts only while that
branch still ends in the commit that was looked at. Nothing the run uploaded is believed about where it came from.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import dataclass

from bylaw.errors import BylawError
from bylaw.github.client import TIMEOUT_SECONDS, Hub, told
from bylaw.github.errors import GitHubError

_PIECE = 65_536


@dataclass(frozen=True)
class Ran:
    """A finished run: the commit it looked at, and the open pull requests that end in it, in order."""

    id: int
    head_sha: str
    is_fork: bool
    pulls: tuple[int, ...]


def find_run(hub: Hub, run_id: int) -> Ran:
    """The run and its pull requests. Raises GitHubError; BylawError for a run that no pull request started."""
    with told():
        run = hub.repository.get_workflow_run(run_id)
        if run.event != "pull_request":
            raise BylawError(f"the run {run_id} was started by `{run.event}`, not by a pull request")
        home = run.head_repository.full_name
        head = f"{home.split('/')[0]}:{run.head_branch}"
        pulls = hub.repository.get_pulls(state="open", head=head)
        numbers = sorted(pull.number for pull in pulls if pull.head.sha == run.head_sha)
        return Ran(run.id, run.head_sha, home.lower() != hub.slug.lower(), tuple(numbers))


def read_artifact(hub: Hub, run_id: int, name: str, member: str, longest: int) -> bytes | None:
    """The file *member* of the artifact *name*; None when there is none. Raises BylawError beyond *longest* bytes."""
    with told():
        run = hub.repository.get_workflow_run(run_id)
        found = [one for one in run.get_artifacts() if one.name == name and not one.expired]
        if not found:
            return None
        newest = max(found, key=lambda one: one.id)
        if newest.size_in_bytes > longest:
            raise _too_large(name, longest)
        headers, _ = hub.client.requester.requestJsonAndCheck("GET", f"{newest.url}/zip")
        packed = _download(headers["location"], name, longest)
    return _member(packed, name, member, longest)


def _download(url: str, name: str, longest: int) -> bytes:
    """The storage is another host: it is sent no token."""
    import requests

    with requests.get(url, timeout=TIMEOUT_SECONDS, stream=True) as answer:
        if answer.status_code != 200:
            raise GitHubError(answer.status_code, f"the artifact `{name}` cannot be read")
        read = bytearray()
        for piece in answer.iter_content(_PIECE):
            read += piece
            if len(read) > longest:
                raise _too_large(name, longest)
    return bytes(read)


def _member(packed: bytes, name: str, member: str, longest: int) -> bytes | None:
    """One file of an archive, read in memory; what the archive says of its size is not believed."""
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            if member not in archive.namelist():
                return None
            with archive.open(member) as file:
                content = file.read(longest + 1)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as problem:
        raise BylawError(f"the artifact `{name}` is not a readable archive") from problem
    if len(content) > longest:
        raise _too_large(name, longest)
    return content


def _too_large(name: str, longest: int) -> BylawError:
    return BylawError(f"the artifact `{name}` holds more than {longest:,} bytes", "look at the run that wrote it")
