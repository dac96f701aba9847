"""A question in the words of the context: metrics, dimensions, filters, a span of time. No SQL, no joins.

Dimensions are written `entity.dimension`. A query is JSON, so that a session can carry it to the next turn.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict

from bylaw.authored.context import Grain
from bylaw.errors import BylawError


class Unanswerable(BylawError):
    """The catalogue cannot answer this. The message is for the person who asked; `help` says what would work."""

    exit_code = 1


class UnknownName(Unanswerable):
    """A record names another that is not there: the catalogue is broken, not the question."""


class Part(BaseModel):
    """A value of the question."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Filter(Part):
    """One dimension narrowed to some values, or to everything but them."""

    dimension: str
    values: tuple[str | int | bool, ...]
    negated: bool = False


class Window(Part):
    """Days from `start` up to, not including, `end`."""

    start: date
    end: date
    label: str


class Order(Part):
    """What the rows are sorted by: a metric, a dimension or the grain of time (`time`)."""

    by: str
    descending: bool = False


class SemanticQuery(Part):
    """What is asked. `order` empty means the natural one: time upwards, else the first metric downwards."""

    metrics: tuple[str, ...]
    dimensions: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    window: Window | None = None
    grain: Grain | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None


Aspect = Literal["metrics", "dimensions", "filters", "window", "grain", "order", "limit"]
