"""How far an answer may run alone, and what closes a request: `rules/autonomy.yaml`."""

import itertools
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, model_validator

from bylaw.authored.machines.amounts import Amount, Count, Level, Positive, Share
from bylaw.authored.record import Authored, AuthoredFile, Grain, Shortened, Word, misfit

Acceptance = Literal["explicit", "implicit", "timeout"]
OnTimeout = Literal["accept", "abandon", "expire", "keep"]


class AutonomyLevel(Authored):
    """What the machine does at a level, what closes a request there, and what happens when nobody answers."""

    level: Level
    title: Word
    executes: StrictBool
    notifies: list[Word] = Field(default_factory=list)  # owners of what is read, stewards, roles and people by name
    acceptance: Annotated[list[Acceptance], Field(min_length=1)]
    timeout_hours: Positive | None = None  # None: the request stays open until somebody handles it
    on_timeout: OnTimeout

    @model_validator(mode="after")
    def _times_out_or_stays(self) -> Self:
        if (self.timeout_hours is None) != (self.on_timeout == "keep"):
            raise misfit("`timeout_hours` is left out exactly where `on_timeout` is `keep`", "on_timeout")
        if (self.on_timeout == "accept") != ("timeout" in self.acceptance):
            raise misfit("`on_timeout: accept` and the acceptance `timeout` go together", "acceptance")
        return self


class LevelRow(Authored):
    """From this likelihood on, up to the next row, these levels hold: one for low expected cost, one for high."""

    likelihood_from: Share
    low_cost: Level
    high_cost: Level


class ResourceTrigger(Authored):
    """A plan above either figure halts and asks."""

    scan_gb_above: Amount
    runtime_minutes_above: Amount
    at_most: Level


class DomainsTrigger(Authored):
    """A query over this many domains or more."""

    domains_from: Positive
    at_most: Level


class TagsTrigger(Authored):
    """A query that touches a table with one of these tags."""

    tags: list[Word]
    at_most: Level


class Triggers(Authored):
    """Patterns that cap the level whatever the risk says. `at_most` is a cap: lower levels are more careful."""

    resource_intensity: ResourceTrigger
    cross_domain_joins: DomainsTrigger
    sensitive_tables: TagsTrigger
    rows_warn_above: Count


class Disambiguation(Shortened):
    """From this on, the bot asks before it answers."""

    retired = frozenset({"likelihood_from"})

    ambiguity_from: Share


class Alternatives(Authored):
    """Of a word with up to `computed` readings each is computed, where each may run alone: who is asked sees them."""

    computed: Count


class Preference(Authored):
    """What a person may ask for, for every request or in the words of one; it can only make the bot more careful."""

    at_most: Level
    asks_first: StrictBool = False  # nothing runs before the person has seen the plan and said yes
    domains: list[Word] = Field(default_factory=list)
    complexity_from: Share | None = None  # holds only for queries at least this complex
    phrases: list[Word] = Field(default_factory=list)


class SetAside(Authored):
    """Words of one request that set the asker's standing preferences aside; nothing else gives way to them."""

    phrases: list[Word] = Field(default_factory=list)


class Lexicon(Authored):
    """Phrases of a closed list. An utterance is one of them, or opens with one, or it means something else."""

    phrases: list[Word] = Field(default_factory=list)


class Proposals(Authored):
    """A language model reads questions besides the bot: what both read alike runs; of two readings the person picks.

    What only a model could read runs where every word of it is held, and counts as ambiguous by `ambiguity` at least.
    The model is shown at most `catalogue_bytes` characters of names that the asker may know, and has `seconds` and
    `answer_tokens` to answer where `rules/agents.yaml` gives it no others. What does not hold goes back to it `repairs`
    times. After `failures` in a row it is left alone for `rest_seconds`; never more than `at_once` questions wait.
    """

    at_most: Level
    ambiguity: Share
    seconds: Positive
    answer_tokens: Positive
    catalogue_bytes: Positive
    repairs: Count
    failures: Positive
    rest_seconds: Positive
    at_once: Positive


class Execution(Authored):
    """Limits of one statement on the warehouse."""

    statement_seconds: Positive
    rows_fetched: Positive
    rows_shown: Positive


class Autonomy(AuthoredFile):
    """`rules/autonomy.yaml`: likelihood × cost → level, then caps, acceptance and timeouts."""

    levels: dict[Word, AutonomyLevel]
    table: Annotated[list[LevelRow], Field(min_length=1)]
    high_cost_from: Share
    mandatory_review_threshold: Share  # likelihood × cost above it caps the level
    mandatory_review_at_most: Level
    triggers: Triggers
    disambiguation: Disambiguation
    preferences: dict[Word, Preference]
    standing: dict[Word, list[Word]] = Field(default_factory=dict)  # a person -> preferences for all they ask
    just_do_it: SetAside = SetAside()
    accepted: Lexicon = Lexicon()  # said alone, they take the last answer as it is
    revised: Lexicon = Lexicon()  # what opens with one puts the last answer right
    same: Lexicon = Lexicon()  # what opens with one goes on from the question before
    wrong: Lexicon = Lexicon()  # what opens with one says that the last answer is wrong
    by_default: dict[Grain, Lexicon] = Field(default_factory=dict)  # said alone: how the person likes figures over time
    over_time: Lexicon = Lexicon()  # asks for figures over time in no unit: the one that the asker prefers
    ownership: Lexicon = Lexicon()  # with a declared name behind it: who owns that
    session_hours: Positive  # a conversation that nobody goes on with for so long begins anew
    late_hours: Positive = 12  # what was said so long before the bot came back is declined
    execution: Execution
    alternatives: Alternatives | None = None  # None: readings are only named
    proposals: Proposals | None = None  # None: no model is ever asked

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        found = sorted(level.level for level in self.levels.values())
        if found != [1, 2, 3, 4, 5]:
            raise misfit("`levels` describes each level from 1 to 5 once", "levels")
        starts = [row.likelihood_from for row in self.table]
        if starts[0] != 0:
            raise misfit("the first row starts at 0", "table", 0, "likelihood_from")
        for i, (before, after) in enumerate(itertools.pairwise(starts), start=1):
            if after <= before:
                raise misfit("each row starts above the one before it", "table", i, "likelihood_from")
        for user, names in self.standing.items():
            for i, name in enumerate(names):
                if name not in self.preferences:
                    raise misfit(f"`{name}` is not one of the `preferences`", "standing", user, i)
        return self

    def preference_phrases(self) -> tuple[str, ...]:
        """Every phrase by which a question asks for more care or for less, sorted."""
        careful = {phrase for preference in self.preferences.values() for phrase in preference.phrases}
        return tuple(sorted(careful | set(self.just_do_it.phrases)))

    def level(self, number: int) -> AutonomyLevel:
        """The description of level *number* (1–5)."""
        return next(level for level in self.levels.values() if level.level == number)

    def by_table(self, likelihood: Decimal, cost: Decimal) -> int:
        """The level that the table gives, before any cap."""
        row = [row for row in self.table if row.likelihood_from <= likelihood][-1]
        return row.high_cost if cost >= self.high_cost_from else row.low_cost

    def needs_review(self, likelihood: Decimal, cost: Decimal) -> bool:
        """Is the risk so high that a person confirms whatever anybody prefers?"""
        return likelihood * cost > self.mandatory_review_threshold
