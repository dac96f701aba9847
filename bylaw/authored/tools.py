"""What a tool call means: `rules/tools.yaml` binds each tool of an agent to an action, facts and keys.

Where a fact comes from decides who is believed: an argument says what the call will do, a lookup what the warehouse
knows, the session what the host vouches for. What is not bound is not known.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter, ValidationError, model_validator
from pydantic_core import SchemaError

from bylaw.authored.record import Authored, AuthoredFile, Scalar, Word, misfit

Mode = Literal["enforce", "shadow"]
ToolName = Annotated[str, Field(min_length=1, max_length=200)]


def matcher(pattern: str) -> Callable[[str], bool]:
    """Does all of a text match *pattern*? In time that grows with the text alone. Raises ValueError for no pattern."""
    _compiled(pattern)  # by itself: a bracket too many must not end the one around it
    whole = _compiled(rf"\A(?:{pattern})\z")

    def matches(text: str) -> bool:
        try:
            whole.validate_python(text)
        except ValidationError:
            return False
        return True

    return matches


def _compiled(pattern: str) -> TypeAdapter[str]:
    try:
        return TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)])
    except SchemaError as error:
        why = str(error).rstrip().rpartition("error: ")[2]
        raise ValueError(f"`{pattern[:60]}` is no pattern: {why}") from None


def _is_pattern(pattern: str) -> str:
    matcher(pattern)
    return pattern


class KeyType(Authored):
    """How the values of one key are spelled, whichever tool has them. A call that spells one otherwise is denied.

    `pattern` is that of the whole text.
    """

    type: Literal["integer", "text", "uuid", "date"]
    pattern: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_is_pattern)] | None = None

    @model_validator(mode="after")
    def _fits_its_pattern(self) -> Self:
        if self.pattern is not None and self.type != "text":
            raise misfit(f"a key of type {self.type} has one spelling already", "pattern")
        return self


class ChosenAction(Authored):
    """The action that an argument chooses. A value that is not listed, or no argument, is denied."""

    from_: Literal["argument"] = Field(alias="from")
    name: Word
    values: Annotated[dict[Word, Word], Field(min_length=1)]


class ArgumentFact(Authored):
    """A fact that an argument of the call says, in its own `unit` where it has one."""

    from_: Literal["argument"] = Field(alias="from")
    name: Word
    unit: Word | None = None


class LookupFact(Authored):
    """A fact that a named query of context/lookups/ finds, with the rights of the actor.

    `key` names the argument and the parameter of the query; where these differ, or are several: {parameter: argument}.
    """

    from_: Literal["lookup"] = Field(alias="from")
    query: Word
    column: Word
    key: Word | Annotated[dict[Word, Word], Field(min_length=1)]
    unit: Word | None = None

    @property
    def parameters(self) -> Mapping[str, str]:
        """Parameter of the query → argument of the call."""
        return {self.key: self.key} if isinstance(self.key, str) else self.key


class SessionFact(Authored):
    """A fact that the host of the agent vouches for, never the agent."""

    from_: Literal["session"] = Field(alias="from")
    unit: Word | None = None


Binding = Annotated[ArgumentFact | LookupFact | SessionFact, Field(discriminator="from_")]


class Tool(Authored):
    """One tool. `keys` are what history is correlated by: key → argument."""

    action: Word | ChosenAction
    description: Word | None = None
    facts: dict[Word, Binding] = Field(default_factory=dict)
    keys: dict[Word, Word] = Field(default_factory=dict)
    mode: Mode = "enforce"

    @property
    def actions(self) -> tuple[str, ...]:
        """Every action that a call of it can mean, as written."""
        if isinstance(self.action, str):
            return (self.action,)
        return tuple(dict.fromkeys(self.action.values.values()))

    @property
    def looks_up(self) -> bool:
        """Does a call of it ask the warehouse?"""
        return any(isinstance(bound, LookupFact) for bound in self.facts.values())

    @property
    def arguments(self) -> frozenset[str]:
        """The arguments that the binding reads."""
        found = set(self.keys.values())
        if not isinstance(self.action, str):
            found.add(self.action.name)
        for bound in self.facts.values():
            if isinstance(bound, ArgumentFact):
                found.add(bound.name)
            elif isinstance(bound, LookupFact):
                found.update(bound.parameters.values())
        return frozenset(found)


class Tools(AuthoredFile):
    """`rules/tools.yaml`. A tool that it does not name is denied. `keys` say how those of all tools are spelled."""

    keys: dict[Word, KeyType] = Field(default_factory=dict, exclude_if=lambda value: not value)
    tools: dict[ToolName, Tool] = Field(default_factory=dict)


class Lookup(AuthoredFile):
    """A named, read-only query: `context/lookups/*.yaml`. `{name}` in the SQL is bound to a value, never text.

    `parameters` gives an example of each, which is also its type.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
    description: Word | None = None
    sql: Annotated[str, Field(min_length=1, max_length=20_000)]
    parameters: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)], Scalar] = Field(
        default_factory=dict
    )
