"""What the context declares, held against the rows of a warehouse."""
