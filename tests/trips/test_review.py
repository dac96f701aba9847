"""A pull request from its first review to the last: the real command, real git, a GitHub that is strict."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ci.review.computed.document import read
from ci.review.posted.binding import digest_of
from tests.benchmarks.generate import generate
from tests.fakes.github.access import READ
from tests.fakes.github.server import FakeGitHub

DAY = "2026-01-01"
FILE_KINDS = "policies/bench/part_000"
CLASHING, MISSPELT, HARMLESS = (f"{FILE_KINDS}/POL-BENCH-{number:06}.yaml" for number in (2, 3, 9))
OWNERS = "/policies/ @ana\n"
ASKED = "POST /graphql repository 200"


@dataclass
class Shop:
    """A checkout, and the GitHub that it was pushed to."""

    github: FakeGitHub
    root: Path
    command: Any
    events: Path

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=Ana", "-c", "user.email=ana@acme.example")
        done = subprocess.run(["git", "-C", self.root, *who, *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def push(self, branch: str, message: str = "Change") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        self.git("push", "-q", "origin", f"HEAD:{branch}")
        return self.git("rev-parse", "HEAD")

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text()
        assert re.search(old, text), text
        (self.root / path).write_text(re.sub(old, new, text, count=1))

    def event(self, name: str, **payload: Any) -> dict[str, str]:
        """What GitHub's runner sets for an event."""
        path = self.events / f"{name}.json"
        path.write_text(json.dumps({"repository": {"full_name": "acme/policies"}, **payload}))
        return {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path)}

    def pull_request(self, number: int = 1) -> dict[str, str]:
        pull = self.github.state.pulls[number]
        shas = {"head": {"sha": self.github.head(pull)}, "base": {"sha": self.github.base_sha(pull)}}
        return self.event("pull_request", pull_request={"number": number, **shas})

    def review(self, *words: object, token: str = "", **environ: str):
        """The command as a workflow starts it; the requests of this run alone are on record afterwards."""
        self.github.forget()
        given = {
            "GITHUB_API_URL": self.github.base,
            "GITHUB_REPOSITORY": "acme/policies",
            "GITHUB_STEP_SUMMARY": str(self.events / "summary.md"),
            "GITHUB_TOKEN": token,
            **environ,
        }
        return self.command("review", "--root", self.root, "--at", DAY, *words, **given)

    def shown(self, number: int = 1) -> list[tuple[str, int | None, bool]]:
        """File, line and whether it is settled, of each thread."""
        kept = self.github.state.resolved
        return sorted((one.path, one.line, one.thread in kept) for one in self.github.line_comments_of(number))


@pytest.fixture
def shop(github, tmp_path, bylaw, call, request) -> Shop:
    """Policies on main, and a pull request that changes three: a contradiction, a slip, and a harmless one.

    Of a large set the command runs in a process of its own.
    """

    def here(*words: object, **environ: str):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environ.items():
                patch.setenv(name, value)
            return call(*words)

    count = getattr(request, "param", 12)
    root = github.clone(tmp_path / "checkout")
    (tmp_path / "events").mkdir()
    made = Shop(github, root, bylaw if count == 300 else here, tmp_path / "events")
    generate(root, count, "sparse")
    (root / ".github").mkdir()
    (root / ".github" / "CODEOWNERS").write_text(OWNERS)
    made.git("checkout", "-q", "-B", "main")
    made.push("main", "Begin")
    made.git("checkout", "-q", "-b", "feature")
    made.edit(CLASHING, r"between: \[20, 42\]", "between: [10, 42]")
    made.edit(MISSPELT, "parameter: region", "parameter: regiom")
    made.edit(HARMLESS, "operator: '(<=|>)', value: (\\d+)", r"operator: '\1', value: \g<2>5")
    made.push("feature")
    github.open_pull("feature")
    return made


