"""A review document → the words of the review. The trusted side: it believes the document's shape and nothing else.

Every text is escaped, links lead only into the repository that is reviewed, and only accounts of the trusted branch's
`CODEOWNERS` are mentioned, once. What does not fit is left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from bylaw.authored.machines.rules import ReviewRules
from bylaw.canonical import fingerprint
from bylaw.errors import UsageError
from ci.findings import Finding
from ci.loading.commits.base_commit import files_at
from ci.loading.commits.revision import Revision, folder
from ci.loading.files import Content
from ci.loading.load import files_of
from ci.loading.load import read as read_files
from ci.parts.inventory import says_words
from ci.parts.part import path_of
from ci.report.visible import visible
from ci.review.computed.document import FoundItem, ReviewDocument, Suggestion
from ci.review.computed.owners import owners_at, owners_in
from ci.review.words.comment import RANK, body, cases_body, name_of
from ci.review.words.rendered import Annotation, Comment, Conclusion, Level, Rendered
from ci.review.words.summary import headline, summary
from ci.review.words.view import Setting

__all__ = ["Setting", "render", "setting"]

_LEVELS: dict[str, Level] = {"error": "failure", "warning": "warning", "notice": "notice"}
_WORST: tuple[Conclusion, ...] = ("failure", "neutral", "success")
_SHOWN = ("changed", "context", "file", "elsewhere")
_SERVER = re.compile(r"https?://[A-Za-z0-9.-]{1,250}(:\d{1,5})?")
_REPOSITORY = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")
MOST_ANNOTATIONS = 500  # ten requests; the summary counts every finding
MOST_TEXT = 4_000  # of an annotation: the page shows no more of it
MOST_NOTE = 500  # of what is said at another place


def setting(
    root: Path, repository: str | None = None, server: str = "https://github.com", at: str | None = None
) -> Setting:
    """What a trusted commit says of reviews: how much they show, and who owns which file.

    It is the one that the folder *root* shows, or the commit *at* of a folder that shows somebody's change: how bad a
    finding makes that change, and whom it is told to, is not for the change to say. Raises UsageError for a
    *repository* that is no `OWNER/NAME`, and a *server* that is no address.
    """
    if repository is not None and not _REPOSITORY.fullmatch(repository):
        raise UsageError("the repository should be OWNER/NAME")
    if not _SERVER.fullmatch(server):
        raise UsageError("the server should be an address like https://github.com")
    files: Iterable[Content | Finding] = files_of(root) if at is None else files_at(root, at)
    words = [file for file in files if says_words(path_of(file))]
    rules: ReviewRules = read_files(root, words, Revision(), None).rules.ci.review
    top = root.resolve()
    for _ in folder(root).split("/")[:-1]:
        top = top.parent
    owners = owners_in(top) if at is None else owners_at(top, at)
    return Setting(rules, owners, server.rstrip("/"), repository)


def render(document: ReviewDocument, setting: Setting) -> Rendered:
    """The review in words. `summary` is empty where there is nothing to say: then only one that exists is edited."""
    new = sorted(document.new, key=_order)
    told = [finding for finding in new if finding.shown != "elsewhere"]
    most = setting.rules.comments
    comments = tuple(
        Comment(one.fingerprint, document.folder + one.at.path, one.at.line, body(one, document, setting))
        for one in told[:most]
    )
    cases = [_cases(fix, document) for fix in document.case_suggestions]
    comments = (*comments, *cases[: most - len(comments)])
    omitted = len(told[most:])
    return Rendered(
        head_sha=document.head_sha,
        conclusion=_bound(conclusion(document, setting.rules), setting),
        title=headline(document, setting),
        summary=summary(document, setting, omitted),
        comments=comments,
        annotations=tuple(_annotation(finding, document) for finding in new[:MOST_ANNOTATIONS]),
        omitted=omitted,
        standing=frozenset(document.standing),
        footer=timings(document),
    )


def _cases(fix: Suggestion, document: ReviewDocument) -> Comment:
    """Not a finding, yet known again by the next run: by the file that the cases belong into."""
    print_ = fingerprint(["missing-cases", fix.path])[:16]
    return Comment(print_, document.folder + fix.path, fix.line, cases_body(print_, fix))


def conclusion(document: ReviewDocument, rules: ReviewRules) -> Conclusion:
    """The worst that rules/ci.yaml makes of any new finding; what the base had already counts for nothing."""
    counts = document.counts
    made = rules.conclusion
    found = ((made.error, counts.error), (made.warning, counts.warning), (made.notice, counts.notice))
    reached = {verdict for verdict, number in found if number}
    return next((verdict for verdict in _WORST if verdict in reached), "success")


def _bound(found: Conclusion, setting: Setting) -> Conclusion:
    """A document that nobody vouches for may be forged: it can fail a change, and never pass it."""
    return found if setting.is_bound or found != "success" else "neutral"


def timings(document: ReviewDocument) -> str:
    """How long the work took, in one plain line: it differs from run to run, so it stands in no body."""
    total = sum(timing.seconds for timing in document.timings)
    parts = ", ".join(f"{visible(timing.what)} {timing.seconds:.1f} s" for timing in document.timings)
    return f"{total:.1f} s: {parts}" if parts else ""


def _order(finding: FoundItem) -> tuple[int, int, str, int, str]:
    """The worst first, then what stands on a line of the change."""
    return (
        RANK[finding.severity],
        _SHOWN.index(finding.shown),
        finding.at.path,
        finding.at.line,
        finding.fingerprint,
    )


def _annotation(finding: FoundItem, document: ReviewDocument) -> Annotation:
    lines = [visible(finding.message[:MOST_TEXT])]
    lines += [
        f"and {visible(place.path)}:{place.line}: {visible(place.note[:MOST_NOTE])}" for place in finding.related[:5]
    ]
    lines += [f"help: {visible(finding.help[:MOST_NOTE])}"] if finding.help else []
    return Annotation(
        document.folder + finding.at.path,
        finding.at.line,
        _LEVELS[finding.severity],
        name_of(finding.id),
        "\n".join(lines)[:MOST_TEXT],
    )
