"""The request for a robots.txt: what it inherits from the request that caused it, what others skip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

if TYPE_CHECKING:
    from scrapy_rep.settings import RepSettings

PRIORITY: Final = 1_000
"""The priority that Scrapy's own middleware uses: before every page."""

_OURS: Final[dict[str, Any]] = {
    "dont_obey_robotstxt": True,
    "is_robotstxt_request": True,
    # The fetcher follows redirects and retries itself, see `scrapy_rep.robots.fetch`.
    "dont_redirect": True,
    "dont_retry": True,
    # The spider requested the site; a redirect may keep its robots.txt elsewhere.
    "allow_offsite": True,
    "dont_merge_cookies": True,
    "autothrottle_dont_adjust_delay": True,
    # A truncated response is flagged instead of raising; the fetcher handles it.
    "download_fail_on_dataloss": False,
    # The parameters that a project sets for its pages, such as a browser, would change a plain text file.
    "zyte_api_default_params": False,
}
_INHERITED: Final = ("download_slot", "bindaddress", "ftp_user", "ftp_password", "ftp_passive")
_INHERITED_PROXY: Final = ("proxy", "_auth_proxy")
_INHERITED_HEADERS: Final = ("User-Agent", "Proxy-Authorization")


def is_robots_txt(request: Request) -> bool:
    """Whether *request* is for a robots.txt: ours, also after redirects, or one that a spider makes."""
    return bool(request.meta.get("is_robotstxt_request")) or urlparse_cached(request).path == "/robots.txt"


def robots_request(
    url: str, cause: Request, settings: RepSettings, headers: dict[str, Any], timeout: float
) -> Request:
    """Build the request for the robots.txt at *url*, caused by *cause*; *headers* are added to inherited ones.

    It times out after *timeout* seconds. It sets no ``dont_cache``: a replay from Scrapy's HTTP cache must find
    its robots.txt. ``REP_REQUEST_HOOK`` may replace it; raises ``TypeError`` if the hook returns no
    `scrapy.Request`.
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
    # Scrapy chose this proxy by the scheme of the URL; let it choose again for this URL.
    keys = _INHERITED if "_scheme_proxy" in cause.meta else _INHERITED + _INHERITED_PROXY
    return {key: cause.meta[key] for key in keys if key in cause.meta}


def _inherited_headers(cause: Request) -> dict[str, Any]:
    names = _INHERITED_HEADERS if "_auth_proxy" in cause.meta else _INHERITED_HEADERS[:1]
    return {name: cause.headers.getlist(name) for name in names if name in cause.headers}
