"""The guard in other people's frameworks, each by its own hook and each an extra."""
