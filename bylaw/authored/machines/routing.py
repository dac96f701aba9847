"""Who answers a question: `rules/routing.yaml`. Each kind of answer scores a text from 0 to 1, the highest speaks."""

from typing import Self

from pydantic import model_validator

from bylaw.authored.machines.amounts import Positive, Share
from bylaw.authored.record import Authored, AuthoredFile, misfit


class PolicyScore(Authored):
    """What makes a text a question about policies. The parts that are there add up; `counting` is taken off."""

    form: Share  # it asks for a rule in its form, and nothing of what it asks is declared
    opener: Share  # it opens like one: "may I", "do customers get"
    named: Share  # an outcome or an action is named
    stated: Share  # for each fact of a case that is stated, of `stated_at_most`
    stated_at_most: Positive
    fact_word: Share  # no fact is stated, but a word of one is there
    domain: Share  # its words belong to a domain; not where one stated fact is all there is
    policy_word: Share  # allowed, eligible, covered
    counting: Share  # it counts, or reports on a past time


class DataScore(Authored):
    """What makes a text a question about data, besides the share of its words that the catalogue knows."""

    write_request: Share  # it holds a word like "remove"
    write_command: Share  # it begins with one
    report: Share  # it counts or sums over a past time, in whatever words


class DecisionScore(Authored):
    """What makes a text a question about a decision. Pairs are a base and what the best hit's confidence adds."""

    named: Share  # an id stands in it
    found: Share
    found_by: Share  # words of an intent, and a decision is found
    told: Share
    told_by: Share  # it speaks of deciding, and has words of an intent or finds a decision
    told_only: Share  # it speaks of deciding, and that is all
    bare_phrase: Share  # "who decided that?", nothing else
    bare_word: Share  # "and why?"
    other_by: Share  # no such words: only the hit counts
    own_case: Share  # what is left of a score where somebody asks about a case of his own


class Routing(AuthoredFile):
    """`rules/routing.yaml`. `interrupt_from` is what it takes to leave the kind that a follow-up belongs to."""

    answer_from: Share
    interrupt_from: Share
    alike_below: Share  # policies and data that score less than this apart: which is meant is asked
    short_words: Positive  # up to so many words "by month" or "in June" continues what was said
    policy: PolicyScore
    data: DataScore
    decision: DecisionScore

    @model_validator(mode="after")
    def _takes_more_to_interrupt(self) -> Self:
        if self.interrupt_from < self.answer_from:
            raise misfit("it takes at least as much to interrupt as to answer", "interrupt_from")
        return self
