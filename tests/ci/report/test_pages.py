"""The pages of the finding ids as people read them, and the file in which they are all collected."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from ci.findings import SEVERITIES
from ci.help.page import base, page, pages
from ci.report.pages import handbook, markdown, terminal
from tests.rows import each

HANDBOOK = Path(__file__).resolve().parents[3] / "docs" / "every-finding.md"


def test_the_committed_handbook_is_that_of_the_pages(request: pytest.FixtureRequest) -> None:
    made = handbook(pages(), base())
    if request.config.getoption("--update-golden"):
        HANDBOOK.write_text(made, encoding="utf-8")
    assert HANDBOOK.read_text(encoding="utf-8") == made, "write it anew with --update-golden"


def test_the_handbook_has_a_heading_for_each_page_and_a_link_to_it() -> None:
    text = HANDBOOK.read_text(encoding="utf-8")
    for told in pages():
        assert f"\n## {told.id}\n" in text
        assert f"[`{told.id}`](#{told.id})" in text


@each("id", SEVERITIES)
def test_every_id_can_be_read_in_a_terminal(id: str) -> None:
    told = page(id)
    assert told is not None
    text = terminal(told)
    assert text.startswith(f"{id} ({SEVERITIES[id]} unless rules/ci.yaml says otherwise)\n\n")
    assert ("\n  bad: " in text) == ("\n  good: " in text) == bool(told.why)
    assert " ".join(told.what.split()) in " ".join(text.split())


@each("told", pages(), ids=lambda told: told.id)
def test_the_code_blocks_of_a_page_are_its_examples_as_written(told: object) -> None:
    one = page(str(getattr(told, "id", "")))
    assert one is not None
    fences = [token for token in MarkdownIt().parse(markdown(one)) if token.type == "fence"]
    blocks = [token.content for token in fences]
    for path, text in {**one.bad, **(one.before or {})}.items():
        assert text in blocks, path
    if one.id not in ("unreadable-file", "duplicate-key"):
        assert all(yaml.safe_load(token.content) for token in fences if token.info != "md")


def test_the_good_example_shows_what_differs() -> None:
    told = page("gap")
    assert told is not None
    assert markdown(told).count("`policies/more/vocabulary.yaml`") == 1
    assert markdown(told).count("`policies/refund/POL-REFUND-001.yaml`") == 2
