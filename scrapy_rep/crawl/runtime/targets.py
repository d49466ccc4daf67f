"""The target URL of a request: its own URL, or the URL that it asks a rendering service or a scraping API for.

``REP_TARGET_URL`` says how to find a service's target. The URL of a service holds its customer's key and must
never be shown: log lines and errors take their URLs from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.utils.httpobj import urlparse_cached
from w3lib.url import safe_url_string

from scrapy_rep.exceptions import TargetUrlError
from scrapy_rep.protocol import Origin

if TYPE_CHECKING:
    from scrapy_rep.settings import TargetUrl


class Targets:
    """The targets of a crawl's requests. If the target is the request's own URL, it is the same string object.

    ``is_plain`` says whether every request fetches from its own URL. Such a crawl pays nothing for targets.
    """

    def __init__(self, setting: TargetUrl | None = None) -> None:
        """*setting* is the value of ``REP_TARGET_URL``."""
        self._parameters = setting if isinstance(setting, Mapping) else {}
        self._find: Callable[[Request], str | None] | None = None
        if setting is not None:
            self._find = self._parameter if isinstance(setting, Mapping) else _asking(setting)
        self._known: WeakKeyDictionary[Request, str] = WeakKeyDictionary()
        self.is_plain = setting is None
        # Returns the target of a request. Raises `TargetUrlError` if it asks a service for an unusable URL.
        self.of: Callable[[Request], str] = attrgetter("url") if self._find is None else self._found

    def site(self, request: Request) -> str:
        """Return the site that *request* fetches from, by host name; empty if it has no robots.txt."""
        try:
            return Origin.from_url(self.of(request)).host
        except ValueError:
            return ""

    def via(self, request: Request) -> str | None:
        """Return the host of the service that fetches for *request*; None if Scrapy fetches from the target."""
        return urlparse_cached(request).hostname if self.of(request) is not request.url else None

    def url(self, request: Request) -> str:
        """Return the URL of *request* to show: its target, or a service's URL without its query. Never raises."""
        try:
            target = self.of(request)
        except ValueError:
            return _without_query(request.url)
        return _without_query(target) if target is request.url and self._is_service(request) else target

    def name(self, request: Request) -> str:
        """Format *request* for a log line. Never raises."""
        url = self.url(request)
        try:
            via = self.via(request)
        except ValueError:
            via = None
        if via is None:
            return str(request) if url is request.url else f"<{request.method} {url}>"
        return f"<{request.method} {url}> via {via}"

    def shown(self, url: str) -> str:
        """Format *url*, of any request, for a log line. Never raises."""
        if self._find is None:
            return url
        try:
            return self.url(Request(url))
        except ValueError:
            return _without_query(url)

    def _is_service(self, request: Request) -> bool:
        return bool(self._parameters) and urlparse_cached(request).hostname in self._parameters

    def _found(self, request: Request) -> str:
        target = self._known.get(request)
        if target is None:
            found = self._find(request) if self._find else None
            target = self._known[request] = request.url if found is None else found
        return target

    def _parameter(self, request: Request) -> str | None:
        """Return the query parameter's value; None if it is missing, as on the service's own account page."""
        url = urlparse_cached(request)
        name = self._parameters.get(url.hostname or "")
        if name is None:
            return None
        values = [value for key, value in parse_qsl(url.query, keep_blank_values=True) if key == name]
        if not values:
            return None
        what = f"the query parameter {name!r} of a request to {url.hostname}"
        if len(values) > 1:
            raise TargetUrlError(f"{what} occurs {len(values)} times: only the service knows which one counts")
        return _checked(values[0], f"{what} is not an absolute URL")

    def __repr__(self) -> str:
        return f"<Targets {'of services' if self._find else 'of requests'}>"


def _asking(find: Callable[[Request], str | None]) -> Callable[[Request], str | None]:
    """Wrap *find*, a callable of the project, to check its answers."""

    def ask(request: Request) -> str | None:
        host = urlparse_cached(request).hostname
        try:
            found = find(request)
        except Exception as error:
            raise TargetUrlError(
                f"REP_TARGET_URL raised {type(error).__name__} for a request to {host}"
            ) from error
        problem = f"REP_TARGET_URL returned no absolute URL for a request to {host}"
        return None if found is None else _checked(found, problem)

    return ask


def _checked(target: Any, problem: str) -> str:
    """Return *target* as Scrapy spells URLs. Errors do not show it, because a wrong parameter may hold a key."""
    try:
        url = safe_url_string(target)
        Origin.from_url(url)
    except (ValueError, TypeError, AttributeError):
        raise TargetUrlError(f"{problem}: robots.txt cannot be checked for it") from None
    return url


def _without_query(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
