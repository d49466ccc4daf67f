"""The download slot in the meta of a request: who has put it there, and whether it still counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy import Request

if TYPE_CHECKING:
    from scrapy_rep.crawl.scrapy_internals import Downloader

_SLOT: Final = "download_slot"
_PACED: Final = "rep_paced"  # meta key: how many redirects had led to the request when its download slot was kept


def keep(request: Request, key: str) -> None:
    """Let what a middleware makes of *request* use the download slot *key* too.

    A rendering service or a scraping API asks the same site; ``Request.replace`` carries the meta along.
    """
    request.meta[_SLOT] = key
    request.meta[_PACED] = len(request.meta.get("redirect_urls", ()))


def leave_old_host(request: Request, downloader: Downloader) -> None:
    """Scrapy's redirects carry the download slot of the old host along: let it be chosen anew.

    One that the project chose stays, and so does one that was kept for the site that is asked.
    """
    urls = request.meta.get("redirect_urls")
    if not urls or _SLOT not in request.meta or request.meta.get(_PACED) == len(urls):
        return
    if request.meta[_SLOT] == downloader.slot_key(Request(urls[-1])):
        del request.meta[_SLOT]
        request.meta.pop(_PACED, None)
