"""What every authored model has in common: frozen, strict about keys, and a version of its own format.

Modules of models do without `from __future__ import annotations` where no type comes before its own definition:
pydantic would compile each annotation again from its text, which is a seventh of the time of a short command.
"""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StrictBool,
    StrictInt,
    StringConstraints,
    model_validator,
)
from pydantic_core import PydanticCustomError

from bylaw.logic.formula.ir import exact

SCHEMA_VERSION: Literal["1.0"] = "1.0"

Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(max_length=20_000)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]
Grain = Literal["day", "week", "month", "quarter", "year"]
Value = StrictBool | StrictInt | Word
Scalar = StrictBool | StrictInt | Decimal | str


def _only_exact(value: object) -> object:
    if isinstance(value, bool | float) or not isinstance(value, int | Decimal | str):
        raise ValueError("should be a number")
    return value


def _of_usable_size(value: Decimal) -> Decimal:
    exact(value)  # nobody can reckon with the billion digits of `1e999999999`
    return value


def _only_day(value: object) -> object:
    if not isinstance(value, str | date):
        raise ValueError("should be a date like 2026-01-31")
    return value


Number = Annotated[Decimal, BeforeValidator(_only_exact), AfterValidator(_of_usable_size)]
Day = Annotated[date, BeforeValidator(_only_day)]


def misfit(message: str, *route: str | int, help: str | None = None) -> PydanticCustomError:
    """An error about how parts of a record fit together, placed at *route* within it. To be raised by validators."""
    return PydanticCustomError("misfit", "{message}", {"message": message, "route": list(route), "help": help})


class Advised(ValueError):
    """Why a record does not fit, and what to do about it. To be raised by validators."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


class Authored(BaseModel):
    """The base of every authored model. A model is made ready when it is first used: most commands use few."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


class Shortened(Authored):
    """A model that has lost keys which nothing read. A file may still have them: then a check names them."""

    retired: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _without_retired(cls, data: Any) -> Any:
        is_older = isinstance(data, dict) and not cls.retired.isdisjoint(data)
        return {key: value for key, value in data.items() if key not in cls.retired} if is_older else data


class AuthoredFile(Authored):
    """A mapping that fills a file of its own: it may say which version of the format it is written in."""

    schema_version: Literal["1.0"] = SCHEMA_VERSION