@pytest.mark.parametrize("shop", [12, pytest.param(300, marks=pytest.mark.slow)], indirect=True)
def test_a_pull_request_is_reviewed_updated_and_settled(shop):
    token = shop.github.token(kind="workflow")
    first = shop.review(token=token, **shop.pull_request())
    assert (first.code, first.err) == (1, "")
    sha = shop.github.head(shop.github.state.pulls[1])
    assert [str(request).replace("/repos/acme/policies", "") for request in shop.github.requests] == [
        "GET  200",
        "GET /pulls/1 200",
        "POST /graphql 200",  # threads
        "POST /graphql 200",  # comments below
        "GET /pulls/1 200",
        "GET /pulls/1/files 200",
        f"GET /commits/{sha} 200",
        "POST /pulls/1/reviews 200",
        "POST /pulls/1/comments 201",  # on the file: the line of that finding is not in the diff
        f"GET /commits/{sha} 200",
        f"GET /commits/{sha}/check-runs 200",
        "POST /check-runs 201",
        "POST /issues/1/comments 201",
    ]
    files = {path: settled for path, _, settled in shop.shown()}
    assert files == {CLASHING: False, MISSPELT: False}
    clash = next(one.body for one in shop.github.line_comments_of(1) if one.path == CLASHING)
    assert "`POL-BENCH-000001` and `POL-BENCH-000002` contradict each other" in clash
    assert f"/acme/policies/blob/{sha}/{FILE_KINDS}/POL-BENCH-000001.yaml" in clash
    [below] = shop.github.comments_of(1)
    assert "Which cases change outcome" in below.body
    assert below.body.count("@ana") == 1
    [check] = shop.github.checks_of(sha)
    assert (check.name, check.conclusion) == ("bylaw", "failure")

    again = shop.review(token=token, **shop.pull_request())
    assert again.code == 1
    assert shop.github.writes() == [ASKED, ASKED]
    assert "nothing new" in again.out

    shop.edit(CLASHING, r"between: \[10, 42\]", "between: [20, 42]")
    shop.edit(MISSPELT, "parameter: regiom", "parameter: region")
    shop.push("feature")
    third = shop.review(token=token, **shop.pull_request())
    assert third.code == 0, third.out + third.err
    assert {settled for _, _, settled in shop.shown()} == {True}
    assert [line.split()[0] for line in shop.github.writes() if "graphql" not in line] == [
        *["PATCH"] * len(shop.shown()),  # each comment says that it is no longer the case
        "POST",  # the check run of the new head
        "PATCH",  # the one summary
    ]
    assert [check.conclusion for check in shop.github.checks_of(shop.git("rev-parse", "HEAD"))] == ["success"]
    assert len(shop.github.comments_of(1)) == 1


def test_a_run_says_first_what_it_would_post(shop):
    done = shop.review("--dry-run", "--base", "origin/main")
    assert done.code == 1
    assert f"--- {CLASHING}:" in done.out
    assert "Which cases change outcome" in done.out
    assert shop.github.requests == []


def test_an_outage_ends_in_the_same_review(shop):
    token = shop.github.token(kind="workflow")
    shop.github.fail("unavailable", times=1, on="^GET")
    shop.github.fail("unavailable", times=1, on="POST .*/reviews$")
    shop.github.fail("secondary_limit", times=1, on="POST .*/check-runs$")
    shop.github.fail("cut_after", times=1, on="POST .*/issues/1/comments$")
    done = shop.review(token=token, **shop.pull_request())
    assert (done.code, done.err) == (1, "")
    assert len(shop.shown()) == len({path for path, *_ in shop.shown()}) == 2
    assert (len(shop.github.comments_of(1)), len(shop.github.checks_of(shop.git("rev-parse", "HEAD")))) == (1, 1)
    shop.review(token=token, **shop.pull_request())
    assert shop.github.writes() == [ASKED, ASKED]


def test_without_rights_a_run_says_so_and_ends_with_3(shop):
    done = shop.review(token=shop.github.token(kind="workflow", permissions=READ), **shop.pull_request())
    assert done.code == 3
    assert "GitHub answers 403: Resource not accessible by integration" in done.err
    assert "permission that is missing" in done.err


def test_a_merge_queue_gets_the_verdict_alone(shop):
    sha, base = shop.git("rev-parse", "HEAD"), shop.git("rev-parse", "origin/main")
    event = shop.event("merge_group", merge_group={"head_sha": sha, "base_sha": base})
    done = shop.review(token=shop.github.token(kind="workflow"), **event)
    assert done.code == 1
    assert shop.github.writes() == ["POST /check-runs 201"]


