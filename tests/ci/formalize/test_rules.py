"""Policies as written → what they mean for concrete cases, or the findings that say why they mean nothing."""

from decimal import Decimal
from pathlib import Path

import yaml

from bylaw.authored.policies import Policy
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.decide.evaluate import decide
from bylaw.logic.formula.ir import ConditionalRule, Ruleset, Source
from ci.formalize.lower import Lowering
from ci.formalize.rules import Formalizer
from ci.loading.derived.variables import variables
from tests.rows import each

DATA = yaml.safe_load(Path(__file__).with_name("rules.yaml").read_text(encoding="utf-8"))
VOCABULARY = Vocabulary.model_validate(DATA["vocabulary"])
VARIABLES = variables(VOCABULARY)


def exact(value):
    """Floats of the test's YAML as the exact decimals that the product's own loader gives."""
    if isinstance(value, float):
        return Decimal(str(value))
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    return [exact(item) for item in value] if isinstance(value, list) else value


def formalized(written):
    policy = Policy.model_validate(
        exact(
            {
                "policy_id": "POL-REFUND-001",
                "metadata": {"source": "handbook", "owner": "Support", "domain": "refund"},
                **written,
            }
        )
    )
    lowering = Lowering(VOCABULARY, VARIABLES, "refund", "policy `POL-REFUND-001`", "p.yaml", ("POL-REFUND-001",))
    terms = {}
    for name, conditions in VOCABULARY.terms.items():
        terms[name.casefold()] = lowering.all_of(conditions, ("terms", name))
    return Formalizer(policy, VOCABULARY, lowering, terms).drafts(), lowering.findings


def ruleset(drafts):
    pairs = list(VOCABULARY.excluded_pairs())
    return Ruleset(
        VARIABLES,
        tuple(
            ConditionalRule(d.rule_id, "POL-REFUND-001", "refund", d.effect, d.guard, 4, Source("p")) for d in drafts
        ),
        excludes=frozenset((*pairs, *((b, a) for a, b in pairs))),
        outcomes=tuple(sorted(VOCABULARY.outcomes)),
    )


def found_in(decision, key):
    if key == "conflicts":
        return len(decision.conflicts)
    if key in ("required", "prohibited", "permitted"):
        return list(getattr(decision, key))
    return decision.outcomes[key].action


@each("row", DATA["meanings"], ids=[row["title"] for row in DATA["meanings"]])
def test_a_policy_means_what_it_says(row):
    drafts, findings = formalized(row["policy"])
    assert not findings
    rules = ruleset(drafts)
    for case in row["cases"]:
        facts = {name: VARIABLES[name].read(exact(value)) for name, value in case["facts"].items()}
        decision = decide(rules, facts, 1)
        expected = {key: value for key, value in case.items() if key != "facts"}
        assert {key: found_in(decision, key) for key in expected} == expected, case


@each("row", DATA["findings"], ids=[row["title"] for row in DATA["findings"]])
def test_a_word_that_does_not_fit_is_a_finding_on_its_place(row):
    drafts, findings = formalized(row["policy"])
    assert drafts is None
    assert [finding.id for finding in findings] == row["ids"]
    if "route" in row:
        assert list(findings[0].at.route) == row["route"]
    for word in row.get("says", ()):
        assert word in findings[0].message
    if "help" in row:
        assert row["help"] in findings[0].help


def test_rule_ids_follow_the_order_of_the_actions():
    drafts, _ = formalized(
        {
            "actions": [
                {"type": "required", "action": "verify_identity"},
                {"type": "fallback", "action": "reject"},
                {"type": "prohibited", "action": "disclose_pii"},
            ]
        }
    )
    assert [(d.rule_id, d.effect.action) for d in drafts] == [
        ("R-REFUND-001a", "verify_identity"),
        ("R-REFUND-001b", "reject"),
        ("R-REFUND-001c", "disclose_pii"),
    ]


def test_every_problem_of_a_policy_is_told_at_once():
    _, findings = formalized(
        {
            "scope": {"channels": ["shop"]},
            "conditions": [{"type": "boolean_flag", "parameter": "has_reciept", "value": True}],
            "actions": [{"type": "required", "action": "full_refnud"}],
        }
    )
    assert [finding.id for finding in findings] == ["value-out-of-domain", "unknown-fact", "unknown-action"]
