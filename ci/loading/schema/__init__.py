"""What does not fit its model becomes a finding in the words of its author."""
