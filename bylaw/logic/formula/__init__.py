"""What a formula is: atoms and rules, the notations they are written in, and their JSON."""
