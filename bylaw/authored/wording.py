"""What a fact, an action or an outcome is called, and how it stands in a sentence.

A label is a text. It may carry forms: a question, a clause that says it, and one that says the opposite. Whoever only
wants the name reads the label as the text that it is.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    GetCoreSchemaHandler,
    StringConstraints,
    Tag,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from bylaw.authored.record import Advised, Word

SLOT = "{value}"


class Forms(BaseModel):
    """A label and how it stands in a sentence. `given` and `denied` are clauses, `ask` is a question."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: Word
    ask: Word | None = None
    given: Word | None = None
    denied: Word | None = None

    @model_validator(mode="after")
    def _are_parts_of_a_sentence(self) -> Self:
        if self.ask is not None and not self.ask.endswith("?"):
            raise Advised(f"`ask` is a question, and “{self.ask}” is none", "end it with a question mark")
        for said in (self.given, self.denied):
            if said is not None and said[-1] in ".!?;:,":
                raise Advised(f"“{said}” is a whole sentence, and a form is a part of one", "take its last mark away")
        return self


class Wording(str):
    """The text of a label, with its forms."""

    ask: str | None = None
    given: str | None = None
    denied: str | None = None

    @classmethod
    def of(cls, said: str | Forms) -> Self:
        """A label as it was written."""
        if isinstance(said, str):
            return cls(said)
        made = cls(said.name)
        made.ask, made.given, made.denied = said.ask, said.given, said.denied
        return made

    def written(self) -> str | dict[str, str]:
        """As it stands in a file: a text, or a mapping where it carries forms."""
        forms = {key: said for key in ("ask", "given", "denied") if (said := getattr(self, key)) is not None}
        return {"name": str(self), **forms} if forms else str(self)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            cls.of,
            handler.generate_schema(_Written),
            serialization=core_schema.plain_serializer_function_ser_schema(cls.written),
        )


def _kind(said: object) -> str:
    return "forms" if isinstance(said, Mapping | Forms) else "text"


_Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_Written = Annotated[Annotated[_Text, Tag("text")] | Annotated[Forms, Tag("forms")], Discriminator(_kind)]
