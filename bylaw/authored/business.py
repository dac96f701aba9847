"""What the organisation is after: objectives, strategies, projects (seed 004, 4.2.2), under `context/business/`.

Told beside data answers and never computed with. It reaches the bundle only where `rules/features.yaml` says so.
"""

from datetime import date
from typing import Annotated, Self

from pydantic import Field, StrictBool, model_validator

from bylaw.authored.record import Authored, AuthoredFile, Day, Name, Slug, Text, Word, misfit


class Planned(AuthoredFile):
    """Something that people want to have done in some time. Days are inclusive."""

    id: Slug
    title: Word
    description: Text | None = None
    owner: Word | None = None
    starts_on: Day | None = None
    ends_on: Day | None = None

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.starts_on is not None and self.ends_on is not None and self.ends_on < self.starts_on:
            raise misfit(f"`{self.id}` ends before it starts", "ends_on")
        return self

    def runs_on(self, day: date) -> bool:
        """Is it going on that day?"""
        return (self.starts_on or day) <= day <= (self.ends_on or day)


class Objective(Planned):
    """What should be reached, and the metrics that show whether it is."""

    metrics: Annotated[list[Name], Field(min_length=1)]
    target: Word | None = None  # in words: "up by a tenth"


class Strategy(Planned):
    """Why these objectives and no others."""

    objectives: list[Slug] = Field(default_factory=list)


class Project(Planned):
    """Work on some objectives."""

    objectives: list[Slug] = Field(default_factory=list)


class Business(Authored):
    """All of it, by id. `paths` says which file a record was read from: `objectives/grow-emea` …"""

    objectives: dict[str, Objective] = Field(default_factory=dict)
    strategies: dict[str, Strategy] = Field(default_factory=dict)
    projects: dict[str, Project] = Field(default_factory=dict)
    paths: dict[str, str] = Field(default_factory=dict)


class Features(AuthoredFile):
    """`rules/features.yaml`: what is built and not in use unless a repository says so (seed 004, 11.5)."""

    business_knowledge: StrictBool
    iterative_answers: StrictBool = Field(default=False, exclude_if=lambda value: not value)  # seed 003, 13
