"""All words of a repository: its vocabulary files as one. A word that two files declare is told; the first one counts.

A file that does not fit its model keeps the words that do, so that one slip does not make every policy look wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from bylaw.authored.vocabulary import Relations, Vocabulary
from ci.findings import Finding, Place
from ci.loading.schema.pydantic_errors import slips
from ci.loading.schema.schema_findings import misfits

EVERY_WORD = "*"  # among lost words: nobody knows which they are
DECLARING = ("facts", "actions", "outcomes", "terms")
SECTIONS = (*DECLARING, "scope")


@dataclass(frozen=True, slots=True)
class VocabularyFile:
    """One vocabulary file; routes into its model are routes into its text."""

    vocabulary: Vocabulary
    path: str


@dataclass(frozen=True, slots=True)
class Words:
    """The merged vocabulary, and which file declares (section, word)."""

    vocabulary: Vocabulary
    paths: Mapping[tuple[str, str], str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def merged(files: Iterable[VocabularyFile]) -> Words:
    """*files* as one vocabulary. What stands nearer to the root, then what comes first by name, counts first."""
    ordered = sorted(files, key=lambda file: (file.path.count("/"), file.path))
    paths: dict[tuple[str, str], str] = {}
    findings: list[Finding] = []
    together: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    defaults: dict[str, dict[str, str]] = {}
    excludes: list[list[str]] = []
    implies: dict[str, list[str]] = {}
    idle: dict[str, None] = {}
    for file in ordered:
        for section in SECTIONS:
            for name, declared in getattr(file.vocabulary, section).items():
                first = paths.setdefault((section, name), file.path)
                if first == file.path:
                    together[section][name] = declared
                elif section != "scope" or together[section][name] != declared:
                    findings.append(_twice(section, name, file.path, first))
        for domain, kinds in file.vocabulary.defaults.items():
            for kind, fact in kinds.items():
                first = paths.setdefault((f"defaults.{domain}", kind), file.path)
                if defaults.setdefault(domain, {}).setdefault(kind, fact) != fact:
                    findings.append(_twice(f"defaults.{domain}", kind, file.path, first))
        idle.update(dict.fromkeys(file.vocabulary.idle))
        excludes += file.vocabulary.relations.excludes
        for name, others in file.vocabulary.relations.implies.items():
            implies[name] = list(dict.fromkeys([*implies.get(name, ()), *others]))
    relations = Relations(excludes=excludes, implies=implies)
    vocabulary = Vocabulary(**together, defaults=defaults, relations=relations, idle=list(idle))
    return Words(vocabulary, paths, tuple(findings))


def _twice(section: str, name: str, path: str, first: str) -> Finding:
    route = (*section.split(".", 1), name)
    return Finding(
        "duplicate-key",
        f"the word `{name}` is declared twice in `{section}`",
        Place(path, route, on_key=True),
        help="words are shared by all domains: keep one declaration, or give this one another name",
        related=((Place(first, route, on_key=True), "first declared here"),),
    )


def salvaged(data: Any, path: str) -> tuple[Vocabulary | None, list[Finding], set[str]]:
    """The vocabulary in *data* as far as it fits, what does not fit, and the words that were lost with it."""
    findings: list[Finding] = []
    lost: set[str] = set()
    while True:
        try:
            return Vocabulary.model_validate(data), findings, lost
        except ValidationError as error:
            found = misfits(error, Vocabulary, data, path)
            findings += [finding for finding in found if finding not in findings]
            if not isinstance(data, dict):
                return None, findings, lost
            smaller = {key: dict(value) if isinstance(value, dict) else value for key, value in data.items()}
            for slip in slips(error, Vocabulary, data):
                lost |= _dropped(smaller, slip.route, slip.kind == "extra_forbidden")
            if smaller == data:
                return None, findings, lost
            data = smaller


def _dropped(data: dict[str, Any], route: tuple[str | int, ...], is_extra: bool) -> set[str]:
    """Take the entry around *route* out of *data*; an unknown key goes alone. The words that were lost with it."""
    section, *rest = (str(step) for step in route) if route else ("",)
    entries = data.get(section)
    if not rest or not isinstance(entries, dict) or section == "relations":
        data.pop(section, None)
        if section in DECLARING and not isinstance(entries, dict):
            return {EVERY_WORD}
        # a misspelt section holds words all the same
        return set(entries) if isinstance(entries, dict) and section not in Vocabulary.model_fields else set()
    name = rest[0]
    entry = entries.get(name)
    if is_extra and len(rest) == 2 and isinstance(entry, dict):
        entries[name] = {key: value for key, value in entry.items() if key != rest[1]}
        return set()
    entries.pop(name, None)
    return {name} - {EVERY_WORD} if section in DECLARING else set()
