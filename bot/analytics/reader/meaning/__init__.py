"""From what a question says to what it asks."""
