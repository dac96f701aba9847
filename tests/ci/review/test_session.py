"""The command says what it lacks before it does anything, and who brought what a finding is about."""

from __future__ import annotations

import subprocess

import pytest

from bylaw.audit.entry import START, after, draft, link
from bylaw.audit.export import lines
from bylaw.canonical import write_atomically
from ci.review.computed.brought import Brought, brought, told
from ci.review.computed.document import FoundItem, Spot
from ci.review.posted.binding import digest_of


class Repository:
    """A new policy repository under git, on a branch that changes one line."""

    def __init__(self, root) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")
        self.commit("Begin")
        self.git("checkout", "-q", "-b", "feature")
        path = root / "policies" / "refund" / "POL-REFUND-001.yaml"
        path.write_text(path.read_text().replace("value: 30", "value: 40"))
        self.commit("Give more time")

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=Ana", "-c", "user.email=ana@acme.example")
        done = subprocess.run(["git", "-C", self.root, *who, *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, subject: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)


@pytest.fixture
def repository(tmp_path, call, monkeypatch) -> Repository:
    for name in ("GITHUB_TOKEN", "GITHUB_EVENT_NAME", "GITHUB_REPOSITORY", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    call("init", tmp_path / "shop")
    return Repository(tmp_path / "shop")


REFUSED = [
    ([], "a review needs a commit to compare with"),
    (["--base", "nowhere"], "git does not know `nowhere`"),
    (["--base", "main", "--head", "0" * 40], "the folder shows the commit"),
    (["--base", "main"], "it is not known which repository this is"),
    (["--base", "main", "--repo", "a/b"], "no credentials for GitHub"),
    (["--base", "main", "--repo", "a/../b"], "OWNER/NAME"),
    (["--compute", "a", "--post", "b"], "name one of them, or neither for both"),
    (["--base", "main", "--compute", "no/such/folder/a.json"], "cannot be written"),
    (["--post", "nothing.json"], "`nothing.json` cannot be read"),
    (["--post", "nothing.json", "--audit", "log.jsonl"], "`--audit` belongs to the half that looks"),
    (["--base", "main", "--dry-run", "--audit", "none.jsonl"], "the log `none.jsonl` cannot be read"),
]


@pytest.mark.parametrize(("words", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_what_is_missing_is_said_with_exit_code_2(repository, call, words, says):
    done = call("review", "--root", repository.root, *words)
    assert done.code == 2, done.err
    assert says in done.err


def test_a_file_that_is_no_review_is_refused(repository, call, tmp_path):
    path = tmp_path / "review.json"
    path.write_text("{}")
    done = call("review", "--root", repository.root, "--post", path, "--dry-run")
    assert done.code == 2
    assert "does not have the shape of one" in done.err


def test_both_halves_say_the_same_as_the_whole(repository, call, tmp_path):
    """Timings and what stands outside the bodies apart."""
    path, page = tmp_path / "review.json", tmp_path / "page.md"
    whole = call("review", "--root", repository.root, "--base", "main", "--dry-run")
    call("review", "--root", repository.root, "--base", "main", "--compute", path, "--summary", page)
    digest = digest_of(path.read_bytes())
    half = call("review", "--root", repository.root, "--post", path, "--digest", digest, "--dry-run")
    assert half.out == whole.out
    assert "Which cases change outcome" in page.read_text()


def test_a_change_does_not_say_how_bad_it_is(repository, call):
    """Neither what GitHub is told of an error, nor how many comments there are, nor who is asked."""
    mild = "review: {comments: 0, conclusion: {error: success, warning: success, notice: success}}\n"
    (repository.root / "rules" / "ci.yaml").write_text(mild)
    (repository.root / ".github" / "CODEOWNERS").write_text("* @eve\n")
    repository.commit("Nothing is bad any more")
    done = call("review", "--root", repository.root, "--base", "main", "--dry-run")
    assert done.code == 1
    assert "the check run: failure" in done.out and "@eve" not in done.out
    assert "`review.comments` of rules/ci.yaml 0" in done.out.replace("&#46;", ".")


def log(path, *days: int):
    """An export of what was answered after so many days, while the window was 30."""
    tail, entries = START, []
    for n, count in enumerate(days, start=1):
        facts = {"days_since_purchase": count, "has_receipt": True}
        said = {"event": "reply", "kind": "policy", "query": "my secret", "facts": facts, "actor": {"id": "ana"}}
        body = {**said, "request_id": f"r{n}", "outcomes": {"refund": "full_refund" if count <= 30 else "reject"}}
        entries.append(link(tail, draft(body, f"{n:032}")))
        tail = after(entries[-1])
    write_atomically(path, lines(entries))
    return path


def test_recorded_answers_are_counted_on_one_side_and_told_on_the_other(repository, call, tmp_path):
    held, path = log(tmp_path / "log.jsonl", 5, 35, 38), tmp_path / "review.json"
    asked = ("review", "--root", repository.root, "--base", "main", "--audit", held)
    whole = call(*asked, "--dry-run")
    told = "2 of 3 recorded answers would be different, 2 of them by this change: `r2`, `r3`."
    assert told in whole.out
    call(*asked, "--compute", path)
    assert "my secret" not in path.read_text() and '"r2"' in path.read_text()
    digest = digest_of(path.read_bytes())
    half = call("review", "--root", repository.root, "--post", path, "--digest", digest, "--dry-run")
    assert half.out == whole.out


def test_a_log_that_does_not_hold_is_refused_before_anything_is_posted(repository, call, tmp_path):
    held = log(tmp_path / "log.jsonl", 5, 20)
    held.write_text(held.read_text().replace("full_refund", "no_refund"))
    done = call("review", "--root", repository.root, "--base", "main", "--audit", held, "--dry-run")
    assert done.code == 2 and "does not hold: 2 edited" in done.err


def test_who_brought_a_file(repository):
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "Merge pull request #7 from acme/feature", "feature")
    merge = repository.git("rev-parse", "HEAD")
    other = repository.root / "policies" / "refund" / "POL-REFUND-002.yaml"
    other.write_text(other.read_text() + "# one more\n")
    repository.commit("Say one more thing (#12)")
    squash = repository.git("rev-parse", "HEAD")
    first, second = "policies/refund/POL-REFUND-001.yaml", "policies/refund/POL-REFUND-002.yaml"
    assert list(brought(repository.root, [first, second, "policies/none.yaml"])) == [
        Brought(first, merge, "Merge pull request #7 from acme/feature", 7),
        Brought(second, squash, "Say one more thing (#12)", 12),
    ]


def finding(*paths: str) -> FoundItem:
    first, *others = [Spot(path=path, line=1) for path in paths]
    return FoundItem(
        id="conflict",
        severity="error",
        message="x",
        at=first,
        related=others,
        policies=["A", "B"],
        fingerprint="0" * 16,
    )


def test_a_subject_mentions_nobody(repository):
    path = repository.root / "policies" / "vocabulary.yaml"
    path.write_text(path.read_text() + "# more\n")
    repository.commit("Thanks @everyone <b> for https://evil.example")
    said = told(repository.root, [finding("policies/vocabulary.yaml", "policies/refund/POL-REFUND-001.yaml")], "a/b")
    assert "@everyone" not in said
    assert "<b>" not in said
    assert "://evil" not in said


def test_a_finding_in_one_file_needs_nobody(repository):
    assert told(repository.root, [finding("policies/vocabulary.yaml")], "a/b") == ""
