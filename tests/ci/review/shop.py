"""What the tests of a review say about a pull request: words of no meaning at lines that matter."""

from __future__ import annotations

from ci.review.posted.plan import SUMMARY
from ci.review.words.rendered import Annotation, Comment, Rendered
from tests.fakes.github.server import FakeGitHub

LINES = [f"k{i}: {i}\n" for i in range(1, 41)]
POLICY = "".join(LINES)
PATH = "policies/a.yaml"
FIRST, SECOND, THIRD = "1111111111111111", "2222222222222222", "3333333333333333"


def changed(*numbers: int) -> str:
    """The file with these lines changed."""
    return "".join(f"k{i}: changed\n" if i in numbers else LINES[i - 1] for i in range(1, 41))


def open_pull_request(github: FakeGitHub) -> None:
    """A pull request that changes line 20 of `policies/a.yaml`; `policies/b.yaml` is not in it."""
    github.commit("main", {PATH: POLICY, "policies/b.yaml": "b: 1\n"})
    github.commit("feature", {PATH: changed(20)})
    github.open_pull("feature")


def comment(print_: str, line: int | None = 20, text: str = "wrong", path: str = PATH) -> Comment:
    return Comment(print_, path, line, f"<!-- bylaw:finding {print_} -->\n{text}\n")


def rendered(sha: str, *comments: Comment, annotations: int = 0, summary: str = "two things", **other) -> Rendered:
    rows = tuple(Annotation(PATH, i % 40 + 1, "warning", "title", f"message {i}") for i in range(annotations))
    standing = frozenset(one.fingerprint for one in comments)
    body = f"{SUMMARY}\n{summary}\n" if summary else ""
    given = {"conclusion": "failure", "title": "2 findings", "standing": standing, **other}
    return Rendered(sha, summary=body, comments=comments, annotations=rows, **given)


def head(github: FakeGitHub, number: int = 1) -> str:
    return github.head(github.state.pulls[number])


def said(github: FakeGitHub, number: int = 1) -> list[tuple[str, int | None, bool, bool]]:
    """Each thread: its words without marks, its line, whether bylaw says that it is gone, whether it is resolved."""
    return [
        (_words(one.body), one.line, "<!-- bylaw:gone -->" in one.body, one.thread in github.state.resolved)
        for one in github.line_comments_of(number)
    ]


def final(github: FakeGitHub, number: int = 1) -> tuple:
    """All that a reader sees in the end, however it came about."""
    sha = head(github, number)
    checks = [(one.name, one.conclusion, one.summary, one.annotations) for one in github.checks_of(sha)]
    below = [one.body for one in github.comments_of(number)]
    statuses = [(one.state, one.description) for one in github.state.statuses.values()]
    return sorted(said(github, number), key=str), below, checks, statuses


def _words(body: str) -> str:
    return next(line for line in body.split("\n") if line and not line.startswith("<!--"))
