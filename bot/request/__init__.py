"""A request from its first step to its last: claimed, answered, confirmed, accepted, settled."""
