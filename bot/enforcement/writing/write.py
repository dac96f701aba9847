"""The plain writer: a decision in words, without a model. What it says is only what the decision says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.conversation import Choice
from bot.enforcement.question.bounds import Bound, Read
from bylaw.authored.labels import label_of, labels
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.authored.wording import Wording
from bylaw.language.lexicon import closed, lexicon
from bylaw.logic.formula.ir import Atom, ConditionalRule, Value, conj
from bylaw.logic.words.negation import is_clause
from bylaw.logic.words.prose import sentence, told, value_in_words

_ASKING = closed("wh")
ALWAYS = "it holds in every case"
CHANCE = "It may be another if you tell me:"
DEPENDS = "Which of it holds depends on the case."
UNHEARD = "I could not read an answer to my question in that."
NEW = "A new case: what was said before is not carried over."
ASKED_ANEW = "A new case. What would you like to know?"
NOTHING_NEW = "I could read nothing new in that. For the case as told before:"
OPEN = "it is a bound or a range"  # why words of a fact do not decide
RESTRICTIVE = "This is the most restrictive outcome still possible, since not everything is known"


@dataclass(frozen=True)
class Words:
    """How facts, actions and outcomes are called, and how values are said."""

    vocabulary: Vocabulary

    def fact(self, name: str) -> str:
        """The fact's label, else its name as words."""
        declared = self.vocabulary.facts.get(name)
        return declared.label if declared and declared.label else name.replace("_", " ")

    def action(self, name: str) -> str:
        """The action's label, else its name as words."""
        declared = self.vocabulary.actions.get(name)
        return declared.label if declared and declared.label else name.replace("_", " ")

    def given(self, action: str) -> str | None:
        """The clause that says that an action is taken, required or allowed, where its label has one."""
        label = self._label(action)
        return None if label is None else label.given

    def denied(self, action: str) -> str | None:
        """The clause that says that an action is not, where its label has one."""
        label = self._label(action)
        return None if label is None else label.denied

    def _label(self, action: str) -> Wording | None:
        declared = self.vocabulary.actions.get(action)
        return declared.label if declared else None

    def outcome(self, name: str) -> str:
        """The outcome's label, else its name as words."""
        declared = self.vocabulary.outcomes.get(name)
        return declared.label if declared and declared.label else name.replace("_", " ")

    def value(self, name: str, value: Value) -> str:
        """The value as people write it, with its unit."""
        return value_in_words(value, label_of(self.vocabulary.facts[name]))

    def told(self, name: str, value: Value) -> str:
        """What a case says of a fact: a clause where its label makes one, else "label: value"."""
        return told(name, value, label_of(self.vocabulary.facts[name]))

    def bound(self, tests: Iterable[Atom]) -> str:
        """What a case says of a fact that passes these *tests*."""
        return sentence(conj(tests), labels(self.vocabulary))


def taken(words: Words, outcome: str, action: str, is_yes: bool | None = None, denied: Sequence[str] = ()) -> str:
    """The first line of an answer: what an outcome gets, and whether that says yes to an action that was asked for.

    None where neither yes nor no answers it. Of the *denied* ones it says that they are not taken.
    """
    given = words.given(action)
    said = f"{_capital(given or f'{words.outcome(outcome)}: {words.action(action)}')}."
    if is_yes is None:
        return said
    if is_yes:
        return f"Yes, {given}." if given else f"Yes. {said}"
    clauses = [clause for name in denied if (clause := words.denied(name)) and clause != given]
    if not clauses:
        return f"No, {given}." if given and any(map(words.denied, denied)) else f"No. {said}"
    return " ".join([f"No, {clauses[0]}.", *(f"{_capital(one)}." for one in clauses[1:]), said])


def because(rule: ConditionalRule, known: str) -> str:
    """What is *known* of the case that a rule rests on."""
    return f"Why: {known} ({rule.policy_id})." if known else f"Why: {ALWAYS} ({rule.policy_id})."


