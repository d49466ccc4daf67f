"""The product tokens of a crawl: the crawler's names in robots.txt, from settings or the User-Agent."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.python import to_unicode

from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import product_token
from scrapy_rep.protocol.product_token import meant_token
from scrapy_rep.settings import RepSettings
from scrapy_rep.settings.kinds import is_name

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_MAX_HEADERS: Final = 256  # for a spider that sends a new User-Agent with every request


class ProductTokens:
    """The product tokens of a crawl's requests."""

    def __init__(self, crawler: Crawler, user_agents: tuple[str, ...]) -> None:
        """*user_agents* is the value of ``REP_USER_AGENTS``.

        Raises `InvalidSettingError` if ``ROBOTSTXT_USER_AGENT`` holds no product token.
        """
        self._crawler = crawler
        self._has_own_setting = bool(user_agents)
        self._configured = user_agents or from_setting(crawler.settings)
        self._of_default: tuple[str, ...] | None = None  # tokens of a request that sets no headers
        self._by_header: dict[bytes, tuple[str, ...]] = {}
        self._logged: set[str] = set()
        self._log_configured()

    def of(self, request: Request) -> tuple[str, ...]:
        """Return the product tokens of *request*, the most specific first.

        They come from ``REP_USER_AGENTS``, else from ``ROBOTSTXT_USER_AGENT``, else from the User-Agent header
        that is sent.
        """
        if self._configured:
            return self._configured
        # A look-up in headers tries every spelling, and nearly every request has headers, such as Referer.
        if self._of_default is not None and b"User-Agent" not in request.headers.keys():  # noqa: SIM118
            return self._of_default
        header = request.headers.get(b"User-Agent") if request.headers else None
        if header is None:
            self._of_default = self._of_header(self._default_header)
        return self._of_header(header or self._default_header)

    def _of_header(self, header: bytes) -> tuple[str, ...]:
        tokens = self._by_header.get(header)
        if tokens is None:
            if len(self._by_header) >= _MAX_HEADERS:
                self._by_header.clear()
            tokens = self._by_header[header] = (product_token(header),)
            self._log_header(tokens[0], header)
        return tokens

    @cached_property
    def _default_header(self) -> bytes:
        """Return the header that Scrapy's middlewares set, in their order."""
        default, last = _header_of_settings(self._crawler.settings)
        return default or _octets(getattr(self._crawler.spider, "user_agent", None)) or last

    def _log_configured(self) -> None:
        header = to_unicode(self._crawler.settings.get("ROBOTSTXT_USER_AGENT") or "", errors="backslashreplace")
        if "mozilla" in map(str.lower, self._configured):
            self._warn(
                "mozilla", "The product token in the settings is Mozilla, which does not identify your crawler."
            )
        elif self._configured and not self._has_own_setting and not is_name(header):
            self._warn(
                "name", f"ROBOTSTXT_USER_AGENT = {header!r}: only {self._configured[0]} is used as product token."
            )
        self._log_tokens(self._configured)

    def _log_header(self, token: str, header: bytes) -> None:
        shown = to_unicode(header, errors="backslashreplace")
        if not token:
            name = meant_token(header) or "ExampleBot"
            self._warn(
                "nameless",
                f"The User-Agent {shown!r} contains no product token: only the groups for * apply."
                f' Begin it with a name, as in "{name}/1.0 (+https://example.com/bot)".',
            )
        elif token.lower() == "mozilla":
            self._warn(
                "mozilla",
                f"The product token of the User-Agent {shown!r} is Mozilla, which does not identify your crawler.",
            )
        if token:
            self._log_tokens((token,))

    def _warn(self, topic: str, problem: str) -> None:
        if topic not in self._logged:
            self._logged.add(topic)
            logger.warning("%s Set REP_USER_AGENTS or ROBOTSTXT_USER_AGENT to the name of your crawler.", problem)

    def _log_tokens(self, tokens: tuple[str, ...]) -> None:
        if tokens and "token" not in self._logged:
            self._logged.add("token")
            logger.info("Product token for robots.txt: %s", ", ".join(tokens))


def tokens_of(settings: BaseSettings) -> tuple[str, ...]:
    """Return the product tokens, the most specific first, of a request that sets no User-Agent header.

    Raises `InvalidSettingError`.
    """
    configured = RepSettings.from_settings(settings).user_agents or from_setting(settings)
    return configured or (product_token(header_of(settings)[1]),)


def header_of(settings: BaseSettings) -> tuple[str, bytes]:
    """Return the setting that supplies the User-Agent of requests that set none, and that header."""
    default, last = _header_of_settings(settings)
    return ("DEFAULT_REQUEST_HEADERS", default) if default else ("USER_AGENT", last)


def _header_of_settings(settings: BaseSettings) -> tuple[bytes, bytes]:
    """Return the User-Agent in ``DEFAULT_REQUEST_HEADERS``, and the value of ``USER_AGENT``."""
    headers = settings.getdict("DEFAULT_REQUEST_HEADERS")
    default = next((value for name, value in headers.items() if name.lower() == "user-agent"), None)
    return _octets(default), _octets(settings.get("USER_AGENT"))


def _octets(header: Any) -> bytes:
    return header if isinstance(header, bytes) else str(header or "").encode("utf-8", "surrogateescape")


def from_setting(settings: BaseSettings) -> tuple[str, ...]:
    """Read the product token in ``ROBOTSTXT_USER_AGENT``, if set; raises `InvalidSettingError` if it has none."""
    header = settings.get("ROBOTSTXT_USER_AGENT")
    if not header:
        return ()
    token = product_token(header)
    if not token:
        raise InvalidSettingError(
            f"ROBOTSTXT_USER_AGENT = {header!r}: it takes a product token or a User-Agent header"
        )
    return (token,)
