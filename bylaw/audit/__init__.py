"""The hash chain of the audit log: its entries, what is wrong with one, and the file it is carried in."""
