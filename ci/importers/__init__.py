"""Context that others wrote in their own formats, as context files of ours. One file a format."""
