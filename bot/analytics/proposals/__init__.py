"""A model as the reader: what it proposes is held against the words of the question."""
