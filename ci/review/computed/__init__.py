"""What a pull request does, as data; computed where strangers' files are read."""
