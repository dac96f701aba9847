"""The facts and the days of the case that a question tells of."""
