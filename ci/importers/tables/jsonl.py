"""`policies.jsonl`: a policy a line, as an extractor writes it, with the words that its conditions and actions name.

A line that names a parameter means that fact; only where it names none is the variable meant that the format gives its
type. What a line leaves open is said in a notice, and a line that no policy says is left out by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from bylaw.authored.policies import Policy
from bylaw.authored.vocabulary import RESERVED, Vocabulary
from ci.findings import Finding, graded
from ci.formalize.stage import formalize
from ci.importers.asked import asked_by, phrase_in
from ci.importers.draft import is_name
from ci.importers.tables.feel import clip
from ci.importers.tables.files import Draft
from ci.importers.tables.limits import MOST_BYTES, MOST_ROWS
from ci.importers.tables.model import Refusal, TablesRefused
from ci.importers.tables.spell import spell
from ci.lint.registry import LINTS
from ci.loading.commits.revision import Revision
from ci.loading.derived.variables import variables
from ci.loading.files import Content
from ci.loading.load import read as read_files
from ci.loading.schema.schema_findings import fitted

Record = dict[str, Any]
# Seed 001, policy IR builder: the variable of a condition type that names no parameter, and its type.
VARIABLES: Final[Mapping[str, tuple[str, str]]] = {
    "time_window": ("days_since_purchase", "integer"),
    "amount_threshold": ("refund_amount", "decimal"),
    "product_category": ("product_category", "enum"),
    "customer_tier": ("customer_tier", "enum"),
    "geographic": ("region", "enum"),
    "role_requirement": ("agent_role", "enum"),
    "boolean_flag": ("", "boolean"),
}
SCOPE: Final[Mapping[str, str]] = {
    "customer_segments": "customer_tier",
    "product_categories": "product_category",
    "channels": "channel",
    "regions": "region",
}
NEGATIONS: Final = ("no_", "not ", "not_")
DURATIONS: Final = ("minutes", "hours", "days", "weeks", "months", "years")


@dataclass(frozen=True, slots=True)
class Line:
    """One policy of the file: where it stands, and what it says."""

    number: int
    policy: Policy
    record: Record


@dataclass
class Drafted:
    """The files that the lines become, and what is said about them."""

    name: str
    lines: list[Line] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    vocabulary: Record = field(default_factory=dict)

    def drafts(self, vocabulary_path: str) -> list[Draft]:
        """The vocabulary, then every policy in the folder of its domain."""
        policies = [
            Draft(f"policies/{line.policy.metadata.domain}/{line.policy.policy_id}.yaml", "policy", line.record)
            for line in self.lines
        ]
        words = [Draft(vocabulary_path, "vocabulary", self.vocabulary)] if self.vocabulary else []
        return [*words, *policies]


def drafted(path: Path, data: bytes, owner: str, known: Vocabulary) -> Drafted:
    """The policies of the file at *path* beside the words that the repository knows. Raises TablesRefused."""
    if len(data) > MOST_BYTES:
        raise TablesRefused(Refusal(path.name, f"it is larger than {MOST_BYTES:,} bytes", "split it"))
    found = Drafted(path.name)
    for number, text in _texts(path.name, data):
        try:
            found.lines.append(_line(path.name, number, text, owner, {line.policy.policy_id for line in found.lines}))
        except TablesRefused as problem:
            found.refused += problem.refusals
    _compare_with_index(path, found)
    while found.lines:
        found.notices = [one for one in found.notices if one.startswith("index.json")]
        found.vocabulary = _Words(found, known).record()
        lost = {finding.at.path: finding for finding in _errors(found, known)}
        if not lost:
            break
        kept = []
        for line in found.lines:
            finding = lost.get(_path(line))
            if finding is None:
                kept.append(line)
            else:
                where = f"{path.name}, line {line.number} (`{line.policy.policy_id}`)"
                found.refused.append(Refusal(where, finding.message, finding.help or "correct the line"))
        if len(kept) == len(found.lines):  # what is wrong stands in the words, and no line alone is at fault
            first = next(iter(lost.values()))
            raise TablesRefused(Refusal(path.name, first.message, first.help or ""))
        found.lines = kept
    if not found.lines:
        raise TablesRefused(
            *(found.refused or [Refusal(path.name, "it holds no policy", "one policy a line, as JSON")])
        )
    return found


def _path(line: Line) -> str:
    return f"policies/{line.policy.metadata.domain}/{line.policy.policy_id}.yaml"


def _texts(name: str, data: bytes) -> Iterator[tuple[int, str]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TablesRefused(Refusal(name, "it is not UTF-8 text", "save it as UTF-8")) from None
    lines = text.split("\n")
    if len(lines) > MOST_ROWS:
        raise TablesRefused(Refusal(name, f"it has more than {MOST_ROWS:,} lines", "split it"))
    yield from ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def _line(name: str, number: int, text: str, owner: str, before: set[str]) -> Line:
    where = f"{name}, line {number}"
    try:
        data = json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        raise TablesRefused(Refusal(where, f"it is no JSON: {clip(str(problem))}", "write one policy a line")) from None
    if not isinstance(data, dict):
        raise TablesRefused(Refusal(where, "it is no policy", "write one policy a line, as a JSON object"))
    metadata = data.get("metadata")
    if isinstance(metadata, dict):
        metadata = {**metadata, "owner": metadata.get("owner") or owner, "source": metadata.get("source") or name}
    record = {key: value for key, value in data.items() if key not in ("draft", "metadata", "processing_status")}
    record = {"policy_id": record.pop("policy_id", None), "draft": True, **record, "metadata": metadata}
    policy, findings = fitted(Policy, record, name)
    if policy is None or findings:
        refusals = [Refusal(where, one.message, one.help or "correct the line") for one in findings[:5]]
        raise TablesRefused(*(refusals or [Refusal(where, "it is no policy", "see `bylaw docs language`")]))
    if policy.policy_id in before:
        raise TablesRefused(
            Refusal(where, f"`{policy.policy_id}` stands in an earlier line too", "number one of them anew")
        )
    return Line(number, policy, record)


def _no_constant(text: str) -> None:
    raise ValueError(f"`{text}` is no number")


def _compare_with_index(path: Path, found: Drafted) -> None:
    """What the summary beside the file says of its length."""
    index = path.with_name("index.json")
    if not index.is_file() or index.stat().st_size > MOST_BYTES:
        return
    try:
        data = json.loads(index.read_bytes())
    except (OSError, ValueError, RecursionError):
        found.notices.append("index.json beside it cannot be read, and was not needed")
        return
    said = data if isinstance(data, dict) else {}
    listed = said.get("policies")
    count = next(
        (said[key] for key in ("policy_count", "total_policies", "count") if isinstance(said.get(key), int)), None
    )
    count = len(listed) if count is None and isinstance(listed, list | dict) else count
    here = len(found.lines) + len({one.where for one in found.refused})
    if count is not None and count != here:
        found.notices.append(f"index.json tells of {count} policies, and the file has {here}")


def _errors(found: Drafted, known: Vocabulary) -> list[Finding]:
    """What a check would call an error in the words and rules of the lines."""
    files = (
        [Content("policies/known/vocabulary.yaml", spell(_known(known)).encode())]
        if known.facts or known.actions
        else []
    )
    files += [Content(draft.path, spell(draft.record).encode()) for draft in found.drafts("policies/vocabulary.yaml")]
    workspace = read_files(Path(), files, Revision(), None)
    told = [*workspace.findings, *(one for lint in LINTS for one in lint(workspace))]
    told += formalize(workspace, variables(workspace.vocabulary))[1]
    shown = graded(told, workspace.rules.ci.severities)
    return [one for one in shown if one.severity == "error" and one.at.path.startswith("policies/")]


def _known(known: Vocabulary) -> Record:
    record: Record = json.loads(
        json.dumps(known.model_dump(mode="json", by_alias=True, exclude_defaults=True), default=str)
    )
    return record


class _Words:
    """The words of all lines: what each names, and what the repository does not declare yet."""

    def __init__(self, found: Drafted, known: Vocabulary) -> None:
        self.found, self.known = found, known
        self.facts: dict[str, Record] = {}
        self.defaults: dict[str, dict[str, str]] = {}
        self.scope: dict[str, str] = {}
        self.actions: dict[str, Record] = {}
        self.outcomes: dict[str, Record] = {}

    def record(self) -> Record:
        """The vocabulary of the lines."""
        policies = [line.policy for line in self.found.lines]
        for policy in policies:
            domain = policy.metadata.domain
            for condition in _conditions(policy.model_dump(mode="python", by_alias=True, exclude_unset=True)):
                self._condition(condition, domain)
            for dimension, values in policy.scope.items():
                self._scoped(dimension, [value for value in values if value != "all"])
        for policy in policies:
            for condition in _conditions(policy.model_dump(mode="python", by_alias=True, exclude_unset=True)):
                self._target(str(condition.get("target", "general")))
        for policy in policies:
            for action in policy.actions:
                self.actions.setdefault(action.action, {})
                for name in action.requires:
                    self._required(name, policy)
            for exception in policy.exceptions:
                if exception.action and exception.action != "none":
                    self.actions.setdefault(exception.action, {})
        self._outcomes(policies)
        for fact in self.facts.values():
            if fact["type"] == "enum" and "other" not in fact["values"]:
                fact["values"]["other"] = []
            fact |= asked_by(fact["type"], fact["label"])
        self._phrases(policies)
        whole: Record = {
            "schema_version": "1.0",
            "facts": {name: one for name, one in self.facts.items() if name not in self.known.facts},
            "actions": {name: one for name, one in self.actions.items() if name not in self.known.actions},
            "outcomes": {name: one for name, one in self.outcomes.items() if name not in self.known.outcomes},
            "defaults": self.defaults,
            "scope": {name: fact for name, fact in self.scope.items() if name not in self.known.scope},
        }
        return {key: value for key, value in whole.items() if value}

    def _phrases(self, policies: Sequence[Policy]) -> None:
        """What the sentences of an action call it, beside its name."""
        for policy in policies:
            for action in policy.actions:
                said = phrase_in(action.source_text or "", action.action)
                phrases = self.actions[action.action].setdefault("phrases", []) if said else []
                if said and said not in phrases:
                    phrases.append(said)

    def _condition(self, condition: Record, domain: str) -> None:
        kind, name = condition["type"], condition.get("parameter")
        variable, type_ = VARIABLES.get(kind, ("", ""))
        if name is None:
            if not variable:
                return  # the check tells that the line names no fact
            if self.known.default_fact(kind, domain) is not None:
                return
            name = variable
            self.defaults.setdefault(domain, {})[kind] = variable
        values = condition.get("value", condition.get("between"))
        listed = values if isinstance(values, list) else [values]
        type_ = type_ or _type_of(listed)
        fact = self.facts.setdefault(
            name, {"type": type_, **({"values": {}} if type_ == "enum" else {}), "label": _label(name)}
        )
        if fact["type"] == "enum":
            fact["values"] |= {value: [] for value in listed if isinstance(value, str)}
        elif fact["type"] in ("integer", "decimal"):
            self._measured(fact, name, condition.get("unit"), listed)
        other = condition.get("value_of")
        if other is not None:
            self.facts.setdefault(other, {"type": fact["type"], "label": _label(other)})

    def _measured(self, fact: Record, name: str, unit: Any, values: Sequence[Any]) -> None:
        if unit is not None and "unit" not in fact:
            fact["unit"] = "days" if unit in DURATIONS else unit
        if fact["type"] == "integer" and any(isinstance(v, Decimal) and v != v.to_integral_value() for v in values):
            fact["type"] = "decimal"

    def _scoped(self, dimension: str, values: Sequence[str]) -> None:
        if not values:
            return
        fact = self.known.scope.get(dimension) or SCOPE.get(dimension, dimension)
        self.scope[dimension] = fact
        enum = self.facts.setdefault(fact, {"type": "enum", "values": {}, "label": _label(fact)})
        if enum["type"] == "enum":
            enum["values"] |= {value: [] for value in values}

    def _target(self, target: str) -> None:
        fact, _, value = target.rpartition(":")
        if target == "general" or self.known.facts_with_value(value):
            return
        if fact:
            self.facts.setdefault(fact, {"type": "enum", "values": {}, "label": _label(fact)})["values"][value] = []
        elif not any(value in one.get("values", ()) for one in self.facts.values()):
            name = "product_category"
            enum = self.facts.setdefault(name, {"type": "enum", "values": {}, "label": _label(name)})
            enum["values"][value] = []
            self.found.notices.append(
                f"nothing says whose value the target `{clip(value)}` is: it is taken for a `{name}`"
            )

    def _required(self, name: str, policy: Policy) -> None:
        ids = {condition.id.casefold() for condition in policy.conditions if condition.id}
        declared = {**self.known.facts, **self.facts}
        stem = next((name[len(one) :].strip() for one in NEGATIONS if name.casefold().startswith(one)), None)
        meant = {name, f"has_{stem}", stem} if stem else {name}
        if (
            name.casefold() in ids | RESERVED | {term.casefold() for term in self.known.terms}
            or meant & declared.keys()
        ):
            return
        fact = f"has_{stem}" if stem else name
        if is_name(fact):
            self.facts[fact] = {"type": "boolean", "label": _label(fact)}
            self.found.notices.append(
                f"`{clip(name)}` is required and tested nowhere: the fact `{fact}` is declared for it"
            )

    def _outcomes(self, policies: Sequence[Policy]) -> None:
        """A fallback stands in for the other actions of its policy: they answer one question, that of their domain."""
        groups: list[tuple[str, set[str]]] = []
        for policy in policies:
            names = {one.action for one in policy.actions if one.type in ("required", "conditional", "fallback")}
            if any(one.type == "fallback" for one in policy.actions):
                joined = [group for group in groups if group[1] & names]
                groups = [group for group in groups if not group[1] & names]
                domain = joined[0][0] if joined else policy.metadata.domain
                groups.append((domain, names.union(*(group[1] for group in joined))))
        used: set[str] = set()
        for domain, names in sorted(groups, key=lambda group: (group[0], sorted(group[1]))):
            free = {name for name in names if name not in self.known.actions}
            outcome = domain if domain not in used else f"{domain}_{min(names)}"
            used.add(outcome)
            if not free or not is_name(outcome):
                continue
            self.outcomes[outcome] = {"label": _label(outcome), "phrases": [_label(outcome)]}
            for name in sorted(free):
                self.actions[name] = {"outcome": outcome}
            shown = ", ".join(f"`{name}`" for name in sorted(names))
            self.found.notices.append(f"one of them is a fallback, so {shown} answer one outcome, `{outcome}`")


def _conditions(data: Any) -> Iterator[Record]:
    """Every test in a policy, however deep."""
    if isinstance(data, dict):
        if "type" in data and not {"action", "policy_id"} & data.keys():
            yield data
        yield from (one for value in data.values() for one in _conditions(value))
    elif isinstance(data, list):
        yield from (one for value in data for one in _conditions(value))


def _type_of(values: Sequence[Any]) -> str:
    first = next((value for value in values if value is not None), None)
    if isinstance(first, bool):
        return "boolean"
    return "decimal" if isinstance(first, int | Decimal) else "enum"


def _label(name: str) -> str:
    return name.replace("_", " ").strip() or name


def vocabulary_path(found: Drafted, root: Path) -> str:
    """Where the words go: to the root of the policies, or where that file is somebody's, to the folder of a domain."""
    path = "policies/vocabulary.yaml"
    if not (root / path).exists():
        return path
    domains = sorted({line.policy.metadata.domain for line in found.lines})
    return f"policies/{domains[0]}/vocabulary.yaml"
