"""Messages that come once per origin: the first ten, then one sum at the end of the crawl; and errors in them."""

from __future__ import annotations

import logging
import re
from typing import Final

from scrapy_rep.protocol.display import shown

_SHOWN: Final = 10
_PLURAL: Final = re.compile(r"(%d more \w+)s\b")


class OriginLog:
    """One kind of message about origins; *summary* says the rest in one line, of ``%d more origins``."""

    def __init__(self, logger: logging.Logger, level: int, summary: str) -> None:
        self._logger = logger
        self._level = level
        self._summary = summary
        self._seen = 0

    def add(self, message: str, *args: object) -> None:
        """Log *message*, or only count it when ten of its kind were logged."""
        self._seen += 1
        if self._seen <= _SHOWN:
            self._logger.log(self._level, message, *args)

    def close(self) -> None:
        """Log how many messages were counted and not shown."""
        if self._seen > _SHOWN:
            rest = self._seen - _SHOWN
            summary = self._summary if rest > 1 else _PLURAL.sub(r"\1", self._summary)
            self._logger.log(self._level, summary, rest)


def describe(error: Exception | None) -> str:
    """One line about *error*."""
    return shown(" ".join(f"{type(error).__name__}: {error}".split()))
