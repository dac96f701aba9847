"""The words a policy may use: facts with type, unit and domain, actions, outcomes, relations, terms.

Words come before sentences: nothing guesses a fact from a condition's type. The domains declared here bound every
proof, so a counterexample is always a case that the organisation says can exist.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, StringConstraints, model_validator

from bylaw.authored.conditions import Condition
from bylaw.authored.history import History, HistoryKind, seconds_in
from bylaw.authored.record import Advised, Authored, AuthoredFile, Number, Word, misfit
from bylaw.authored.wording import SLOT, Wording

QuestionWord = Literal["how_much", "how_many", "how_long", "when", "where", "who", "why"]
FactType = Literal["boolean", "integer", "decimal", "enum", "date"]
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
Phrases = list[Word] | dict[str, list[Word]]

RESERVED = frozenset({"general", "all", "none", "within_window"})  # words of the format, never enum values or facts


def _unreserved(name: str) -> str:
    if name in RESERVED:
        raise Advised(f"`{name}` is a word of the format and cannot be declared", "call it something else")
    return name


FactName = Annotated[Identifier, AfterValidator(_unreserved)]


class Fact(Authored):
    """One thing a case can say. `phrases` are how people say it; `ask` is the question when it is unknown.

    `assertable: false`: it never comes from words or from an agent; `true`: an agent's own `facts` may say it.
    `history`: it is computed from what happened before. `changeable: false`: nobody can make it another (an age, a
    day of birth), so an advice what to do differently names something else where it can. `asked: true`: people may
    ask for the fact itself ("is my membership active?").
    """

    type: FactType
    unit: Word | None = None
    minimum: Number | str | None = None
    maximum: Number | str | None = None
    values: dict[Word, list[Word]] = Field(default_factory=dict)
    label: Wording | None = None
    ask: Word | None = None
    phrases: Phrases = Field(default_factory=list)
    changeable: StrictBool = True
    domains: list[Word] = Field(default_factory=list)
    assertable: StrictBool | None = Field(default=None, exclude_if=lambda value: value is None)
    asked: StrictBool = Field(default=False, exclude_if=lambda value: not value)
    history: History | None = Field(default=None, exclude_if=lambda value: value is None)

    @model_validator(mode="after")
    def _fits_its_forms(self) -> Self:
        label = self.label
        if label is None:
            return self
        if label.ask is not None:
            raise misfit(
                "the question of a fact stands beside its label", "label", "ask", help="write `ask` of the fact"
            )
        if self.type != "boolean" and label.denied is not None:
            raise misfit(f"a {self.type} fact has values, and none is its denial", "label", "denied")
        if label.given is not None and (SLOT in label.given) is (self.type == "boolean"):
            said = "is true or not" if self.type == "boolean" else "has a value"
            help = f"take `{SLOT}` out" if self.type == "boolean" else f"write `{SLOT}` where the value stands"
            raise misfit(f"a {self.type} fact {said}", "label", "given", help=help)
        return self

    @model_validator(mode="after")
    def _fits_its_history(self) -> Self:
        if self.history is None:
            return self
        if self.assertable:
            raise misfit("a history fact is computed: nobody can assert it", "assertable")
        kind = self.history.kind
        if self.type not in HISTORY_TYPES[kind]:
            raise misfit(f"`{kind}` gives {_EITHER[kind]}, and this fact is {self.type}", "history", kind)
        if kind == "since" and (self.maximum is None or seconds_in(self.unit) is None):
            raise misfit(
                "`since` needs a unit of time and a `maximum`: its value when there is no such event", "history"
            )
        return self

    @model_validator(mode="after")
    def _fits_its_type(self) -> Self:
        if self.type == "enum" and not self.values:
            raise Advised("an enum fact lists its `values`", "add `values: {one: [], other: [another word for it]}`")
        if self.type != "enum" and self.values:
            raise Advised(f"`values` belong to enum facts, this one is {self.type}", "write `type: enum`")
        if self.type in ("boolean", "enum") and (self.minimum is not None or self.maximum is not None):
            raise ValueError(f"`minimum` and `maximum` do not fit a {self.type} fact")
        if self.type not in ("integer", "decimal") and self.unit is not None:
            raise Advised(f"a {self.type} fact has no `unit`", "take `unit` out, or make the fact a number")
        if "general" in self.values:
            said = "`general` is a word of the format and cannot be an enum value"
            raise misfit(said, "values", help="it means everybody in a `target`: call the value something else")
        return self


HISTORY_TYPES: Mapping[HistoryKind, tuple[FactType, ...]] = {
    "count": ("integer",),
    "sum": ("decimal", "integer"),
    "happened": ("boolean",),
    "since": ("decimal", "integer"),
    "previous": ("boolean",),
}
_EITHER = {kind: f"a fact of type {' or '.join(types)}" for kind, types in HISTORY_TYPES.items()}


class ActionFigure(Authored):
    """A figure of an action: how much, how many or how long. With `per` it counts once for each one of a fact."""

    value: Number
    unit: Word | None = None
    per: Word | None = None


class Action(Authored):
    """Something a policy may demand, forbid or allow. Actions with one outcome exclude each other.

    `person: true`: whoever acts for the organisation hands it to a person. `must_tell: true`: an answer in whose case
    it is taken or required has to say so. `against: true`: it is not what the person hoped for, so no other answer of
    its domain is told without it. `always: true`: it is said whatever was asked (an emergency).
    `figures` are all that an answer may say of it in numbers; without them those of its label.
    """

    outcome: Word | None = None
    same_as: Word | None = None
    label: Wording | None = None
    phrases: list[Word] = Field(default_factory=list)
    person: StrictBool = Field(default=False, exclude_if=lambda value: not value)
    against: StrictBool = Field(default=False, exclude_if=lambda value: not value)
    always: StrictBool = Field(default=False, exclude_if=lambda value: not value)
    must_tell: StrictBool = Field(default=False, exclude_if=lambda value: not value)
    figures: list[ActionFigure] | None = Field(default=None, exclude_if=lambda value: value is None)


class Outcome(Authored):
    """A question every case answers at most once; `complete`: every case must get an answer.

    `phrases` are how people ask for it, `restrictive` its actions, the most restrictive first. `answers` are the
    question words that it answers beside those that its figures tell ("where", "who", "why").
    """

    label: Wording | None = None
    phrases: list[Word] = Field(default_factory=list)
    answers: list[QuestionWord] = Field(default_factory=list, exclude_if=lambda value: not value)
    complete: StrictBool = False
    restrictive: list[Word] = Field(default_factory=list)


class Relations(Authored):
    """What actions mean for each other: pairs never taken together, and what one brings with it."""

    excludes: list[Annotated[list[Word], Field(min_length=2)]] = Field(default_factory=list)
    implies: dict[Word, list[Word]] = Field(default_factory=dict)


class Vocabulary(AuthoredFile):
    """All words of one file, or of a repository once its files are merged (`merge`)."""

    facts: dict[FactName, Fact] = Field(default_factory=dict)
    actions: dict[Identifier, Action] = Field(default_factory=dict)
    outcomes: dict[Identifier, Outcome] = Field(default_factory=dict)
    relations: Relations = Relations()
    defaults: dict[Word, dict[Word, Word]] = Field(default_factory=dict)
    terms: dict[Identifier, list[Condition]] = Field(default_factory=dict)
    scope: dict[Word, Word] = Field(default_factory=dict)
    idle: list[Word] = Field(default_factory=list, exclude_if=lambda value: not value)  # words that change nothing here

    def canonical(self, action: str) -> str:
        """The action that *action* is another name for (`same_as`), itself when it is none."""
        seen = {action}
        while (declared := self.actions.get(action)) is not None and declared.same_as is not None:
            action = declared.same_as
            if action in seen:
                return min(seen)
            seen.add(action)
        return action

    def outcome_of(self, action: str) -> str | None:
        """The outcome that *action* answers, None for an action that stands alone."""
        declared = self.actions.get(self.canonical(action))
        return declared.outcome if declared else None

    def is_part(self, part: str, whole: str) -> bool:
        """Does the clause that says *whole* begin with all that says *part*: "you get it with a fee", "you get it"?"""
        given, more = (one.label.given if one and one.label else None for one in map(self.actions.get, (part, whole)))
        return bool(given and more and more.startswith(f"{given} "))

    def restrictive(self, outcome: str) -> tuple[str, ...]:
        """The actions of *outcome*, the most restrictive first: as it says, then from the last declared on."""
        declared = [name for name, action in self.actions.items() if action.outcome == outcome and not action.same_as]
        said = [self.canonical(name) for name in self.outcomes[outcome].restrictive] if outcome in self.outcomes else []
        return tuple(dict.fromkeys((*said, *reversed(declared))))

    def implied(self, action: str) -> tuple[str, ...]:
        """What taking *action* brings with it, transitively, without itself, in the order it is reached."""
        reached: list[str] = []
        todo = [self.canonical(action)]
        implies = {self.canonical(name): others for name, others in self.relations.implies.items()}
        while todo:
            for other in map(self.canonical, implies.get(todo.pop(0), ())):
                if other not in reached and other != self.canonical(action):
                    reached.append(other)
                    todo.append(other)
        return tuple(reached)

    def reach(self, actions: Iterable[str], outcomes: Collection[str]) -> frozenset[str]:
        """The canonical names of *actions*, and of all others that answer one of *outcomes*."""
        mates = (name for name in self.actions if outcomes and self.outcome_of(name) in outcomes)
        return frozenset(map(self.canonical, (*actions, *mates)))

    def excluded_pairs(self) -> Iterator[tuple[str, str]]:
        """Every pair of actions that may never be required together, both orders left to the caller."""
        for group in self.relations.excludes:
            names = sorted({self.canonical(name) for name in group})
            yield from ((a, b) for i, a in enumerate(names) for b in names[i + 1 :])

    def default_fact(self, condition_type: str, domain: str) -> str | None:
        """Which fact a condition of this type means in *domain* when it names none.

        The default of every domain (`*`) is not meant where its fact declares other `domains` than this one.
        """
        own = self.defaults.get(domain, {}).get(condition_type)
        general = self.defaults.get("*", {}).get(condition_type)
        if own is not None or general is None:
            return own
        declared = self.facts.get(general)
        return general if declared is None or not declared.domains or domain in declared.domains else None

    def facts_with_value(self, value: str) -> list[str]:
        """The enum facts that list *value* (exactly), sorted."""
        return sorted(name for name, fact in self.facts.items() if value in fact.values)
