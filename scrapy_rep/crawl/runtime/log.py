"""Log lines about origins, one per origin, and failures in words.

The first ten lines of a topic are logged, then one line that counts the rest.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from enum import Enum
from logging import INFO, WARNING
from typing import TYPE_CHECKING, Final

from scrapy import signals

from scrapy_rep.protocol.display import shown

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_SHOWN: Final = 10
_PLURAL: Final = re.compile(r"(%d more \w+)s\b")
_IN_A_LIST: Final = re.compile(  # how Twisted prints failures
    r"<twisted\.python\.failure\.Failure [\w.]+: (.*?)>(?=, <twisted|\]$)"
)
_TLS: Final = re.compile(r"'SSL routines', '[^']*', '([^']+)'|\[SSL: \w+\] ([^(\]]+)")  # OpenSSL's, and Python's
_NO_TLS: Final = {"wrong version number", "packet length too long", "record layer failure", "http request"}
_SPEAKS_HTTP: Final = "the server does not answer with TLS ({}): try http:// instead of https://"
_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Topic(Enum):
    """The topic of log lines: their level, and the line that counts the lines not logged."""

    READ = INFO, "%d more origins: robots.txt read or missing"
    UNREACHABLE = WARNING, "robots.txt of %d more origins is unreachable"
    REFUSED = WARNING, "%d more origins refuse their robots.txt and serve their pages"
    UNPARSED = WARNING, "robots.txt of %d more origins cannot be parsed"
    ODD = WARNING, "robots.txt of %d more origins has an unknown Content-Encoding"
    RETRIED = INFO, "The first attempt at robots.txt of %d more origins failed"
    DELAY = INFO, "robots.txt of %d more origins asks for a delay"
    LONG_DELAY = WARNING, "robots.txt of %d more origins asks for a delay over REP_CRAWL_DELAY_MAX"
    UNJUDGED = WARNING, "%d more requests came to their download handlers without a verdict"
    LAPSED = WARNING, "%d more exceptions do not apply: other rules decide"
    EXPIRED = WARNING, "%d more exceptions have expired"
    ENDING = INFO, "%d more exceptions expire soon"
    KEPT = WARNING, "%d more responses from forbidden URLs were kept"
    DROPPED = WARNING, "%d more responses from forbidden URLs were dropped"


class OriginLog:
    """The log lines of a crawl; the counts are logged when the spider closes."""

    def __init__(self, crawler: Crawler) -> None:
        self._seen: Counter[Enum] = Counter()
        crawler.signals.connect(self._close, signal=signals.spider_closed)

    def add(self, topic: Enum, message: str, *args: object) -> None:
        """Log *message*, or only count it after ten messages of its *topic*.

        *topic* is a `Topic`, or an extra's topic with the same values.
        """
        seen = self._seen[topic] = self._seen[topic] + 1
        if seen <= _SHOWN:
            logger.log(topic.value[0], message, *args)

    def shows(self, topic: Enum) -> bool:
        """Whether the next line of *topic* is logged; if not, callers can skip formatting it."""
        return self._seen[topic] < _SHOWN

    def _close(self) -> None:
        for topic, seen in self._seen.items():
            level, summary = topic.value
            if seen > _SHOWN:
                logger.log(level, summary if seen > _SHOWN + 1 else _PLURAL.sub(r"\1", summary), seen - _SHOWN)


def speaks_no_tls(error: Exception) -> bool:
    """Whether *error* shows a server that answers without TLS on an https port."""
    found = _TLS.search(str(error))
    return found is not None and (found[1] or found[2]).strip() in _NO_TLS


def describe(error: Exception | None) -> str:
    """Describe *error* in words, on one line and safe to print.

    The class name is used only if there is no message, or if the message is a bare value such as a key.
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
