"""What a person says about the columns of a sheet: which are outcomes, which facts they are, what to leave out.

It is a YAML file, or said column by column: `--map "Customer's age=age"`, `--outcome Decision`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field

from bylaw.authored.record import Authored, Number, Word
from bylaw.authored.vocabulary import Identifier
from bylaw.errors import UsageError
from ci.importers.tables.model import HitPolicy
from ci.loading.schema.schema_findings import fitted
from ci.loading.source import Unreadable, parse


class MappedInput(Authored):
    """One input of a mapping file. `type: integer` says that the column holds whole numbers only."""

    fact: Identifier | None = None
    type: Literal["boolean", "integer", "decimal", "enum", "date"] | None = None
    unit: Word | None = None
    minimum: Number | None = None
    maximum: Number | None = None
    values: list[Word] = Field(default_factory=list)
    label: Word | None = None


class MappedOutput(Authored):
    """One output of a mapping file. `values` list what it may say, the first with the highest priority."""

    outcome: Identifier | None = None
    label: Word | None = None
    values: list[Word] = Field(default_factory=list)
    default: Word | None = None


class MappingFile(Authored):
    """A mapping file, as it is written."""

    sheet: Word | None = None
    header_row: int = 1
    hit_policy: HitPolicy | None = None
    inputs: dict[Word, MappedInput] = Field(default_factory=dict)
    outputs: dict[Word, MappedOutput] = Field(default_factory=dict)
    ignore: list[Word] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Mapped:
    """All that was said of the columns, by their headers."""

    file: MappingFile = field(default_factory=MappingFile)
    names: tuple[tuple[str, str], ...] = ()
    outcomes: tuple[str, ...] = ()
    hit_policy: HitPolicy | None = None
    sheet: str | None = None

    @property
    def is_said(self) -> bool:
        """Was anything said?"""
        return self != Mapped()

    def name_of(self, header: str) -> str | None:
        """The fact or outcome that a header was given on the command line."""
        return dict(self.names).get(header)

    @property
    def headers(self) -> set[str]:
        """Every header that is spoken of."""
        file = self.file
        return {*file.inputs, *file.outputs, *file.ignore, *self.outcomes, *(header for header, _ in self.names)}


def mapped(said: Sequence[str], outcomes: Sequence[str], hit_policy: HitPolicy | None, sheet: str | None) -> Mapped:
    """What `--map`, `--outcome`, `--hit-policy` and `--sheet` say together. Raises UsageError."""
    file, names = MappingFile(), list[tuple[str, str]]()
    for one in said:
        header, equals, name = one.rpartition("=")
        if equals and not Path(one).is_file():
            if not name.isidentifier() or not name.isascii():
                raise UsageError(f"`{name[:60]}` is no name of a fact", f"write --map '{header[:40]}=a_name'")
            names.append((header.strip(), name))
        else:
            file = _file(Path(one))
    return Mapped(file, tuple(names), tuple(outcomes), hit_policy, sheet)


def _file(path: Path) -> MappingFile:
    try:
        data = parse(path.name, path.read_text(encoding="utf-8")).data
    except (OSError, UnicodeDecodeError, Unreadable) as problem:
        raise UsageError(
            f"the mapping `{path}` cannot be read: {problem}", "name a YAML file, or write HEADER=name"
        ) from None
    record, findings = fitted(MappingFile, data, path.name)
    if record is None or findings:
        first = findings[0]
        raise UsageError(f"the mapping `{path}`: {first.message}", first.help or "see `bylaw docs tables`")
    return record
