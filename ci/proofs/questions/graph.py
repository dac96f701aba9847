"""Whether a decision graph written by hand gives what its policy's rules give, in every case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import ConditionalRule, Facts, Formula, disj, negate
from bylaw.logic.words.graph import NOTHING, Graph, walk
from ci.findings import Finding, Place
from ci.loading.derived.record import PolicyRecord
from ci.proofs.answers import Reply, of_policies
from ci.proofs.inquiry import Inquiry
from ci.proofs.theory import PROVEN, Verdict

QUESTION = "graph-differs"
MOST_WAYS = 500  # from the root to an end; a person has drawn fewer
_AT = ("formal", "decision_graph")


def differing_graph(inquiry: Inquiry) -> Iterator[Reply]:
    """PROVEN iff every existing case ends where the rules of the policy say."""
    for policy_id, record in inquiry.each_policy("comparing decision graphs with their rules"):
        if record.graph is None or not record.in_logic:
            continue
        compared = Compared(record.graph, _guards(record))
        verdict = _difference(inquiry, record, compared)
        told: tuple[Finding, ...] = ()
        if verdict.status == "UNKNOWN":
            what = f"whether the decision graph of `{policy_id}` gives what its rules give"
            told = (inquiry.unanswered(what, Place(record.path, _AT), verdict, (policy_id,)),)
        elif verdict.status == "COUNTEREXAMPLE":
            told = (_differs(inquiry, record, compared, verdict),)
        yield Reply(of_policies(policy_id), verdict.status, told, verdict.reason)


@dataclass(frozen=True, slots=True)
class Compared:
    """A graph beside what the rules give: effect → where it holds.

    What is prohibited or permitted is compared where the graph speaks of such things at all.
    """

    graph: Graph
    guards: Mapping[str, Formula]

    @property
    def effects(self) -> tuple[str, ...]:
        """Everything that either of the two gives, as ends name it."""
        drawn = {effect for end in self.graph.terminals for effect in _said(end)}
        kinds = {kind for kind in ("not:", "may:") if any(effect.startswith(kind) for effect in drawn)}
        given = {one for one in self.guards if ":" not in one or one.partition(":")[0] + ":" in kinds}
        return tuple(sorted(drawn | given))

    def wrong(self, end: str) -> Formula:
        """Where the rules give something else than *end* says."""
        says = _said(end)
        return disj([negate(self._given(effect)) if effect in says else self._given(effect) for effect in self.effects])

    def given(self, facts: Facts) -> str:
        """What the rules give in a case, as an end would name it."""
        return "+".join(effect for effect in self.effects if truth(self._given(effect), facts)) or NOTHING

    def _given(self, effect: str) -> Formula:
        return self.guards.get(effect, disj([]))


def _said(end: str) -> tuple[str, ...]:
    return () if end == NOTHING else tuple(end.split("+"))


def _guards(record: PolicyRecord) -> dict[str, Formula]:
    by_effect: dict[str, list[ConditionalRule]] = {}
    for rule in record.rules:
        by_effect.setdefault(rule.effect.text, []).append(rule)
    return {effect: disj([rule.guard for rule in rules]) for effect, rules in by_effect.items()}


def _difference(inquiry: Inquiry, record: PolicyRecord, compared: Compared) -> Verdict:
    """The first case, in the order of the graph, that ends otherwise than its rules say."""
    theory = inquiry.theory
    mine = [i for i, rule in enumerate(theory.ruleset.rules) if rule.policy_id == record.policy.policy_id]
    unknown = None
    for n, (way, end) in enumerate(_ways(compared.graph)):
        if n == MOST_WAYS:
            return Verdict("UNKNOWN", reason=f"it has more than {MOST_WAYS} ways from its root to an end")
        wrong = compared.wrong(end)

        def is_shown(facts: Facts, end: str = end, wrong: Formula = wrong) -> bool:
            return walk(compared.graph, facts).terminal == end and truth(wrong, facts) is True

        verdict = theory.solve([*way, wrong], theory.at, mine, is_shown)
        if verdict.status == "COUNTEREXAMPLE":
            return verdict
        unknown = verdict if verdict.status == "UNKNOWN" else unknown
    return unknown or PROVEN


def _ways(graph: Graph) -> Iterator[tuple[tuple[Formula, ...], str]]:
    """Every way from the root to an end: the answers on it, and the end."""
    todo: list[tuple[str, tuple[Formula, ...]]] = [(graph.root, ())]
    while todo:
        place, way = todo.pop()
        node = graph.nodes.get(place)
        if node is None or node.test is None:
            yield way, place
            continue
        todo += [(node.false, (*way, negate(node.test))), (node.true, (*way, node.test))]


def _differs(inquiry: Inquiry, record: PolicyRecord, compared: Compared, verdict: Verdict) -> Finding:
    case, facts = inquiry.counterexample(verdict) or {}, verdict.facts or {}
    end = walk(compared.graph, facts).terminal or NOTHING
    return Finding(
        QUESTION,
        f"policy `{record.policy.policy_id}` has a decision graph that differs from its rules: "
        f"{case.get('words') or 'in every case'}: the graph says `{end}`, the rules say `{compared.given(facts)}`",
        Place(record.path, _AT),
        policies=(record.policy.policy_id,),
        help="correct the graph or the actions; until then the graph that follows from the rules is used",
        counterexample=case or None,
        status="COUNTEREXAMPLE",
    )
