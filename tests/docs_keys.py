"""The page `docs/keys.md`: every key of every file, what it takes, what it means, and one example that a test runs.

The keys come from the schemas, the examples from the fences of the handbook that are run, then from a new repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from bylaw.authored.conditions import KINDS
from ci.help.schemas import NUMBERS, SCHEMAS, schema

ROOT = Path(__file__).resolve().parents[1]
DOCS, TEMPLATE = ROOT / "docs", ROOT / "ci" / "template"
FENCE = re.compile(r'^```(?:yaml|json) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
PATHS: tuple[tuple[str, str], ...] = (  # the end of a path's pattern -> the kind of file
    ("policies/**/vocabulary.yaml", "vocabulary"),
    ("policies/**/cases.yaml", "cases"),
    ("policies/**/*.formal.yaml", "formal_draft"),
    ("policies/**/POL-*", "policy"),
    ("context/entities/*", "entity"),
    ("context/metrics/*", "metric"),
    ("context/gotchas/*", "gotcha"),
    ("context/glossary/*", "glossary"),
    ("context/guides/*", "guide"),
    ("context/verified_queries/*", "verified_query"),
    ("context/lookups/*", "lookup"),
    ("context/calendar.yaml", "calendar"),
    ("context/decisions/sources.yaml", "decision_sources"),
    ("context/decisions/decisions/*", "decision"),
    ("context/decisions/events/*", "event"),
    ("context/decisions/transitions/*", "transition"),
    ("context/business/objectives/*", "objective"),
    ("context/business/strategies/*", "strategy"),
    ("context/business/projects/*", "project"),
    ("evaluation/*", "suite"),
    ("rules/*", "rules"),
)
WIDEST = 90
RULES = ROOT / "ci" / "loading" / "defaults" / "rules"
CONDITION = "Condition"
CONDITIONS = {kind.__name__ for kind in KINDS} | {"AllOf", "AnyOf", "Not", "FactTest"}
PLAIN = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true, false"}
HEAD = """\
# Every key

Made from the schemas, with an example from a page of this handbook whose files are checked by a test. A record
that is named under *takes* has a table of its own. Files of `rules/` that tune numbers stand at the end."""

Example = tuple[str, str]  # the value as YAML on one line, and the page or file where it stands


def kind_of(path: str) -> str | None:
    """The schema that a path's file follows."""
    name = PurePosixPath(path)
    for pattern, kind in PATHS:
        short = pattern.replace("/**", "")
        if any(name.match(one) for one in (pattern, short)):
            return f"rules_{name.stem}" if kind == "rules" else kind
    return None


def files() -> Iterator[tuple[str, str, Any]]:
    """Where it stands, the kind of file, and what it says: the pages first, in the order of the handbook."""
    for page in sorted(DOCS.glob("*.md")):
        for path, text in FENCE.findall(page.read_text(encoding="utf-8")):
            if (kind := kind_of(path)) and text.strip():
                yield f"[{page.stem}]({page.name})", kind, yaml.load(text, Loader=yaml.CBaseLoader)
    for path in sorted(TEMPLATE.rglob("*.yaml")):
        name = path.relative_to(TEMPLATE).as_posix()
        if kind := kind_of(name):
            yield "`bylaw init`", kind, yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CBaseLoader)