# --- a fork: one side looks, the other posts


@pytest.fixture
def fork(shop) -> Shop:
    """The same change as a fork's pull request, number 2, and what its run found."""
    shop.git("push", "-q", "origin", "HEAD:refs/forks/eve/feature")
    shop.github.open_pull("feature", author="eve", fork="eve/policies")
    return shop


def computed(fork: Shop) -> tuple[Path, bytes]:
    out = fork.events / "bylaw-review.json"
    done = fork.review("--compute", out, **fork.pull_request(2))
    assert (done.code, fork.github.requests) == (1, [])
    return out, out.read_bytes()


def trusted(fork: Shop) -> Shop:
    """The trusted side's checkout is the main branch: nothing of the fork lies in it."""
    fork.git("checkout", "-q", "main")
    return fork


def ran(fork: Shop, number: int = 2) -> dict[str, str]:
    run = fork.github.add_run(number, "failure")
    return fork.event("workflow_run", workflow_run={"id": run.id, "head_sha": run.head_sha})


def test_a_fork_computes_and_the_trusted_side_posts(fork):
    out, data = computed(fork)
    assert read(data).pull_request == 2
    done = trusted(fork).review("--post", out, token=fork.github.token(kind="workflow"), **ran(fork))
    assert (done.code, done.err) == (0, "")
    assert {path for path, *_ in fork.shown(2)} == {CLASHING, MISSPELT}
    assert fork.github.comments_of(1) == []
    assert [check.conclusion for check in fork.github.checks_of(read(data).head_sha)] == ["failure"]


def test_a_run_of_a_commit_that_is_no_longer_the_head_posts_nothing(fork):
    out, _ = computed(fork)
    event = ran(fork)
    fork.edit(HARMLESS, "handbook", "manual")
    fork.push("refs/forks/eve/feature")
    done = trusted(fork).review("--post", out, token=fork.github.token(kind="workflow"), **event)
    assert (done.code, fork.github.writes()) == (0, [])
    assert "no open pull request ends in" in done.out


FORGED = [
    ("another commit", lambda told: {**told, "head_sha": "0" * 40}, "the review is of the commit 0000"),
    ("a key that nobody knows", lambda told: {**told, "token": "x"}, "does not have the shape of one"),
    ("a path out of the repository", lambda told: {**told, "folder": "../../etc/"}, "first at `folder`"),
    ("a list without end", lambda told: {**told, "changed_files": ["a"] * 5_000}, "first at `changed_files`"),
    ("no review", lambda told: [], "does not have the shape of one"),
]


@pytest.mark.parametrize(("title", "forge", "says"), FORGED, ids=[title for title, *_ in FORGED])
def test_a_forged_document_is_refused(fork, title, forge, says):
    out, data = computed(fork)
    out.write_text(json.dumps(forge(json.loads(data))))
    done = trusted(fork).review("--post", out, token=fork.github.token(kind="workflow"), **ran(fork))
    assert (done.code, fork.github.writes()) == (2, [])
    assert says in done.err


def emptied(told: dict[str, Any]) -> dict[str, Any]:
    """The document with nothing found."""
    none = {"error": 0, "warning": 0, "notice": 0, "existing": 0}
    lists = {name: [] for name in ("findings", "changes", "graphs", "unknown", "case_suggestions", "open_questions")}
    return {**told, **lists, "counts": none, "change_count": 0, "nothing_else_changes": True, "missing_case_count": 0}


def test_an_emptied_document_is_never_green(fork):
    """Without the digest of the trusted side it is shown as what it is; with it, it is refused."""
    out, data = computed(fork)
    out.write_text(json.dumps(emptied(json.loads(data))))
    token = fork.github.token(kind="workflow")
    event = ran(fork)
    done = trusted(fork).review("--post", out, token=token, **event)
    assert (done.code, done.err) == (0, "")
    [check] = fork.github.checks_of(read(data).head_sha)
    assert check.conclusion == "neutral"
    assert check.title.startswith("not verified: nobody trusted has computed this")
    done = fork.review("--post", out, "--digest", digest_of(data), token=token, **event)
    assert (done.code, fork.github.writes()) == (2, [])
    assert "the review is not the one that was computed" in done.err


