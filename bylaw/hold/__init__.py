"""Words are proposed as items, and held here against the text that is said to bear them. Nothing in here guesses."""
