"""The port to a language model, and the providers behind it. The merge gate never comes here."""
