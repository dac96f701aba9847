"""Who proposes what a text says: a caller, the matcher, a model. What they propose is held, never believed."""
