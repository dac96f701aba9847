"""The bounded loop over what people write: the rules of a policy, told by its text and held by its cases."""
