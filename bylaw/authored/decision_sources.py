"""Where decision records lie that are no YAML: folders of ADR Markdown, read in place."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from bylaw.authored.record import Authored, AuthoredFile, Word
from bylaw.authored.recorded import Words

Format = Literal["auto", "madr", "nygard", "log4brains"]


# fmt: off
Meaning = Literal[
    "title", "context", "decision", "considered options", "consequences", "confirmation",
    "status", "date", "deciders", "consulted", "informed", "tags",
    "supersedes", "superseded by", "amends", "amended by",
    "proposed", "accepted", "rejected", "deprecated", "superseded", "retired", "deferred",
]
# fmt: on


def _stays_inside(folder: str) -> str:
    """A folder below the root, by its own name: what leads up, away or into hidden places is somebody else's."""
    parts = folder.removesuffix("/").split("/")
    if folder.startswith("/") or "\\" in folder or ":" in folder or ".." in parts:
        raise ValueError("should lie inside the repository, like `docs/adr` or `services/*/docs/adr`")
    if any(not part or part.startswith(".") for part in parts):
        raise ValueError("should be a folder like `docs/adr`, and no part of it hidden or empty")
    if any("**" in part and part != "**" for part in parts):
        raise ValueError("`**` stands for any number of folders, so it is a part of its own, like `services/**/adr`")
    if parts[0] == "**":
        raise ValueError("should begin with the name of a folder, like `services/**/adr`")
    return "/".join(parts)


Folder = Annotated[str, StringConstraints(min_length=1, max_length=400, pattern=r"^[^\x00-\x1f]+$")]
Prefix = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=60)]


class DecisionSource(Authored):
    """One folder, or a pattern of folders. The id of a record is `prefix` and the name of its file without `.md`.

    `words` are headings, keys and statuses of these documents that are not English, and what each means.
    """

    folder: Annotated[Folder, AfterValidator(_stays_inside)]
    format: Format = "auto"
    prefix: Prefix | None = None
    owner: Word | None = None
    audience: Words = Field(default_factory=list)
    tags: Words = Field(default_factory=list)
    words: dict[Word, Meaning] = Field(default_factory=dict, max_length=200)


class DecisionSources(AuthoredFile):
    """`context/decisions/sources.yaml`. Of two that name one file the first reads it."""

    sources: Annotated[list[DecisionSource], Field(max_length=500)]
