"""How large a file may be, and how deep and full what it holds: beyond, it is a finding and is not read."""

from __future__ import annotations

MAX_BYTES = 1_048_576
MAX_DEPTH = 32
MAX_NODES = 200_000
