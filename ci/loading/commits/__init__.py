"""Other commits of a repository, read by git without touching the working tree."""
