"""A repository checked in parts: only what a change can affect, or a share for every worker."""