def withheld(words: Words, facts: Iterable[str]) -> str:
    """The note on an answer that is the most restrictive one because these facts were not told."""
    return f"Not told: {listing(words.fact(name) for name in facts)}. Once it is, the answer may be another."


def duty(words: Words, kind: str, action: str, is_asked: bool = False) -> str:
    """A required, prohibited or permitted action; with yes or no where *is_asked* whether it may be."""
    clause = words.denied(action) if kind == "prohibited" else words.given(action)
    verb = {"required": "Required", "prohibited": "Not allowed", "permitted": "Allowed"}[kind]
    if clause and is_asked:
        return f"{'No' if kind == 'prohibited' else 'Yes'}, {clause}."
    return f"{_capital(clause)}." if clause else f"{verb}: {words.action(action)}."


def open_duty(words: Words, action: str) -> str:
    """A duty that facts which nobody told may still lift."""
    return f"Whether this has to be done depends on what is not known: {words.action(action)}."


def understood(words: Words, reads: Sequence[Read], bounds: Iterable[Bound], remembered: str) -> list[str]:
    """What was read from the text, and what was kept from before: a wrong reading has to be visible."""
    said = [f"{words.told(r.fact, r.value)} (“{_short(r.words)}”)" for r in reads]
    said += [f"{words.bound(one.tests)} (“{_short(one.words)}”)" for one in bounds]
    lines = [f"I read: {'; '.join(said)}."] if said else []
    return [*lines, f"From before: {remembered}."] if remembered else lines


def not_understood(words: Words, left: Mapping[str, str]) -> list[str]:
    """What was said of facts and not used, by its words, with the reason."""
    return [f"I did not use “{_short(said)}” ({words.fact(name)}): {OPEN}." for said, name in left.items()]


def fallback(reason: str) -> str:
    """The line that marks an answer in plain words where a model was to write it."""
    return f"(In plain words: {reason}.)"


def why_asked(about: str, policies: Sequence[str]) -> str:
    """Why a fact is asked for: what depends on it, by which policies."""
    return f"I ask because it decides {about}{f' ({listing(policies)})' if policies else ''}."


def question(words: Words, name: str) -> str:
    """The question that fetches a fact: its own `ask`, else one made from its label."""
    fact = words.vocabulary.facts[name]
    if fact.ask:
        return fact.ask
    label = words.fact(name)
    if fact.type == "boolean":
        return f"Is it so that {label}?" if is_clause(label) else f"Does this hold: {label}?"
    unit = f", in {fact.unit}" if fact.unit and fact.type != "enum" else ""
    first = label.partition(" ")[0].casefold()
    if first in _ASKING:
        asked = f"Please tell me {label}{unit}."
    else:
        asked = f"What is {label if first in lexicon()['determiner'] else f'the {label}'}{unit}?"
    return f"{asked} A date like 2026-01-31 is enough." if fact.type == "date" else asked


def choices(fact: Fact) -> tuple[Choice, ...]:
    """What may be answered, where it is a short list."""
    if fact.type == "boolean":
        return Choice(value="yes", label="yes"), Choice(value="no", label="no")
    return tuple(Choice(value=value, label=value.replace("_", " ")) for value in sorted(fact.values))


def quoted(words: Sequence[str]) -> str:
    """Words of a question, as in “dog” and “store”."""
    return listing(f"“{word}”" for word in words)


def unnamed(unknown: Sequence[str]) -> str:
    """What is said of a question that names nothing that the rules decide, before it is asked what it is about."""
    if unknown:
        return f"Nothing in our rules speaks of {quoted(unknown)}. Is it about one of these?"
    return "Your question does not say which of our rules it is about. Is it one of these?"


def listing(items: Iterable[str]) -> str:
    """Join as in "a, b and c"."""
    *rest, last = items
    return f"{', '.join(rest)} and {last}" if rest else last


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 80 else f"{flat[:77]}…"
