"""What a correction is: one field of one record and its new value, and the table of the fields that may be corrected.

A field that is not `is_private` shapes nobody's answers before it was reviewed: rights on rows, joins and tables hang
on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bot.conversation import Spoken

Kind = Literal["metrics", "entities", "gotchas", "glossary"]
Reads = Literal["condition", "expression", "word", "text", "name"]

LEAVE_OUT = "required_filter"  # on a metric or an entity: a gotcha that nobody has written down yet


@dataclass(frozen=True)
class CorrectableField:
    """One field that people may correct: how it is asked about, what may stand in it, and how far it reaches."""

    name: str
    label: str
    reads: Reads
    correction_type: Literal["factual", "gotcha"]
    is_private: bool = True


_ROWS = CorrectableField(LEAVE_OUT, "rows that must always be left out (keep only: …)", "condition", "gotcha")
_WORDS = CorrectableField("synonyms", "another word for it", "word", "factual")
_TEXT = CorrectableField("description", "what it means", "text", "factual", is_private=False)
FIELDS: Mapping[Kind, tuple[CorrectableField, ...]] = {
    "metrics": (
        CorrectableField("expr", "how it is computed", "expression", "factual"),
        CorrectableField("filter", "which rows it counts", "condition", "factual"),
        CorrectableField("time_dimension", "by which date it is counted", "name", "factual"),
        CorrectableField("unit", "its unit", "word", "factual"),
        _ROWS,
        _WORDS,
        _TEXT,
    ),
    "entities": (_ROWS, _TEXT),
    "gotchas": (CorrectableField(LEAVE_OUT, "the rows that are kept", "condition", "gotcha"),),
    "glossary": (
        CorrectableField("refers_to", "what the word stands for", "name", "factual"),
        CorrectableField("means", "what the word means", "text", "factual", is_private=False),
    ),
}


class Change(Spoken):
    """What is to be: `object` is a key of the context's paths, such as `metrics/net_revenue`."""

    object: str
    field: str
    new: str

    @property
    def kind(self) -> Kind:
        return self.object.partition("/")[0]  # type: ignore[return-value]  # `checked` let nothing else through

    @property
    def name(self) -> str:
        return self.object.partition("/")[2]


def field_of(change: Change) -> CorrectableField | None:
    """The row of the table that speaks of the field."""
    return next((one for one in FIELDS.get(change.kind, ()) if one.name == change.field), None)


def in_words(change: Change) -> str:
    """`net revenue, which rows it counts: channel = 'online'`."""
    field = field_of(change)
    label = change.field if field is None else field.label
    return f"{change.name.replace('_', ' ')}, {label}: {change.new}"
