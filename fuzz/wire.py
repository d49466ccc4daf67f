"""``python -m fuzz.wire``: does a request arrive at a server that its robots.txt forbids?

Download handlers respell URLs, so the verdict about the URL of a request proves little. Real crawls with the
add-on fetch disguised URLs from origins with random rules. The URLs come from start requests, ``verbatim_url``,
links, sitemaps, redirects and meta refreshes. A matcher that shares no code with the package judges the server's
log. The command exits with 1 if something arrived that its origin disallows.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from html import escape
from importlib import import_module
from random import Random
from time import time
from typing import Any, Final

from scrapy import Request
from scrapy.core.downloader import contextfactory
from scrapy.http import HtmlResponse
from scrapy.spiders import SitemapSpider

from scrapy_rep.crawl.runtime import wire
from tests.support.crawl import LOOPS, crawl
from tests.support.other_sites import FtpSite, Http2Site
from tests.support.site import Answer, Arrival, Site, redirect, robots, sitemap

_HANDLERS: Final = "scrapy.core.downloader.handlers"
HANDLERS: Final[dict[str, tuple[str, list[str]]]] = {
    "http11": (f"{_HANDLERS}.http11.HTTP11DownloadHandler", ["asyncio", "twisted"]),
    "h2": (f"{_HANDLERS}.http2.H2DownloadHandler", ["asyncio", "twisted"]),
    "aiohttp": (f"{_HANDLERS}._aiohttp.AiohttpDownloadHandler", ["asyncio", "reactorless"]),
    "httpx": (f"{_HANDLERS}._httpx.HttpxDownloadHandler", ["asyncio", "reactorless"]),
    "ftp": (f"{_HANDLERS}.ftp.FTPDownloadHandler", ["asyncio", "twisted"]),
}
"""The class of each download handler, and the event loops that it runs on."""

_ORIGINS: Final = 8
_REQUESTS: Final = 1_200  # of one crawl

_ROW: Final = "{:<10}{:<14}{:>9}{:>11}{:>8}"

_WORDS: Final = ("secret", "admin", "a", "b", "search?q=1")
_IN_RULES: Final = (
    *_WORDS, *"//;?*&$~!", ";x", "?q", "//", "%24", "%2A", "%2F", "%3F", "%25", "%20", "%E9", "%C3%A9", "%5C",
    "../", "./",
)  # fmt: skip
_DISGUISES: Final = (
    *"//;;;;;;????.*$&=#~!'(|^{[\\\"<` %", ";x", ";x", "?q=1", "/./", "/x/../", "/%2e%2E/", "/..", "/.%2e/",
    "\\..\\", "//", "./", "./", "x/../", "x/../", "%2e/", "x/%2E%2e/", "%24", "%2A", "%2F", "%2f", "%3F", "%3b",
    "%23", "%25", "%7E", "%20", "%E9", "%C3%A9", "é", "\t", "\n", " ", "#f", ";?", "?#",
)  # fmt: skip


def random_rules(random: Random) -> list[str]:
    """Lines of Disallow and Allow that leave most of an origin open."""
    rules = []
    for _ in range(random.randint(2, 7)):
        folder, more = random.choice(["", "", "", "a/", "*"]), random.choices(_IN_RULES, k=random.randint(0, 2))
        pattern = "".join(["/", folder, random.choice(_WORDS), *more, random.choice(["", "$"])])
        rules.append(f"{random.choice(['Disallow'] * 4 + ['Allow'])}: {pattern}")
    return rules


def disguised(random: Random, rules: dict[str, list[str]], source: str) -> str:
    """A URL that one of the *rules* by origin may forbid once a handler has respelled it."""
    origin = random.choice([*rules])
    path = random.choice(rules[origin]).partition("/")[2].removesuffix("$").replace("*", "a")
    for _ in range(random.randint(0, 3)):
        at = random.choice([0, path.find("?") % (len(path) + 1), len(path), random.randint(0, len(path))])
        if random.random() < 0.25 and path[at : at + 1].isalnum():
            path = f"{path[:at]}%{ord(path[at]):02x}{path[at + 1 :]}"
        else:
            path = path[:at] + random.choice(_DISGUISES) + path[at:]
    if random.random() < 0.05:
        origin = origin.replace("//", "//u:p@")
    blank = random.choice([*[""] * 6, *" \t"]) if source == "verbatim" else ""
    return f"{blank}{origin}{'' if path[:1] == '?' else '/'}{path}"


_OCTET: Final = re.compile(r"%[0-9A-Fa-f]{2}|.", re.DOTALL)
_ALWAYS_ENCODED: Final = {*"\"<>[\\]^`{|}' #*$\x7f", *map(chr, range(0x21))}


def _canonical(octet: re.Match[str]) -> str:
    """One spelling of an octet, as D2 in docs/semantics.md asks; no escape is decoded next to a stray ``%``."""
    text = octet[0]
    char = chr(int(text[1:], 16)) if len(text) == 3 else text
    is_decoded = text == char or "%" not in octet.string[max(0, octet.start() - 2) : octet.start()]
    if is_decoded and char.isascii() and (char.isalnum() or char in "-._~"):
        return char
    is_encoded = len(text) == 3 or char in _ALWAYS_ENCODED or not char.isascii()
    return f"%{ord(char):02X}" if is_encoded else char


def forbidding_rule(rules: list[str], target: str) -> str | None:
    """The rule of *rules* that forbids *target*, octets of a request decoded as Latin-1; None if it is allowed."""
    path = _OCTET.sub(_canonical, target if target[:1] == "/" else f"/{target}")
    if path == "/robots.txt":
        return None
    found = (0, True, "")
    for rule in rules:
        kind, _, pattern = rule.partition(": ")
        pieces = (re.escape(_OCTET.sub(_canonical, each)) for each in pattern.removesuffix("$").split("*"))
        if re.match(".*".join(pieces) + r"\Z" * pattern.endswith("$"), path, re.DOTALL):
            found = max(found, (len(pattern), kind == "Allow", rule))
    return None if found[1] else found[2]


class Wanderer(SitemapSpider):
    """Requests what it is given, then every link and every entry of a sitemap."""

    name = "wanderer"
    requests: list[dict[str, Any]]
    facts: dict[str, Any]
    sitemap_rules = [("", "parse")]  # noqa: RUF012

    async def start(self) -> Any:
        for arguments in self.requests:
            with suppress(ValueError):
                yield Request(dont_filter=True, **arguments)
        async for request in super().start():
            yield request

    def parse(self, response: Any) -> Iterator[Request]:
        for link in response.css("a::attr(href)").getall() if isinstance(response, HtmlResponse) else ():
            with suppress(ValueError):
                yield response.follow(link)


class Blind(Wanderer):
    """With a package that knows of no respelling: the fuzzer has to find leaks."""

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Blind:
        wire._kinds = lambda _: ()  # type: ignore[assignment]
        return super().from_crawler(crawler, *args, **kwargs)


@dataclass
class Outcome:
    """Requests that arrived, requests that the package forbade, and requests that should not have arrived."""

    arrived: int = 0
    forbidden: int = 0
    leaks: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        self.arrived += other.arrived
        self.forbidden += other.forbidden
        self.leaks += other.leaks


def run(handler: str, loop: str, random: Random, requests: int = _REQUESTS, *, blind: bool = False) -> Outcome:
    """One crawl of about so many *requests*; with *blind* the package knows of no respelling."""
    addresses = [f"127.0.0.{number + 1}" for number in range(_ORIGINS)]
    kind = {"ftp": FtpSite, "h2": Http2Site}.get(handler, Site)
    with kind(addresses, tls=handler == "h2") as site:
        rules = {origin: random_rules(random) for origin in site.origins}
        for origin, lines in rules.items():
            site.answer("/robots.txt", robots("\n".join(["User-agent: *", *lines])), origin)
        first, sitemaps = _prepare(site, random, rules, requests)
        settings = {
            "DOWNLOAD_HANDLERS": {site.origin.partition(":")[0]: HANDLERS[handler][0]}, "RETRY_ENABLED": False,
            "LOG_LEVEL": "CRITICAL", "DOWNLOAD_TIMEOUT": 30, "CONCURRENT_REQUESTS": 32,
        }  # fmt: skip
        result = crawl(
            *first, settings=settings, loop=loop, spider=f"fuzz.wire:{'Blind' if blind else 'Wanderer'}",
            attributes={"sitemap_urls": sitemaps}, timeout=600, apart=True,
        )  # fmt: skip
        log = list(site.log)
    assert result.reason == "finished", f"the crawl ended early:\n{result.stats}\n{result.stderr}"
    return Outcome(len(log), result.stats.get("robotstxt/forbidden", 0), [*_leaks(log, rules)])


def _leaks(log: list[Arrival], rules: dict[str, list[str]]) -> Iterator[str]:
    for arrival in log:
        for target in {arrival.path, arrival.path.strip(" ")}:  # many servers ignore blanks
            rule = forbidding_rule(rules[arrival.origin], target)
            if rule is not None:
                yield f"{arrival.origin}{arrival.path!r} ({rule})"
                break


def _prepare(
    site: Site, random: Random, rules: dict[str, list[str]], requests: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """Have *site* lead to about *requests* disguised URLs; the requests to begin with, and the sitemaps."""
    sources = ["start", "verbatim", "link"]
    if not site.origin.startswith("ftp"):
        sources += ["sitemap", "redirect", "refresh"]
    count = requests // len(sources)
    urls = {source: [disguised(random, rules, source) for _ in range(count)] for source in sources}
    pages = {f"/hub/{number}.html": _hub(random, site, urls["link"][number::20]) for number in range(20)}
    for number, url in enumerate(urls.get("redirect", ())):
        location = url.replace("\n", "").replace("é", "%C3%A9")
        pages[f"/to/{number}.html"] = replace(redirect(location), keeps_alive=True)
    for number, url in enumerate(urls.get("refresh", ())):
        pages[f"/refresh/{number}.html"] = _page(f'<meta http-equiv="refresh" content="0; url={escape(url)}">')
    for path, answer in pages.items():
        site.answer(path, answer, site.origin)
    site.answer("/sitemap.xml", sitemap(*map(escape, urls.get("sitemap", ()))), site.origin)
    site.answer("*", _page("page"))
    first: list[dict[str, Any]] = [{"url": url} for url in urls["start"]]
    first += [{"url": url, "meta": {"verbatim_url": True}} for url in urls["verbatim"]]
    first += [{"url": f"{site.origin}{path}"} for path in pages]
    return first, [f"{site.origin}/sitemap.xml"] * ("sitemap" in urls)


def _hub(random: Random, site: Site, urls: list[str]) -> Answer:
    """A page of links to *urls*, some without the origin where it is that of the page."""
    short = re.compile(re.escape(site.origin) + r"(?=/\w)")  # "//name" would be another host
    links = [random.choice([url, short.sub("", url)]) for url in urls]
    return _page("".join(f'<a href="{escape(link)}">a</a>' for link in links))


def _page(text: str) -> Answer:
    return Answer(
        200, f"<html><title>page</title>{text}".encode(), [("Content-Type", "text/html")], keeps_alive=True
    )


def loops(handler: str) -> list[str]:
    """The event loops on which *handler* works here; none if this version of Scrapy lacks it, or its library."""
    path, names = HANDLERS[handler]
    # pyOpenSSL 26 refuses how older versions of Scrapy ask for HTTP/2.
    if handler == "h2" and not hasattr(contextfactory, "_AcceptableProtocolsContextFactory"):
        return []
    try:
        module = import_module(path.rpartition(".")[0])
    except ImportError:
        return []
    return [loop for loop in names if loop in LOOPS] if getattr(module, "httpx", True) else []


def main(arguments: list[str] | None = None) -> int:
    """Run the command with *arguments*, those of the process by default; 1 if something leaked."""
    chosen = _parse(arguments)
    print(_ROW.format("handler", "loop", "arrived", "forbidden", "leaks"))
    random, found = Random(chosen.seed), 0  # noqa: S311
    for handler in [*HANDLERS] if chosen.handler == "all" else [chosen.handler]:
        for loop in loops(handler):
            outcome = Outcome()
            while outcome.arrived + outcome.forbidden < chosen.requests / len(loops(handler)):
                outcome.add(run(handler, loop, random, blind=chosen.blind))
            print(_ROW.format(handler, loop, outcome.arrived, outcome.forbidden, len(outcome.leaks)), flush=True)
            print(
                *(f"  {leak}" for leak in outcome.leaks[: chosen.show]), sep="\n", end="\n" * bool(outcome.leaks)
            )
            found += len(outcome.leaks)
    print(f"\n{found:,} leaks, seed {chosen.seed}")
    return int(found > 0)


def _parse(arguments: list[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m fuzz.wire", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000, help="for each handler; 10,000 by default")
    parser.add_argument("--handler", choices=[*HANDLERS, "all"], default="all", help="all by default")
    parser.add_argument("--seed", type=int, default=int(time()), help="of the rules and URLs; the time by default")
    parser.add_argument("--show", type=int, default=5, help="leaks of each handler and loop; 5 by default")
    parser.add_argument("--blind", action="store_true", help="switch respelling off: then there have to be leaks")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
