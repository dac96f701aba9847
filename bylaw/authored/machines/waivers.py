"""Findings that people accept for a while: `rules/waivers.yaml`, reviewed like everything else."""

from typing import Annotated

from pydantic import Field, StringConstraints

from bylaw.authored.machines.amounts import Positive
from bylaw.authored.record import Authored, AuthoredFile, Day

Fingerprint = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=1_000, strip_whitespace=True)]
Person = Annotated[str, StringConstraints(min_length=1, max_length=100)]
FindingId = Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$", max_length=60)]


class Waiver(Authored):
    """One finding that does not fail a check up to and including the day `until`."""

    finding: Fingerprint
    id: FindingId
    until: Day
    because: Reason
    by: Person


class Waivers(AuthoredFile):
    """`rules/waivers.yaml`: each entry names one finding by its fingerprint."""

    longest_days: Positive
    waivers: list[Waiver] = Field(default_factory=list)
