"""Policy questions: from the words to the facts of a case, from the rules to a decision, from a decision to words."""
