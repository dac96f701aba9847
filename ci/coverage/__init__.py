"""What the cases of a policy set show of it, and the cases that would show the rest."""
