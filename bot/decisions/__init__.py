"""Answers to questions about decisions: find the decision, gather its evidence, answer from that and nothing else."""
