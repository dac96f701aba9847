"""Processes, connections and the lines they take turns at."""
