"""A semantic query from the held items of a data question."""
