"""The bounded loop: a logic program is checked, told what is wrong with it, and rewritten a few times at most."""
