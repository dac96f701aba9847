"""What the fake remembers beside git: pull requests, comments, reviews, checks, people; a counter, a clock."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class Refused(Exception):
    """GitHub says no: a status, a message, and what it lists below."""

    def __init__(self, status: int, message: str, errors: list[Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors

    @classmethod
    def missing(cls) -> Refused:
        return cls(404, "Not Found")

    @classmethod
    def invalid(cls, resource: str, field: str, code: str = "invalid", message: str | None = None) -> Refused:
        error = {"resource": resource, "field": field, "code": code, **({"message": message} if message else {})}
        return cls(422, "Validation Failed", [error])


@dataclass
class Pull:
    """A pull request. Its head is a branch, of this repository or of a fork; its SHA is read from git."""

    number: int
    title: str
    body: str
    head: str
    base: str
    author: str
    created_at: str
    fork: str | None = None  # "eve/policies"
    draft: bool = False
    state: str = "open"
    merged: bool = False
    merge_sha: str | None = None
    labels: list[str] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)
    teams: list[str] = field(default_factory=list)
    last_head: str = ""  # kept when the branch is gone

    @property
    def ref(self) -> str:
        owner = self.fork.split("/")[0] if self.fork else ""
        return f"refs/forks/{owner}/{self.head}" if self.fork else f"refs/heads/{self.head}"


@dataclass
class Review:
    """One review of a pull request; PENDING ones only their author sees."""

    id: int
    pull: int
    author: str
    body: str
    state: str
    commit: str
    submitted_at: str


@dataclass
class LineComment:
    """A comment on a line, or (line None) on a whole file. One that answers another belongs to its thread."""

    id: int
    pull: int
    review: int
    author: str
    body: str
    path: str
    commit: str
    hunk: str
    created_at: str
    updated_at: str
    position: int | None = None
    line: int | None = None
    side: str = "RIGHT"
    start_line: int | None = None
    start_side: str | None = None
    reply_to: int | None = None
    is_file: bool = False
    minimized: str | None = None

    @property
    def thread(self) -> int:
        return self.reply_to or self.id


@dataclass
class IssueComment:
    """A comment below a pull request."""

    id: int
    pull: int
    author: str
    body: str
    created_at: str
    updated_at: str
    minimized: str | None = None
    editor: str | None = None


@dataclass
class CheckRun:
    """A check run with everything that was ever annotated."""

    id: int
    app: int
    sha: str
    name: str
    started_at: str
    status: str = "queued"
    conclusion: str | None = None
    completed_at: str | None = None
    external_id: str = ""
    details_url: str | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Status:
    """A commit status: what a plain token has instead of a check run."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    author: str
    created_at: str


@dataclass
class Reaction:
    id: int
    subject: str  # "issue/12" or "line/12"
    content: str
    author: str
    created_at: str


@dataclass
class WorkflowRun:
    """A run of a workflow. That of a fork names no pull request, as with GitHub."""

    id: int
    name: str
    event: str
    head_branch: str
    head_sha: str
    head_repository: str
    conclusion: str
    created_at: str


@dataclass
class Artifact:
    id: int
    run: int
    name: str
    content: bytes
    expired: bool = False


@dataclass
class State:
    """Everything, by id. Time moves one second with each thing that is written."""

    pulls: dict[int, Pull] = field(default_factory=dict)
    reviews: dict[int, Review] = field(default_factory=dict)
    line_comments: dict[int, LineComment] = field(default_factory=dict)
    comments: dict[int, IssueComment] = field(default_factory=dict)
    resolved: dict[int, str] = field(default_factory=dict)  # thread -> who resolved it
    checks: dict[int, CheckRun] = field(default_factory=dict)
    statuses: dict[int, Status] = field(default_factory=dict)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    reactions: dict[int, Reaction] = field(default_factory=dict)
    runs: dict[int, WorkflowRun] = field(default_factory=dict)
    artifacts: dict[int, Artifact] = field(default_factory=dict)
    teams: dict[str, set[str]] = field(default_factory=dict)  # of the owner, by slug -> logins
    people: dict[str, str] = field(default_factory=dict)  # login -> admin, write, read; a team as "team:policy-owners"
    _ids: Any = field(default_factory=lambda: itertools.count(1001))
    _numbers: Any = field(default_factory=lambda: itertools.count(1))
    _ticks: Any = field(default_factory=itertools.count)

    def next_id(self) -> int:
        return next(self._ids)

    def next_number(self) -> int:
        return next(self._numbers)

    def tick(self) -> str:
        """The time, one second later than it was."""
        return (START + timedelta(seconds=next(self._ticks))).strftime("%Y-%m-%dT%H:%M:%SZ")
