"""The ADR folders of two teams load as they lie in their repositories, and every loss is said."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

from bylaw.authored.decisions import Decision
from ci.loading.load import Workspace, load
from tests.beside import beside

COLLECTION = beside("realworld", "decisions")


def _loaded(tmp_path: Path, folder: str) -> Workspace:
    shutil.copytree(COLLECTION / folder, tmp_path / "docs" / folder)
    sources = tmp_path / "context/decisions/sources.yaml"
    sources.parent.mkdir(parents=True)
    sources.write_text(f"sources:\n  - {{folder: docs/{folder}}}\n", encoding="utf-8")
    return load(tmp_path)


def _by_number(workspace: Workspace) -> dict[int | None, Decision]:
    return {one.number: one for one in workspace.decisions.decisions.values()}


def test_the_records_of_nygards_style(tmp_path: Path) -> None:
    workspace = _loaded(tmp_path, "adr_govuk")
    found = workspace.decisions.decisions
    assert len(found) == len(list((COLLECTION / "adr_govuk").glob("*.md"))) == 38
    assert Counter(one.status for one in found.values()) == {
        "accepted": 29,
        "proposed": 7,
        "deprecated": 1,
        "superseded": 1,
    }
    assert all(one.decided_on and one.context and one.consequences for one in found.values())
    by_number = _by_number(workspace)
    assert by_number[4].superseded_by == ["0015-dns-infrastructure"]
    assert by_number[15].supersedes == ["0004-dns-definitions-for-hosts-and-services"]
    assert by_number[17].amends == ["0010-terraform-directory-structure"]
    assert by_number[3].x_extra == {"status": "Partly superseded"}
    told = Counter(one.id for one in workspace.findings)
    assert not told.keys() - {"extra-field", "long-text"}
    statuses = [one.message for one in workspace.findings if "is read as" in one.message]
    assert len(statuses) == 8  # every status that is not one of the words itself


def test_the_records_of_madr(tmp_path: Path) -> None:
    workspace = _loaded(tmp_path, "adr_madr")
    found = workspace.decisions.decisions
    assert len(found) == 19
    assert Counter(one.status for one in found.values()) == {"accepted": 18, "deferred": 1}
    assert all(sum(option.chosen for option in one.options) == 1 for one in found.values())
    assert all(one.dated_by == "nothing" and one.decided_on is None for one in found.values())
    told = Counter(one.id for one in workspace.findings)
    assert told["undated-decision"] == 19
    assert {one.at.path for one in workspace.findings if one.id == "unread-file"} == {
        "docs/adr_madr/adr-template.md",
        "docs/adr_madr/index.md",
    }
    assert not told.keys() - {"undated-decision", "extra-field", "unread-file", "long-text"}


def test_no_word_of_a_document_is_lost(tmp_path: Path) -> None:
    """Every line of text of every section stands in the record that it became."""
    for folder in ("adr_govuk", "adr_madr"):
        workspace = _loaded(tmp_path / folder, folder)
        for id, path in workspace.decisions.sources.items():
            if id not in workspace.decisions.decisions:
                continue
            kept = _letters(str(workspace.decisions.decisions[id].model_dump()))
            for line in (tmp_path / folder / path).read_text(encoding="utf-8").splitlines():
                words = _letters(re.sub(r"^\W*(\d+\.\s|(Good|Bad|Neutral), because)", "", line))
                is_frame = line.startswith(("#", "---", "<!--", "Date:"))
                assert is_frame or words in kept, (path, line)


def _letters(text: str) -> str:
    without_links = re.sub(r"\[([^]]*)\]\(\S*\)", r"\1", text)
    return "".join(filter(str.isalnum, without_links.casefold()))
