"""What written policies mean, read a second time: parsed YAML → guarded effects, sharing no code with the product.

Formulas are plain tuples. Every rule quotes the sentence of the format's fine print that it follows.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Any

Formula = tuple[Any, ...]
Case = Mapping[str, Any]
TRUE: Formula = ("all",)
FALSE: Formula = ("any",)
MINUTES = {"minute": 1, "hour": 60, "day": 1440, "week": 10080}
MONTHS = {"month": 1, "year": 12}
COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "in": lambda a, b: a in b,
    "between": lambda a, b: b[0] <= a <= b[1],
}

# ---- three-valued truth: "an absent fact satisfies neither a test nor its negation" ---------------------------------


def every(parts: Iterable[Formula]) -> Formula:
    """All of *parts* hold."""
    return ("all", *parts)


def some(parts: Iterable[Formula]) -> Formula:
    """One of *parts* holds."""
    return ("any", *parts)


def no(part: Formula) -> Formula:
    """*part* does not hold."""
    return ("not", part)


def truth(formula: Formula, case: Case) -> bool | None:
    """Does *formula* hold in the case? None: an absent fact decides."""
    match formula:
        case ("test", fact, operator, value):
            return None if fact not in case else COMPARE[operator](case[fact], value)
        case ("compare", fact, operator, other, ratio):
            if fact not in case or other not in case:
                return None
            right = case[other] if ratio == 1 else case[other] * ratio
            return COMPARE[operator](case[fact], right)
        case ("not", part):
            known = truth(part, case)
            return None if known is None else not known
        case (kind, *parts):
            decisive, result = kind == "any", kind != "any"
            for part in parts:
                known = truth(part, case)
                if known is decisive:
                    return decisive
                result = None if known is None or result is None else result
            return result
    raise AssertionError(formula)


def atoms(formula: Formula) -> Iterator[Formula]:
    """The single tests of a formula."""
    if formula[0] in ("test", "compare"):
        yield formula
    else:
        for part in formula[1:]:
            yield from atoms(part)


def mentioned(formula: Formula) -> set[str]:
    """The facts a formula speaks of."""
    single = list(atoms(formula))
    return {test[1] for test in single} | {test[3] for test in single if test[0] == "compare"}


# ---- words ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Words:
    """The vocabulary."""

    data: Mapping[str, Any]

    def facts(self) -> Mapping[str, Any]:
        return self.data.get("facts", {})

    def canonical(self, action: str) -> str:
        """`same_as` names resolve to the canonical one everywhere."""
        same = self.data["actions"].get(action, {}).get("same_as")
        return self.canonical(same) if same else action

    def outcome(self, action: str) -> str | None:
        return self.data["actions"][self.canonical(action)].get("outcome")

    def closure(self, action: str) -> frozenset[str]:
        """The action and all it implies."""
        implies = self.data.get("relations", {}).get("implies", {})
        reached: set[str] = set()
        todo = [self.canonical(action)]
        while todo:
            one = todo.pop()
            if one not in reached:
                reached.add(one)
                todo += [self.canonical(o) for name in implies if self.canonical(name) == one for o in implies[name]]
        return frozenset(reached)

    def excludes(self, a: str, b: str) -> bool:
        pairs = self.data.get("relations", {}).get("excludes", [])
        return a != b and any({a, b} <= set(map(self.canonical, group)) for group in pairs)

    def default(self, kind: str, domain: str) -> str:
        defaults = self.data.get("defaults", {})
        return defaults.get(domain, {}).get(kind) or defaults["*"][kind]

    def ratio(self, unit: str | None, fact: str) -> Fraction:
        """What one *unit* is in the fact's own unit: "No unit means the fact's unit"."""
        return self.amount(Fraction(1), unit, fact)

    def amount(self, amount: Fraction, unit: str | None, fact: str) -> Fraction:
        """An amount in the fact's own unit: "m months are 365·⌊m/12⌋ + 30·(m mod 12) days where they meet days"."""
        own = self.facts()[fact].get("unit")
        if unit is None or own is None or unit == own:
            return amount
        one, two = (name.lower().removesuffix("s") for name in (unit, own))
        if one in MONTHS and two in MONTHS:
            return amount * MONTHS[one] / MONTHS[two]
        if one in MONTHS:
            months = amount * MONTHS[one]
            return (365 * (months // 12) + 30 * (months % 12)) * 1440 / MINUTES[two]
        return amount * MINUTES[one] / MINUTES[two]

    def read(self, fact: str, value: Any, unit: str | None = None) -> Any:
        """A written value: numbers exact, in the fact's unit; dates as day numbers."""
        kind = self.facts()[fact]["type"]
        if kind == "date":
            return Fraction(date.fromisoformat(str(value)).toordinal())
        if kind in ("boolean", "enum"):
            return value
        return self.amount(Fraction(str(value)), unit, fact)


# ---- conditions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Conditions:
    """Reads conditions of one domain."""

    words: Words
    domain: str

    def fact(self, condition: Mapping[str, Any]) -> str:
        return condition.get("parameter") or self.words.default(condition["type"], self.domain)

    def test(self, condition: Mapping[str, Any]) -> Formula:
        """One condition without its target."""
        if "all_of" in condition:
            return self.all_of(condition["all_of"])
        if "any_of" in condition:
            # "a list inside any_of means all_of"
            return some(self.all_of(b) if isinstance(b, list) else self.test(b) for b in condition["any_of"])
        if "not" in condition:
            inner = condition["not"]
            return no(self.all_of(inner) if isinstance(inner, list) else self.test(inner))
        fact = self.fact(condition)
        kind = self.words.facts()[fact]["type"]
        operator = condition.get("operator")
        if "between" in condition:
            operator = "between"
        if operator is None:
            # "left out it is == for boolean, enum and tier, <= for time windows, > for amounts"
            operator = {"time_window": "<=", "amount_threshold": ">"}.get(condition["type"], "==")
            if kind in ("boolean", "enum"):
                operator = "=="
        operator = "==" if operator == "=" else operator
        if "value_of" in condition:
            other = condition["value_of"]
            unit = self.words.facts()[other].get("unit")
            return ("compare", fact, operator, other, self.words.ratio(unit, fact))
        value = condition.get("between", condition.get("value"))
        unit = condition.get("unit")
        if isinstance(value, list):
            operator = "in" if operator == "==" else operator
            return ("test", fact, operator, tuple(self.words.read(fact, v, unit) for v in value))
        return ("test", fact, operator, self.words.read(fact, value, unit))

    def all_of(self, conditions: Iterable[Mapping[str, Any]]) -> Formula:
        """All conditions, "per fact": a case uses its targeted conditions, else the general ones; with neither,
        the test is false; two targets that both match must both hold."""
        conditions = list(conditions)
        trees = [c for c in conditions if "type" not in c]
        parts = [self.test(tree) for tree in trees]
        single = [c for c in conditions if "type" in c]
        for fact in sorted({self.fact(c) for c in single}):
            mine = [c for c in single if self.fact(c) == fact]
            general = [self.test(c) for c in mine if c.get("target", "general") == "general"]
            aimed = [(self.target(c["target"]), self.test(c)) for c in mine if c.get("target", "general") != "general"]
            parts += [some([no(target), test]) for target, test in aimed]
            otherwise = every(general) if general or not aimed else FALSE
            parts.append(some([*(target for target, _ in aimed), otherwise]))
        return every(parts)

    def target(self, name: str) -> Formula:
        fact, _, value = name.rpartition(":")
        if not fact:
            (fact,) = [f for f, d in self.words.facts().items() if value in d.get("values", {})]
        return ("test", fact, "==", value)

    def required(self, names: Iterable[str], conditions: list[dict[str, Any]]) -> Formula:
        """`requires`, "looked up in this order: condition id, boolean fact, within_window, vocabulary term, then
        no_x / not x (the fact x or has_x)"; "names compare case-insensitively"; "exactly those"."""
        chosen: list[dict[str, Any]] = []
        parts: list[Formula] = []
        booleans = {f.casefold(): f for f, d in self.words.facts().items() if d["type"] == "boolean"}
        terms = {t.casefold(): c for t, c in self.words.data.get("terms", {}).items()}
        for name in (n.casefold() for n in names):
            by_id = [c for c in conditions if str(c.get("id", "")).casefold() == name]
            nested = [c for c in _nested(conditions) if str(c.get("id", "")).casefold() == name]
            if by_id:
                chosen += by_id
            elif nested:
                parts += map(self.test, nested)
            elif name in booleans:
                parts.append(("test", booleans[name], "==", True))
            elif name == "within_window":
                chosen += [c for c in conditions if c.get("type") == "time_window"]
            elif name in terms:
                parts.append(self.all_of(terms[name]))
            else:
                stem = name.removeprefix("no_").removeprefix("not ")
                fact = booleans.get(stem) or booleans[f"has_{stem}"]
                parts.append(("test", fact, "==", False))
        picked = [c for c in conditions if any(c is one for one in chosen)]
        return every([self.all_of(picked), *parts])


def _nested(conditions: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for condition in conditions:
        inner = condition.get("all_of") or condition.get("any_of") or condition.get("not") or []
        for branch in inner if isinstance(inner, list) else [inner]:
            for one in branch if isinstance(branch, list) else [branch]:
                yield one
                yield from _nested([one])


# ---- policies → effects ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Effect:
    """What one action or exception does. `would`: its guard; `lifted`: where exceptions take its place."""

    policy: Mapping[str, Any]
    level: int
    kind: str  # required, prohibited, permitted
    action: str
    would: Formula
    demands: frozenset[str]
    takes: Mapping[str, str]
    is_exception: bool = False
    lifted: list[Formula] = field(default_factory=list)

    @cached_property
    def guard(self) -> Formula:
        return every([self.would, *map(no, self.lifted)])

    @property
    def policy_id(self) -> str:
        return str(self.policy["policy_id"])


def level(metadata: Mapping[str, Any], priorities: Mapping[str, Any]) -> int:
    """Rows of the seed's table are tried in the order 1, 2, 5, 3, 4."""
    if metadata.get("regulatory_linkage"):
        return 1
    if metadata["domain"] in priorities["core_value_domains"]:
        return 2
    if metadata.get("expiry_date") or "temporary" in metadata.get("tags", []):
        return 5
    shared = metadata["owner"] in priorities["cross_department_owners"]
    return 3 if shared or metadata["domain"] in priorities["general_domains"] else 4


@dataclass(frozen=True)
class PolicyReader:
    """Reads one policy."""

    words: Words
    policy: Mapping[str, Any]
    level: int
    liftings: list[Formula] = field(default_factory=list)  # where exceptions to `none` hold

    def effects(self) -> list[Effect]:
        """The policy's effects, exceptions worked in."""
        conditions = Conditions(self.words, self.policy["metadata"]["domain"])
        written = self.policy.get("conditions", [])
        scope = self.scope()
        acts: list[Effect] = []
        types: list[str] = []
        for action in self.policy["actions"]:
            # "Guard of an action: the scope, and its `requires`, or else all conditions"; an empty list has none
            if "requires" in action:
                guard = conditions.required(action["requires"], written)
            else:
                guard = TRUE if action["type"] == "fallback" else conditions.all_of(written)
            when = conditions.all_of(action.get("when", []))  # "`conditional`: that guard and its `when`"
            acts.append(self.effect(action["type"], action["action"], every([scope, guard, when])))
            types.append(action["type"])
        for i, (act, kind) in enumerate(zip(acts, types, strict=True)):
            if kind == "fallback":
                # "excludes the policy's primary actions of that outcome and earlier fallbacks, in list order";
                # "permitted and prohibited actions are no primaries"
                outcome = self.words.outcome(act.action)
                before = [
                    other.would
                    for k, other in enumerate(acts)
                    if self.words.outcome(other.action) == outcome
                    and (
                        types[k] in ("required", "conditional", "discovered_pattern")
                        or (types[k] == "fallback" and k < i)
                    )
                ]
                act.would = every([act.would, *map(no, before)])
        return acts + self.exceptions(self.policy.get("exceptions", []), acts, acts, scope, conditions)

    def exceptions(
        self, written: Any, in_play: list[Effect], stated: list[Effect], within: Formula, conditions: Conditions
    ) -> list[Effect]:
        """*in_play*: what an exception here may replace; *within*: where it may hold at all."""
        added: list[Effect] = []
        for exception in written:
            action = exception.get("action")
            if not exception.get("conditions") or action is None:
                continue  # "One without conditions is text only"
            action = action if action == "none" else self.words.canonical(action)
            outcome = None if action == "none" else self.words.outcome(action)
            named = {self.words.canonical(name) for name in exception.get("replaces", [])}
            # "It replaces every effect of the policy on that outcome (on that action, when it has none), and
            # whatever `replaces` names; `none` with `replaces` lifts those and only those, without it everything the
            # policy says"
            replaced = [
                e
                for e in in_play
                if (action == "none" and not named)
                or e.action in named
                or (self.words.outcome(e.action) == outcome if outcome else e.action == action)
            ]
            # "An exception holds only where an action it replaces would hold"; "an action without outcome that the
            # policy does not mention adds a duty"
            adds = not replaced and action != "none" and outcome is None and action not in {e.action for e in stated}
            reach = within if adds else every([within, some(e.would for e in replaced)])
            holds = every([conditions.all_of(exception["conditions"]), reach])
            for effect in replaced:
                effect.lifted.append(holds)
            own: list[Effect] = []
            if action == "none":
                self.liftings.append(holds)
            else:
                bans = any(e.kind == "prohibited" and e.action == action for e in in_play)
                # "by default `required` for an action with an outcome, `permitted` where the policy prohibits that
                # very action"
                kind = exception.get("type") or ("permitted" if bans and outcome is None else "required")
                own = [self.effect(kind, action, holds)]
                own[0].is_exception = True
            nested = exception.get("exceptions", [])
            added += own + self.exceptions(nested, own + in_play, stated, holds, conditions)
        return added

    def effect(self, kind: str, action: str, guard: Formula) -> Effect:
        kind = kind if kind in ("prohibited", "permitted") else "required"
        demands = self.words.closure(action) if kind == "required" else frozenset[str]()
        takes = {o: a for a in sorted(demands) if (o := self.words.outcome(a)) is not None}
        return Effect(self.policy, self.level, kind, self.words.canonical(action), guard, demands, takes)

    def scope(self) -> Formula:
        """`[all]` constrains nothing; `all` beside values wins; "every value of a closed fact constrains nothing"."""
        facts = self.words.data.get("scope", {})
        narrowed = {
            dim: values
            for dim, values in self.policy.get("scope", {}).items()
            if "all" not in values and set(values) != set(self.words.facts()[facts[dim]]["values"])
        }
        return every(("test", facts[dim], "in", tuple(values)) for dim, values in narrowed.items())


def expression(text: str, words: Words) -> Formula:
    """A constraint's `expression`: facts, literals, comparisons, and/or/not and parentheses."""

    def read(node: ast.expr) -> Formula:
        match node:
            case ast.BoolOp(op=op, values=values):
                return (every if isinstance(op, ast.And) else some)(map(read, values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return no(read(operand))
            case ast.Name(id=fact):
                return ("test", fact, "==", True)
            case ast.Compare(left=ast.Name(id=fact), ops=[op], comparators=[right]):
                names = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}
                operator = names[type(op).__name__]
                if isinstance(right, ast.Name) and right.id in words.facts():
                    return ("compare", fact, operator, right.id, Fraction(1))
                value = right.id if isinstance(right, ast.Name) else ast.literal_eval(right)
                return ("test", fact, operator, words.read(fact, value))
        raise AssertionError(ast.dump(node))

    return read(ast.parse(text.removeprefix("□").strip(), mode="eval").body)
