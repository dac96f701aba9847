"""Z3, in this process or in one that may be killed."""
