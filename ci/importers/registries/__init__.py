"""Registries of decisions that lie outside of the repository: PEPs, KEPs and RFCs become records in YAML."""
