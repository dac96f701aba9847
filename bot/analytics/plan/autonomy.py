"""How far an answer may go alone: the level table, then caps. Everything comes from `rules/autonomy.yaml`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from bot.analytics.plan.interfaces import DECISIONS, AuthRequest, AuthResponse, Plan
from bot.conversation import Acceptance, Actor
from bylaw.authored.context import Entity
from bylaw.authored.machines.access import Roles
from bylaw.authored.machines.autonomy import Autonomy, Preference
from bylaw.language.lexicon import Phrases, lexicon
from bylaw.language.text import words_of

LARGE = "the plan is above the resource limits"
PROPOSED = "a language model put the question this way"
ALONE = "only one of two readers understood the question"
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the level depends on besides the risk.

    `asked` are the entities that the question speaks of, `touched` those that the statement reads besides; `phrases`
    are those of the question that the rules know, `override` is the level that the request itself asks for; `proposed`:
    a model made the query of the question.
    """

    asked: Sequence[Entity] = ()
    touched: Sequence[Entity] = ()
    complexity: Decimal = Decimal(0)
    plan: Plan | None = None
    phrases: Collection[str] = ()
    override: int | None = None
    proposed: bool = False
    alone: bool = False
    stewards: Sequence[str] = ()


def authorize(rules: Autonomy, request: AuthRequest, around: Circumstances) -> AuthResponse:
    """The level of an answer of this risk (seed 004, 5.2). Caps only ever lower it, whoever asks for what."""
    likelihood, cost = request.risk.error_likelihood, request.risk.expected_cost
    by_table = rules.by_table(likelihood, cost)
    caps = list(_caps(rules, request, around))
    level = min([by_table, *(cap for cap, _ in caps)])
    lowering = tuple(reason for cap, reason in caps if cap < by_table)
    height = "high" if cost >= rules.high_cost_from else "low"
    rationale = f"likelihood {likelihood:.2f} and {height} cost {cost:.2f} give level {by_table}"
    if level < by_table:
        rationale += f", lowered to {level}: {'; '.join(lowering)}"
    warnings = tuple(_set_aside(rules, request, around))
    rows = None if around.plan is None else around.plan.estimated_rows
    if rows is not None and rows > rules.triggers.rows_warn_above:
        warnings = (*warnings, f"The result may have about {rows} rows.")
    return AuthResponse(
        decision=DECISIONS[level],
        autonomy_level=level,
        rationale=rationale,
        escalation_path=_escalation(around) if not rules.level(level).executes else (),
        caps=lowering,
        halts=tuple(_halts(rules, request, around)),
        warnings=warnings,
    )


def acceptance(rules: Autonomy, level: int) -> Acceptance:
    """What closes a request of this level (seed 004, 8.2)."""
    row = rules.level(level)
    minutes = None if row.timeout_hours is None else row.timeout_hours * 60
    return Acceptance(required=row.acceptance == ["explicit"], timeout_minutes=minutes)


def _caps(rules: Autonomy, request: AuthRequest, around: Circumstances) -> Iterator[tuple[int, str]]:
    """The highest level that each trigger, preference and override leaves, and why."""
    risk, triggers = request.risk, rules.triggers
    if rules.needs_review(risk.error_likelihood, risk.expected_cost):
        reason = (
            f"likelihood × cost is above {rules.mandatory_review_threshold.normalize():f}, where review is mandatory"
        )
        yield rules.mandatory_review_at_most, reason
    domains = {entity.domain for entity in around.asked if entity.domain}
    if len(domains) >= triggers.cross_domain_joins.domains_from:
        yield triggers.cross_domain_joins.at_most, f"joins {len(domains)} domains"
    if not {tag for entity in around.touched for tag in entity.tags}.isdisjoint(triggers.sensitive_tables.tags):
        yield triggers.sensitive_tables.at_most, "reads tables tagged sensitive"
    if around.plan is not None and _is_large(rules, around.plan):
        yield triggers.resource_intensity.at_most, LARGE
    if around.proposed and rules.proposals is not None:
        yield rules.proposals.at_most, PROPOSED
    for name, preference in _wanted(rules, request, around):
        yield preference.at_most, f"asked for: {name.replace('_', ' ')}"
    if around.override is not None:
        yield around.override, f"asked for: level {around.override}"


