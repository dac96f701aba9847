"""One ADR in Markdown, of Nygard's style or MADR's, as the fields of a decision; and what of it could not be placed.

Nothing that people wrote is thrown away: a heading or a key that is no field of a decision is kept in `x-extra`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from bylaw.authored.decision_sources import DecisionSource
from bylaw.authored.decisions import slug_of
from bylaw.authored.moments import day_of
from bylaw.canonical import fingerprint
from ci.loading.records.document import Block, Document, Section, plain_line
from ci.loading.records.headings import ARGUMENTS, DAYS, PEOPLE, RELATIONS
from ci.loading.records.names import Names, names_of, trimmed
from ci.loading.records.statuses import PLACEHOLDER, SLUG, enter_relation, enter_status, named_records
from ci.loading.records.told import Told

_NUMBER = re.compile(r"(?:(?:adr|pep|rfc|kep)[ _-]*)?#?(\d{1,7})(?=[-_. ]|$)", re.IGNORECASE)
_DATED = re.compile(r"(\d{4}-\d{2}-\d{2}|(?:19|20)\d{6})(?=[-_ ]|$)")
_NUMBERED_TITLE = re.compile(r"(?:adr|pep|rfc|kep)?[ _-]*#?(\d{1,7})\s*(?:[.:)]|\s[-–—])\s+(?=\S)", re.IGNORECASE)
_KEYED = re.compile(r"\W{0,4}([^\W\d_][\w -]{1,30}?)(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.*)", re.DOTALL)
_CHOSEN = re.compile(r"\W{0,4}chosen option:?\W{0,4}\s*(?:\"([^\"]+)\"|“([^”]+)”|'([^']+)'|([^,\n]+))", re.IGNORECASE)
_ARGUMENT = re.compile(r"(\w+),?\s+(?:because\s+)?(.*)", re.DOTALL)
_BETWEEN = re.compile(r"[,;]|\s+and\s+|\s+&\s+")
_SIGN = re.compile(r"^[^\w(@\"'“]+")
_MAIL = re.compile(r"\s*<[^>]*>")


def is_record(path: str, document: Document, source: DecisionSource) -> bool:
    """Is a decision written in it? An index and a template stand in the same folders."""
    names = names_of(source)
    stem, title = PurePosixPath(path).stem.casefold(), _heading(document, names)
    if stem.endswith("template") or (title is not None and PLACEHOLDER.fullmatch(title.title)):
        return False
    known = {names.heading(section.title) for section in document.sections}
    return bool(known & {"rationale", "status", "options"}) or "status" in {names.key(key) for key in document.front}


def record_of(path: str, document: Document, source: DecisionSource) -> Told:
    """The fields of the decision that *document* tells."""
    told, stem = Told(names_of(source)), PurePosixPath(path).stem
    told.put("id", id_of(path, source), 1)
    _from_front_matter(document, told)
    title = _heading(document, told.names)
    written = title.title if title else stem
    numbered = _NUMBERED_TITLE.match(written)
    dated, number = _DATED.match(stem), _NUMBER.match(stem)
    told.put("option", written[numbered.end() :] if numbered else written, title.line if title else 1)
    if found := (None if dated else number) or numbered:
        told.put("number", int(found[1]), 1)
        told.put("aliases", [f"ADR-{int(found[1])}"], 1)
    _from_sections(document, title, told)
    _mark_chosen(told)
    for name in set(RELATIONS.values()) & told.fields.keys():
        told.fields[name] = [id_of(one, source) if one.endswith(".md") else one for one in told.fields[name]]
    if source.owner:
        told.extra["source_owner"] = source.owner
    _settle(told, dated[1] if dated else None)
    told.put("tags", list(source.tags), 1)
    told.put("audience", list(source.audience), 1)
    return told


def id_of(path: str, source: DecisionSource) -> str:
    """`prefix` and the name of the file, in the letters of an id; by its fingerprint where it has none of them."""
    stem = PurePosixPath(path).stem
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    slug = slug_of(f"{source.prefix or ''}{plain}")
    if not slug_of(plain):
        slug = slug_of(f"{source.prefix or ''}-{fingerprint(stem)[:12]}")
    return slug[:255].strip("_-") if SLUG.fullmatch(slug[:255].strip("_-")) else f"adr-{slug}"


def _heading(document: Document, names: Names) -> Section | None:
    """The heading that is the title: the first one, unless it names a part of the record."""
    first = next((one for one in document.sections if one.level), None)
    return None if first is None or names.heading(first.title) is not None or not first.title else first


def _from_front_matter(document: Document, told: Told) -> None:
    for key, value in document.front.items():
        line = document.front_lines.get(key, 1)
        name = told.names.key(key)
        if name is None or not _enter(name, value, line, told):
            told.keep(key, value, line)


def _enter(name: str, value: Any, line: int, told: Told) -> bool:
    """Put a value under the field *name*; False where it cannot be meant."""
    if name == "status" and isinstance(value, str):
        enter_status(value, line, told)
        return True
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str | int) and not isinstance(text, bool) for text in texts):
        return name == "affects" and _put_affects(value, line, told)
    said = [str(text) for text in texts if str(text).strip() and not PLACEHOLDER.fullmatch(str(text).strip())]
    if not said:
        return True
    if name in DAYS:
        return _enter_day(name, said[0], line, told)
    if name in RELATIONS.values():
        told.put(name, [id for text in said for id in named_records(text)], line)
    elif name in PEOPLE:
        told.put(name, [person for text in said for person in _people(text)], line)
    elif name in ("tags", "aliases", "audience"):
        told.put(name, [part.strip() for text in said for part in text.split(",") if part.strip()], line)
    elif name == "affects":
        return _put_affects({"path": said}, line, told)
    else:
        told.put(name, said[0], line)
    return True


def _put_affects(value: Any, line: int, told: Told) -> bool:
    told.put("affects", value, line)
    return isinstance(value, dict)


def _enter_day(name: str, written: str, line: int, told: Told) -> bool:
    try:
        day = day_of(trimmed(plain_line(written))).isoformat()
    except ValueError:
        told.notes.append(("undated-decision", f"`{written.strip()[:60]}` is no single day", line))
        return False
    told.put("decided_on" if name == "date" else name, day, line)
    return True


def _people(text: str) -> list[str]:
    named = (_SIGN.sub("", plain_line(_MAIL.sub("", part))) for part in _BETWEEN.split(text))
    return [name for name in named if name]


def _from_sections(document: Document, title: Section | None, told: Told) -> None:
    """Each section into its field. A heading inside a section that is no field of its own belongs to it."""
    name, level, line, heading = "", 0, 1, ""
    blocks: list[Block] = []
    for section in document.sections:
        found = told.names.heading(section.title)
        is_inner = bool(name) and section.level > level and (found is None or name == "arguments")
        if section is title or section.level == 0:
            _enter_preamble(section.blocks, told)
            continue
        if is_inner:
            blocks += [Block("heading", section.line, section.title, level=section.level), *section.blocks]
            continue
        _enter_section(name, heading, line, blocks, told)
        name, level, line, heading = found or section.title or "text", section.level, section.line, section.title
        blocks = list(section.blocks)
    _enter_section(name, heading, line, blocks, told)


def _enter_preamble(blocks: Iterable[Block], told: Told) -> None:
    """The lines between the title and the first heading: keys with their values, and other text."""
    for block in blocks:
        rest = [
            (words, line)
            for key, value, line, words in _pairs(block, told.names)
            if not _enter_pair(key, value, line, told)
        ]
        for words, line in rest:
            told.keep("introduction", words, line)


def _enter_pair(key: str, value: str, line: int, told: Told) -> bool:
    name = told.names.key(key)
    return name is not None and _enter(name, value, line, told)


def _pairs(block: Block, names: Names) -> Iterator[tuple[str, str, int, str]]:
    """Key, value, line and words of every line, item or row; the key is empty where there is none."""
    if block.rows:
        yield from _pairs_of_table(block, names)
        return
    lines = block.items or tuple(block.text.split("\n"))
    if not block.items and not any(names.key(found[1]) for text in lines if (found := _KEYED.match(text))):
        yield "", "", block.line, block.text
        return
    for number, text in enumerate(lines):
        found = _KEYED.match(text)
        yield (
            (found[1], found[2].rstrip("\\"), block.line + number, text)
            if found
            else ("", "", block.line + number, text)
        )


def _pairs_of_table(block: Block, names: Names) -> Iterator[tuple[str, str, int, str]]:
    """A table with its keys in the first row, of which the last row counts, or in the first column."""
    head, *body = block.rows
    if body and all(names.key(cell) for cell in head):
        yield from ((key, value, block.line, value) for key, value in zip(head, body[-1], strict=False))
        return
    for number, row in enumerate(block.rows):
        key, value = row[0] if row else "", " ".join(row[1:])
        yield plain_line(key).rstrip(":"), value, block.line + number + (1 if number else 0), " | ".join(row)


def _enter_section(name: str, heading: str, line: int, blocks: list[Block], told: Told) -> None:
    text = _text_of(blocks)
    if not name or not text:
        return
    if name == "status":
        for block in blocks:
            _enter_status_block(block, told)
    elif name == "date":
        if not _enter_day("date", text, line, told):
            told.keep("date", text, line)
    elif name == "consequences":
        told.put(name, list(_points(blocks)), line)
    elif name == "options":
        told.put("considered", [point for block in blocks if block.items for point in block.items], line)
        if rest := _text_of([block for block in blocks if not block.items]):
            told.keep(heading, rest, line)
    elif name == "arguments":
        first = next((number for number, block in enumerate(blocks) if block.level), len(blocks))
        told.put("arguments", _arguments(blocks[first:]), line)
        told.keep(heading, _text_of(blocks[:first]), line)
    elif name == "relations":
        _enter_relations(heading, blocks, told)
    elif name in ("context", "rationale", "confirmation"):
        already = told.fields.get(name)
        told.put(name, text, line)
        told.fields[name] = f"{already}\n\n{text}" if already else text
    else:
        told.keep(heading, text, line)


def _enter_relations(heading: str, blocks: Iterable[Block], told: Told) -> None:
    """Links to other records: what the record does to them counts, and every other line is kept."""
    for block in blocks:
        lines = block.items or tuple(block.text.split("\n"))
        for number, raw in enumerate(lines):
            if not enter_relation(raw, block.line + number, told):
                told.keep(heading, raw, block.line + number)


def _enter_status_block(block: Block, told: Told) -> None:
    """A status section may hold other keys too, like the date."""
    rest = []
    for key, value, line, words in _pairs(block, told.names):
        is_status = told.names.key(key) == "status"
        if is_status or not _enter_pair(key, value, line, told):
            rest.append((value if is_status else words, line))
    for words, line in rest:
        enter_status(words, line, told)


def _text_of(blocks: Iterable[Block]) -> str:
    return "\n\n".join(_written(block) for block in blocks if block.text).strip()


def _written(block: Block) -> str:
    return f"**{block.text}**" if block.level else block.text


def _points(blocks: Iterable[Block]) -> Iterator[str]:
    """Every item of a list, and every other block whole."""
    for block in blocks:
        yield from (item for item in block.items if item) if block.items else (block.text,) if block.text else ()


def _arguments(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """The options with what is said for and against each: an option a heading, deeper headings are words about it."""
    top = min((block.level for block in blocks if block.level), default=0)
    options: list[dict[str, Any]] = []
    for block in blocks:
        if block.level == top:
            options.append({"option": block.text or "an option without a name"})
            continue
        about = options[-1]
        for item in block.items:
            found = _ARGUMENT.match(item)
            side = ARGUMENTS.get(found[1].casefold()) if found else None
            if found and side:
                about.setdefault(side, []).append(found[2])
            else:
                _describe(about, f"* {item}")
        if not block.items:
            _describe(about, _written(block))
    return options


def _describe(option: dict[str, Any], text: str) -> None:
    option["description"] = f"{option['description']}\n\n{text}" if "description" in option else text


def _mark_chosen(told: Told) -> None:
    """The options that were considered, each with its arguments, and which of them was chosen."""
    considered = told.fields.pop("considered", [])
    arguments = told.fields.pop("arguments", [])
    options = []
    for text in considered:
        name, *rest = (plain_line(line) for line in text.split("\n"))
        said: dict[str, Any] = next((one for one in arguments if _bare(one["option"]) == _bare(name)), {})
        arguments = [one for one in arguments if one is not said]
        options.append({**said, "option": name})
        if rest:
            _describe(options[-1], "\n".join(rest))
    options = [*(one for one in options if one["option"]), *arguments]
    found = _CHOSEN.search(told.fields.get("rationale", ""))
    chosen = _bare(next(filter(None, found.groups()))) if found else None
    meant = [one for one in options if chosen and _bare(one["option"]) == chosen]
    meant = meant or [one for one in options if chosen and _bare(one["option"]).startswith(chosen)]
    if len(meant) == 1:
        meant[0]["chosen"] = True
    if options:
        told.fields["options"] = options
        told.lines["options"] = told.lines.pop("considered", 0) or told.lines.get("arguments", 1)
    told.lines.pop("arguments", 0)


def _bare(text: str) -> str:
    """A name for comparing: its letters and digits."""
    return "".join(char for char in plain_line(text).casefold() if char.isalnum())


def _settle(told: Told, dated: str | None) -> None:
    """What follows from the rest: the day of the file's name, and that a record without a day has none."""
    fields = told.fields
    if "decided_on" not in fields and "date" in fields:
        told.extra["date"] = fields.pop("date")
    if "decided_on" not in fields and dated is not None and _enter_day("date", dated, 1, told):
        fields["dated_by"] = "file_name"
    if "decided_on" not in fields:
        fields["dated_by"] = "nothing"
        if not any(id == "undated-decision" for id, _, _ in told.notes):
            told.notes.append(("undated-decision", "", 1))
    if told.extra:
        fields["x-extra"] = dict(told.extra)
