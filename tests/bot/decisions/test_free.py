"""Free questions over three folders of decisions: told at once or one choice away, and never from another record."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.conversation import Question, Reply
from bot.decisions.answer import answer
from bot.index import BundleIndex
from bylaw.authored.decisions import Decisions
from ci.loading.load import load
from ci.loading.source import read
from tests.beside import find_beside

HERE = Path(__file__).parent
ROWS = read("free.yaml", (HERE / "free.yaml").read_bytes()).data

Indexed = Callable[[Decisions], BundleIndex]


@pytest.fixture(scope="module")
def folders(snapshot: Callable[..., Decisions], index: Indexed, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The index of each folder that lies here or beside the repository."""
    found = {"joinery": index(snapshot(read("joinery.yaml", (HERE / "joinery.yaml").read_bytes()).data))}
    for name in ("adr_govuk", "adr_madr"):
        if (folder := find_beside("realworld", "decisions", name)) is not None:
            root = tmp_path_factory.mktemp(name)
            shutil.copytree(folder, root / "docs" / name)
            sources = root / "context/decisions/sources.yaml"
            sources.parent.mkdir(parents=True)
            sources.write_text(f"sources:\n  - {{folder: docs/{name}}}\n", encoding="utf-8")
            found[name] = index(load(root).decisions)
    return found


@pytest.mark.parametrize(
    ("folder", "row"),
    [pytest.param(folder, row, id=f"{folder}-{row['text'][:60]}") for folder, rows in ROWS.items() for row in rows],
)
def test_a_free_question_is_told_or_offered(
    folder: str, row: dict[str, Any], folders: dict[str, BundleIndex], ask: Callable[..., Question]
) -> None:
    if folder not in folders:
        pytest.skip(f"the folder {folder} is not beside this repository")
    known = folders[folder]
    reply = answer(ask(row["text"]), {}, known).reply
    if "of" not in row:
        assert reply.status in ("needs_choice", "refused")
        return
    numbered = {one.number: id for id, one in known.bundle.decisions.decisions.items()}
    meant = {numbered.get(of, of) for of in row["of"]}
    if row.get("is_offered"):
        assert reply.status == "needs_choice"
        assert meant & {one.value for one in reply.choices or ()}
    else:
        assert reply.answer, reply.text
        assert reply.answer["supporting_ids"][0] in meant
        assert reply.intent in row["asks"]
        assert _begins_with_its_state(reply, known)


def _begins_with_its_state(reply: Reply, known: BundleIndex) -> bool:
    """Does the answer say first how the record stands?"""
    decision = known.bundle.decisions.decisions[(reply.answer or {})["supporting_ids"][0]]
    return (reply.answer or {})["short_answer"].startswith(decision.status.capitalize())


def test_most_free_questions_are_told_at_once() -> None:
    asked = [row for rows in ROWS.values() for row in rows if "of" in row]
    assert sum(not row.get("is_offered") for row in asked) / len(asked) >= 0.7
