"""What follows in a case: every completion of the unknown facts, conflicts, counterfactuals."""
