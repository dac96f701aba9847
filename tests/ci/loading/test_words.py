"""Several vocabulary files as one, and what is left of a file that does not fit."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.authored.vocabulary import Vocabulary
from ci.findings import Place
from ci.loading.words import EVERY_WORD, VocabularyFile, merged, salvaged
from tests.rows import each


def file(path: str, **sections: Any) -> VocabularyFile:
    return VocabularyFile(Vocabulary.model_validate(sections), path)


MAIN = file(
    "policies/vocabulary.yaml",
    facts={"a": {"type": "boolean"}},
    actions={"x": {}, "y": {}},
    relations={"excludes": [["x", "y"]], "implies": {"x": ["y"]}},
    defaults={"*": {"time_window": "a"}},
    scope={"regions": "a"},
)


def test_words_relations_and_defaults_of_all_files_come_together() -> None:
    other = file(
        "policies/b/vocabulary.yaml",
        facts={"b": {"type": "boolean"}},
        actions={"z": {}},
        relations={"excludes": [["x", "z"]], "implies": {"x": ["z", "y"], "z": ["x"]}},
        defaults={"*": {"amount_threshold": "b"}, "b": {"time_window": "b"}},
        scope={"regions": "a", "channels": "b"},
    )
    words = merged([other, MAIN])
    assert words.findings == ()
    vocabulary = words.vocabulary
    assert sorted(vocabulary.facts) == ["a", "b"]
    assert vocabulary.relations.excludes == [["x", "y"], ["x", "z"]]
    assert vocabulary.relations.implies == {"x": ["y", "z"], "z": ["x"]}
    assert vocabulary.defaults == {"*": {"time_window": "a", "amount_threshold": "b"}, "b": {"time_window": "b"}}
    assert vocabulary.scope == {"regions": "a", "channels": "b"}
    assert words.paths["actions", "z"] == "policies/b/vocabulary.yaml"
    assert words.paths["actions", "x"] == "policies/vocabulary.yaml"


def test_the_file_nearest_to_the_root_declares_first() -> None:
    near, far = (
        file("policies/z/vocabulary.yaml", actions={"x": {}}),
        file("policies/a/b/vocabulary.yaml", actions={"x": {}}),
    )
    (finding,) = merged([far, near]).findings
    assert (finding.id, finding.at) == (
        "duplicate-key",
        Place("policies/a/b/vocabulary.yaml", ("actions", "x"), on_key=True),
    )
    assert finding.related[0][0].path == "policies/z/vocabulary.yaml"


def test_a_scope_that_two_files_map_alike_is_said_twice_and_fine() -> None:
    assert merged([MAIN, file("policies/b/vocabulary.yaml", scope={"regions": "a"})]).findings == ()
    (finding,) = merged([MAIN, file("policies/b/vocabulary.yaml", scope={"regions": "b"})]).findings
    assert finding.at.route == ("scope", "regions")


def test_no_file_is_an_empty_vocabulary() -> None:
    assert merged([]).vocabulary == Vocabulary()


@each(
    ("data", "facts", "lost"),
    [
        ({"facts": {"a": {"type": "boolean"}}}, ["a"], set()),
        ({"facts": {"a": {"type": "bool"}, "b": {"type": "date"}}}, ["b"], {"a"}),
        ({"facts": {"a": {"type": "date", "unitt": 1}}}, ["a"], set()),
        # two slips in one entry: the key that is unknown, then the entry itself
        ({"facts": {"a": {"type": "bool", "unitt": 1}, "b": {"type": "date"}}}, ["b"], {"a"}),
        ({"facts": {"a": {"type": "enum"}, "b": {"type": "date"}}}, ["b"], {"a"}),
        ({"facts": [], "actions": {"x": {}}}, [], {EVERY_WORD}),
        ({"fatcs": {"a": {}, "b": {}}}, [], {"a", "b"}),
        ({"relations": {"implies": {"a": "b"}}, "facts": {"a": {"type": "date"}}}, ["a"], set()),
        ({"terms": {"t": [{"type": "nope"}], "u": []}}, [], {"t"}),
        # `*` is a domain here, and no word that is lost
        ({"defaults": {"*": {"time_window": 5}}}, [], set()),
        ({"facts": {"*": {"type": "date"}}}, [], set()),
        ({"scope": {"regions": 5}}, [], set()),
    ],
)
def test_an_entry_that_does_not_fit_is_dropped_alone(data: dict[str, Any], facts: list[str], lost: set[str]) -> None:
    before = repr(data)
    vocabulary, findings, dropped = salvaged(data, "policies/vocabulary.yaml")
    assert vocabulary is not None
    assert (sorted(vocabulary.facts), dropped) == (facts, lost)
    assert bool(findings) == (len(facts) == 0 or bool(lost) or "unitt" in before or "relations" in before)
    assert repr(data) == before, "what was written is kept for the places of findings"


def test_what_is_no_mapping_has_no_words() -> None:
    vocabulary, findings, _ = salvaged(["a"], "policies/vocabulary.yaml")
    assert vocabulary is None
    assert [finding.id for finding in findings] == ["schema"]


ENTRY = st.dictionaries(
    st.sampled_from(["type", "unit", "values", "outcome", "x"]), st.sampled_from(["date", 1, [], {}, None])
)
SECTION = st.dictionaries(st.sampled_from(["a", "b c", "all"]), ENTRY | st.none() | st.text(max_size=3), max_size=3)
SECTIONS = st.sampled_from(
    ["facts", "actions", "outcomes", "terms", "relations", "defaults", "scope", "schema_version", "y"]
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(SECTIONS, SECTION | st.none() | st.just([]), max_size=5))
def test_anything_is_salvaged_in_the_end(data: dict[str, Any]) -> None:
    vocabulary, findings, _ = salvaged(data, "v.yaml")
    assert vocabulary is not None
    assert len(findings) == len({(f.at, f.message) for f in findings}), "nothing is told twice"
