"""Text → data and positions: what is read, what is refused, and that every route leads to its line."""

import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci.findings import Route
from ci.loading.limits import MAX_BYTES, MAX_DEPTH, MAX_NODES
from ci.loading.source import Source, Unreadable, locate, parse, read
from tests.rows import each

ROWS = yaml.safe_load((Path(__file__).parent / "source.yaml").read_text(encoding="utf-8"))
ROOT = Path(__file__).parent.parent.parent.parent


def exact(value: Any) -> Any:
    """Decimals as text, so that 1.10 differs from 1.1."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    return str(value) if isinstance(value, Decimal) else value


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_a_text_means_what_yaml_1_2_says_or_is_refused_at_its_place(row: dict[str, Any]) -> None:
    path = row.get("path", "a.yaml")
    if refused := row.get("refuses"):
        with pytest.raises(Unreadable) as problem:
            read(path, row["text"].encode())
        assert problem.value.message.startswith(refused["message"])
        assert (problem.value.kind, problem.value.line, problem.value.column) == (
            refused["kind"],
            refused["line"],
            refused["column"],
        )
        for told in ("help", "written"):
            if told in refused:
                assert getattr(problem.value, told) == refused[told]
        return
    source = read(path, row["text"].encode())
    if "decimals" in row:
        assert exact(source.data) == row["decimals"]
    else:
        assert source.data == row["says"]
    told = [f"{d.key} {d.line}:{d.column} first {d.first_line}:{d.first_column}" for d in source.duplicates]
    assert told == row.get("duplicates", [])


def refusal(content: bytes) -> tuple[str, int, int]:
    with pytest.raises(Unreadable) as problem:
        read("a.yaml", content)
    assert problem.value.kind == "unreadable-file"
    return problem.value.message, problem.value.line, problem.value.column


def test_a_byte_order_mark_is_tolerated_and_shifts_nothing() -> None:
    source = read("a.yaml", b"\xef\xbb\xbfa: 1\nb: 2\n")
    assert source.data == {"a": 1, "b": 2}
    assert locate(source, ("a",)) == (1, 4)


@each("encoding", ["utf-16", "utf-32", "latin-1"])
def test_other_encodings_are_refused(encoding: str) -> None:
    message, _, _ = refusal("a: é\n".encode(encoding))
    assert message == "the file is not UTF-8 text"


def test_the_first_byte_that_is_not_utf_8_is_the_place() -> None:
    assert refusal(b"a: 1\nb: \xff\n") == ("the file is not UTF-8 text", 2, 4)
    assert refusal("é: ".encode() + b"\xc3") == ("the file is not UTF-8 text", 1, 4)


@each("code", [0x00, 0x01, 0x08, 0x0B, 0x1B, 0x7F, 0x80, 0x9F, 0xFFFE, 0xFEFF])
def test_control_characters_are_refused_where_they_stand(code: int) -> None:
    content = f"a: 1\nb: x{chr(code)}\n".encode()
    assert refusal(content) == (f"the file holds the control character `U+{code:04X}`", 2, 5)


def test_a_binary_file_is_refused() -> None:
    message, _, _ = refusal(bytes(range(256)) * 10)
    assert message in ("the file is not UTF-8 text", "the file holds the control character `U+0000`")


def test_a_lone_surrogate_that_a_caller_let_through_is_refused() -> None:
    with pytest.raises(Unreadable):
        parse("a.yaml", "a: \ud800\n")


def test_a_file_may_have_a_mebibyte_and_no_byte_more() -> None:
    full = b"a: " + b"x" * (MAX_BYTES - 4) + b"\n"
    assert len(full) == MAX_BYTES
    assert len(read("a.yaml", full).data["a"]) == MAX_BYTES - 4
    assert refusal(full + b"\n")[0] == "the file is larger than 1,048,576 bytes"
    assert refusal(b"a" * 2 * MAX_BYTES)[0] == "the file is larger than 1,048,576 bytes"


def test_a_file_with_very_many_values_is_refused() -> None:
    text = "[" + "1," * (MAX_NODES + 1) + "]"
    assert refusal(text.encode())[0] == f"the file holds more than {MAX_NODES:,} values"


def test_depth_is_limited_and_counted_from_the_outside() -> None:
    assert read("a.yaml", b"[" * MAX_DEPTH + b"]" * MAX_DEPTH).data
    message, line, column = refusal(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))
    assert (message, line, column) == (f"values are nested more than {MAX_DEPTH} deep", 1, MAX_DEPTH + 1)
    blocks = "\n".join(" " * i + "a:" for i in range(MAX_DEPTH + 1)).encode()
    assert refusal(blocks + b" {}")[0] == f"values are nested more than {MAX_DEPTH} deep"


@pytest.mark.parametrize("text", ["'[' * 200_000", "'{a: ' * 200_000", "'- ' * 200_000"])
def test_deep_nesting_does_not_end_the_process(text: str) -> None:
    # In a process of its own: the failure this guards against is a segmentation fault.
    code = "from ci.loading.source import parse, Unreadable\n"
    code += f"try: parse('a.yaml', {text})\nexcept Unreadable as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, f"values are nested more than {MAX_DEPTH} deep")


def test_thousands_of_repeated_keys_are_all_told() -> None:
    keys = "".join(f"k{i}: 1\n" for i in range(5_000))
    source = parse("a.yaml", keys + keys)
    assert len(source.duplicates) == 5_000
    assert source.duplicates[4_999].first_line == 5_000


TEXT = """\
id: x
conditions:
  - type: time_window   # the window
    value: 30
  - {type: fact, "a key": [1, two]}
