"""JSON Schemas of every file format, for editors: generated from the very models that the loader uses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import BaseModel, TypeAdapter

import bylaw
from bylaw.authored.business import Objective, Project, Strategy
from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Entity, GlossaryTerm, Gotcha, Guide, Metric, VerifiedQuery
from bylaw.authored.decision_sources import DecisionSources
from bylaw.authored.decisions import Decision, Event, Transition
from bylaw.authored.machines.rules import RULE_FILES, overlay_schema
from bylaw.authored.machines.suites import Suite
from bylaw.authored.policies import Case, FormalDraft, Policy
from bylaw.authored.tools import Lookup
from bylaw.authored.vocabulary import Vocabulary
from bylaw.canonical import write_atomically

SCHEMAS_LIVE_IN = Path(bylaw.__file__).parent / "schemas"
KEYS = Path(__file__).with_name("schema_keys.yaml")
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def _of_model(model: type[BaseModel]) -> Schema:
    return model.model_json_schema()


def _of_list(model: type[BaseModel]) -> Schema:
    return TypeAdapter(list[model]).json_schema()  # type: ignore[valid-type]  # a type at run time only


SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "policy": partial(_of_model, Policy),
    "formal_draft": partial(_of_model, FormalDraft),
    "vocabulary": partial(_of_model, Vocabulary),
    "cases": partial(_of_list, Case),
    "entity": partial(_of_model, Entity),
    "metric": partial(_of_model, Metric),
    "gotcha": partial(_of_model, Gotcha),
    "glossary": partial(_of_model, GlossaryTerm),
    "guide": partial(_of_model, Guide),
    "verified_query": partial(_of_model, VerifiedQuery),
    "lookup": partial(_of_model, Lookup),
    "calendar": partial(_of_model, Calendar),
    "decision": partial(_of_model, Decision),
    "decision_sources": partial(_of_model, DecisionSources),
    "event": partial(_of_model, Event),
    "transition": partial(_of_model, Transition),
    "objective": partial(_of_model, Objective),
    "strategy": partial(_of_model, Strategy),
    "project": partial(_of_model, Project),
    "suite": partial(_of_model, Suite),
    **{f"rules_{name}": partial(overlay_schema, model) for name, model in sorted(RULE_FILES.items())},
}
# files that tune machines: what a number means stands beside it in rules/, with where it comes from
NUMBERS = frozenset(f"rules_{name}" for name in RULE_FILES) - {
    "rules_roles",
    "rules_waivers",
    "rules_features",
    "rules_tools",
}


def schema(name: str) -> Schema:
    """The schema of one file format."""
    made = SCHEMAS[name]()
    return {"$schema": DIALECT, **_closed(made if name in NUMBERS else _told(made, ""))}


@cache
def key_texts() -> Mapping[str, str]:
    """What an editor says of a key: by `Kind.key`, or by the key alone."""
    return MappingProxyType(yaml.load(KEYS.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))


def _told(node: Any, kind: str) -> Any:
    """*node* with a description for each key that `schema_keys.yaml` knows, unless the model gives one."""
    if isinstance(node, list):
        return [_told(item, kind) for item in node]
    if not isinstance(node, dict):
        return node
    kind = node["title"] if isinstance(node.get("title"), str) and "properties" in node else kind
    inner = {key: _told(value, kind) for key, value in node.items()}
    for key, value in inner.get("properties", {}).items():
        text = key_texts().get(f"{kind}.{key}", key_texts().get(key))
        if text is not None and isinstance(value, dict):
            value.setdefault("description", text)
    return inner


def _closed(node: Any) -> Any:
    """A mapping whose keys follow a pattern takes no others: pydantic says so, and its schema leaves it out."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    inner = {key: _closed(value) for key, value in node.items()}
    return {"additionalProperties": False, **inner} if "patternProperties" in inner else inner


def schema_text(name: str) -> str:
    """What stands in the schema's file."""
    return json.dumps(schema(name), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write_schemas(directory: Path) -> list[Path]:
    """Write every schema into *directory*; what was written."""
    written = []
    for name in SCHEMAS:
        path = directory / file_name(name)
        write_atomically(path, schema_text(name), durable=False)
        written.append(path)
    return written


def stale_schemas(directory: Path) -> list[Path]:
    """The files in *directory* that are missing or say something else than the models."""
    paths = {name: directory / file_name(name) for name in SCHEMAS}
    return [
        path
        for name, path in paths.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != schema_text(name)
    ]


def file_name(name: str) -> str:
    """`policy.schema.json`: what the first line of a YAML file points its editor at."""
    return f"{name}.schema.json"
