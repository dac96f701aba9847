"""Which rules could not be read, and what they speak of (LOGIC, "What cannot be read"): never absent, but unproven.

A policy that was not formalized, a file of policies that is none, a vocabulary with a fault. What an author set aside
makes none: drafts, and implicit policies that nobody has validated. Severities and waivers change nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from bylaw.authored.policies import Policy, PolicyException
from bylaw.canonical import texts_in
from bylaw.logic.formula.ir import Unproven, names
from ci.findings import SEVERITIES, Finding
from ci.formalize.rules import leads_nowhere
from ci.loading.derived.record import PolicyRecord, ordinal
from ci.loading.load import Workspace
from ci.loading.unread import UNREPRESENTABLE, section_of

_ID = re.compile(r"POL-(?P<implicit>IMP-)?(?P<domain>.+)-\d{3,}")
_NAMING = frozenset(("action", "consequent"))
_UNKNOWN = "a word that it uses cannot be read in the vocabulary"


def unproven(
    workspace: Workspace, records: Sequence[PolicyRecord], findings: Iterable[Finding]
) -> tuple[Unproven, ...]:
    """Every rule that could not be read, by path and line; *findings* are those of a check, whatever their severity."""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        for path in dict.fromkeys((finding.at.path, *_paths_of_cycle(finding))):
            by_path.setdefault(path, []).append(finding)
    if not by_path:
        return ()
    spoken = _Spoken(workspace, records)
    loaded = {record.path: record for record in records}
    found: list[Unproven] = []
    for path, here in by_path.items():
        section = section_of(path)
        if section == "vocabulary":
            found += _of_vocabulary(path, here, spoken)
        elif path in loaded:
            found += _of_policy(loaded[path], here, spoken)
        elif section == "policies":
            found += _of_file(path, [one for one in here if one.id in UNREPRESENTABLE], spoken)
    silent = (record for record in records if record.path not in by_path)
    found += [one for record in silent for one in _of_policy(record, (), spoken)]
    return tuple(sorted(found, key=lambda one: (one.path, one.line, one.policy_id or "")))


def _paths_of_cycle(finding: Finding) -> Iterator[str]:
    """The other files of a circle of overrides: each of them is lost in it."""
    if finding.id == "dangling-reference" and finding.at.route[:1] == ("overrides",):
        yield from (place.path for place, _ in finding.related)


# ---- policies -------------------------------------------------------------------------------------------------------


def _of_policy(record: PolicyRecord, findings: Sequence[Finding], spoken: _Spoken) -> Iterator[Unproven]:
    """A policy that was loaded, as far as some of it is not in the logic."""
    policy = record.policy
    if not policy.is_active or not policy.has_logic or record.raw.get("draft") is True:
        return
    is_failed = record.status["formalization"] == "failed"
    if is_failed:
        telling = [one for one in findings if SEVERITIES[one.id] == "error"]
    else:
        telling = [one for one in findings if _is_lossy(one)]
        if not telling:
            return
    about = spoken.named(_actions_of(policy), policy.metadata.domain)
    if any(one.id == "duplicate-key" for one in telling):  # what was dropped may have named anything
        about = about.and_(spoken.domain([policy.metadata.domain]))
    if _has_lost_invariant(policy, telling, is_failed):
        about = spoken.everything
    first = _first(telling, spoken.workspace)
    metadata = policy.metadata
    yield replace(
        about.entry(record.path, first),
        policy_id=policy.policy_id,
        owner=metadata.owner,
        domain=metadata.domain,
        start=ordinal(metadata.effective_date),
        end=ordinal(metadata.expiry_date),
        audience=tuple(policy.audience),
    )


def _is_lossy(finding: Finding) -> bool:
    """Does it say that something of a policy, which is in the logic otherwise, is not?"""
    if finding.id == "dangling-reference":
        return finding.at.route[:1] == ("overrides",)
    return finding.id in ("duplicate-key", "duplicate-id")


def _has_lost_invariant(policy: Policy, telling: Sequence[Finding], is_failed: bool) -> bool:
    """Is an invariant lost? It says which cases there are, so it speaks of every action."""
    if policy.formal is None:
        return False
    return any(one.id == "duplicate-key" for one in telling) or (is_failed and bool(policy.formal.constraints))


def _actions_of(policy: Policy) -> Iterator[str]:
    yield from (action.action for action in policy.actions)
    yield from _actions_in(policy.exceptions)
    if policy.formal is not None:
        yield from (rule.consequent for rule in policy.formal.logic_rules or ())


def _actions_in(exceptions: Iterable[PolicyException]) -> Iterator[str]:
    for exception in exceptions:
        if exception.action not in (None, "none"):
            yield str(exception.action)
        yield from exception.replaces
        yield from _actions_in(exception.exceptions)


# ---- files that are no policy ---------------------------------------------------------------------------------------


def _of_file(path: str, findings: Sequence[Finding], spoken: _Spoken) -> Iterator[Unproven]:
    """A file where a policy should be. What can be read of it says what it speaks of, else its domain does."""
    if not findings:
        return
    source = spoken.workspace.sources.get(path)
    data = source.data if source is not None and isinstance(source.data, dict) else {}
    if data and (_is_set_aside(path, data, findings) or _is_text_only(data)):
        return
    metadata = data.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    about = _read_in(path, data, spoken)
    if any(one.id == "duplicate-key" for one in findings):
        about = about.and_(spoken.domain(_domains(path, data)))
    start, end = _period(metadata, findings)
    owner, domain, id = metadata.get("owner"), metadata.get("domain"), data.get("policy_id")
    stem = PurePosixPath(path).stem
    yield replace(
        about.entry(path, _first(findings, spoken.workspace)),
        policy_id=id if isinstance(id, str) else stem if _ID.fullmatch(stem) else None,
        owner=owner if isinstance(owner, str) else "",
        domain=domain if isinstance(domain, str) else next(iter(_domains(path, data)), None),
        start=start,
        end=end,
        audience=_texts(data.get("audience")),
    )


def _read_in(path: str, data: Mapping[str, Any], spoken: _Spoken) -> _About:
    """The actions that the file names, where each place of an action names one; else also all of its domain."""
    named, is_whole = list(_naming(data)), bool(data.get("actions"))
    for item in data.get("actions") or () if isinstance(data.get("actions"), list) else (None,):
        is_whole = is_whole and isinstance(item, dict) and isinstance(item.get("action"), str)
    formal = data.get("formal")
    if isinstance(formal, dict) and formal.get("constraints"):
        return spoken.everything
    known = [text for text in texts_in(data) if spoken.is_declared(text)]  # also under a key that is misspelt
    if is_whole and all(isinstance(name, str) and (name == "none" or spoken.is_declared(name)) for name in named):
        return spoken.actions(known)
    return spoken.actions(known).and_(spoken.domain(_domains(path, data)))


def _naming(data: Any) -> Iterator[Any]:
    """What stands where an action is named."""
    if isinstance(data, list):
        for item in data:
            yield from _naming(item)
    elif isinstance(data, dict):
        for key, value in data.items():
            if key in _NAMING:
                yield value
            elif key == "replaces":
                yield from value if isinstance(value, list) else (value,)
            else:
                yield from _naming(value)


def _is_set_aside(path: str, data: Mapping[str, Any], findings: Sequence[Finding]) -> bool:
    """Did its author set it aside, beyond doubt: as a draft, or as found in logs and not yet validated?"""
    if data.get("draft") is True:
        return True
    named = _ID.fullmatch(str(data.get("policy_id")))
    discovery = data.get("discovery", {})
    is_doubtful = bool(data.keys() - Policy.model_fields) or any(one.at.route[:1] == ("discovery",) for one in findings)
    is_validated = isinstance(discovery, dict) and discovery.get("human_validated", False) is not False
    return bool(named and named["implicit"]) and not is_doubtful and not is_validated


def _is_text_only(data: Mapping[str, Any]) -> bool:
    """Was nothing to formalize written?"""
    return bool(_texts(data.get("text_only"))) and not (
        data.keys() - (Policy.model_fields.keys() - {"actions", "exceptions", "formal", "conditions"})
    )


def _period(metadata: Mapping[str, Any], findings: Sequence[Finding]) -> tuple[int | None, int | None]:
    """From when until when it holds; always, where that cannot be told for sure."""
    routes = {one.at.route[:2] for one in findings}
    if routes & {("metadata", "effective_date"), ("metadata", "expiry_date"), ("metadata",)}:
        return None, None
    start, end = (_day(metadata.get(key)) for key in ("effective_date", "expiry_date"))
    return start, end


def _day(written: Any) -> int | None:
    try:
        return date.fromisoformat(written).toordinal() if isinstance(written, str) else None
    except ValueError:
        return None


def _domains(path: str, data: Mapping[str, Any]) -> list[str]:
    """The domains that it may be of: by what it says, by its name, by its folder."""
    metadata = data.get("metadata")
    said = metadata.get("domain") if isinstance(metadata, dict) else None
    place = PurePosixPath(path)
    ids = [_ID.fullmatch(str(name)) for name in (data.get("policy_id"), place.stem)]
    named = [match["domain"].lower() for match in ids if match is not None]
    folders = place.parts[1:2] if len(place.parts) > 2 else ()
    return list(dict.fromkeys((*((said,) if isinstance(said, str) else ()), *named, *folders)))


def _texts(written: Any) -> tuple[str, ...]:
    return tuple(one for one in written if isinstance(one, str)) if isinstance(written, list) else ()


# ---- vocabularies ---------------------------------------------------------------------------------------------------


def _of_vocabulary(path: str, findings: Sequence[Finding], spoken: _Spoken) -> Iterator[Unproven]:
    """A vocabulary with a fault: what a word of it means to policies, or everything where the fault has no such place.

    A word that is not there at all fails the policies that use it, and needs no entry of its own.
    """
    faults = [one for one in findings if one.id in UNREPRESENTABLE or _breaks_relation(one)]
    parts = [(one, spoken.by_word(one)) for one in faults]
    for whole in (True, False):
        mine = [(one, about) for one, about in parts if about.is_everything is whole and (whole or about.words)]
        if mine:
            about = mine[0][1]
            for _, other in mine[1:]:
                about = about.and_(other)
            yield about.entry(path, _first([one for one, _ in mine], spoken.workspace))
            return


def _breaks_relation(finding: Finding) -> bool:
    """Is a relation between actions, or what an action is another name for, not what was written?"""
    route = finding.at.route
    return finding.id in ("unknown-action", "dangling-reference") and route[:1] in (("relations",), ("actions",))


# ---- words ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _About:
    """The actions that something speaks of, as they are declared."""

    spoken: _Spoken
    words: frozenset[str]
    is_everything: bool = False
    beside: frozenset[str] = frozenset()

    def and_(self, other: _About) -> _About:
        is_everything, beside = self.is_everything or other.is_everything, self.beside | other.beside
        return replace(self, words=self.words | other.words, is_everything=is_everything, beside=beside)

    def entry(self, path: str, first: tuple[str, str, int]) -> Unproven:
        """What is unproven, by the first finding: its id, its sentence, its line."""
        vocabulary = self.spoken.workspace.vocabulary
        canonical = {vocabulary.canonical(name) for name in self.words}
        actions = canonical.union(*(vocabulary.implied(name) for name in canonical)) & vocabulary.actions.keys()
        answered = {vocabulary.outcome_of(name) for name in actions}
        outcomes = [name for name in sorted(vocabulary.outcomes) if self.is_everything or name in answered]
        finding, reason, line = first
        return Unproven(
            path=path,
            line=line,
            actions=tuple(sorted(actions)),
            outcomes=tuple(outcomes),
            finding=finding,
            reason=reason,
            is_everything=self.is_everything,
            reach=vocabulary.reach(actions, outcomes),
            beside=tuple(sorted({vocabulary.canonical(name) for name in self.beside} - actions)),
        )


class _Spoken:
    """Who speaks of what: the declared actions of names, of domains, and of words of a vocabulary."""

    def __init__(self, workspace: Workspace, records: Sequence[PolicyRecord]) -> None:
        self.workspace, self.vocabulary, self._records = workspace, workspace.vocabulary, records

    @cached_property
    def everything(self) -> _About:
        return _About(self, frozenset(self.vocabulary.actions), is_everything=True)

    def is_declared(self, name: str) -> bool:
        return name in self.vocabulary.actions and leads_nowhere(self.vocabulary, name) is None

    def actions(self, names_: Iterable[str]) -> _About:
        return _About(self, frozenset(names_))

    def named(self, names_: Iterable[str], domain: str) -> _About:
        """The actions of these names; where one is not declared, or there is none, all of the *domain*."""
        found = list(names_)
        about = self.actions(name for name in found if name in self.vocabulary.actions)
        if found and all(map(self.is_declared, found)):
            return about
        return about.and_(self.domain([domain]))

    def domain(self, domains: Iterable[str]) -> _About:
        """All actions that a policy of those domains names or their vocabulary declares, and beside them those that no
        policy names which can be read; all, where no such domain is known.
        """
        found = self.actions(name for domain in domains for name in self._by_domain.get(domain.casefold(), ()))
        return replace(found, beside=self._orphans) if found.words else self.everything

    @cached_property
    def _orphans(self) -> frozenset[str]:
        """The actions that no policy names which can be read."""
        named = {self.vocabulary.canonical(name) for names_ in self._by_domain.values() for name in names_}
        return frozenset(map(self.vocabulary.canonical, self.vocabulary.actions)) - named

    def by_word(self, finding: Finding) -> _About:
        """What the fault of a vocabulary may change."""
        match finding.at.route:
            case ("actions", str(name), *_) if name in self.vocabulary.actions:
                return self.actions([name])
            case ("relations", "excludes", int(i), *_):
                return self._related(finding, ("relations", "excludes", i))
            case ("relations", "implies", str(name), *_):
                return self._related(finding, ("relations", "implies", name))
            case ("facts", str(name), *rest):
                return self.actions(()) if rest[:1] in (["phrases"], ["label"], ["ask"]) else self._testing(name)
        return self.everything

    def _related(self, finding: Finding, route: tuple[str | int, ...]) -> _About:
        source = self.workspace.sources.get(finding.at.path)
        written: Any = source.data if source is not None else None
        for key in route:
            try:
                written = written[key]
            except (KeyError, IndexError, TypeError):
                return self.everything
        told = [str(route[-1]), *texts_in(written)] if isinstance(route[-1], str) else [*texts_in(written)]
        found = self.actions(name for name in told if name in self.vocabulary.actions)
        return found if found.words else self.everything

    def _testing(self, fact: str) -> _About:
        """The actions of the rules that test *fact*. What is counted or summed by it is tested under another name."""
        if any(one.history is not None for one in self.vocabulary.facts.values()):
            return self.everything
        rules = (rule for record in self._records for rule in record.rules if fact in names(rule.guard))
        return self.actions({rule.effect.action for rule in rules})

    @cached_property
    def _by_domain(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for record in self._records:
            named = (name for name in _actions_of(record.policy) if name in self.vocabulary.actions)
            found.setdefault(record.policy.metadata.domain.casefold(), set()).update(named)
        loaded = {record.path for record in self._records}
        for path, source in self.workspace.sources.items():
            if path not in loaded and section_of(path) == "policies" and isinstance(source.data, dict):
                named = (text for text in texts_in(source.data) if text in self.vocabulary.actions)
                for domain in _domains(path, source.data):
                    found.setdefault(domain.casefold(), set()).update(named)
        for file in self.workspace.vocabularies:
            parts = PurePosixPath(file.path).parts
            if len(parts) > 2:
                found.setdefault(parts[1].casefold(), set()).update(file.vocabulary.actions)
        return {domain: frozenset(words & self.vocabulary.actions.keys()) for domain, words in found.items()}


def _first(findings: Sequence[Finding], workspace: Workspace) -> tuple[str, str, int]:
    """The finding that stands first in its file: its id, its sentence and its line."""
    if not findings:
        return "schema", _UNKNOWN, 1
    line, first = min(((workspace.position(one.at)[0], one) for one in findings), key=lambda pair: pair[0])
    return first.id, first.message, line
