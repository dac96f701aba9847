"""The proposer without a model: what a text says in declared words, longest phrase first."""