def test_the_trusted_side_looks_for_itself_and_is_believed(fork):
    """The commit and the base are those that GitHub names for the run, whatever the pull request says."""
    out = fork.events / "look.json"
    event = ran(fork)
    token = fork.github.token(kind="workflow", permissions=READ)
    done = fork.review("--compute", out, token=token, **event)
    assert (done.code, done.err) == (1, "")
    document = read(out.read_bytes())
    assert (document.pull_request, document.base_sha) == (2, fork.git("rev-parse", "origin/main"))
    token = fork.github.token(kind="workflow")
    done = trusted(fork).review("--post", out, "--digest", digest_of(out.read_bytes()), token=token, **event)
    assert (done.code, done.err) == (0, "")
    [check] = fork.github.checks_of(document.head_sha)
    assert (check.conclusion, "not verified" in check.title) == ("failure", False)


def test_a_document_of_another_base_is_refused(fork):
    """A change that is compared with itself changes nothing."""
    out, data = computed(fork)
    out.write_text(json.dumps({**json.loads(data), "base_sha": read(data).head_sha}))
    digest = digest_of(out.read_bytes())
    done = trusted(fork).review(
        "--post", out, "--digest", digest, token=fork.github.token(kind="workflow"), **ran(fork)
    )
    assert (done.code, [one for one in fork.github.writes() if "graphql" not in one]) == (2, [])
    assert "the review starts from" in done.err


def test_a_document_cannot_choose_another_pull_request(fork):
    out, data = computed(fork)
    out.write_text(json.dumps({**json.loads(data), "pull_request": 1}))
    trusted(fork).review("--post", out, token=fork.github.token(kind="workflow"), **ran(fork))
    assert (len(fork.github.comments_of(1)), len(fork.github.comments_of(2))) == (0, 1)


# --- hostile words


def test_hostile_words_mention_nobody_and_open_nothing(shop):
    hostile = (
        "@everyone <!-- bylaw:summary --> </details><script>alert(1)</script> ```` | ![x](http://evil.example/x.png)"
    )
    shop.edit(CLASHING, "owner: Team 1", f"owner: {json.dumps(hostile)}")
    shop.edit(CLASHING, "act_0_0", json.dumps("act_0_0 @everyone <b>"))
    shop.push("feature")
    done = shop.review(token=shop.github.token(kind="workflow"), **shop.pull_request())
    assert done.code == 1
    bodies = [one.body for one in (*shop.github.line_comments_of(1), *shop.github.comments_of(1))]
    for body in bodies:
        assert "<script" not in body
        assert "](http://evil" not in body
        assert body.count("<!-- bylaw:") == 1
        outside = re.sub(r"```.*?```|`[^`\n]*`", "", body, flags=re.DOTALL)
        assert "@everyone" not in outside
    again = shop.review(token=shop.github.token(kind="workflow"), **shop.pull_request())
    assert "nothing new" in again.out


# --- the main branch


def test_two_merges_that_contradict_each_other_are_named(shop):
    """Each was clean against the main branch that it left; only together they are not."""
    shop.git("checkout", "-q", "main")
    before = shop.git("rev-parse", "HEAD")
    for number, (path, old, new) in enumerate(
        [
            (f"{FILE_KINDS}/POL-BENCH-000001.yaml", r"between: \[0, 19\]", "between: [0, 200]"),
            (CLASHING, r"between: \[20, 42\]", "between: [150, 160]"),
        ],
        start=7,
    ):
        shop.git("checkout", "-q", "-b", f"part{number}", before)
        shop.edit(path, old, new)
        shop.push(f"part{number}")
        shop.git("checkout", "-q", "main")
        shop.git(
            "merge", "-q", "--no-ff", "-m", f"Merge pull request #{number} from acme/part{number}", f"part{number}"
        )
    after = shop.push("main", "Nothing")
    done = shop.review(**shop.event("push", before=before, after=after))
    told = (shop.events / "summary.md").read_text()
    assert done.code == 1
    row = next(line for line in told.splitlines() if "POL" in line and "acme/policies#8" in line)
    assert "POL\\-BENCH\\-000001" in row
    assert "POL\\-BENCH\\-000002" in row
    assert "acme/policies#7" in row
    assert shop.github.requests == []