empty:
"text": |
  first
  second
"""
PLACES: list[tuple[Route, bool, tuple[int, int]]] = [
    ((), False, (1, 1)),
    (("id",), False, (1, 5)),
    (("id",), True, (1, 1)),
    (("conditions",), False, (3, 3)),
    (("conditions",), True, (2, 1)),
    (("conditions", 0), False, (3, 5)),
    (("conditions", 0, "value"), False, (4, 12)),
    (("conditions", 0, "value"), True, (4, 5)),
    (("conditions", 1), False, (5, 5)),
    (("conditions", 1, "a key", 1), False, (5, 31)),
    (("conditions", 1, "a key"), True, (5, 18)),
    (("empty",), True, (6, 1)),
    (("text",), False, (7, 9)),
    # what is not there: the nearest parent that is
    (("conditions", 1, "operator"), False, (5, 5)),
    (("conditions", 1, "operator"), True, (5, 5)),
    (("conditions", 7), False, (3, 3)),
    (("conditions", "0"), False, (3, 3)),
    (("id", "deeper", 3), False, (1, 5)),
    ((0,), False, (1, 1)),
    (("nowhere",), True, (1, 1)),
]


@each(("route", "on_key", "place"), PLACES, ids=[f"{r}{' key' if k else ''}" for r, k, _ in PLACES])
def test_a_route_leads_to_its_line_and_column(route: Route, on_key: bool, place: tuple[int, int]) -> None:
    assert locate(parse("a.yaml", TEXT), route, on_key) == place


def test_a_dropped_value_is_not_found_under_its_key() -> None:
    source = parse("a.yaml", "a: {b: 1}\na: {c: 2}\n")
    assert locate(source, ("a", "b")) == (1, 8)
    assert locate(source, ("a", "c")) == (1, 4)


def test_lines_are_counted_as_an_editor_counts_them() -> None:
    source = parse("a.yaml", "a: 1\r\nb: x\u2028y\rc: 3\n")
    assert [source.line(n) for n in (0, 1, 2, 3, 4, 5)] == ["", "a: 1", "b: x\u2028y", "c: 3", "", ""]
    assert locate(source, ("c",)) == (3, 4)


# ---- any data at all ----

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co")), max_size=12)
SCALARS = st.one_of(WORDS, st.booleans(), st.integers(-(10**30), 10**30), st.none())
DATA = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=20
)


def routes(data: Any, route: Route = ()) -> list[tuple[Route, Any]]:
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [(route, data), *(found for step, item in inside for found in routes(item, (*route, step)))]


def written(source: Source, route: Route, on_key: bool) -> Any:
    """What YAML itself reads at the place of *route*: one scalar, from there to where it ends."""
    line, column = locate(source, route, on_key)
    rest = "\n".join([source.line(line)[column - 1 :], *(source.line(n) for n in range(line + 1, line + 9))])
    events = yaml.parse(rest, Loader=yaml.CSafeLoader)
    return next(event.value for event in events if isinstance(event, yaml.ScalarEvent))


@pytest.mark.parametrize("flow", [False, True, None])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.dictionaries(WORDS, DATA, min_size=1, max_size=4))
def test_every_route_leads_to_the_line_that_holds_the_scalar(flow: bool | None, data: dict[str, Any]) -> None:
    # Quoted, because PyYAML leaves words bare that only YAML 1.1 reads as words; on one line, to be re-read.
    text = yaml.dump(data, default_flow_style=flow, default_style='"', allow_unicode=True, width=10**6, Dumper=Plain)
    source = parse("a.yaml", text)
    assert source.data == as_text(data)
    for route, value in routes(data):
        if isinstance(value, dict | list):
            continue
        assert written(source, route, False) == as_text(value)
        if route and isinstance(route[-1], str):
            assert written(source, route, True) == route[-1]


class Plain(yaml.SafeDumper):
    """Writes every scalar as quoted text, without tags and anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


Plain.add_representer(bool, lambda dumper, value: dumper.represent_str(str(value)))
Plain.add_representer(int, lambda dumper, value: dumper.represent_str(str(value)))
Plain.add_representer(type(None), lambda dumper, value: dumper.represent_str("None"))


def as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: as_text(item) for key, item in value.items()}
    return [as_text(item) for item in value] if isinstance(value, list) else str(value)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60) | st.text("[]{}:,-?&*!|>'\"%@#~ \n\ta1.", max_size=60))
def test_any_text_is_read_or_refused_never_worse(text: str) -> None:
    for path in ("a.yaml", "a.json"):
        try:
            source = parse(path, text)
        except Unreadable as problem:
            assert problem.line >= 1
            assert problem.column >= 1
        else:
            assert locate(source, ()) >= (1, 1)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused_never_worse(content: bytes) -> None:
    try:
        read("a.yaml", content)
    except Unreadable as problem:
        assert problem.message
