"""Decision records in the styles that people use: each is read, and what has no field is said and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.authored.decision_sources import DecisionSource
from bylaw.authored.decisions import Decision
from ci.loading.records.markdown import read
from tests.rows import each

HERE = Path(__file__).parent
ROWS: dict[str, Any] = yaml.safe_load((HERE / "styles.yaml").read_text(encoding="utf-8"))
FIELDS = (
    *("option", "rationale", "context", "consequences", "options", "confirmation", "deciders", "consulted", "informed"),
    *("tags", "x_extra"),
)


def decision_in(name: str, words: dict[str, str]) -> tuple[Decision, list[str]]:
    source = DecisionSource.model_validate({"folder": "docs/adr", "words": words})
    found, notes = read(f"docs/adr/{name}", (HERE / "styles" / name).read_bytes(), source)
    assert found is not None, [note.message for note in notes]
    return Decision.model_validate(found.data), [note.message for note in notes]


def test_every_style_has_a_row() -> None:
    assert {path.name for path in (HERE / "styles").iterdir()} == set(ROWS) and len(ROWS) >= 12


@each("name", sorted(ROWS))
def test_a_style_is_read_and_its_losses_are_said(name: str) -> None:
    row = ROWS[name]
    decision, notes = decision_in(name, row.get("words", {}))
    found = {key: decision.day if key == "day" else getattr(decision, key) for key in row["reads"]}
    assert found == row["reads"]
    assert notes == row["notes"]


@each("name", sorted(ROWS))
def test_every_word_of_a_document_is_in_its_record(name: str) -> None:
    """In a field or in `x-extra`: what stands under a heading is nowhere left out."""
    decision, _ = decision_in(name, ROWS[name].get("words", {}))
    kept = str([getattr(decision, field) for field in FIELDS])
    document = (HERE / "styles" / name).read_text(encoding="utf-8-sig").partition("\n# ")[2] or "\n"
    body = [line for line in document.splitlines()[1:] if line[:1].isalpha() and ":" not in line]
    words = {word.strip("*_~.,:()") for line in body for word in line.split() if word.isalpha() and len(word) > 3}
    missing = {word for word in words if word not in kept}
    assert missing <= {"Accepted", "Decided", "Amended", "Supersedes", "Replaces", "Superseded", "queues"}, missing


@pytest.mark.parametrize("words", [{"Kontext": "contxt"}, {"": "context"}, {"Kontext": 1}])
def test_a_word_means_a_part_of_a_record(words: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="words"):
        DecisionSource.model_validate({"folder": "docs/adr", "words": words})


def test_what_no_word_is_declared_for_is_said_with_what_to_do() -> None:
    found, (note,) = read("docs/adr/0006-german-date.md", (HERE / "styles/0006-german-date.md").read_bytes(), None)
    assert found is None and "`words`" in (note.help or "")
