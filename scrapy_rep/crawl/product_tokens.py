"""Under which product tokens a request asks robots.txt: the crawler's name, from settings or header."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.python import to_unicode

from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import product_token
from scrapy_rep.settings import RepSettings
from scrapy_rep.settings.kinds import is_name

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_HEADERS_KEPT: Final = 256  # of a spider that takes a new User-Agent header for every request


class ProductTokens:
    """The product tokens of the requests of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises `InvalidSettingError` when ``ROBOTSTXT_USER_AGENT`` holds no product token."""
        self._crawler = crawler
        self._of_settings = _header_of_settings(crawler.settings)
        self._settled = RepSettings.from_crawler(crawler).user_agents or from_setting(crawler.settings)
        self._by_header: dict[bytes, tuple[str, ...]] = {}
        self._told: set[str] = set()
        self._tell_settled()

    def tokens(self, request: Request) -> tuple[str, ...]:
        """The tokens of *request*, most specific first.

        ``REP_USER_AGENTS``, else ``ROBOTSTXT_USER_AGENT``, else the User-Agent header that will be sent.
        """
        if self._settled:
            return self._settled
        header = (request.headers.get(b"User-Agent") if request.headers else None) or self._default_header()
        tokens = self._by_header.get(header)
        if tokens is None:
            if len(self._by_header) >= _HEADERS_KEPT:
                self._by_header.clear()
            tokens = self._by_header[header] = (product_token(header),)
            self._tell_header(tokens[0], header)
        return tokens

    def _default_header(self) -> bytes:
        """The header that Scrapy's middlewares will set, in their order."""
        default, last = self._of_settings
        return default or _octets(getattr(self._crawler.spider, "user_agent", None)) or last

    def _tell_settled(self) -> None:
        header = to_unicode(self._crawler.settings.get("ROBOTSTXT_USER_AGENT") or "", errors="backslashreplace")
        if "mozilla" in map(str.lower, self._settled):
            self._warn(
                "mozilla", "The product token that the settings give is Mozilla, which does not say who crawls."
            )
        elif self._settled and not RepSettings.from_crawler(self._crawler).user_agents and not is_name(header):
            self._warn("name", f"ROBOTSTXT_USER_AGENT = {header!r}: of it only {self._settled[0]} counts.")
        self._tell_tokens(self._settled)

    def _tell_header(self, token: str, header: bytes) -> None:
        shown = to_unicode(header, errors="backslashreplace")
        if not token:
            self._warn("nameless", f"The User-Agent {shown!r} holds no product token: only groups of * apply.")
        elif token.lower() == "mozilla":
            self._warn("mozilla", f"The User-Agent {shown!r} does not say who crawls; its token is Mozilla.")
        if token:
            self._tell_tokens((token,))

    def _warn(self, topic: str, problem: str) -> None:
        if topic not in self._told:
            self._told.add(topic)
            logger.warning("%s Set REP_USER_AGENTS or ROBOTSTXT_USER_AGENT to a name of your own.", problem)

    def _tell_tokens(self, tokens: tuple[str, ...]) -> None:
        if tokens and "token" not in self._told:
            self._told.add("token")
            logger.info("Product token in robots.txt: %s", ", ".join(tokens))


def tokens_of(settings: BaseSettings) -> tuple[str, ...]:
    """The tokens, most specific first, of a request that has no User-Agent header of its own.

    Raises `InvalidSettingError`.
    """
    default, last = _header_of_settings(settings)
    settled = RepSettings.from_settings(settings).user_agents or from_setting(settings)
    return settled or (product_token(default or last),)


def _header_of_settings(settings: BaseSettings) -> tuple[bytes, bytes]:
    """What ``DEFAULT_REQUEST_HEADERS`` and ``USER_AGENT`` say."""
    headers = settings.getdict("DEFAULT_REQUEST_HEADERS")
    default = next((value for name, value in headers.items() if name.lower() == "user-agent"), None)
    return _octets(default), _octets(settings.get("USER_AGENT"))


def _octets(header: Any) -> bytes:
    return header if isinstance(header, bytes) else str(header or "").encode("utf-8", "surrogateescape")


def from_setting(settings: BaseSettings) -> tuple[str, ...]:
    """The token in ``ROBOTSTXT_USER_AGENT``, if that is set; raises `InvalidSettingError` when it holds none."""
    header = settings.get("ROBOTSTXT_USER_AGENT")
    if not header:
        return ()
    token = product_token(header)
    if not token:
        raise InvalidSettingError(
            f"ROBOTSTXT_USER_AGENT = {header!r}: it takes a product token or a User-Agent header"
        )
    return (token,)
