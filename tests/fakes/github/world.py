"""One repository on GitHub with its people, tokens and pull requests: what a test sets up and what it looks at."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.github.access import ALL, PREFIX, WORKFLOW_APP, App, Kind, Level, Token
from tests.fakes.github.description import sample
from tests.fakes.github.repository import Changed, GitRepository
from tests.fakes.github.state import Artifact, CheckRun, IssueComment, LineComment, Pull, Refused, State, WorkflowRun


@dataclass
class World:
    """Everything behind the server. `slug` is `owner/name`; `base` is the address that its links start with."""

    git: GitRepository
    slug: str = "acme/policies"
    base: str = "http://fake"
    state: State = field(default_factory=State)
    tokens: dict[str, Token] = field(default_factory=dict)
    apps: dict[int, App] = field(default_factory=dict)

    # --- what a test sets up

    def clone(self, folder: Path) -> Path:
        """A checkout of the repository, whose `origin` is it."""
        self.git.git("clone", "-q", str(self.git.path), str(folder))
        return folder

    def commit(
        self, branch: str, files: Mapping[str, str | bytes | None], message: str = "Change", fork: str | None = None
    ) -> str:
        """A commit on *branch* (made from `main` when new) that writes *files*; None takes one away."""
        ref = f"refs/forks/{fork.split('/')[0]}/{branch}" if fork else f"refs/heads/{branch}"
        parent = self.git.resolve(ref) or self.git.resolve("refs/heads/main")
        blobs = {path: None if text is None else self.git.write(_bytes(text)) for path, text in files.items()}
        tree = self.git.tree(parent, blobs)
        who = ("Ana Ito", "ana@acme.example", self.state.tick())
        sha = self.git.commit(tree, [parent] if parent else [], message, who, who)
        self.git.set_ref(ref, sha)
        return sha

    def open_pull(
        self, branch: str, title: str = "Change", author: str = "ana", base: str = "main", fork: str | None = None
    ) -> int:
        """A pull request of *branch*, its number."""
        number = self.state.next_number()
        pull = Pull(number, title, "", branch, base, author, self.state.tick(), fork)
        self.state.pulls[number] = pull
        self.head(pull)
        return number

    def token(
        self,
        login: str = "ana",
        kind: Kind = "personal",
        permissions: Mapping[str, Level] = ALL,
        app: int | None = None,
    ) -> str:
        """A token of *login*. A workflow's own has the login `github-actions[bot]`."""
        value = f"{PREFIX[kind]}{len(self.tokens):036d}"
        if kind == "workflow":
            login, app = "github-actions[bot]", WORKFLOW_APP
        self.tokens[value] = Token(value, login, kind, permissions, app)
        if not value.startswith("ghs_"):
            self.state.people.setdefault(login, "write")
        return value

    def app(self, public_key: str, permissions: Mapping[str, Level] = ALL, slug: str = "bylaw") -> App:
        """An App that is installed here and signs with the private half of *public_key*."""
        number = len(self.apps) + 101
        self.apps[number] = App(number, slug, number + 800, public_key, permissions)
        return self.apps[number]

    def add_run(self, pull: int, conclusion: str = "success", name: str = "policies") -> WorkflowRun:
        """A workflow run for the head of *pull*."""
        of = self.state.pulls[pull]
        run = WorkflowRun(
            self.state.next_id(),
            name,
            "pull_request",
            of.head,
            self.head(of),
            of.fork or self.slug,
            conclusion,
            self.state.tick(),
        )
        self.state.runs[run.id] = run
        return run

    def add_artifact(self, run: int, name: str, files: Mapping[str, str | bytes]) -> Artifact:
        """What a workflow run uploaded."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for path, text in files.items():
                archive.writestr(zipfile.ZipInfo(path), _bytes(text))
        artifact = Artifact(self.state.next_id(), run, name, packed.getvalue())
        self.state.artifacts[artifact.id] = artifact
        return artifact

    # --- what a test looks at

    def comments_of(self, pull: int) -> list[IssueComment]:
        """The comments below a pull request, oldest first."""
        return [comment for comment in self.state.comments.values() if comment.pull == pull]

    def line_comments_of(self, pull: int) -> list[LineComment]:
        """The comments on the lines of a pull request that everybody sees, oldest first."""
        pending = {review.id for review in self.state.reviews.values() if review.state == "PENDING"}
        return [one for one in self.state.line_comments.values() if one.pull == pull and one.review not in pending]

    def checks_of(self, sha: str) -> list[CheckRun]:
        """The check runs of a commit, oldest first."""
        return [check for check in self.state.checks.values() if check.sha == sha]

    # --- what the handlers ask

    @property
    def api(self) -> str:
        return f"{self.base}/repos/{self.slug}"

    def head(self, pull: Pull) -> str:
        """The newest commit of a pull request; the last one known when its branch is gone."""
        if pull.state == "open" and (sha := self.git.resolve(pull.ref)):
            pull.last_head = sha
        return pull.last_head

    def base_sha(self, pull: Pull) -> str:
        return self.git.resolve(f"refs/heads/{pull.base}") or ""

    def pull(self, number: str | int) -> Pull:
        """The pull request of that number. Raises Refused."""
        if (pull := self.state.pulls.get(_number(number))) is None:
            raise Refused.missing()
        return pull

    def files(self, pull: Pull, head: str | None = None) -> tuple[Changed, ...]:
        """What a pull request changes, since it left its base."""
        head = head or self.head(pull)
        root = self.git.merge_base(self.base_sha(pull), head)
        return self.git.diff(root or self.base_sha(pull), head)

    def line_now(self, comment: LineComment) -> int | None:
        """Where the line of a comment stands in the newest commit; None when the comment is outdated."""
        if comment.line is None:
            return None
        pull = self.state.pulls[comment.pull]
        head = self.head(pull)
        if comment.side == "LEFT" or head == comment.commit:
            return comment.line
        changed = {file.path: file for file in self.files(pull)}.get(comment.path)
        line = self.git.moved(comment.path, comment.line, comment.commit, head)
        return line if changed and (comment.side, line) in changed.lines else None

    def is_outdated(self, comment: LineComment) -> bool:
        return comment.line is not None and self.line_now(comment) is None

    def user(self, login: str) -> dict[str, Any]:
        """A person or an App, as GitHub shows them."""
        kind = "Bot" if login.endswith("[bot]") else "Organization" if login == self.slug.split("/")[0] else "User"
        return {
            **sample("simple-user", self.base),
            "login": login,
            "id": sum(map(ord, login)),
            "node_id": f"U_{login}",
            "type": kind,
            "url": f"{self.base}/users/{login}",
            "html_url": f"{self.base}/{login}",
        }


def _number(text: str | int) -> int:
    try:
        return int(text)
    except ValueError:
        raise Refused.missing() from None


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()
