"""Rules that contradict each other: found, grouped by cause, told."""
