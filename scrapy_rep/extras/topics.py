"""Log topics of the extras, for `OriginLog`."""

from __future__ import annotations

from enum import Enum
from logging import INFO, WARNING


class ExtraTopic(Enum):
    """As `Topic`: a log level, and the line that counts suppressed messages."""

    BACKOFF = INFO, "%d more hosts asked to slow down, or failed repeatedly"
    REFUSED = WARNING, "%d more sites refuse pages, whatever their robots.txt says"
    SKIPPED = WARNING, "%d more sites refused pages in a row: their other pages are skipped"
    HELD = INFO, "%d more hosts get no request for a while: they asked an earlier run, or another process"
    HOLDS_DROPPED = WARNING, "%d more times, holds of sites were dropped"
    ABORTED = WARNING, "%d more requests of the browser could not be judged"
    REDIS_AWAY = WARNING, "Redis stopped answering %d more times"
    REDIS_BACK = INFO, "Redis answered again %d more times"
