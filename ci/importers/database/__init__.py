"""A live database as a draft of the context: what it declares, what its rows show, and what a person has to say."""
