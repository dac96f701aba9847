"""How an answer is judged (`rules/enforcement.yaml`), and what must never leave the house (`rules/pii.yaml`)."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, StrictInt, StringConstraints, model_validator

from bylaw.authored.machines.amounts import Amount, Count, Positive, Share, sums_to_one
from bylaw.authored.record import Authored, AuthoredFile, Word, misfit


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"`{pattern}` is not a regular expression: {error}") from None
    return pattern


Regex = Annotated[str, StringConstraints(min_length=1, max_length=500), AfterValidator(_compiles)]
Confirm = Literal["residue", "weak", "always"]
Weights = dict[Word, Share]


class Thresholds(Authored):
    """Lower edges of the actions, half-open: a score below all three escalates."""

    pass_from: Share
    auto_correct_from: Share
    regenerate_from: Share

    @model_validator(mode="after")
    def _descend(self) -> Self:
        if not self.regenerate_from < self.auto_correct_from < self.pass_from:
            raise misfit("the edges descend: pass, auto_correct, regenerate", "pass_from")
        return self


class Retries(Authored):
    """How often an answer may be tried again before it escalates."""

    auto_correct: Count
    regenerate: Count


class Consistency(Authored):
    """What an answer scores by the verdict on its claims: `misstated` where a figure, limit, source or reason is wrong,
    `contradicted` where an action is.
    """

    incomplete: Share
    unread: Share
    misstated: Share
    contradicted: Share


class ModelUse(Authored):
    """What a language model may cost where one writes or judges answers. Its seconds are `generation_seconds`."""

    answer_tokens: Positive
    judge_tokens: Positive
    read_tokens: Positive
    failures: Positive  # in a row, after which it is left alone
    rest_seconds: Amount
    at_once: Positive  # requests that wait for it, in one process


class Domain(Authored):
    """What differs in one domain; what is left out is as everywhere. `keywords` tell questions of this domain."""

    profile: Word | None = None
    thresholds: Thresholds | None = None
    retries: Retries | None = None
    escalate_below: Share | None = None
    confirm: Confirm | None = None
    keywords: list[Word] = Field(default_factory=list)


class Enforcement(AuthoredFile):
    """`rules/enforcement.yaml`: weights of the checks by profile, edges of the score, retries, and domains."""

    profile: Word
    profiles: Annotated[dict[Word, Weights], Field(min_length=1)]
    thresholds: Thresholds
    escalate_below: Share  # any single check that fails below this escalates, whatever the sum
    retries: Retries
    consistency: Consistency
    generation_seconds: Amount
    readings: Literal[1, 2]  # of an answer by a model; two have to agree
    repairs: Annotated[StrictInt, Field(ge=0, le=1)]  # of a reading that the text does not bear
    model: ModelUse
    confirm: Confirm = "residue"  # a reading that a person confirms first: with words left over, a weak one, or each
    different_trials: Count  # changes looked at for what would have to be different; 0: nothing is told of it
    forbidden: dict[Word, Regex]
    domains: dict[Word, Domain] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _profiles_hold(self) -> Self:
        for name, weights in sorted(self.profiles.items()):
            sums_to_one(weights, "profiles", name)
        if self.profile not in self.profiles:
            raise misfit(f"`{self.profile}` is not one of the `profiles`", "profile")
        for domain, own in sorted(self.domains.items()):
            if own.profile is not None and own.profile not in self.profiles:
                raise misfit(f"`{own.profile}` is not one of the `profiles`", "domains", domain, "profile")
        return self

    def weights_for(self, domain: str | None) -> Mapping[str, Decimal]:
        """The weights of the checks in *domain*."""
        return self.profiles[self._of(domain).profile or self.profile]

    def thresholds_for(self, domain: str | None) -> Thresholds:
        """The edges of the score in *domain*."""
        return self._of(domain).thresholds or self.thresholds

    def retries_for(self, domain: str | None) -> Retries:
        """How often an answer may be tried again in *domain*."""
        return self._of(domain).retries or self.retries

    def escalate_below_for(self, domain: str | None) -> Decimal:
        """The score of a failing check below which an answer in *domain* escalates."""
        own = self._of(domain).escalate_below
        return self.escalate_below if own is None else own

    def confirm_for(self, domain: str | None) -> Confirm:
        """Which readings of a question in *domain* are confirmed before they are answered."""
        return self._of(domain).confirm or self.confirm

    def _of(self, domain: str | None) -> Domain:
        return self.domains.get(domain or "", Domain())


class PiiPattern(Authored):
    """A kind of personal data by its shape. `luhn`: the digits must also pass the check sum of payment cards."""

    regex: Regex
    label: Word
    luhn: StrictBool = False


class Pii(AuthoredFile):
    """`rules/pii.yaml`: what is found in texts, what people and models see in its place, and how long words are kept.

    `retention_days`: after so many, `bylaw audit redact --expired` takes what was said away for good.
    """

    patterns: dict[Word, PiiPattern]
    allowed: list[Word] = Field(default_factory=list)  # exact texts that are nobody's: the house's own addresses
    mask: Word
    retention_days: Annotated[StrictInt, Field(ge=1, le=36_500)] | None = None
