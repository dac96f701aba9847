"""The plain reader of data questions: words to a semantic query, or what stands in the way."""
