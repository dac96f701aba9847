"""Every setting of rules/*.yaml is read by something: what nobody keeps is taken out of its model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from bylaw.authored.machines.rules import RULE_FILES
from bylaw.authored.record import Shortened
from ci.lint.unused import unused_settings
from ci.loading.load import load

ROOT = Path(__file__).resolve().parents[1]
# Read by nothing so far: what a level is called, whether somebody is told, and what corrections are promoted by.
WAITING = {
    *(("AutonomyLevel", key) for key in ("title", "notifies", "on_timeout")),
    ("Risk", "calibration"),
    *(("Calibration", key) for key in ("window_days", "learning_rate", "minimum_failures")),
    *(("Promotion", key) for key in (
        "distinct_user_threshold", "role_filter", "same_domain", "semantic_similarity_threshold",
        "approval_required", "promotion_mechanism", "work_history_days")),
}  # fmt: skip
MAPPED = {"FieldWeights", "Goals"}  # read as a whole, key by key


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    for part in get_args(annotation):
        yield from models(part)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation)


def settings() -> Iterator[tuple[str, str]]:
    """Each key of a rules file, with its model."""
    for model in dict.fromkeys(found for file in RULE_FILES.values() for found in models(file)):
        if model.__name__ not in MAPPED:
            yield from ((model.__name__, name) for name in model.model_fields if name != "schema_version")


@cache
def read_names() -> frozenset[str]:
    """Every attribute that code reads; what a model only validates is not read."""
    found: set[str] = set()
    for wing in ("bylaw", "ci", "bot"):
        for path in (ROOT / wing).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            nodes = list(ast.walk(tree))
            validators = [
                node
                for node in nodes
                if isinstance(node, ast.FunctionDef)
                and any("validator" in ast.dump(mark) for mark in node.decorator_list)
            ]
            skipped = {id(inner) for node in validators for inner in ast.walk(node)}
            if "authored" not in path.parts:  # a key that is looked up by its name
                found |= {
                    node.value for node in nodes if isinstance(node, ast.Constant) and str(node.value) == node.value
                }
            found |= {
                node.attr
                for node in nodes
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in skipped
            }
    return frozenset(found)


def test_every_setting_is_read_by_something() -> None:
    # A name that something else has as well is taken for read: this finds keys by names that are their own.
    unread = {(model, key) for model, key in settings() if key not in read_names()}
    assert unread - WAITING == set()


def test_a_key_that_nothing_reads_would_be_found() -> None:
    assert {key for _, key in settings()} & read_names()
    assert "a_key_that_nothing_reads" not in read_names()


def test_what_was_taken_out_is_accepted_and_named_on_its_line(tmp_path: Path) -> None:
    shortened = [model for file in RULE_FILES.values() for model in models(file) if issubclass(model, Shortened)]
    assert all(model.retired and not model.retired & model.model_fields.keys() for model in shortened)
    (tmp_path / "policies").mkdir()
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "ci.yaml").write_text("proofs:\n  boxes_per_guard: 64\nexpressions: {depth: 200}\n")
    (tmp_path / "rules" / "intents.yaml").write_text(
        "# ours\nuse_model: true\nprompt: {truncation_threshold_bytes: 1}\n"
    )
    workspace = load(tmp_path)
    assert [one for one in workspace.findings if one.severity == "error"] == []
    told = [(one.at.path, workspace.position(one.at), one.at.route[-1]) for one in unused_settings(workspace)]
    assert told == [
        ("rules/ci.yaml", (2, 3), "boxes_per_guard"),
        ("rules/ci.yaml", (3, 1), "expressions"),
        ("rules/intents.yaml", (2, 1), "use_model"),
        ("rules/intents.yaml", (3, 10), "truncation_threshold_bytes"),
    ]
