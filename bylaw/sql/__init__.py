"""The SQL gate: what a statement reads, resolved scope by scope, and the text of it that may run."""
