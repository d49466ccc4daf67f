"""What people read about origins: lines that come once for each, and failures in words.

Of a kind of lines the first ten are logged, then one that counts the rest.
"""

from __future__ import annotations

import logging
import re
from typing import Final

from scrapy_rep.protocol.display import shown

_SHOWN: Final = 10
_PLURAL: Final = re.compile(r"(%d more \w+)s\b")
_IN_A_LIST: Final = re.compile(  # how Twisted prints failures
    r"<twisted\.python\.failure\.Failure [\w.]+: (.*?)>(?=, <twisted|\]$)"
)
_TLS: Final = re.compile(r"'SSL routines', '[^']*', '([^']+)'|\[SSL: \w+\] ([^(\]]+)")  # OpenSSL's, and Python's
_NO_TLS: Final = {"wrong version number", "packet length too long", "record layer failure", "http request"}
_SPEAKS_HTTP: Final = "the server does not answer with TLS ({}): try http:// instead of https://"
_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


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
    """*error* in words, on one line and safe to print.

    The name of its class is used only where the message is none, or a bare value such as a key.
    """
    text = " ".join(str(error).split())
    text = "; ".join(dict.fromkeys(_IN_A_LIST.findall(text))) or text
    if found := _TLS.search(text):
        fault = (found[1] or found[2]).strip()
        text = _SPEAKS_HTTP.format(fault) if fault in _NO_TLS else f"TLS fails: {fault}"
    if " " not in text:
        name = _WORD.sub(" ", type(error).__name__).lower()
        text = f"{name}: {text}" if text else name
    return shown(text)
