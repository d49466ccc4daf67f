"""To be imported where redis-py must seem not to be installed."""

from __future__ import annotations

import sys

from tests.support.run_crawl import Recorder

sys.modules["redis"] = None  # type: ignore[assignment]

__all__ = ["Recorder"]
