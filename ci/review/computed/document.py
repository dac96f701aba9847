"""The review of a pull request as data: what was found, without a word of Markdown.

Whoever computed it may be a stranger's fork, so nothing in it is believed beyond its shape: keys, sizes, names of
files and commits are held to what they may be, and every text is escaped by whoever renders it. It names no account
and no address; whom to ask and where to link is known only to the side that posts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from bylaw.authored.decisions import Status
from bylaw.canonical import fingerprint
from bylaw.errors import UsageError
from ci.findings import ID_OF_GATES, SEVERITIES
from ci.report.visible import visible

VERSION = "1.0"
MOST_BYTES = 8_000_000  # of the whole document: ten times the largest review that a person would read
LONGEST = 8_000  # of one text
_LONGEST_PATH = 1_000
MOST = 2_000  # of one list
MOST_PATHS = 20  # of one decision


def _clean_path(path: str) -> str:
    """A file inside the repository: no way out of it, no letter that is not one."""
    parts = path.split("/")
    if "\\" in path or visible(path) != path or any(part in ("", ".", "..", ".git") for part in parts):
        raise ValueError("is no clean relative path")
    return path


def escaped_path(path: str) -> str:
    """*path* as the document takes it: what nobody sees, and a backslash, as `%0A`; far too long a one shortened.

    Most names are given back as they are. One that is not leads nowhere, and is still told.
    """
    shown = "".join(map(_escaped, path))
    parts = [part if part not in ("", ".", "..", ".git") else f"%{part}" for part in shown.split("/")]
    clean = "/".join(parts)
    if len(clean) <= _LONGEST_PATH:
        return clean
    return f"{clean[: _LONGEST_PATH - 40]}…{fingerprint(path)[:32]}"


def _escaped(char: str) -> str:
    return char if char != "\\" and visible(char) == char else quote(char, safe="", errors="backslashreplace")


def _clean_folder(path: str) -> str:
    return path if not path else _clean_path(path.removesuffix("/")) + "/"


def _known_id(id: str) -> str:
    if id not in SEVERITIES:
        raise ValueError("is no id of a finding")
    return id


def _one_visible_line(text: str) -> str:
    if visible(text, tab="\t") != text or "<!-- bylaw:" in text:
        raise ValueError("holds letters that nobody sees, or a mark of ours")
    return text


def _one_value(value: Any) -> Any:
    if isinstance(value, float) and value != value:
        raise ValueError("is no number")
    return value


Text = Annotated[str, StringConstraints(max_length=LONGEST)]
Name = Annotated[str, StringConstraints(max_length=300)]
Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Print = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
Line = Annotated[int, Field(ge=1, le=10_000_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
FilePath = Annotated[str, StringConstraints(min_length=1, max_length=_LONGEST_PATH), AfterValidator(_clean_path)]
Folder = Annotated[str, StringConstraints(max_length=1_000), AfterValidator(_clean_folder)]
FindingId = Annotated[str, StringConstraints(max_length=60), AfterValidator(_known_id)]
SourceLine = Annotated[str, StringConstraints(max_length=1_000), AfterValidator(_one_visible_line)]
FactValue = Annotated[bool | int | float | Name | None, AfterValidator(_one_value)]
Severity = Literal["error", "warning", "notice"]
Shown = Literal["changed", "context", "file", "elsewhere"]


class Data(BaseModel):
    """A part of the document: nothing unknown in it, nothing changed afterwards, nothing read into another type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Spot(Data):
    """A line of a file at the head, the path counted from the policy repository's root."""

    path: FilePath
    line: Line
    note: Text = ""


class Case(Data):
    """One concrete case; `entry` is the YAML that a reviewer pastes once it is decided what it should get."""

    words: Text = ""
    facts: Annotated[dict[Name, FactValue], Field(max_length=500)] = {}
    at: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    entry: Text = ""


class Suggestion(Data):
    """What stands in the place of some lines of a file where there is one right fix."""

    path: FilePath
    line: Line
    end_line: Line
    lines: Annotated[list[SourceLine], Field(min_length=1, max_length=60)]


