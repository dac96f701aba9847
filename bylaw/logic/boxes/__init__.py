"""Cases as boxes, intervals by value sets: exact, and without a solver."""
