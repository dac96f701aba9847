"""The lexicon is read from YAML once, and then from what was kept of it, as long as that is of the same text."""

from __future__ import annotations

import pytest
import yaml

from bylaw.language import lexicon


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A lexicon of its own, and where it is kept."""
    path = tmp_path / "lexicon.yaml"
    path.write_bytes(lexicon._FILE.read_bytes())
    monkeypatch.setattr(lexicon, "_FILE", path)
    monkeypatch.setattr(lexicon, "KEPT", tmp_path / "kept" / "lexicon.json")
    lexicon.KEPT.parent.mkdir()
    yield path
    lexicon.lexicon.cache_clear()


def afresh():
    lexicon.lexicon.cache_clear()
    return lexicon.lexicon()


def test_what_was_kept_is_what_is_written(written, monkeypatch):
    first = afresh()._told
    monkeypatch.setattr(yaml, "load", None)
    assert afresh()._told == first == yaml.safe_load(written.read_bytes())


@pytest.mark.parametrize("kept", ["", "{", "[]", "{}", '{"of": "another", "classes": {}}'])
def test_what_was_kept_of_another_text_does_not_count(written, kept):
    lexicon.KEPT.write_text(kept)
    written.write_bytes(written.read_bytes() + b"written_since: [now]\n")
    assert "now" in afresh()["written_since"]


def test_where_nothing_can_be_kept_it_is_read_each_time(written):
    lexicon.KEPT.parent.rmdir()
    lexicon.KEPT.parent.write_text("a file")
    assert afresh()._told == yaml.safe_load(written.read_bytes())
