"""The Slack app put together: the settings, Bolt, the listeners, and the two ways in, HTTP and a socket."""
