"""What the bot remembers of a person, and how what many of them correct becomes a proposal for everybody."""