class FoundItem(Data):
    """A finding. `shown` says whether the pull request shows its line, `owners` who has to decide, in plain names."""

    id: FindingId
    severity: Severity
    message: Text
    at: Spot
    shown: Shown = "elsewhere"
    policies: Annotated[list[Name], Field(max_length=MOST)] = []
    related: Annotated[list[Spot], Field(max_length=MOST)] = []
    help: Text | None = None
    status: Literal["PROVEN", "COUNTEREXAMPLE", "UNKNOWN", "SKIPPED"] | None = None
    case: Case | None = None
    subject: Name | None = None
    side: Text | None = None
    ending: Text | None = None
    owners: Annotated[list[Name], Field(max_length=50)] = []
    pairs: Count = 0
    members: Annotated[list[Name], Field(max_length=200)] = []
    member_count: Count = 0
    fingerprint: Print
    existing: bool = False
    suggestion: Suggestion | None = None

    @property
    def is_clash(self) -> bool:
        """Is it a contradiction, with both of its sides? Other findings too may have a second place."""
        return self.id in ("conflict", "resolved-conflict") and self.side is not None and bool(self.related)


class OutcomeChange(Data):
    """A row of the table of outcomes: in these cases something else holds from now on, and who says so."""

    subject: Name
    before: Name
    after: Name
    by_before: Annotated[list[Name], Field(max_length=50)] = []
    by_after: Annotated[list[Name], Field(max_length=50)] = []
    case: Case
    where: Text = ""
    tendency: Literal["tightened", "loosened", "changed"]
    fingerprint: Print


class GraphNode(Data):
    """A question of a decision graph, and where yes and no lead."""

    name: Name
    yes: Name
    no: Name


class PolicyGraph(Data):
    """How a changed policy decides. `node_count` is larger than the list where the graph is too large to send."""

    policy_id: Name
    path: FilePath
    nodes: Annotated[list[GraphNode], Field(max_length=200)] = []
    terminals: Annotated[list[Name], Field(max_length=200)] = []
    node_count: Count = 0


class Covered(Data):
    """How much of some policies their cases show."""

    covered: Count
    count: Count


class Coverage(Data):
    """The changed policies' coverage before and after."""

    before: Covered
    after: Covered


class OpenQuestion(Data):
    """Questions of one kind that got no answer, and why."""

    question: Name
    undecided: Count
    skipped: Count
    asked: Count
    why: Annotated[list[Name], Field(max_length=20)] = []


class Counts(Data):
    """What is new by severity, and how much the base had already; also of findings that are not sent."""

    error: Count = 0
    warning: Count = 0
    notice: Count = 0
    existing: Count = 0


class RecordedAnswers(Data):
    """How many answers of an audit log would be different under the head, and the first requests among them."""

    answers: Count
    different: Count
    not_under_base: Count
    left_out: Count = 0
    examples: Annotated[list[Name], Field(max_length=20)] = []
    calls: dict[Literal["deny", "allow", "ask", "escalate"], Count] = {}  # of agents that would now be decided so

    @model_validator(mode="after")
    def _each_is_a_part(self) -> RecordedAnswers:
        if not self.answers >= self.different >= max(self.not_under_base, len(self.examples)):
            raise ValueError("more are different than there are")
        return self


class GoverningDecision(Data):
    """A decision on record about files that the change touches; advice, which fails nothing."""

    id: Name
    option: Name
    status: Status
    decided_on: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    record: FilePath
    superseded_by: Annotated[list[Name], Field(max_length=10)] = []
    paths: Annotated[list[FilePath], Field(max_length=MOST_PATHS)]
    path_count: Count


class WaiverItem(Data):
    """A waiver that only the head has: it holds when it is merged, or when an owner has accepted it."""

    finding: Print
    until: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]