def _halts(rules: Autonomy, request: AuthRequest, around: Circumstances) -> Iterator[str]:
    """Why nothing runs before the person has seen the plan and said yes."""
    if around.plan is not None and _is_large(rules, around.plan):
        yield LARGE
    if around.alone:
        yield ALONE
    if any(preference.asks_first for _, preference in _wanted(rules, request, around)):
        yield "you want to be asked first"


def _wanted(rules: Autonomy, request: AuthRequest, around: Circumstances) -> Iterator[tuple[str, Preference]]:
    """The preferences that hold for this request, as standing ones or in its words."""
    standing = set() if _hurries(rules, around) else _standing(rules, request)
    for name, preference in sorted(rules.preferences.items()):
        wanted = name in standing or not set(preference.phrases).isdisjoint(around.phrases)
        if wanted and _fits(preference, around):
            yield name, preference


def _set_aside(rules: Autonomy, request: AuthRequest, around: Circumstances) -> Iterator[str]:
    """What the words that set standing preferences aside did, in words; what else lowers the level stays."""
    said = _hurries(rules, around)
    if not said:
        return
    standing = _standing(rules, request)
    given_way = [name for name, one in sorted(rules.preferences.items()) if name in standing and _fits(one, around)]
    if given_way:
        names = " and ".join(f"“{name.replace('_', ' ')}”" for name in given_way)
        yield f"As you said “{said[0]}”, what you prefer otherwise is set aside for this question: {names}."
    else:
        yield f"“{said[0]}” sets aside preferences of your own: none of them holds here."


def _hurries(rules: Autonomy, around: Circumstances) -> list[str]:
    """The words of the question that set standing preferences aside."""
    return sorted(set(rules.just_do_it.phrases) & set(around.phrases))


def _standing(rules: Autonomy, request: AuthRequest) -> set[str]:
    return {*request.actor.risk_tolerance, *rules.standing.get(request.actor.id, ())}


def _fits(preference: Preference, around: Circumstances) -> bool:
    """Does the preference speak of a question like this?"""
    domains = {entity.domain for entity in around.asked if entity.domain}
    fits_domain = not preference.domains or not domains.isdisjoint(preference.domains)
    return fits_domain and (preference.complexity_from is None or around.complexity >= preference.complexity_from)


def find_wishes(text: str, rules: Autonomy) -> tuple[str, ...]:
    """The phrases by which *text* asks for more care or for less, the longest first at each place.

    "Do not just do it" asks for nothing less: what sets care aside counts only where nothing denies it.
    """
    words, known = words_of(text), _spelled(rules.preference_phrases())
    found = {known[words[first:behind]]: first for first, behind in Phrases.of(map(" ".join, known)).find(words)}
    return tuple(
        phrase
        for phrase, first in found.items()
        if phrase not in rules.just_do_it.phrases or not (first and _denies(words[first - 1]))
    )


@lru_cache(16)
def _spelled(phrases: tuple[str, ...]) -> Mapping[tuple[str, ...], str]:
    return {words: phrase for phrase in phrases if (words := words_of(phrase))}


def _denies(word: str) -> bool:
    return word in lexicon()["negation"] or word.endswith(("n't", "n’t"))


def _escalation(around: Circumstances) -> tuple[Actor, ...]:
    """Who can take over: the owners of what is read, then the stewards."""
    owners = [entity.owner for entity in (*around.asked, *around.touched) if entity.owner]
    return tuple(Actor(id=name) for name in dict.fromkeys((*owners, *around.stewards)))


def told(rules: Autonomy, roles: Roles, level: int, escalation: Sequence[Actor], owners: Sequence[str]) -> list[str]:
    """Who hears of an answer of this level: whom the rules name, and who can take over what only a person may answer.

    Where no owner is somebody that the rules on roles know, the stewards stand in.
    """
    found: set[str] = {user for actor in escalation for user in roles.people(actor.id)} if level == 1 else set()
    for word in rules.level(level).notifies:
        match word:
            case "owners":
                known = {user for owner in owners for user in roles.people(owner)}
                found |= known or set(roles.stewards())
            case "stewards":
                found |= set(roles.stewards())
            case _:
                found |= set(roles.people(word))
    return sorted(found)


def _is_large(rules: Autonomy, plan: Plan) -> bool:
    limits = rules.triggers.resource_intensity
    minutes = (plan.estimated_runtime_ms or 0) / _MINUTE_MS
    return (plan.estimated_scan_gb or 0) > limits.scan_gb_above or minutes > limits.runtime_minutes_above
