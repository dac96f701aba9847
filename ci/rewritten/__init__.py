"""What of a policy's rules was written anew, in words: bounds that moved, conditions gained and lost."""
