"""What a person may write as a condition: one class a kind, and the tree they form.

Each kind says only which keys it takes. What the words mean (which fact, which unit, which target) is decided by
`ci.formalize`, once, for all kinds: there the vocabulary is known, and a wrong word becomes a finding.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from bylaw.authored.record import Advised, Authored, Scalar, Text, Word

WITHIN_WINDOW = "within_window"  # in `requires`: the time windows of the policy

Operator = Literal["==", "=", "!=", "<", "<=", ">", ">=", "in", "between"]


class Node(Authored):
    """What every part of a condition tree may carry."""

    id: Word | None = None
    source_text: Text | None = None


class FactCheck(Node):
    """A test on one fact. Left out, `parameter` comes from the vocabulary's `defaults` and `operator` from the kind."""

    parameter: Word | None = None
    operator: Operator | None = None
    value: Scalar | list[Scalar] | None = None
    value_of: Word | None = None
    between: Annotated[list[Scalar], Field(min_length=2, max_length=2)] | None = None
    unit: Word | None = None
    target: Word = "general"

    @model_validator(mode="after")
    def _says_what_it_compares_with(self) -> FactCheck:
        given = (self.value is not None) + (self.value_of is not None) + (self.between is not None)
        if given != 1:
            said = "a condition takes exactly one of `value`, `value_of` and `between`"
            raise Advised(said, "add the one that is meant, like `value: 30`" if given == 0 else "keep one of them")
        if self.between is not None and self.operator not in (None, "between"):
            raise Advised(f"`between` and the operator `{self.operator}` do not go together", "take `operator` out")
        if self.operator == "between" and self.between is None and not _is_pair(self.value):
            raise Advised("`between` takes two values: [low, high]", "both ends are included")
        if self.operator == "in" and self.value_of is not None:
            raise ValueError("`in` takes a list of values, not another fact")
        if isinstance(self.value, list) and self.operator not in ("in", "between", None):
            said = f"the operator `{self.operator}` takes one value, not a list"
            raise Advised(said, "for one of several values write `operator: in`")
        return self


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2


class TimeWindow(FactCheck):
    """A duration since a declared moment: "within 30 days of purchase"."""

    type: Literal["time_window"]


class AmountThreshold(FactCheck):
    """A monetary limit: "orders over $50"."""

    type: Literal["amount_threshold"]


class CustomerTier(FactCheck):
    """A customer segment: VIP, gold, standard."""

    type: Literal["customer_tier"]


class ProductCategory(FactCheck):
    """A kind of product: electronics, perishables."""

    type: Literal["product_category"]


class Geographic(FactCheck):
    """A place: US only, residents of the EU."""

    type: Literal["geographic"]


class BooleanFlag(FactCheck):
    """A state that holds or not: has a receipt, is authenticated."""

    type: Literal["boolean_flag"]


class RoleRequirement(FactCheck):
    """Who must act: manager approval."""

    type: Literal["role_requirement"]


class FactTest(FactCheck):
    """Any declared fact with any operator its type allows."""

    type: Literal["fact"]
    parameter: Word


class AllOf(Node):
    """Every branch holds."""

    all_of: Annotated[list[Condition], Field(min_length=1)]


class AnyOf(Node):
    """At least one branch holds; a list as a branch means all of it."""

    any_of: Annotated[list[Condition | list[Condition]], Field(min_length=1)]


class Not(Node):
    """The branch does not hold; a list means: not all of it."""

    not_: Condition | list[Condition] = Field(alias="not")


KINDS: tuple[type[FactCheck], ...] = (
    TimeWindow,
    AmountThreshold,
    CustomerTier,
    ProductCategory,
    Geographic,
    BooleanFlag,
    RoleRequirement,
    FactTest,
)
TREES: tuple[str, ...] = ("all_of", "any_of", "not")


def _kind(value: Any) -> str | None:
    if isinstance(value, dict):
        for key in TREES:
            if key in value:
                return key
        return value.get("type")
    if isinstance(value, Not):
        return "not"
    return next((key for key in ("all_of", "any_of") if hasattr(value, key)), getattr(value, "type", None))


Condition = Annotated[
    Annotated[TimeWindow, Tag("time_window")]
    | Annotated[AmountThreshold, Tag("amount_threshold")]
    | Annotated[CustomerTier, Tag("customer_tier")]
    | Annotated[ProductCategory, Tag("product_category")]
    | Annotated[Geographic, Tag("geographic")]
    | Annotated[BooleanFlag, Tag("boolean_flag")]
    | Annotated[RoleRequirement, Tag("role_requirement")]
    | Annotated[FactTest, Tag("fact")]
    | Annotated[AllOf, Tag("all_of")]
    | Annotated[AnyOf, Tag("any_of")]
    | Annotated[Not, Tag("not")],
    Discriminator(_kind),
]
