"""The verdict on a commit: a check run with annotations, fifty a request; for who may not create one, a commit status.

A check run names, hidden in its `external_id`, what it is to hold. One of the same content is finished where it was cut
off, not made again: annotations are added, never replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from bylaw.canonical import fingerprint
from bylaw.github.client import Hub, told
from bylaw.github.errors import GitHubError
from ci.review.words.rendered import Annotation, Conclusion, Rendered

if TYPE_CHECKING:
    from bylaw.github.types import CheckRun

NAME = "bylaw"
AT_ONCE = 50  # annotations that GitHub takes in one request
LONGEST_OUTPUT = 65_535
_LONGEST_TITLE = 255
_LONGEST_DESCRIPTION = 140
_SHORTENED = "\n\n_What does not fit here stands in the pull request's summary and in the job's log._\n"

PostedAs = Literal["check", "status"]

# A status knows no third answer; nothing that fails stands behind a neutral one.
_STATES: Mapping[Conclusion, str] = {"success": "success", "neutral": "success", "failure": "failure"}
# What GitHub answers to who may not create check runs: forbidden, or the resource denied to be there.
_MAY_NOT = (403, 404)
_GOING_ON: Mapping[str, Any] = {"status": "in_progress"}


def deliver(hub: Hub, rendered: Rendered, annotations: Sequence[Annotation]) -> PostedAs:
    """See to it that the commit shows the verdict, and say as what. Raises GitHubError."""
    if hub.abilities.creates_checks:
        try:
            _check_run(hub, rendered, annotations)
            return "check"
        except GitHubError as problem:
            if problem.status not in _MAY_NOT or problem.is_limit:
                raise
    _status(hub, rendered)
    return "status"


def _check_run(hub: Hub, rendered: Rendered, annotations: Sequence[Annotation]) -> None:
    rows = [_row(annotation) for annotation in annotations]
    text = _fitting(rendered.summary)
    key = fingerprint([rendered.conclusion, rendered.title, text, [asdict(one) for one in annotations]])[:32]
    output: dict[str, Any] = {"title": rendered.title[:_LONGEST_TITLE], "summary": text}
    ending: dict[str, Any] = {"status": "completed", "conclusion": rendered.conclusion}

    def look() -> CheckRun | None:
        runs = hub.repository.get_commit(rendered.head_sha).get_check_runs(check_name=NAME, filter="all")
        return next((run for run in runs if run.external_id == key), None)

    def make() -> CheckRun:
        rest = ending if len(rows) <= AT_ONCE else _GOING_ON
        first: dict[str, Any] = {**output, "annotations": rows[:AT_ONCE]} if rows else output
        return hub.repository.create_check_run(NAME, rendered.head_sha, external_id=key, output=first, **rest)

    run, _ = hub.once(look, make)
    while run.status != "completed":
        _go_on(hub, run, output, rows, ending)


def _go_on(
    hub: Hub, run: CheckRun, output: Mapping[str, Any], rows: list[dict[str, Any]], ending: Mapping[str, Any]
) -> None:
    """The next fifty. After a broken answer *run* is read again: GitHub's own count says where to go on."""
    count = run.output.annotations_count
    batch = rows[count : count + AT_ONCE]
    rest = ending if count + len(batch) >= len(rows) else {}

    def look() -> bool | None:
        run.update()
        return True if run.output.annotations_count > count or run.status == "completed" else None

    def make() -> bool:
        run.edit(output={**output, "annotations": batch}, **rest)
        return True

    hub.once(look, make)


def _row(annotation: Annotation) -> dict[str, Any]:
    return {
        "path": annotation.path,
        "start_line": annotation.line,
        "end_line": annotation.line,
        "annotation_level": annotation.level,
        "title": annotation.title[:_LONGEST_TITLE],
        "message": annotation.message[:LONGEST_OUTPUT],
    }


def _fitting(summary: str) -> str:
    """*summary* as a check run takes it, cut between two lines."""
    if not summary.strip():
        return "Nothing to say."
    if len(summary) <= LONGEST_OUTPUT:
        return summary
    return summary[: LONGEST_OUTPUT - len(_SHORTENED)].rsplit("\n", 1)[0] + _SHORTENED


def _status(hub: Hub, rendered: Rendered) -> None:
    description = rendered.title[:_LONGEST_DESCRIPTION]
    state = _STATES[rendered.conclusion]
    with told():
        commit = hub.repository.get_commit(rendered.head_sha)
        held = [one for one in commit.get_combined_status().statuses if one.context == NAME]
        if not any((one.state, one.description) == (state, description) for one in held):
            commit.create_status(state, description=description, context=NAME)
