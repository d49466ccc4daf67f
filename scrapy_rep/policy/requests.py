"""What the meta of a request says: whether robots.txt and its delays apply to it, and its download slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy import Request

from scrapy_rep.protocol import Reason
from scrapy_rep.runtime.targets import SPLASH_MARK

from .stamp import META_KEY, is_stamp

if TYPE_CHECKING:
    from scrapy_rep.runtime.scrapy_internals import Downloader
    from scrapy_rep.runtime.targets import Targets

    from .policy import Policy

DONT_OBEY: Final = "dont_obey_robotstxt"
"""Scrapy's meta key for a request that robots.txt does not apply to, and the reason in its stamp."""

FETCH: Final = "rep_fetch"
"""Meta key: the robots.txt is fetched even if no rule is asked."""

SLOT: Final = "download_slot"
"""Scrapy's meta key; Scrapy writes it into every request that it downloads."""

_PINNED: Final = "rep_paced"  # meta key: the number of redirects when the download slot was pinned


def is_exempt(request: Request) -> bool:
    """Whether the project gave *request* ``dont_obey_robotstxt``.

    scrapy-splash gives that key to each request that it makes. The stamp of the one before, which it copies, says
    whether robots.txt was asked.
    """
    meta = request.meta
    if not meta.get(DONT_OBEY):
        return False
    if SPLASH_MARK not in meta:
        return True
    stamp = meta.get(META_KEY)
    return isinstance(stamp, dict) and stamp.get("reason") == DONT_OBEY


def has_no_delay(request: Request, policy: Policy, targets: Targets) -> bool:
    """Whether delays do not apply to *request*: it does not obey robots.txt, or an exception covers it."""
    return is_exempt(request) or Reason.CRAWL_DELAY in policy.delay_exceptions(targets.of(request))


def pin_slot(request: Request, key: str) -> None:
    """Make the requests that a middleware derives from *request* use the download slot *key* too.

    A rendering service or a scraping API fetches from the same site; ``Request.replace`` copies the meta.
    """
    request.meta[SLOT] = key
    request.meta[_PINNED] = len(request.meta.get("redirect_urls", ()))


def unpin_slot(request: Request) -> None:
    """Undo `pin_slot`: a request that a spider makes with the meta of the response is one of its own."""
    request.meta.pop(_PINNED, None)


def choose_slot(request: Request, downloader: Downloader, targets: Targets) -> None:
    """Put *request* into the download slot of the site that it fetches from, unless it is in one already.

    A request for a service goes to another host than its target; every other request is left alone.
    """
    drop_stale_slot(request, downloader, targets)
    try:
        if SLOT not in request.meta and targets.of(request) is not request.url:
            request.meta[SLOT] = downloader.slot_key(Request(targets.of(request)))
    except ValueError:
        return  # the gate ends the request


def drop_stale_slot(request: Request, downloader: Downloader, targets: Targets) -> None:
    """Remove the download slot of another host, which redirects and spiders copy with the rest of the meta.

    One that the project chose stays, and so does one that was pinned after the last redirect.
    """
    meta = request.meta
    urls = meta.get("redirect_urls", ())
    if SLOT not in meta or meta.get(_PINNED) == len(urls):
        return
    origin = stamp["origin"] if is_stamp(stamp := meta.get(META_KEY)) else None
    before = [_target(url, targets) for url in (*urls[-1:], origin) if url]
    if meta[SLOT] in {"", *(downloader.slot_key(Request(url)) for url in before)}:  # "" is that of a data: URL
        del meta[SLOT]
        unpin_slot(request)


def _target(url: str, targets: Targets) -> str:
    try:
        return targets.of(Request(url))
    except ValueError:
        return url