class Timing(Data):
    """How long a part of the work took."""

    what: Name
    seconds: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class ReviewDocument(Data):
    """Everything that a review says. `folder` leads from the top of the git repository to the root.

    `nothing_else_changes` is claimed only where every policy took part in the comparison; `unknown` says why not.
    `change_count` counts what changes outcome also where `change_severity` is None: then no row of it is shown.
    """

    schema_version: Literal["1.0"]
    head_sha: Sha
    base_sha: Sha
    pull_request: Annotated[int, Field(ge=1, le=2**53)] | None = None
    folder: Folder = ""
    is_dirty: bool = False
    at: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    policy_count: Count
    changed_files: Annotated[list[FilePath], Field(max_length=MOST)] = []
    findings: Annotated[list[FoundItem], Field(max_length=MOST)] = []
    counts: Counts
    standing: Annotated[list[Print], Field(max_length=100_000)] = []
    changes: Annotated[list[OutcomeChange], Field(max_length=MOST)] = []
    change_count: Count = 0
    change_severity: Severity | None = "notice"
    nothing_else_changes: bool
    narrowed: Annotated[list[Text], Field(max_length=MOST)] = []
    only_comments_in: Count = 0
    unknown: Annotated[list[Text], Field(max_length=100)] = []
    graphs: Annotated[list[PolicyGraph], Field(max_length=200)] = []
    graph_count: Count = 0
    coverage: Coverage | None = None
    missing_cases: Text = ""
    missing_case_count: Count = 0
    case_suggestions: Annotated[list[Suggestion], Field(max_length=20)] = []
    etag: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    without_etag: Name | None = None
    waivers: Annotated[list[WaiverItem], Field(max_length=MOST)] = []
    open_questions: Annotated[list[OpenQuestion], Field(max_length=100)] = []
    recorded: RecordedAnswers | None = None
    decisions: Annotated[list[GoverningDecision], Field(max_length=MOST)] = []
    timings: Annotated[list[Timing], Field(max_length=50)] = []

    @property
    def new(self) -> list[FoundItem]:
        """The findings that the base did not have."""
        return [finding for finding in self.findings if not finding.existing]

    def with_notices(self, prints: Collection[str]) -> ReviewDocument:
        """The document with the findings of these fingerprints as notices."""
        moved = Counter(one.severity for one in self.new if one.fingerprint in prints)
        counts = {kind: getattr(self.counts, kind) - moved[kind] for kind in ("error", "warning", "notice")}
        counts["notice"] += sum(moved.values())
        found = [
            one.model_copy(update={"severity": "notice"}) if one.fingerprint in prints and not one.existing else one
            for one in self.findings
        ]
        return self.model_copy(update={"findings": found, "counts": self.counts.model_copy(update=counts)})

    @property
    def gates(self) -> list[FoundItem]:
        """What the change does to its own checks."""
        return [finding for finding in self.new if finding.id == ID_OF_GATES]


def write(document: ReviewDocument) -> str:
    """The document as one JSON text, always the same for the same document."""
    return json.dumps(document.model_dump(mode="json"), indent=1, sort_keys=True, ensure_ascii=True) + "\n"


def read(data: bytes, head_sha: str | None = None) -> ReviewDocument:
    """The document that *data* holds, and of that very commit. Raises UsageError, naming the first thing wrong.

    The message repeats no word of the data: it may come from a stranger, and ends up in a log.
    """
    if len(data) > MOST_BYTES:
        raise UsageError(f"the review is larger than {MOST_BYTES:,} bytes", "it was not written by `bylaw review`")
    try:
        document = ReviewDocument.model_validate_json(data)
    except ValidationError as error:
        where = ".".join(_step(step) for step in error.errors(include_input=False, include_url=False)[0]["loc"])
        raise UsageError(
            f"the review does not have the shape of one, first at `{where or 'the start'}`",
            "compute it anew with `bylaw review --compute FILE`",
        ) from None
    if head_sha is not None and document.head_sha != head_sha:
        raise UsageError(f"the review is of the commit {document.head_sha}, not of {head_sha}")
    return document


def _step(step: str | int) -> str:
    known = {name for part in Data.__subclasses__() for name in part.model_fields}
    return str(step) if isinstance(step, int) or step in known else "…"


def clipped(text: str, most: int = LONGEST) -> str:
    """*text* as far as the document takes it, and how much was left out."""
    if len(text) <= most:
        return text
    left = f"… ({len(text) - most + 40:,} more characters)"
    return text[: most - len(left)] + left
