"""What each finding id means and what to do about it: the words of `bylaw explain ID`."""

from __future__ import annotations

from collections.abc import Mapping

MEANINGS: Mapping[str, tuple[str, str]] = {
    "conflict": (
        "Two rules fire in the same case, act against each other, and are equally strong: nobody wins. Different "
        "actions alone are no conflict; they must answer one outcome, or one demands what the other prohibits.",
        "Narrow one of the guards, or declare `overrides: [POL-…]` with a `reason` in the policy that should win.",
    ),
    "resolved-conflict": (
        "Two rules contradict each other, and the priority level or a declared override decides.",
        "Nothing, if the winner is the one you mean.",
    ),
    "gap": (
        "An outcome says `complete: true`, but in some case no policy gives it an action.",
        "Add a policy for that case, a fallback without conditions, or take `complete` from the outcome.",
    ),
    "dead-rule": (
        "No case can meet the rule's conditions.",
        "Correct the conditions: they contradict each other, the scope, or a fact's domain.",
    ),
    "never-wins": (
        "The rule can fire, but a stronger one always removes its effect.",
        "Remove it, or narrow the other.",
    ),
    "redundant-rule": ("Without the rule no case would end differently.", "Remove it."),
    "violated-invariant": (
        "A rule can fire only in cases that break an invariant.",
        "Correct the rule or the invariant.",
    ),
    "unreachable-exception": (
        "No case meets the exception's conditions where an action it replaces would hold.",
        "An exception acts instead of something: check that the policy says something there.",
    ),
    "failing-case": ("A case in cases.yaml ends differently from what it expects.", "Correct the policy or the case."),
    "outcome-change": (
        "A change makes cases end differently.",
        "Look at the cases, and approve the change if they are meant.",
    ),
    "changed-check": (
        "A change alters what decides whether it passes, or which cases there are.",
        "Let the owners of the file decide; make it in a pull request of its own where it hides something.",
    ),
    "unknown-answer": (
        "A question could not be answered within its budget. That is never counted as passed.",
        "Simplify the guards, or raise the budget under `proofs` in rules/ci.yaml.",
    ),
    "unknown-fact": ("A condition names a fact that no vocabulary declares.", "Correct it, or declare the fact."),
    "unknown-action": ("An action is named that no vocabulary declares.", "Correct it, or declare the action."),
    "unknown-requirement": (
        "A name in `requires` means nothing, or two things.",
        "Name a condition id, a boolean fact, `within_window`, a term, or `no_` and a fact.",
    ),
    "unknown-target": ("A `target` is no value of an enum fact, or of two.", "Write `fact:value` where two share it."),
    "type-mismatch": ("A value or an operator does not fit the fact's type.", "Look at the fact in the vocabulary."),
    "unit-mismatch": (
        "Amounts in units that do not convert are compared.",
        "Use the fact's unit; money never converts.",
    ),
    "value-out-of-domain": ("A value lies outside what the fact can be.", "Correct it, or widen the fact's domain."),
    "invalid-expression": (
        "A hand-written expression cannot be read.",
        "Use facts, literals, + - *, comparisons, and/or/not.",
    ),
    "unused-word": ("A declared word is used nowhere.", "Use it or remove it."),
    "unreadable-file": ("A file is no strict YAML 1.2: syntax, anchors, tags, size, encoding.", "Write it plainly."),
    "schema": ("A file does not have the shape of its format.", "Follow the schema its first line points at."),
    "duplicate-key": ("One word is declared twice.", "Keep one of the two."),
    "duplicate-id": ("Two files share one id.", "Give one of them a new id, and the file its name."),
    "dangling-reference": (
        "An id is named that does not exist, or a chain of ids runs in a circle.",
        "Correct the id.",
    ),
    "extra-field": (
        "A record of a decision, event or transition has a key that is none of its fields. It is kept in `x-extra`.",
        "Correct the key if it is misspelt; else write it under `x-extra`.",
    ),
    "long-text": (
        "A text of a record is longer than the evidence of an answer shows. All of it is kept and searched.",
        "Put what matters most first, or raise the bound under `lengths` in rules/intents.yaml.",
    ),
    "undated-decision": (
        "A document does not say when its decision was made. It has the day of its first commit where git knows that "
        "one, which a clone that is cut off does not, and no day elsewhere.",
        "Write the day into it: a line like `Date: 2026-01-31`.",
    ),
    "unknown-status": (
        "A document has a status that is no known word, so it is not taken for a decision that holds.",
        "Write proposed, accepted, rejected, deprecated, superseded, retired or deferred.",
    ),
    "decision-edited": (
        "A change edits or deletes what an accepted decision says: what was decided, why, by whom or when.",
        "Write a new decision that supersedes it; a record says what was decided then.",
    ),
    "supersession": (
        "Records disagree about what holds: one side of a supersession is missing, a decision that holds rests on a "
        "rejected one, or two that hold govern the same thing without knowing each other.",
        "Say it in both records, or let one supersede or amend the other.",
    ),
    "decision-chronology": (
        "What is said to have led to a decision lies after it.",
        "Correct one of the days, or the link.",
    ),
    "decision-cycle": (
        "Decisions rest on each other, or supersede each other, in a circle.",
        "Take out the link that leads the wrong way.",
    ),
    "duplicate-number": ("Two decisions of one folder have one number.", "Give one of them the next free number."),
    "overdue-review": (
        "A decision that holds should have been looked at again by a day that has passed.",
        "Decide whether it still holds: write a later `review_by`, or supersede it.",
    ),
    "unresolved-affects": (
        "A decision says that it governs a file, a policy, a metric or a package that is not there.",
        "Correct the name, or take it out.",
    ),
    "missing-template": (
        "An intent in rules/intents.yaml names a template that does not exist: such a question gets no answer.",
        "Name a template that there is.",
    ),
    "unkept-decision": (
        "A check that a decision names under `confirmation` does not hold any more: a policy is out of force, a case "
        "ends otherwise, a metric is defined anew, a query returns something else, a file is there or gone.",
        "See to it that it holds again, or decide anew and supersede the decision.",
    ),
    "priority-mismatch": (
        "`metadata.priority` differs from the derived level.",
        "The derived one holds: correct or remove it.",
    ),
    "missing-owner": ("Nobody is named who answers for the policy.", "Name an owner."),
    "empty-policy": (
        "A policy decides no case and has no text.",
        "Write its `actions`, or its sentences under `text_only`.",
    ),
    "unformalized-exception": (
        "An exception has words and no logic, and does not say that it is meant so.",
        "Give it `conditions` and an `action`, or put its words under `text_only`.",
    ),
    "taken-conditions": (
        "A prohibition or permission takes all conditions of its policy, because it names none.",
        "Write `requires: []` if it always holds, else the names of its conditions.",
    ),
    "idle-permission": (
        "A policy permits an action of an outcome that it decides otherwise. A permission decides no outcome: the case "
        "gets the other action, also where this one may be done.",
        "`type: required` gives the outcome this action. What is allowed beside any outcome is an action without one.",
    ),
    "idle-replaces": (
        "An exception names one action to replace, and replaces others of the same outcome too.",
        "Narrow its `conditions` where one shall stay, else leave `replaces` out.",
    ),
    "graph-differs": (
        "A decision graph written by hand ends otherwise than the rules say, or asks in words that nobody declares.",
        "Correct the graph or the actions. Until then the graph that follows from the rules is used.",
    ),
    "explicit-pattern": (
        "A policy from a document has an action of the type `discovered_pattern`.",
        "Write `required`; what was found in decisions stands in a policy `POL-IMP-…`.",
    ),
    "lifts-all": (
        "An exception to `none` names no action, and lifts all that the policy says.",
        "Name what it lifts: `replaces: [actions]`. The rest stays.",
    ),
    "changed-meaning": (
        "What is written means something else than it did to an earlier version of bylaw, in the case shown.",
        "Nothing, where the case is meant so; else write what is meant. `severities` in rules/ci.yaml turns it off.",
    ),
    "calendar-unit": (
        "A limit in months is compared with a fact in days: a month is 30 of them, twelve are 365.",
        "Say the limit in days, or leave it where that is meant.",
    ),
    "quote-mismatch": ("A quoted sentence says another number or the opposite.", "Correct the quote or the condition."),
    "misplaced-policy": (
        "A policy lies in the folder of another domain than its own.",
        "Move the file, or correct `metadata.domain` and the id.",
    ),
    "unused-condition": (
        "No action of the policy requires a condition, so it narrows nothing.",
        "Give it an `id` and name that in `requires`.",
    ),
    "unused-setting": ("Nothing reads a setting.", "Delete it."),
    "unread-file": (
        "A file lies beside policies that no part of bylaw reads.",
        "Move it out of the folder, or write it as YAML.",
    ),
    "assumed-fact": (
        "A condition names no fact, and the default of every domain (`*`) is taken, though the policy's own domain "
        "declares a fact of the same kind.",
        "Name the fact that is meant with `parameter`, or give the domain a line of its own under `defaults`.",
    ),
    "negative-label": (
        "The label of an action says what is not done. A denial of it would be read twice.",
        "Call the action by what it does (`borrow a book`), and prohibit it where it may not be done.",
    ),
    "doubled-unit": (
        "A form of a label writes the unit behind `{value}`, which brings it along: an answer would say it twice.",
        "Write `{value}` alone in a form; a phrase, where people say the number and its unit, keeps both.",
    ),
    "missing-form": (
        "Some labels carry forms (`given`, `denied`), so answers are whole sentences; one that an answer may need is "
        "missing, and there it would fall back to `label: value`.",
        "Write the form: a clause without its full stop (`given: you get the money back`), `{value}` for a number.",
    ),
    "unaskable": (
        "No word of a question names an outcome, an action, a metric, an entity or a dimension: it has no phrases, and "
        "its name is no word that people say (`cust_nm`), so nobody can ask for it without a form.",
        "Say how people ask for it: `phrases: [refund, money back]` of an outcome or action, of data "
        "`synonyms: [customer name]`; `bylaw read` shows what a question is taken for.",
    ),
    "odd-character": (
        "A label, its forms, a question or a phrase holds something that people do not see as it is: an invisible "
        "character, letters of two alphabets in one word, or braces that nothing fills.",
        "Type the words again; only `{value}` is filled in.",
    ),
    "not-yet-in-force": (
        "A policy takes effect on a later day. Until then it decides nothing, and cases that need it are not failing.",
        "Nothing, if the day is meant; a case that says `at: DATE` is asked for that day.",
    ),
    "inactive-policy": (
        "A mined policy holds only once a person confirmed it.",
        "Review it, then `human_validated: true`.",
    ),
    "expiring-policy": ("A policy ends soon.", "Renew it, or see what holds afterwards."),
    "idle-waiver": (
        "A waiver accepts nothing: its day is over, or its finding is gone.",
        "Delete the entry, or accept the finding anew.",
    ),
    "idle-override": (
        "An override has no effect.",
        "It works against the same or a lower level, where they contradict.",
    ),
    "invalid-sql": ("An expression or a verified query does not pass the gate.", "Correct the SQL."),
    "unknown-column": ("A column is named that its entity does not declare.", "Correct or declare it."),
    "relationship-cardinality": ("The data break the declared cardinality of a join.", "Correct the relationship."),
    "key-violated": ("The data break the declared primary key.", "Correct the key."),
    "ambiguous-synonym": ("One word means two things in the context.", "Give it to one of them."),
    "closed-entity": (
        "A rule on rows leads to no one row of its dimension from an entity, so the role sees none of its rows.",
        "Name the entity in the rule's `except` if the role may see all of its rows, or declare the relationship.",
    ),
    "unbound-fact": (
        "A policy about what a tool does asks for a fact that no call of the tool says, that no history computes and "
        "that an agent may not assert.",
        "Bind the fact in rules/tools.yaml to an argument, a lookup or the session.",
    ),
    "assertable-money": (
        "An agent may say by itself how much money a case is about.",
        "Bind the amount to an argument or a lookup, and take `assertable: true` away.",
    ),
    "uncallable-tool": (
        "No case allows what the tool does, so that every call of it is denied.",
        "Write the policy that permits it, or take the tool out of rules/tools.yaml.",
    ),
    "untyped-key": (
        "A limit counts by a key whose spelling nothing says, so that to the tool two keys may be one thing.",
        "Give the key a type under `keys` of rules/tools.yaml.",
    ),
    "unserved-task": (
        "No registered language model may take a task, so the plain path answers.",
        "Give an agent the capabilities, or the task more time.",
    ),
    "missing-table": ("The warehouse has no table of that name.", "Correct `base_table`, or the warehouse."),
    "missing-column": ("The table has no column of that name.", "Correct the expression, or the key."),
    "column-type": (
        "A column holds something else than it is declared for.",
        "Correct `data_type`, or cast it in `expr`.",
    ),
    "untagged-pii": (
        "A column looks personal and nothing hides it.",
        "List it under `pii`, or close the list of columns.",
    ),
    "orphaned-rows": ("Rows name a partner that is not there.", "Look where those rows come from."),
    "enum-drift": ("The values of an enum are not those in the rows.", "List the values that there are."),
    "empty-filter": ("A filter leaves no row.", "Compare its values with those in the data."),
    "stale-data": ("The newest row is older than it may be.", "Load the table, or allow more."),
    "schema-drift": (
        "The columns of a table are not those that were recorded.",
        "Look at the entity, and record them anew.",
    ),
    "unmeasured": ("Something could not be measured.", "Correct what the warehouse refuses, and measure again."),
}
