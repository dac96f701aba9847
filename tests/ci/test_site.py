"""The rule book as pages: whole, alone without a network, safe against what policies say, and the same each time."""

from __future__ import annotations

import json
import re
import shutil
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bylaw.authored.machines.layers import IN_WORDS
from bylaw.errors import UsageError
from bylaw.logic.formula.ir import Atom
from bylaw.logic.words.graph import Graph, Node
from ci.pipeline import Run, run
from ci.scaffold import init
from ci.site.book import Book, book
from ci.site.drawing import MOST_DEPTH, MOST_ENDS, drawn
from ci.site.pages import pages, write

ROOT = Path(__file__).resolve().parents[2]
DAY = date(2026, 11, 20)
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Run:
    root = tmp_path_factory.mktemp("own")
    for folder in ("policies/refund", "policies/warranty", "rules"):
        shutil.copytree(ROOT / folder, root / folder)
    shutil.copy(ROOT / "policies/vocabulary.yaml", root / "policies")
    return run(root, DAY, DAY)


@pytest.fixture(scope="module")
def made(done: Run) -> Book:
    return book(done, "Voltmark")


def _record(root: Path, kind: str, id: str, **keys: object) -> None:
    file = root / "context/decisions" / kind / f"{id}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in {"id": id, **keys}.items()))


def test_the_decisions_have_a_page_with_their_state_and_what_took_whose_place(tmp_path: Path) -> None:
    said = {"rationale": EVIL, "deciders": ["Ana"]}
    old = {"status": "superseded", **said}
    governs = {"affects": {"path": ["jobs/**"]}, "tags": ["jobs"], **said}
    _record(tmp_path, "decisions", "three-queues", option="Three", decided_on="2020-02-01", **old)
    _record(
        tmp_path, "decisions", "two-queues", option="Two", decided_on="2021-02-01", supersedes=["three-queues"], **old
    )
    _record(
        tmp_path, "decisions", "one-queue", option="One", decided_on="2022-02-01", supersedes=["two-queues"], **governs
    )
    _record(tmp_path, "decisions", "perhaps", option="Mail", status="proposed", **said)
    _record(tmp_path, "events", "audit-2026", summary="An audit", timestamp="2026-01-01")
    told = book(run(tmp_path, DAY, DAY), "Voltmark")
    line = told.timeline
    assert [(year, [one.id for one in ones]) for year, ones in line.years] == [
        ("2022", ["one-queue"]),
        ("2021", ["two-queues"]),
        ("2020", ["three-queues"]),
        ("without a day", ["perhaps"]),
    ]
    (drawing,) = line.drawings
    assert Page(drawing).links == ["#three-queues", "#two-queues", "#one-queue"] and not Page(drawing).open
    assert 'aria-label="two-queues: Two. superseded, 2021-02-01. takes the place of three-queues.' in drawing
    assert [(one.id, one.stale) for one in line.stale] == [("one-queue", ("jobs/**",))]
    assert line.tags == (("jobs", ("one-queue",)),)
    assert line.alone == ("perhaps",)
    assert line.pending == (("2026-01-01", "audit-2026", "An audit"),)
    assert any("`jobs/**`, which is not there" in words for one in line.decisions for _, words in one.findings)
    made = dict(pages(told))
    page = Page(made["decisions.html"])
    assert (
        "jobs/**</code> (not there)" in made["decisions.html"]
        and '<span class="chip proposed">' in made["decisions.html"]
    )
    assert {"one-queue", "two-queues", "three-queues", "perhaps"} <= page.ids and page.scripts == 0
    assert not page.open and EVIL not in made["decisions.html"]
    assert "decisions.html" in Page(made["index.html"]).links


