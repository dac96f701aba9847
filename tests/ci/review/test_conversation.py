"""Commands in comments, asked of the real command: heard, answered once, and only obeyed where their author may."""

from __future__ import annotations

import json
import subprocess

import pytest
import yaml

from ci.review.asked.acceptance import with_waiver
from tests.fakes.github.access import ALL

POLICY = """\
policy_id: POL-REFUND-{number}
conditions:
  - {{type: time_window, operator: "<=", value: 5, unit: days}}
actions:
  - {{type: required, action: {action}}}
metadata: {{source: handbook, owner: Marketing Dept., domain: refund}}
"""
OWNERS = "/policies/ @ana @acme/owners\n/policies/refund/POL-REFUND-091.yaml @bo\n"
VOCABULARY = """\
facts:
  days: {type: integer, unit: days, minimum: 0, label: days since purchase, phrases: ["bought {value} days ago"]}
actions: {full_refund: {outcome: refund}, reject: {outcome: refund}}
outcomes: {refund: {label: the refund}}
defaults: {"*": {time_window: days}}
"""
CASES = "- {name: a fresh one, facts: {days: 2}, expect: {refund: full_refund}}\n"
CLASH = "policies/refund/POL-REFUND-091.yaml"


class Talk:
    """A pull request in which POL-REFUND-091 contradicts POL-REFUND-090, and a checkout that knows its head."""

    def __init__(self, github, root, events, call) -> None:
        self.github, self.root, self.events, self.call = github, root, events, call

    def fetch(self) -> None:
        subprocess.run(["git", "-C", self.root, "fetch", "-q", "origin", "+refs/*:refs/seen/*"], check=True)

    def say(self, text: str, by: str = "ana", number: int = 1) -> int:
        token = self.github.token(by)
        state = self.github.state
        from tests.fakes.github.state import IssueComment

        if number in state.pulls:
            text = text.replace(" at HEAD ", f" at {self.github.git.resolve(state.pulls[number].ref)} ")
        now = state.tick()
        comment = IssueComment(state.next_id(), number, by, text, now, now)
        state.comments[comment.id] = comment
        assert token
        return comment.id

    def run(self, comment: int, author: str = "User", editor: str = "", pull: dict | None = None, words=(), **token):
        said = self.github.state.comments[comment]
        payload = {
            "repository": {"full_name": "acme/policies"},
            "issue": {"number": said.pull, "pull_request": {"url": "x"} if pull is None else pull or None},
            "comment": {"id": comment, "body": said.body, "user": {"login": said.author, "type": author}},
            "sender": {"login": editor or said.author, "type": "User"},
        }
        path = self.events / "event.json"
        path.write_text(json.dumps(payload))
        self.fetch()
        self.github.forget()
        environ = {
            "GITHUB_EVENT_NAME": "issue_comment",
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_API_URL": self.github.base,
            "GITHUB_TOKEN": self.github.token(**{"kind": "workflow", **token}),
        }
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environ.items():
                patch.setenv(name, value)
            return self.call("review", "--root", self.root, "--at", "2026-06-01", *words)

    def ask(self, text: str, by: str = "ana", number: int = 1, **token) -> tuple[str, list[str]]:
        """The answer, and the reactions that the comment got."""
        comment = self.say(text, by, number)
        done = self.run(comment, **token)
        assert (done.code, done.err) == (0, "")
        answers = [one.body for one in self.github.comments_of(number) if f"answer {comment} " in one.body]
        reactions = [one.content for one in self.github.state.reactions.values() if one.subject == f"issue/{comment}"]
        assert len(answers) == 1
        return answers[0], reactions

    def head(self, path: str, ref: str = "refs/heads/feature") -> str | None:
        sha = self.github.git.blob_at(ref, path)
        return self.github.git.read_blob(sha).decode() if sha else None


@pytest.fixture
def talk(github, tmp_path, call) -> Talk:
    files = {
        "policies/vocabulary.yaml": VOCABULARY,
        "policies/refund/cases.yaml": CASES,
        "policies/refund/POL-REFUND-090.yaml": POLICY.format(number="090", action="full_refund"),
        ".github/CODEOWNERS": OWNERS,
    }
    clash = POLICY.format(number="091", action="reject")
    github.commit("main", files)
    github.commit("feature", {CLASH: clash, ".github/CODEOWNERS": "* @eve\n"})
    github.commit("idea", {CLASH: clash}, fork="eve/policies")
    github.open_pull("feature", author="eve")
    github.open_pull("idea", author="eve", fork="eve/policies")
    (tmp_path / "events").mkdir()
    return Talk(github, github.clone(tmp_path / "checkout"), tmp_path / "events", call)


