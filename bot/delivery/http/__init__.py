"""Questions over HTTP: the same trip as in the terminal, behind a size limit, a token and an error envelope."""
