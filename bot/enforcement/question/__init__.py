"""What a policy question says and what it is about: facts, domains, outcomes."""
