"""Where the rows are: one small protocol, one module a driver."""
