"""An edit changes exactly the lines it means to change."""

from __future__ import annotations

import difflib
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.authoring import add_item, add_key, dump, remove, set_value
from bylaw.errors import UsageError
from ci.loading.source import parse
from tests.rows import each

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ROWS = yaml.safe_load((HERE / "authoring.yaml").read_text(encoding="utf-8"))


def edited(text: str, edit: dict) -> str:
    match edit:
        case {"set": route, "to": value}:
            return set_value(text, route, value.isoformat() if isinstance(value, date) else value)
        case {"add": route, "item": item}:
            return add_item(text, route, item)
        case {"key": [*route, key], "to": value}:
            return add_key(text, route, key, value)
        case {"remove": route}:
            return remove(text, route)
    raise AssertionError(edit)


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_an_edit(row):
    if "refused" in row:
        with pytest.raises(UsageError, match=row["refused"].replace("(", r"\(")):
            edited(row["before"], row["edit"])
    else:
        assert edited(row["before"], row["edit"]) == row["after"]


POLICIES = sorted((ROOT / "policies").rglob("POL-*.yaml"))


@each("path", POLICIES, ids=[path.stem for path in POLICIES])
def test_one_line_of_a_policy_changes_and_no_other(path):
    text = path.read_text(encoding="utf-8")
    changed = set_value(text, ["metadata", "owner"], "Somebody: else")
    lines = [line for line in difflib.ndiff(text.splitlines(), changed.splitlines()) if line[0] in "+-"]
    assert [line[0] for line in lines] == ["-", "+"]
    assert parse(path.name, changed).data["metadata"]["owner"] == "Somebody: else"


words = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp", "Co")), max_size=20)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-1000, max_value=1000, places=2),
    words,
    st.sampled_from(
        ["no", "on", "1e3", "0o7", "0x1f", "2026-01-01", "12:30", "~", "null", "", "- a", "# b", "a: b", "1_0"]
    ),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words.filter(bool), inner, max_size=3),
    max_leaves=6,
)
LAYOUTS = [
    "# head\na: 1 # one\nb: VALUE # two\n\n# end\nc: [1, 2]\n",
    "a: {x: 1, b: VALUE, c: 2} # end\nd: 1\n",
    "- k: 1\n  b: VALUE\n- k: 2 # end\n",
    "a:\n- VALUE # x\n- end\n",
]
ROUTES = [["b"], ["a", "b"], [0, "b"], ["a", 0]]


@given(st.sampled_from(range(len(LAYOUTS))), values)
def test_what_is_written_is_what_our_reader_reads(layout, value):
    text, route = LAYOUTS[layout].replace("VALUE", "old"), ROUTES[layout]
    try:
        changed = set_value(text, route, value)
    except UsageError:
        # Honest, and only for what is no single word: braces hold no block.
        assert isinstance(value, dict | list)
        return
    data = parse("x.yaml", changed).data
    for step in route:
        data = data[step]
    assert data == (value if not isinstance(value, int | Decimal) or isinstance(value, bool) else Decimal(value))
    kept = [line for line in text.splitlines() if "old" not in line]
    assert [line for line in changed.splitlines() if line in kept] == kept


@given(st.lists(values, min_size=1, max_size=3))
def test_a_new_file_reads_as_its_record(records):
    assert parse("x.yaml", dump({"records": records})).data == {"records": records}
