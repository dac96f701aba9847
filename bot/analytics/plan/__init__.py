"""What may run: the plan in words, its risk, its level, and the gate before the warehouse."""
