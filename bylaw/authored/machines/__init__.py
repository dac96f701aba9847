"""One model for each file of `rules/`: how far the machines of an organisation may go."""
