"""How large a source of tables may be: beyond, nothing of it is read."""

from __future__ import annotations

MOST_BYTES = 20_000_000
MOST_UNPACKED = 200_000_000  # of a workbook, whose parts are compressed
MOST_ELEMENTS = 2_000_000
MOST_COLUMNS = 200
MOST_ROWS = 50_000
MOST_CELLS = 2_000_000
