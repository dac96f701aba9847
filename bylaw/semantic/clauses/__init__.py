"""The clauses of a statement: rows, joins, groups, conditions and periods, each built once."""
