"""When Python looks for circles of dead objects: not while much is built that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

RARELY = (100_000, 50, 1_000)  # new objects, young and middle generations before the next is searched


@contextmanager
def no_collection() -> Iterator[None]:
    """Records form no cycles, and they stay: searching them for some is a tenth of the time of 10,000 files."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()  # the two together make everything old, so that the next search of the young is short
        if was_enabled:
            gc.enable()
