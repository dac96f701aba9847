"""Files of a repository, or of a commit of it, as models with the place of every value."""
