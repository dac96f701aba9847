"""What started this run on GitHub, read from the environment that its runner sets.

The payload is GitHub's own and names what to look at; what people wrote in it (a comment, a branch) is mere text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from bylaw.errors import UsageError

Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$")]
Number = Annotated[int, Field(ge=1, le=2**53)]
Kind = Literal["pull_request", "merge_group", "workflow_run", "push", "issue_comment"]

MOST_BYTES = 25_000_000  # GitHub's own cap of a webhook
_NEW_BRANCH = "0" * 40  # what a push says it follows when the branch is new


@dataclass(frozen=True, slots=True)
class Spoken:
    """A comment below an issue or a pull request, and who wrote or edited it: who may write can edit others'."""

    id: int
    body: str
    login: str
    is_bot: bool


@dataclass(frozen=True, slots=True)
class Event:
    """What happened. What a kind of event does not carry is None."""

    kind: Kind | None = None
    slug: str | None = None
    pull: int | None = None
    head_sha: str | None = None
    base_sha: str | None = None
    run: int | None = None
    spoken: Spoken | None = None


def read_event(environ: Mapping[str, str]) -> Event:
    """The event of this run; an empty one outside GitHub. Raises UsageError for a payload that is none."""
    name, path = environ.get("GITHUB_EVENT_NAME", ""), environ.get("GITHUB_EVENT_PATH", "")
    reader = _READERS.get(name)
    if reader is None or not path:
        return Event(slug=environ.get("GITHUB_REPOSITORY") or None)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"the event `{path}` cannot be read: {error.strerror or error}") from None
    if len(data) > MOST_BYTES:
        raise UsageError(f"the event is larger than {MOST_BYTES:,} bytes")
    try:
        return reader.model_validate_json(data).event()
    except ValidationError as error:
        where = ".".join(map(str, error.errors(include_input=False, include_url=False)[0]["loc"]))
        raise UsageError(f"the event is not as GitHub sends it, first at `{where or 'the start'}`") from None


class _Payload(BaseModel):
    """A part of GitHub's payload: far more is in it than is looked at."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class _Repository(_Payload):
    full_name: Slug


class _Happened(_Payload):
    repository: _Repository

    def event(self) -> Event:
        """The event that the payload tells of."""
        raise NotImplementedError


class _Commit(_Payload):
    sha: Sha


class _Pull(_Payload):
    number: Number
    head: _Commit
    base: _Commit


class _PullRequest(_Happened):
    pull_request: _Pull

    def event(self) -> Event:
        pull = self.pull_request
        return Event("pull_request", self.repository.full_name, pull.number, pull.head.sha, pull.base.sha)


class _Group(_Payload):
    head_sha: Sha
    base_sha: Sha


class _MergeGroup(_Happened):
    merge_group: _Group

    def event(self) -> Event:
        group = self.merge_group
        slug = self.repository.full_name
        return Event("merge_group", slug, head_sha=group.head_sha, base_sha=group.base_sha)


class _Run(_Payload):
    id: Number
    head_sha: Sha


class _WorkflowRun(_Happened):
    workflow_run: _Run

    def event(self) -> Event:
        run = self.workflow_run
        return Event("workflow_run", self.repository.full_name, head_sha=run.head_sha, run=run.id)


class _Push(_Happened):
    before: Sha
    after: Sha

    def event(self) -> Event:
        before = None if self.before == _NEW_BRANCH else self.before
        return Event("push", self.repository.full_name, head_sha=self.after, base_sha=before)


class _User(_Payload):
    login: str
    type: str = "User"


class _Comment(_Payload):
    id: Number
    body: str | None
    user: _User


class _Issue(_Payload):
    number: Number
    pull_request: dict[str, object] | None = None


class _IssueComment(_Happened):
    issue: _Issue
    comment: _Comment
    sender: _User

    def event(self) -> Event:
        said, by = self.comment, self.sender
        is_bot = any(one.type == "Bot" or one.login.endswith("[bot]") for one in (by, said.user))
        spoken = Spoken(said.id, said.body or "", by.login, is_bot)
        pull = self.issue.number if self.issue.pull_request is not None else None
        return Event("issue_comment", self.repository.full_name, pull, spoken=spoken)


_READERS: Mapping[str, type[_Happened]] = {
    "pull_request": _PullRequest,
    "pull_request_target": _PullRequest,
    "merge_group": _MergeGroup,
    "workflow_run": _WorkflowRun,
    "push": _Push,
    "issue_comment": _IssueComment,
}
