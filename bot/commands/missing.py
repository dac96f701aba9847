"""The lines of YAML that would declare the words which a reading leaves over: in which file, under which key.

A word may mean several things, so several lines are shown, of which an author takes one. They go by what the rest of
the text was read as: a value of what the asked rules test, a column of the table that is counted, a decision.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.index import BundleIndex
from bylaw.hold.item import Reading, Stretch, TextKind
from bylaw.hold.words import Index
from bylaw.language.lexicon import stem

WORDS: Final = "policies/vocabulary.yaml"
_MOST: Final = 2  # facts, columns or topics that are named for one word
_PLAIN: Final = re.compile(r"(?!(?:yes|no|on|off|true|false|null|y|n)\b)[a-z][a-z -]*")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that would declare a word: the file with its line where known, the YAML, and what the word then means."""

    place: str
    yaml: str
    means: str

    def __str__(self) -> str:
        return f"    {self.place}:  {self.yaml}    # {self.means}"


def describe_missing(
    text: str, kind: TextKind, reading: Reading, index: BundleIndex, words: Index, root: Path | None
) -> Iterator[str]:
    """For each word left over, the lines that would declare it; for an answer, what it may rest on instead."""
    asked = {one.item.named or "": one.item.quote or "" for one in reading.items if one.item.kind == "asks"}
    left = {one.text: one for one in reversed(reading.residue)}
    if kind == "policy" and not asked and left:  # what is asked is missing: the words are one phrase
        first, last = reading.residue[0], reading.residue[-1]
        left = {text[first.start : last.end]: Stretch(text[first.start : last.end], first.start, last.end)}
    for word, stretch in reversed(left.items()):
        lines: Sequence[Line] = ()
        match kind:
            case "data":
                lines = [*_of_data(word.lower(), list(asked), index)]
            case "policy" if asked:
                phrases = {name: _phrase(text, quote, stretch) for name, quote in asked.items()}
                lines = [*_of_case(word.lower(), phrases, words, root)]
            case "policy":
                lines = [*_of_question(word.lower(), words, root)]
            case "decision":
                anchors = [one.item.named or "" for one in reading.items if one.item.kind == "anchor"]
                lines = [*_of_decision(word.lower(), list(asked), anchors, index, words)]
        if lines:
            yield f"missing: “{word}”. Declare it where it means something; one of"
            yield from map(str, lines)


def _phrase(text: str, quote: str, stretch: Stretch) -> str:
    """What is asked with the word behind it, as it was said ("refund on drinks"); the word alone where it is before."""
    start = text.lower().find(quote.lower())
    return (text[start : stretch.end] if quote and 0 <= start < stretch.start else stretch.text).lower()


def _of_question(phrase: str, words: Index, root: Path | None) -> Iterator[Line]:
    """A whole question that names nothing: a phrase of what it shares a word with, or of an outcome of its own."""
    near = [name for name in _near(phrase, "asks", words) if not words.is_action(name)]
    for name in near[:_MOST]:
        yield _asking(name, phrase, words, root)
    if not near:
        yield Line(WORDS, f"outcomes: {{AN_OUTCOME: {{phrases: [{_flow(phrase)}]}}}}", "asks for that outcome")


def _of_case(word: str, phrases: Mapping[str, str], words: Index, root: Path | None) -> Iterator[Line]:
    """A word beside what is asked: a part of its phrase, a value of what its rules test, or nothing at all."""
    for name, phrase in [*phrases.items()][:_MOST]:
        yield _asking(name, phrase, words, root)
    tested = sorted(set[str]().union(*(one.tests for name in phrases if (one := words.get("asks", name)))))
    for name in [name for name in tested if (fact := words.get("fact", name)) and fact.type == "enum"][:_MOST]:
        yaml = f"facts: {{{name}: {{values: {{A_VALUE: [{_flow(word)}]}}}}}}"
        yield Line(_where(root, name), yaml, f"a {_called(name, words)}")
    yield Line(WORDS, f"idle: [{_flow(word)}]", "changes nothing in this house")


def _asking(name: str, phrase: str, words: Index, root: Path | None) -> Line:
    group = "actions" if words.is_action(name) else "outcomes"
    return Line(
        _where(root, name), f"{group}: {{{name}: {{phrases: [{_flow(phrase)}]}}}}", f"asks for {_called(name, words)}"
    )


def _of_data(word: str, asked: Sequence[str], index: BundleIndex) -> Iterator[Line]:
    context, said = index.bundle.context, _flow(word)
    metric = next((found for name in asked if (found := context.metrics.get(name))), None)
    named = re.findall(r"[A-Za-z_]\w*", " ".join(asked))
    entity = next((name for name in (metric.entity if metric else None, *named) if name in context.entities), None)
    if not asked:
        place = next(iter(context.paths.get(f"metrics/{name}", "") for name in context.metrics), "context/metrics/…")
        yield Line(f"{Path(place).parent.as_posix()}/A_METRIC.yaml", f"synonyms: [{said}]", "asks for that number")
    if entity is None:
        yield Line("context/entities/AN_ENTITY.yaml", f"synonyms: [{said}]", "these rows, or beside one of its columns")
        return
    path = context.paths.get(f"entities/{entity}", f"context/entities/{entity}.yaml")
    yield Line(path, f"dimensions: [{{name: A_COLUMN, synonyms: [{said}]}}]", "by it, or only where it is so")
    listed = [one.name for one in context.entities[entity].dimensions if one.sample_values][:_MOST]
    for name in listed:
        yield Line(path, f"dimensions: [{{name: {name}, value_synonyms: {{A_VALUE: [{said}]}}}}]", f"a {_spaced(name)}")


def _of_decision(
    word: str, asked: Sequence[str], anchors: Sequence[str], index: BundleIndex, words: Index
) -> Iterator[Line]:
    known, said = index.bundle.decisions, _flow(word)
    near = [one for one in dict.fromkeys((*anchors, *_near(word, "anchor", words))) if one in known.decisions][:_MOST]
    for name in near:
        place = known.sources.get(name, f"context/decisions/decisions/{name}.yaml")
        yield Line(place, f"aliases: [{said}]", f"means “{_called(name, words, 'anchor')}”")
    if not near:
        yield Line("context/decisions/decisions/A_DECISION.yaml", f"aliases: [{said}]", "means that decision")
    if not asked:
        yield Line("rules/intents.yaml", f"intents: {{why_decision: {{words: [{said}]}}}}", "asks why")


def _near(text: str, group: str, words: Index) -> list[str]:
    """The names of a group that a word of *text* names or speaks of."""
    return sorted({name for word in text.split() for name in words.bearers(group, stem(word))})


def _where(root: Path | None, name: str) -> str:
    """The vocabulary that declares *name*, with the line."""
    for path in sorted((root or Path()).glob("policies/**/vocabulary.yaml")) if root is not None else ():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if re.search(rf"(?:^\s+|[{{,]\s*)[\"']?{re.escape(name)}[\"']?:", line):
                return f"{path.relative_to(root or Path()).as_posix()}:{number}"
    return WORDS


def _called(name: str, words: Index, group: str = "asks") -> str:
    found = words.get(group, name) or words.get("fact", name)
    return found.texts[0] if found is not None and found.texts else _spaced(name)


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _flow(word: str) -> str:
    return word if _PLAIN.fullmatch(word) else json.dumps(word, ensure_ascii=False)