class Page(HTMLParser):
    """The ids and links of a page, and whether its tags close."""

    VOID = frozenset({"meta", "input", "br", "img", "link", "rect", "path"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.links, self.scripts, self.open = set[str](), list[str](), 0, list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.ids |= {told["id"]} if told.get("id") else set()
        self.links += [told["href"] or ""] if "href" in told else []
        self.scripts += tag == "script"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_every_link_leads_somewhere_and_nothing_needs_a_network(made: Book) -> None:
    read = {path: Page(text) for path, text in pages(made)}
    for path, page in read.items():
        assert page.open == []
        for link in page.links:
            target, _, anchor = link.partition("#")
            at = (Path(path).parent / target).as_posix() if target else path
            assert at.replace("domains/../", "") in read, link
            assert not anchor or anchor in read[at.replace("domains/../", "")].ids, link
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", "".join(text for _, text in pages(made)))


def test_every_rule_stands_with_its_line_its_sentence_and_what_it_was_written_for(done: Run, made: Book) -> None:
    texts = dict(pages(made))
    for policy in made.policies:
        assert f'id="{policy.id}"' in texts[f"domains/{policy.domain}.html"]
    told = {rule.id: rule for policy in made.policies for rule in policy.rules}
    assert set(told) == {rule.rule_id for record in done.proofs.records for rule in record.rules}
    assert all(rule.line > 1 for rule in told.values())
    assert sum(bool(rule.source_text) for rule in told.values()) > 20
    assert any(policy.rivals for policy in made.policies) and made.conflicts
    assert all(policy.cases for policy in made.policies if policy.state == "in force" and policy.rules)


def test_a_graph_is_drawn_whole_and_without_crossing_lines(made: Book) -> None:
    drawings = [policy.graph for policy in made.policies if policy.graph]
    assert len(drawings) > 8
    for drawing in drawings:
        tree = ElementTree.fromstring(drawing)
        boxes = [
            (float(box.get("x", 0)), float(box.get("y", 0)), float(box.get("height", 0))) for box in tree.iter("rect")
        ]
        for x, y, height in boxes:
            assert y >= 0 and y + height <= float((tree.get("viewBox") or "").split()[3])
            assert not any(x == left and 0 < other - y < height for left, other, _ in boxes), (
                "boxes lie over each other"
            )


COLUMN = 1080 - 2 * 24 - 2 * 5  # of `main`, without its padding and that of the frame around a drawing


def test_a_graph_begins_where_a_screen_does_and_fits_the_page(made: Book) -> None:
    """A phone shows the first question without a swipe, and a page the whole width of the deepest graph."""
    deep = {f"n{i}": Node(Atom("a", "==", True), f"n{i + 1}", "end") for i in range(MOST_DEPTH)}
    deepest = drawn(Graph("n0", deep, ("end", f"n{MOST_DEPTH}")), str, {})
    assert deepest is not None
    for drawing in [deepest, *(policy.graph for policy in made.policies if policy.graph)]:
        tree = ElementTree.fromstring(drawing)
        roots = [box for box in tree.iter("rect") if (float(box.get("x", 0)), float(box.get("y", 0))) < (2, 60)]
        assert len(roots) == 1 and float(roots[0].get("width", 0)) < 300
        assert float(tree.get("width", 0)) <= COLUMN


def test_a_book_speaks_of_layers_in_words(made: Book) -> None:
    assert {policy.layer for policy in made.policies} <= {*IN_WORDS.values(), ""}
    assert any(policy.layer for policy in made.policies)


def test_a_graph_that_nobody_could_read_is_not_drawn() -> None:
    nodes = {f"n{i}": Node(Atom(f"f{i}", "==", True), f"n{i + 1}", f"n{i + 1}") for i in range(9)}
    assert MOST_ENDS < 2**9
    assert drawn(Graph("n0", nodes, ("n9",)), str, {}) is None
    circle = {"a": Node(None, "b", "end"), "b": Node(None, "a", "end")}
    assert drawn(Graph("a", circle, ("end",)), str, {}) is None


def test_what_a_policy_says_is_text_and_never_a_part_of_the_page(tmp_path: Path) -> None:
    init(tmp_path / "p")
    path = tmp_path / "p/policies/refund/POL-REFUND-002.yaml"
    text = path.read_text(encoding="utf-8").replace("source: return policy, section 2", f"source: {json.dumps(EVIL)}")
    path.write_text(text.replace("owner: Customer Service Dept.", f"owner: {json.dumps(EVIL)}"), encoding="utf-8")
    found = dict(pages(book(run(tmp_path / "p", DAY, DAY), EVIL)))
    assert all(EVIL not in text and "<img" not in text for text in found.values())
    assert {path: Page(text).scripts for path, text in found.items()} == {
        "index.html": 2,
        "domains/refund.html": 0,
        "decisions.html": 0,
    }


def test_the_same_book_gives_the_same_bytes_and_only_its_own_files_change(made: Book, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    (folder / "domains").mkdir(parents=True)
    (folder / "domains" / "gone.html").write_text("old")
    (folder / "CNAME").write_text("mine")
    assert write(tmp_path, folder, made) == folder / "index.html"
    assert not (folder / "domains" / "gone.html").exists() and (folder / "CNAME").read_text() == "mine"
    assert {path: (folder / path).read_text(encoding="utf-8") for path, _ in pages(made)} == dict(pages(made))
    with pytest.raises(UsageError, match="among the policies"):
        write(tmp_path, tmp_path / "policies" / "site", made)
