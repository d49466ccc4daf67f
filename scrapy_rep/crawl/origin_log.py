"""Log lines that come once per origin: the first ten of a kind, then one line that counts the rest."""

from __future__ import annotations

import logging
import re
from typing import Final

from scrapy_rep.protocol.display import shown

_SHOWN: Final = 10
_PLURAL: Final = re.compile(r"(%d more \w+)s\b")


class OriginLog:
    """One kind of log line about origins. *summary* counts the lines that were not logged."""

    def __init__(self, logger: logging.Logger, level: int, summary: str) -> None:
        self._logger = logger
        self._level = level
        self._summary = summary
        self._seen = 0

    def add(self, message: str, *args: object) -> None:
        """Log *message*, or only count it once ten of its kind have been logged."""
        self._seen += 1
        if self._seen <= _SHOWN:
            self._logger.log(self._level, message, *args)

    def close(self) -> None:
        """Log how many lines were counted and not logged."""
        if self._seen > _SHOWN:
            rest = self._seen - _SHOWN
            summary = self._summary if rest > 1 else _PLURAL.sub(r"\1", self._summary)
            self._logger.log(self._level, summary, rest)


def describe(error: Exception | None) -> str:
    """*error* on one line, safe to print."""
    return shown(" ".join(f"{type(error).__name__}: {error}".split()))
