"""The lines of a status: the word of one, its day, and what the record does to others."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from bylaw.authored.moments import day_of
from ci.loading.records.document import links_in, plain_line
from ci.loading.records.names import STATUSES, Names, bare
from ci.loading.records.told import Told

PLACEHOLDER = re.compile(r"\{.*\}|\[.*\]|<[^>]*>", re.DOTALL)
SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{2,}[a-z0-9]")
_NAMED = re.compile(r"\b[A-Z]{2,8}[ _-]?\d{1,7}\b|#\d{1,7}\b|\b\d{4}\b")
_STRUCK = re.compile(r"~~(?=\S).+?~~", re.DOTALL)


def enter_status(written: str, line: int, told: Told) -> None:
    """The lines of a status: a word of one, and what the record does to others. What is struck out is said no more."""
    for number, raw in enumerate(part for part in written.split("\n") if part.strip()):
        said = plain_line(raw.strip().lstrip("*-+> "))
        now = plain_line(_STRUCK.sub("", raw.strip().lstrip("*-+> ")))
        if PLACEHOLDER.fullmatch(said):
            continue
        if enter_relation(_STRUCK.sub("", raw), line + number, told):
            if now != said:
                told.keep("status", said, line + number)
            continue
        folded = bare(now)
        word = _status_in(folded, told.names)
        if word is not None:
            told.put("status", told.names.statuses[word], line + number)
            if said.casefold() not in STATUSES:
                told.keep("status", said, line + number)
            _enter_rest_of_status(folded[len(word) :], line + number, told)
        else:
            told.keep("status", said, line + number)
            if number == 0:
                told.put("status", "proposed", line)
                told.notes.append(("unknown-status", said, line))


def enter_relation(raw: str, line: int, told: Told) -> bool:
    """Put what the line says that the record does to another one; False where it says nothing of the kind."""
    said = plain_line(raw.strip().lstrip("*-+> "))
    folded = bare(said)
    relation = next((words for words in told.names.relations if folded.startswith(words)), None)
    if relation is None:
        return False
    name = told.names.relations[relation]
    told.put(name, named_records(raw), line)
    if name == "superseded_by":
        told.put("status", "superseded", line)
    told.keep("status_links", said, line)
    return True


def _status_in(folded: str, names: Names) -> str | None:
    """The longest word of a status that the line begins with."""
    words = sorted(names.statuses, key=len, reverse=True)
    return next((word for word in words if re.match(rf"{re.escape(word)}\b", folded)), None)


def _enter_rest_of_status(rest: str, line: int, told: Told) -> None:
    """`Accepted on 2017-07-14` has the day in it."""
    written = re.sub(r"^\W*(?:on\b)?\s*|[)\s]+$", "", rest, flags=re.IGNORECASE)
    try:
        told.put("decided_on", day_of(written).isoformat(), line)
    except ValueError:
        return  # other words are kept with the status


def named_records(text: str) -> list[str]:
    """The records that a text leads to: by link, else by their numbers or ids."""
    found = [
        PurePosixPath(href.partition("#")[0]).name
        for _, href in links_in(text)
        if href.partition("#")[0].endswith(".md")
    ]
    if found:
        return found
    plain = plain_line(text)
    if named := _NAMED.findall(plain):
        return [f"#{name}" if name.isdigit() else name for name in named]
    return [word for word in re.split(r"[\s,;]+", plain) if SLUG.fullmatch(word) and "-" in word]
