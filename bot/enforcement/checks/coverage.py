"""How much of what decides the case does whoever asks hear of? A terse answer may be a poor one, but is no breach.

Of an answer that states something he needs not hear what he said himself, or what was given with the question and his
own words do not contradict; whether it is right is another check's.
"""

from __future__ import annotations

from datetime import date
from functools import lru_cache

from bot.enforcement.checks.result import CheckResult, Draft
from bot.enforcement.figures import figures, measure
from bot.enforcement.lookups import lookups
from bot.enforcement.senses import stem
from bylaw.language.words import read_words


def check(draft: Draft) -> CheckResult:
    """The share of the facts on the taken path that were told, or are mentioned by phrase, label, name or value."""
    path = sorted(name for name in lookups(draft.index).facts_of(draft.deciding) if name in draft.facts)
    if not path:
        return CheckResult("coverage", 1.0, "nothing on the path to mention")
    if draft.found is not None:
        said = {one.fact for one in draft.found.reading.claims} | set(draft.facts)
        here = said & set(path)
        return CheckResult("coverage", len(here) / len(path), f"{len(here)} of {len(path)} facts on the path are told")
    known = draft.told & set(path) if draft.stated.claims or draft.is_quoting else set()
    told = known | _told(draft, [name for name in path if name not in known])
    detail = f"{len(told)} of {len(path)} facts on the path were told or are mentioned"
    missing = [name for name in path if name not in told]
    return CheckResult("coverage", len(told) / len(path), f"{detail}; not: {', '.join(missing)}" if missing else detail)


def _told(draft: Draft, path: list[str]) -> set[str]:
    vocabulary = draft.index.vocabulary
    text = draft.seen.replace("%", " percent ")
    stems = {found for word in read_words(text) if (found := stem(word.text)) is not None}
    named = {figure for figure, _ in figures(text, date.fromordinal(draft.day))}
    told = set(draft.stated.mentioned) & set(path)
    for name in path:
        fact = vocabulary.facts.get(name)
        called = [name.replace("_", " "), *([fact.label] if fact and fact.label else [])]
        value = draft.facts[name]
        if isinstance(value, str):
            called += [value.replace("_", " "), *(fact.values.get(value, ()) if fact else ())]
        figure = measure(fact, value)
        if (figure is not None and figure in named) or any(_is_named(one, stems) for one in called):
            told.add(name)
    return told


def _is_named(called: str, stems: set[str]) -> bool:
    wanted = _stems(called)
    return bool(wanted) and wanted <= stems


@lru_cache(maxsize=5_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(found for word in read_words(text) if (found := stem(word.text)) is not None)
