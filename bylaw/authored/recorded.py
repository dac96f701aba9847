"""What a decision, an event and a transition have in common: an id, tags, `x-extra`, and how values are written."""

import re
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)

from bylaw.authored.moments import EXAMPLE, day_of, moment_of
from bylaw.authored.record import AuthoredFile, Word
from bylaw.canonical import canonical_json, plain

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{2,}[a-z0-9]$", max_length=255)]


def slug_of(text: str, joint: str = "-") -> str:
    """*text* as an id is spelt: NFKC, lower case, every other run of characters one *joint*."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = "".join(char if char.isalnum() or char in "_-" else " " for char in folded).split()
    return re.sub(r"([_-])[_-]+", r"\1", joint.join(words)).strip("_-")


def spelled(name: str) -> str:
    """A name or number of a record in the form in which names are compared: `ADR-0004` and `adr 4` are one."""
    parts = re.findall(r"\d+|[^\W\d_]+|#", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(part.lstrip("0") or "0" if part.isdigit() else part for part in parts)


def clipped(text: str, bound: int) -> str:
    """*text* in at most *bound* characters, cut between words where that keeps at least half of it."""
    if len(text) <= bound:
        return text
    cut = text[: bound - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space >= bound // 2 else cut).rstrip(" ,;:-–—") + "…"


def _utc(value: object) -> object:
    """ISO-8601 in UTC, whole seconds, always with `Z`: such texts sort as the moments do."""
    if not isinstance(value, str):
        raise ValueError(f"should be a time like {EXAMPLE}")
    try:
        return moment_of(value).utc
    except ValueError:
        raise ValueError(f"`{clipped(value, 60)}` is not a time like {EXAMPLE}") from None


def _day(value: object) -> object:
    if isinstance(value, date) or value is None:
        return value
    if not isinstance(value, str):
        raise ValueError("should be a date like 2026-01-31")
    try:
        return day_of(value)
    except ValueError:
        raise ValueError(f"`{clipped(value, 60)}` is not a date like 2026-01-31") from None


def _says_something(text: str) -> str:
    """White space and invisible characters alone are a stub that defeats every later comparison."""
    if all(unicodedata.category(char)[0] in "ZC" for char in text):
        raise ValueError("should say something: it is empty or only white space")
    return text


def _has_a_slug(tag: str) -> str:
    if not slug_of(tag, "_"):
        raise ValueError(f"the tag `{clipped(tag, 60)}` has no letters or digits")
    return tag


def blank_is_none(value: object) -> object:
    return None if value in ("", []) or (isinstance(value, str) and not value.strip()) else value


def _json_only(value: object) -> object:
    try:
        value = plain({} if value is None else value)
        canonical_json(value).encode()
    except (TypeError, UnicodeEncodeError, ValueError) as problem:
        raise ValueError(f"should be plain data: {problem}") from None
    return value


def _absent_is_empty(value: object) -> object:
    return [] if value is None else value


def _one_is_a_list(value: object) -> object:
    return [] if value is None else [value] if isinstance(value, str) else value


Timestamp = Annotated[str, BeforeValidator(_utc)]
Content = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(_says_something)]
Extra = Annotated[dict[str, JsonValue], BeforeValidator(_json_only)]
Tag = Annotated[Word, AfterValidator(_has_a_slug)]
Person = Annotated[Word, AfterValidator(_says_something)]
Links = Annotated[list[Word], BeforeValidator(_absent_is_empty)]
Words = Annotated[list[Word], BeforeValidator(_one_is_a_list)]
Contents = Annotated[list[Content], BeforeValidator(_one_is_a_list)]
People = Annotated[list[Person], BeforeValidator(_one_is_a_list)]
Day = Annotated[date, BeforeValidator(_day)]
OptionalLink = Annotated[Word | None, BeforeValidator(blank_is_none)]


def named(core: str, *aliases: str) -> AliasChoices:
    return AliasChoices(core, *aliases)


def _offer_aliases(schema: dict[str, Any], model: "type[Recorded]") -> None:
    """Editors accept the other names too: each is a property, and one name of a required field must be there."""
    schema["additionalProperties"] = True  # what no field is called goes to `x-extra`, and a check says so
    properties, required = schema["properties"], schema.get("required", [])
    for core, aliases in sorted(model.ALIASES.items()):
        properties.update(dict.fromkeys(aliases, properties[core]))
        if core in required:
            names = (core, *aliases)
            schema.setdefault("allOf", []).append({"anyOf": [{"required": [name]} for name in names]})
    schema["required"] = [name for name in required if name not in model.ALIASES]


class Recorded(AuthoredFile):
    """What the three records share. `ALIASES`: core name → the other names people use for it."""

    # serialize_by_alias: the bundle says `from` and `x-extra`, the words people wrote.
    model_config = ConfigDict(serialize_by_alias=True, json_schema_extra=_offer_aliases)
    ALIASES: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    id: Slug
    tags: Annotated[list[Tag], BeforeValidator(_absent_is_empty)] = Field(default_factory=list)
    x_extra: Extra = Field(default_factory=dict, alias="x-extra")

    @model_validator(mode="before")
    @classmethod
    def _keep_what_was_written(cls, data: Any) -> Any:
        """What stands under another name, in another time zone or in no field at all stays readable in `x-extra`."""
        extra = data.get("x-extra", data.get("x_extra")) if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(extra, dict | None):
            return data
        originals = {alias: data[alias] for names in cls.ALIASES.values() for alias in names if alias in data}
        unknown = {key: data[key] for key in data.keys() - names_of(cls) if isinstance(key, str)}
        for name in ("timestamp", *cls.ALIASES.get("timestamp", ())):
            if zone := _foreign_zone(data.get(name)):
                originals["source_tz"] = zone
        if not originals and not unknown:
            return data
        kept = {key: value for key, value in data.items() if key not in unknown and key != "x_extra"}
        return {**kept, "x-extra": {**unknown, **originals, **(extra or {})}}

    @property
    def day(self) -> date | None:
        """The day that it was where the record was written, which in UTC may have been another; None when undated."""
        written = getattr(self, "timestamp", None)
        if written is None:
            return None
        zone = self.x_extra.get("source_tz")
        try:
            offset = datetime.fromisoformat(f"2000-01-01T00:00:00{zone}").utcoffset() if zone else None
            return (moment_of(written).at + (offset or timedelta())).date()
        except (OverflowError, ValueError):  # what an author keeps under that name need not be a zone
            return moment_of(written).day


def names_of(model: type[Recorded]) -> frozenset[str]:
    """Every key that a record of *model* may have."""
    fields = {name for key, field in model.model_fields.items() for name in (key, field.alias) if name}
    return frozenset(fields | {alias for aliases in model.ALIASES.values() for alias in aliases})


def _foreign_zone(value: object) -> str | None:
    """The offset of a timestamp that is not in UTC, like `+02:00`."""
    if not isinstance(value, str):
        return None
    try:
        return moment_of(value).zone
    except ValueError:
        return None
