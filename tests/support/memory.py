"""How much memory something keeps, measured with `tracemalloc`."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable


def octets_kept(make: Callable[[], object]) -> int:
    """The octets that are in use when *make* has run, with what it answers and without its garbage."""
    gc.freeze()  # else each collection looks at all that thousands of tests have in memory
    tracemalloc.start()
    try:
        kept = make()
        gc.collect()
        octets, _ = tracemalloc.get_traced_memory()
        del kept
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    return octets
