"""Data questions: words → semantic query → SQL → gate → risk → rows."""