def test_why_says_what_holds_and_by_whom(talk):
    answer, reactions = talk.ask('/bylaw why {"days": 6}')
    assert "nobody decides it" in answer
    assert reactions == ["eyes", "+1"]
    answer, _ = talk.ask("/bylaw why a fresh one")
    assert "`POL-REFUND-090` and `POL-REFUND-091` contradict each other" in answer


def test_why_decides_nothing_that_a_rule_may_change_which_cannot_be_read(talk):
    talk.github.commit("feature", {"policies/refund/POL-REFUND-092.yaml": "policy_id: ["})
    answer, _ = talk.ask("/bylaw why a fresh one")
    assert "not decided:" in answer and "policies/refund/POL-REFUND-092.yaml:1" in answer
    assert "**full" not in answer and "**reject" not in answer


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('/bylaw why {"day": 6}', "did you mean `days`"),
        ('/bylaw why {"days": "@everyone"}', "@everyone"),
        ("/bylaw why a fresh on", "a fresh one"),
        ("/bylaw accept 0123456789 at HEAD until 2026-12-31 because x", "no error or warning that can be accepted"),
        ("/bylaw accept conflict at HEAD until 2020-12-31 because x", "is over already"),
        ("/bylaw accept conflict at HEAD until 2027-06-03 because x", "more than 366 days away"),
        ("/bylaw accept conflict at 0123456789 until 2026-12-31 because x", "the newest commit is"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(talk, text, says):
    answer, reactions = talk.ask(text)
    assert says in answer.replace("\\", "").replace("\u2060", "")
    assert reactions == ["eyes", "-1"]
    assert "@everyone" not in answer.replace("`@everyone`", "")


def test_diff_says_which_cases_change(talk):
    answer, reactions = talk.ask("/bylaw diff")
    assert "POL-REFUND-091" in answer
    assert (answer.count("```"), reactions) == (2, ["eyes", "+1"])


def test_what_is_not_understood_is_answered_with_the_usage(talk):
    answer, reactions = talk.ask("/bylaw please")
    assert "/bylaw accept FINDING at COMMIT until" in answer
    assert reactions == ["eyes", "confused"]


def test_told_twice_of_a_comment_it_answers_once(talk):
    comment = talk.say("/bylaw diff")
    talk.run(comment)
    before = [(one.id, one.body) for one in talk.github.comments_of(1)]
    assert talk.run(comment).code == 0
    assert [(one.id, one.body) for one in talk.github.comments_of(1)] == before


@pytest.mark.parametrize("effect", ["unavailable", "cut_before", "cut_after"])
def test_an_answer_survives_an_outage(talk, effect):
    talk.github.fail(effect, times=1, on="POST .*/issues/1/comments$")
    answer, reactions = talk.ask("/bylaw please")
    assert "not understood" in answer
    assert reactions == ["eyes", "confused"]


@pytest.mark.parametrize("text", ["thanks", "> /bylaw diff", "/bylaws"])
def test_a_comment_that_asks_for_nothing_is_left_alone(talk, text):
    done = talk.run(talk.say(text))
    assert (done.code, talk.github.requests) == (0, [])


def test_programs_and_issues_are_not_answered(talk):
    comment = talk.say("/bylaw diff")
    assert talk.run(comment, author="Bot").code == 0
    assert talk.github.requests == []
    assert talk.run(comment, pull={}).code == 0
    assert talk.github.requests == []


# --- in two halves

READS = {"contents": "read", "metadata": "read", "pull_requests": "read"}


def halves(talk, comment, change=lambda reply: reply):
    """The first half with a token that reads, the second with one that writes and no look at the files."""
    path = talk.events / "reply.json"
    first = talk.run(comment, words=("--compute", path), kind="workflow", permissions=READS)
    assert first.code == 0, first.err
    assert talk.github.writes() == []
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    return talk.run(comment, words=("--post", path))


@pytest.mark.parametrize("text", ["/bylaw diff", '/bylaw why {"days": 2}', "/bylaw please"])
def test_one_half_looks_and_the_other_answers(talk, text):
    whole, _ = talk.ask(text)
    comment = talk.say(text)
    assert halves(talk, comment).code == 0
    [answer] = [one.body for one in talk.github.comments_of(1) if f"answer {comment} " in one.body]
    assert answer.partition("\n")[2] == whole.partition("\n")[2]


@pytest.mark.parametrize(
    ("until", "forged"),
    [
        ("2026-12-31", {"finding": "f" * 16, "id": "dead-rule"}),  # another finding
        ("3000-01-01", {"at": "2999-12-31"}),  # another day, from which that would be near
        ("2026-12-31", {"paths": ["elsewhere/x.yaml"]}),  # files of nobody
    ],
)
def test_a_file_cannot_have_more_accepted_than_its_comment_and_the_base_allow(talk, until, forged):
    owners(talk, "/policies/ @ana\n")
    comment = talk.say("/bylaw accept conflict at HEAD until 2026-12-31 because x")
    said = talk.github.state.comments[comment]

    def change(reply):
        said.body = said.body.replace("2026-12-31", until)
        return reply | {"proposed": reply["proposed"] | forged}

    assert halves(talk, comment, change).code == 0
    assert talk.head("rules/waivers.yaml") is None


def test_what_is_accepted_in_two_halves_is_written(talk):
    owners(talk, "/policies/ @ana\n")
    comment = talk.say(ACCEPT.replace("HEAD", talk.github.git.resolve("refs/heads/feature")))
    assert halves(talk, comment).code == 0
    assert "conflict" in talk.head("rules/waivers.yaml")


@pytest.mark.parametrize(
    "change",
    [{"comment": 99}, {"head_sha": "0" * 40}, {"more": 1}, {"reaction": "rocket"}, {"text": 5}, {"proposed": []}],
)
def test_a_file_about_something_else_is_not_posted(talk, change):
    comment = talk.say("/bylaw diff")
    assert halves(talk, comment, lambda reply: reply | change).code == 2
    assert talk.github.writes() == []


# --- accept

ACCEPT = '/bylaw accept conflict at HEAD until 2026-12-31 because the handbook # is: being "rewritten"'


def owners(talk, text: str) -> None:
    talk.github.commit("main", {".github/CODEOWNERS": text})


def test_an_owner_of_both_policies_accepts_their_contradiction(talk):
    owners(talk, "* @ana\n")
    answer, reactions = talk.ask(ACCEPT)
    assert reactions == ["eyes", "+1"]
    assert "starts no workflow" in answer
    [waiver] = yaml.safe_load(talk.head("rules/waivers.yaml"))["waivers"]
    assert (waiver["id"], str(waiver["until"]), waiver["by"]) == ("conflict", "2026-12-31", "ana")
    assert waiver["because"] == 'the handbook # is: being "rewritten"'
    talk.fetch()
    subprocess.run(["git", "-C", talk.root, "checkout", "-q", "refs/seen/heads/feature"], check=True)
    found = talk.call("check", "--root", talk.root, "--format", "json", "--at", "2026-06-01").json["findings"]
    assert [one["severity"] for one in found if one["id"] == "conflict"] == ["notice"]
    again, _ = talk.ask(ACCEPT)
    assert "is accepted already" in again
    assert len([line for line in talk.github.writes() if "/git/commits" in line]) == 0


@pytest.mark.parametrize("by", ["ana", "bo", "eve", "Ana-"])
def test_who_does_not_own_every_policy_of_it_accepts_nothing(talk, by):
    answer, reactions = talk.ask(ACCEPT, by)
    assert reactions == ["eyes", "-1"]
    assert "Only the owners" in answer
    assert talk.head("rules/waivers.yaml") is None


def test_the_owners_are_those_of_the_base_not_of_the_pull_request(talk):
    assert "eve" in talk.head(".github/CODEOWNERS")
    _, reactions = talk.ask(ACCEPT, "eve")
    assert reactions == ["eyes", "-1"]


def test_who_edits_an_owners_comment_is_not_the_owner(talk):
    owners(talk, "* @ana\n")
    comment = talk.say(ACCEPT, "ana")
    assert talk.run(comment, editor="eve").code == 0
    assert talk.head("rules/waivers.yaml") is None


def test_a_member_of_an_owning_team_is_an_owner(talk):
    owners(talk, "* @acme/owners\n")
    talk.github.state.teams["owners"] = {"cleo"}
    robot = {"kind": "personal", "login": "robot"}
    assert talk.ask(ACCEPT, "bo", **robot)[1] == ["eyes", "-1"]
    answer, reactions = talk.ask(ACCEPT, "Cleo", **robot)
    assert reactions == ["eyes", "+1"], answer


@pytest.mark.parametrize(
    "token",
    [{"kind": "workflow"}, {"kind": "fine-grained", "login": "robot", "permissions": {**ALL, "members": "none"}}],
)
def test_a_token_that_may_not_read_teams_takes_nobody_for_a_member(talk, token):
    owners(talk, "* @acme/owners\n")
    talk.github.state.teams["owners"] = {"cleo"}
    _, reactions = talk.ask(ACCEPT, "cleo", **token)
    assert reactions == ["eyes", "-1"]


def test_a_fork_is_told_what_to_paste(talk):
    owners(talk, "* @ana\n")
    answer, reactions = talk.ask(ACCEPT, number=2)
    assert reactions == ["eyes", "-1"]
    block = answer.split("```yaml\n")[1].split("```")[0]
    assert yaml.safe_load(block)["waivers"][0]["id"] == "conflict"
    assert [line for line in talk.github.writes() if "/git/" in line] == []


ENTRY = {"finding": "1" * 16, "id": "conflict", "until": "2026-12-31", "because": "x", "by": "ana"}
THEIRS = "waivers:\n  # theirs\n  - {finding: 2222222222222222, id: gap, until: 2026-01-01, because: y, by: bo}\n"
OURS = """\
waivers:
  - finding: "1111111111111111" # ours
    id: conflict
    until: 2026-01-01
    because: y
    by: bo
"""
FILES = [
    ("no file", None),
    ("an empty file", ""),
    ("a comment alone", "# nothing yet\n"),
    ("an empty list", "# ours\nwaivers: []  # none\n"),
    ("nothing behind the key", "waivers:\n"),
    ("another entry", THEIRS),
    ("an entry about the same", OURS),
    ("another key", 'schema_version: "1.0"\n'),
]


@pytest.mark.parametrize(("title", "text"), FILES, ids=[title for title, _ in FILES])
def test_a_waiver_is_written_among_what_is_there(title, text):
    after = with_waiver(text, ENTRY)
    read = yaml.load(after, yaml.BaseLoader)
    assert ENTRY in read["waivers"]
    assert [one["finding"] for one in read["waivers"]].count("1" * 16) == 1
    comments = [line.split("#")[1] for line in (text or "").splitlines() if "#" in line]
    assert all(comment in after for comment in comments)
    assert with_waiver(after, ENTRY) == after


# --- a waiver that the pull request brings along


def reviewed(talk) -> str:
    """What GitHub is told of the newest commit."""
    talk.fetch()
    sha = talk.github.head(talk.github.state.pulls[1])
    subprocess.run(["git", "-C", talk.root, "checkout", "-q", sha], check=True)
    path = talk.events / "pull.json"
    base = talk.github.base_sha(talk.github.state.pulls[1])
    pull = {"number": 1, "head": {"sha": sha}, "base": {"sha": base}}
    path.write_text(json.dumps({"repository": {"full_name": "acme/policies"}, "pull_request": pull}))
    environ = {
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_API_URL": talk.github.base,
        "GITHUB_TOKEN": talk.github.token(kind="workflow", permissions=ALL),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        done = talk.call("review", "--root", talk.root, "--at", "2026-06-01")
    assert done.err == ""
    return talk.github.checks_of(sha)[-1].conclusion


def with_own_waiver(talk) -> None:
    """The author writes the waiver that only an owner may ask for."""
    subprocess.run(["git", "-C", talk.root, "fetch", "-q", "origin", "+refs/*:refs/seen/*"], check=True)
    sha = talk.github.head(talk.github.state.pulls[1])
    subprocess.run(["git", "-C", talk.root, "checkout", "-q", sha], check=True)
    found = talk.call("check", "--root", talk.root, "--at", "2026-06-01", "--format", "json").json["findings"]
    (print_,) = [one["fingerprint"] for one in found if one["id"] == "conflict"]
    entry = {"finding": print_, "id": "conflict", "until": "2026-12-01", "because": "soon", "by": "ana"}
    files = {"rules/waivers.yaml": yaml.safe_dump({"waivers": [entry]}), "policies/refund/cases.yaml": "[]\n"}
    talk.github.commit("feature", files)


def test_a_waiver_waives_nothing_until_an_owner_has_asked_for_it(talk):
    with_own_waiver(talk)
    assert reviewed(talk) == "failure"
    for by in ("eve", "bo"):  # nobody's, and the owner of one of the two policies
        talk.say("/bylaw accept conflict at HEAD until 2026-12-01 because it is late", by)
    assert reviewed(talk) == "failure"


def test_an_owner_of_all_that_it_is_about_accepts_it(talk):
    talk.github.commit("main", {".github/CODEOWNERS": "* @ana\n"})
    with_own_waiver(talk)
    comment = talk.say("/bylaw accept conflict at HEAD until 2026-11-01 because a shorter one", "ana")
    assert reviewed(talk) == "failure"
    comment = talk.say("/bylaw accept conflict at HEAD until 2026-12-01 because it is late", "ana")
    assert reviewed(talk) == "neutral"  # a waiver is new: that is told, and stops nothing
    talk.github.state.comments[comment].editor = "eve"
    talk.github.commit("feature", {"notes.txt": "one more commit"})
    assert reviewed(talk) == "failure"
