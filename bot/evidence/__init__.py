"""What is kept of every answer: the store, the papers, the record of a verdict."""
