"""A repository's own rules over the packaged ones, and the two sets of files this repository ships."""

import copy
import difflib
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from bylaw.authored.machines.rules import RULE_FILES, Rules, overlay_schema
from bylaw.canonical import canonical_json
from ci.loading.rules import DEFAULTS, effective, load_defaults, merge, unknown_severities
from ci.loading.source import read
from tests.rows import each

ROOT = Path(__file__).parent.parent.parent.parent
ROWS = yaml.safe_load((Path(__file__).parent / "rules.yaml").read_text(encoding="utf-8"))
NAMES = sorted(RULE_FILES)


def own(name: str) -> dict[str, Any]:
    path = ROOT / "rules" / f"{name}.yaml"
    return dict(read(path.name, path.read_bytes()).data)


def code_of(path: Path) -> list[str]:
    return [line.rstrip() for line in path.read_text(encoding="utf-8").splitlines()]


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_own_rules_go_over_the_default(row: dict[str, Any]) -> None:
    default, given = copy.deepcopy(row["default"]), copy.deepcopy(row["own"])
    assert merge(default, given) == row["holds"]
    assert (default, given) == (row["default"], row["own"]), "merging changed its arguments"


def test_a_file_that_is_not_there_leaves_the_default() -> None:
    assert effective("ci", {"a": 1}, None) == {"a": 1}


def test_rights_are_never_merged() -> None:
    default = {"roles": {"everyone": {"schemas": ["*"]}}, "default_role": "everyone"}
    mine = {"roles": {"analyst": {"schemas": ["shop"]}}}
    assert effective("roles", default, mine) == mine
    assert RULE_FILES["roles"].model_validate(effective("roles", default, mine)).roles_of("somebody") == ()  # type: ignore[attr-defined]  # it is Roles


def test_there_is_a_default_for_every_model_and_no_other() -> None:
    assert sorted(path.stem for path in DEFAULTS.glob("*.yaml")) == NAMES
    assert sorted(load_defaults()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_default_file_validates_alone(name: str) -> None:
    RULE_FILES[name].model_validate(load_defaults()[name])


@pytest.mark.parametrize("name", NAMES)
def test_no_number_has_a_default_in_code(name: str) -> None:
    """Taking any one number out of the file makes it invalid (an optional time-out aside)."""
    data = load_defaults()[name]
    for route in numbers(data):
        changed = copy.deepcopy(data)
        parent: Any = changed
        for step in route[:-1]:
            parent = parent[step]
        if isinstance(parent, list):
            continue
        del parent[route[-1]]
        if free(name, route):
            continue
        with pytest.raises(ValidationError):
            RULE_FILES[name].model_validate(changed)


def numbers(data: Any, route: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(data, dict):
        return [found for key, value in data.items() for found in numbers(value, (*route, key))]
    if isinstance(data, list):
        return [found for i, value in enumerate(data) for found in numbers(value, (*route, i))]
    return [] if isinstance(data, bool | str) or data is None else [route]


def free(name: str, route: tuple[Any, ...]) -> bool:
    """Numbers under keys that a repository chooses itself: leaving one out just means that it is not asked for."""
    if name == "layers":
        return "scores" in route or "features" in route
    if name == "risk":
        return route[0] == "cost"  # a value that is not the default may be missing
    if name == "evaluation":
        return route[0] == "suites" or route[-1] == "routed_from"  # a floor of its own, or one nobody asks for
    return name == "autonomy" and route[-1] in ("complexity_from", "late_hours")


def test_all_defaults_together_survive_the_bundle_unchanged() -> None:
    rules = Rules.model_validate({**load_defaults(), "evaluation": None})  # floors are no part of a bundle
    text = canonical_json(rules)
    again = Rules.model_validate_json(text)
    assert again == rules
    assert canonical_json(again) == text


@pytest.mark.parametrize("name", NAMES)
def test_each_default_file_names_the_origin_of_its_numbers(name: str) -> None:
    text = (DEFAULTS / f"{name}.yaml").read_text(encoding="utf-8")
    if numbers(load_defaults()[name]):
        assert "seed 00" in text or "our choice" in text


@each("name", NAMES)
def test_the_first_line_points_the_editor_at_the_schema(name: str) -> None:
    for path in (DEFAULTS / f"{name}.yaml", ROOT / "rules" / f"{name}.yaml"):
        up = "../" * (len(path.relative_to(ROOT).parts) - 1)
        expected = f"# yaml-language-server: $schema={up}bylaw/schemas/rules_{name}.schema.json"
        assert code_of(path)[0] == expected


@pytest.mark.parametrize("name", NAMES)
def test_our_own_file_holds_alone_and_over_the_default(name: str) -> None:
    RULE_FILES[name].model_validate(own(name))
    RULE_FILES[name].model_validate(effective(name, load_defaults()[name], own(name)))


@each("name", [name for name in NAMES if name != "roles"])
def test_our_own_file_differs_from_the_default_only_where_a_comment_says_so(name: str) -> None:
    default, mine = code_of(DEFAULTS / f"{name}.yaml")[1:], code_of(ROOT / "rules" / f"{name}.yaml")[1:]
    matcher = difflib.SequenceMatcher(None, default, mine, autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind != "equal":
            assert any("# Voltmark:" in line for line in mine[start:end]), (
                mine[start:end] or f"a line is missing: {kind}"
            )


def test_our_own_roles_say_whose_they_are() -> None:
    assert "# Voltmark:" in (ROOT / "rules" / "roles.yaml").read_text(encoding="utf-8")


def test_a_severity_for_a_finding_nobody_makes_is_a_finding() -> None:
    data = merge(load_defaults()["ci"], {"severities": {"conflikt": "off", "gap": "error"}})
    rules = RULE_FILES["ci"].model_validate(data)
    found = list(unknown_severities(rules, "rules/ci.yaml"))  # type: ignore[arg-type]  # it is CiRules
    assert [(finding.id, finding.at.route, finding.at.on_key) for finding in found] == [
        ("schema", ("severities", "conflikt"), True)
    ]
    assert "`conflikt`" in found[0].message
    assert found[0].help == "did you mean `conflict`?"


@pytest.mark.parametrize("name", NAMES)
def test_the_editors_schema_lets_a_file_say_only_what_differs(name: str) -> None:
    def required(schema: Any) -> bool:
        if isinstance(schema, dict):
            return isinstance(schema.get("required"), list) or any(required(value) for value in schema.values())
        return isinstance(schema, list) and any(required(item) for item in schema)

    schema = overlay_schema(RULE_FILES[name])
    assert not required(schema)
    assert schema["additionalProperties"] is False


def test_the_editors_schema_accepts_our_own_files_and_partial_ones() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for name in NAMES:
        plain = yaml.safe_load((ROOT / "rules" / f"{name}.yaml").read_text(encoding="utf-8"))
        jsonschema.validate(plain, overlay_schema(RULE_FILES[name]))
    jsonschema.validate({"thresholds": {"pass_from": 0.97}}, overlay_schema(RULE_FILES["enforcement"]))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"threshold": {}}, overlay_schema(RULE_FILES["enforcement"]))
