"""The request for a robots.txt: what it inherits from the request that caused it, what it must not do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

if TYPE_CHECKING:
    from scrapy_rep.settings import RepSettings

PRIORITY: Final = 1_000
"""As that of Scrapy's own middleware: before every page."""

_OURS: Final[dict[str, Any]] = {
    "dont_obey_robotstxt": True,
    "is_robotstxt_request": True,
    # Redirects and retries are counted by us; see fetch.py.
    "dont_redirect": True,
    "dont_retry": True,
    # robots.txt speaks for a site that the spider asked for, wherever it is kept.
    "allow_offsite": True,
    "dont_merge_cookies": True,
    "autothrottle_dont_adjust_delay": True,
    # A truncated response is flagged instead of raising, and judged by us.
    "download_fail_on_dataloss": False,
}
_INHERITED: Final = ("download_slot", "bindaddress", "ftp_user", "ftp_password", "ftp_passive")
_INHERITED_PROXY: Final = ("proxy", "_auth_proxy")
_INHERITED_HEADERS: Final = ("User-Agent", "Proxy-Authorization")


def is_robots_txt(request: Request) -> bool:
    """Whether *request* is for a robots.txt, wherever redirects have led it, or for what may be one."""
    return bool(request.meta.get("is_robotstxt_request")) or urlparse_cached(request).path == "/robots.txt"


def robots_request(
    url: str, cause: Request, settings: RepSettings, headers: dict[str, Any], timeout: float
) -> Request:
    """The request for the robots.txt at *url*, asked for because of *cause*, with *headers* beside inherited ones.

    An answer may take *timeout* seconds. No ``dont_cache``: a replay from Scrapy's HTTP cache must find its
    robots.txt. ``REP_REQUEST_HOOK`` has the last word; raises ``TypeError`` when it returns no `scrapy.Request`.
    """
    request = Request(
        url,
        callback=NO_CALLBACK,
        headers=_inherited_headers(cause) | headers,
        meta={**_inherited_meta(cause), **_OURS, "download_timeout": timeout},
        priority=PRIORITY,
        dont_filter=True,
    )
    if settings.request_hook is None:
        return request
    hooked = settings.request_hook(request, cause)
    if not isinstance(hooked, Request):
        raise TypeError(f"REP_REQUEST_HOOK returned {hooked!r}: it must return a scrapy.Request")
    return hooked


def _inherited_meta(cause: Request) -> dict[str, Any]:
    # A proxy that Scrapy chose by the scheme of the URL is chosen anew for this one.
    keys = _INHERITED if "_scheme_proxy" in cause.meta else _INHERITED + _INHERITED_PROXY
    return {key: cause.meta[key] for key in keys if key in cause.meta}


def _inherited_headers(cause: Request) -> dict[str, Any]:
    names = _INHERITED_HEADERS if "_auth_proxy" in cause.meta else _INHERITED_HEADERS[:1]
    return {name: cause.headers.getlist(name) for name in names if name in cause.headers}
