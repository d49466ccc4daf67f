"""A crawl of a site that is there for it alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .crawl import RECORDER, Crawl, crawl
from .site import Answers, Site, robots


def visit(
    rules: str | Answers | None,
    *requests: str | dict[str, Any],
    answers: Mapping[str, Answers] | None = None,
    addresses: Sequence[str] = ("127.0.0.1",),
    spider: str = RECORDER,
    attributes: dict[str, Any] | None = None,
    loop: str = "asyncio",
    **settings: Any,
) -> tuple[Site, Crawl]:
    """The crawl of a site whose robots.txt is *rules*, or missing, and the site: closed, but for its log.

    The URLs of *requests* and the keys of *answers* may be paths, at the first of the *addresses*, and
    ``//ADDRESS/path`` at another one. An answer to ``/robots.txt`` at one address goes before the *rules*.
    """
    with Site(addresses) as site:
        if rules is not None:
            site.answer("/robots.txt", robots(rules) if isinstance(rules, str) else rules)
        for key, answer in (answers or {}).items():
            origin, path = _at(site, key)
            site.answer(path, answer, origin if key.startswith("//") else "")
        made = [_made(site, {"url": each} if isinstance(each, str) else each) for each in requests]
        return site, crawl(*made, settings=settings, spider=spider, attributes=attributes, loop=loop)


def _made(site: Site, arguments: dict[str, Any]) -> dict[str, Any]:
    return {**arguments, "url": "".join(_at(site, arguments["url"]))}


def _at(site: Site, url: str) -> tuple[str, str]:
    """The origin and the path of *url*."""
    if not url.startswith("/"):
        return "", url
    address, _, path = url[2:].partition("/") if url.startswith("//") else ("", "", url[1:])
    origin = next(origin for origin in site.origins if not address or f"//{address}:" in origin)
    return origin, f"/{path}"