def resolved(node: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in node:
        node = whole["$defs"][node["$ref"].rsplit("/", 1)[1]]
    return node


def branches(node: Mapping[str, Any], whole: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a value may be: the node itself, or each of its alternatives."""
    node = resolved(node, whole)
    inner = [*node.get("anyOf", ()), *node.get("oneOf", ())]
    is_choice = inner and "properties" not in node  # else it only says which keys have to be there
    return [branch for one in inner for branch in branches(one, whole)] if is_choice else [node]


def fits(value: Any, node: Mapping[str, Any]) -> bool:
    """Could *value* be meant for *node*? By its shape, and by the keys that say which of several records it is."""
    if not isinstance(value, dict):
        return node.get("type") == "array" and isinstance(value, list)
    if "properties" not in node:
        return node.get("type") == "object"
    is_open = node.get("additionalProperties") is True
    return (is_open or set(value) <= set(node["properties"])) and all(
        value[key] in told
        for key, inner in node["properties"].items()
        if key in value and (told := inner.get("enum", [inner["const"]] if "const" in inner else None)) is not None
    )


def seen(value: Any, node: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Each key below *value*: the record that it belongs to, the key, its value."""
    for branch in branches(node, whole):
        if not fits(value, branch):
            continue
        if isinstance(value, list):
            for item in value:
                yield from seen(item, branch.get("items", {}), whole)
        elif "properties" in branch:
            for key, inner in value.items():
                yield record_of(branch), key, inner
                yield from seen(inner, branch["properties"].get(key, {}), whole)
        else:
            several = [*branch.get("patternProperties", {}).values()]
            if isinstance(branch.get("additionalProperties"), dict):
                several.append(branch["additionalProperties"])
            for inner in value.values():
                for one in several:
                    yield from seen(inner, one, whole)
        return


def record_of(node: Mapping[str, Any]) -> str:
    """What a record is called; all kinds of conditions are one, for they share their keys."""
    title = str(node.get("title", ""))
    return CONDITION if title in CONDITIONS else title


def examples() -> dict[tuple[str, str], Example]:
    """For each record and key the shortest example of the first page that has one."""
    found: dict[tuple[str, str], Example] = {}
    schemas = {kind: schema(kind) for kind in SCHEMAS}
    for where, kind, value in files():
        for record, key, inner in seen(value, schemas[kind], schemas[kind]):
            name = (named(kind, record), key)
            shown, before = one_line(key, inner), found.get(name)
            if before is None or (before[1] == where and len(shown) < len(before[0])):
                found[name] = (shown, where)
    return found


def named(kind: str, record: str) -> str:
    """The heading of a record: two files may have a record of one name."""
    if record == CONDITION or kind in ("policy", "vocabulary"):
        return record
    return f"{f'rules/{kind[6:]}.yaml' if kind.startswith('rules_') else kind}: {record}"


def one_line(key: str, value: Any) -> str:
    text = yaml.safe_dump({key: value}, default_flow_style=True, width=10_000, sort_keys=False, allow_unicode=True)
    plain = re.sub(r"'(-?[\d.]+|true|false|null)'", r"\1", text.strip())[1:-1].replace("|", "\\|")
    return plain if len(plain) <= WIDEST else f"{plain[: WIDEST - 1]}…"


def takes(node: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    """What may stand there, in a word or two."""
    said = dict.fromkeys(one for branch in branches(node, whole) if (one := _taken(branch, whole)))
    if set(said) >= {"text", "true, false"}:
        said = dict.fromkeys(("a value", *(one for one in said if one.startswith("a list"))))
    return "a condition" if CONDITION in said else " or ".join(said)


def _taken(branch: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    if record_of(branch) == CONDITION:
        return CONDITION
    if "const" in branch or "enum" in branch:
        return ", ".join(f"`{one}`" for one in branch.get("enum", [branch.get("const")]))
    match branch.get("type"):
        case "array":
            return f"a list of {takes(branch.get('items', {}), whole) or 'anything'}"
        case "object":
            return record_of(branch) if "properties" in branch else "a mapping"
        case kind:
            return PLAIN.get(str(kind), "")


def records(kind: str) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """The records of one kind of file: the file's own first, then those inside it."""
    whole = schema(kind)
    top = resolved(whole.get("items", whole), whole)
    inside = [node for node in whole.get("$defs", {}).values() if "properties" in node and node is not top]
    for node in (top, *inside):
        yield named(kind, record_of(node)), node, whole


def keys() -> dict[str, dict[str, tuple[str, str]]]:
    """For each record its keys: what each takes, and what it means."""
    taken: dict[str, dict[str, dict[str, str]]] = {}
    for kind in SCHEMAS:
        for record, node, whole in records(kind) if kind not in NUMBERS else ():
            for key, inner in node["properties"].items():
                means = " ".join(inner.get("description", "").split())
                taken.setdefault(record, {}).setdefault(key, {}).setdefault(takes(inner, whole), means)
    return {
        record: {key: (", ".join(filter(None, said)), next(iter(said.values()))) for key, said in inner.items()}
        for record, inner in taken.items()
    }


def missing() -> list[str]:
    """The keys that no example shows, each `Record.key`."""
    known = examples()
    return [f"{record}.{key}" for record, inner in keys().items() for key in inner if (record, key) not in known]


def page() -> str:
    """The page as it has to be."""
    known, parts = examples(), [HEAD]
    for record, inner in keys().items():
        rows = []
        for key, (words, means) in inner.items():
            example, where = known.get((record, key), ("", ""))
            rows.append(f"| `{key}` | {words} | {means} | `{example}` | {where} |")
        head = "| key | takes | means | for example | from |\n|---|---|---|---|---|"
        parts.append("\n".join([f"## {record}\n", head, *rows]))
    packaged = sorted(RULES.glob("*.yaml"))
    assert len(packaged) > 10 and len(list(TEMPLATE.rglob("*.yaml"))) > 5, "the files of the program have moved"
    for path in packaged:
        if f"rules_{path.stem}" in NUMBERS:
            text = "".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[1:])
            parts.append(f"## rules/{path.name}, as packaged\n\n```yaml\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    (DOCS / "keys.md").write_text(page(), encoding="utf-8")
    raise SystemExit("\n".join(missing()) or 0)
