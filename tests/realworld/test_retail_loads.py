"""A retail policy set that nobody here wrote: it loads whole, and no lint calls it wrong."""

from pathlib import Path

from jsonschema import Draft202012Validator

from ci.findings import SEVERITIES
from ci.help.schemas import schema
from ci.lint.registry import lint
from ci.loading.load import load
from tests.beside import beside

RETAIL = beside("realworld", "policies", "retail")


def test_every_file_is_read_and_nothing_is_wrong() -> None:
    workspace = load(RETAIL)
    assert [finding.message for finding in workspace.findings] == []
    assert len(workspace.policies) == sum(1 for _ in RETAIL.glob("policies/*/POL-*.yaml"))
    assert len(workspace.cases) > 50
    assert [f.message for f in lint(workspace) if SEVERITIES[f.id] == "error"] == []


def test_the_schemas_accept_every_file() -> None:
    validators = {name: Draft202012Validator(schema(name)) for name in ("policy", "cases", "vocabulary")}
    for path, source in load(RETAIL).sources.items():
        name = Path(path).stem if Path(path).stem in validators else "policy"
        assert [error.message for error in validators[name].iter_errors(source.data)] == [], path
