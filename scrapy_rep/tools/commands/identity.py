"""Check that sites can tell who the crawler is, and that it behaves as crawlers are asked to.

Reads the settings of the project, or of one of its spiders, as its add-ons leave them, and requests nothing. Each
row says what was found, what to change, and which documents ask for it.

Exits with 0 when nothing is missing, 1 when something is, 2 when the settings cannot be read.
"""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from scrapy.utils.misc import load_object
from scrapy.utils.python import to_unicode

from scrapy_rep.clock import clock
from scrapy_rep.crawl.gate.middleware import RepMiddleware
from scrapy_rep.crawl.pacing.crawl_delay import CrawlDelay
from scrapy_rep.crawl.policy.policy import Mode, Policy
from scrapy_rep.crawl.runtime.product_tokens import header_of, tokens_of
from scrapy_rep.extras.pages.page_directives import PageDirectivesMiddleware
from scrapy_rep.protocol.display import shown
from scrapy_rep.settings import RepSettings, Unreachable, asks_robots
from scrapy_rep.tools.crawlers import crawler_of

from . import FOUND, OK
from .crawl_runner import with_addons, with_spider
from .parser import add_shared
from .terminal import paint, wrapped

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_GOOD, _MISSING = "ok", "missing"
_STYLES: Final = {_GOOD: "good", _MISSING: "bad"}

_PRACTICES: Final = "draft-illyes-webbotauth-cbcp-00 section 2."
_POLICY: Final = "Cloudflare: Verified bots policy"
_DOCUMENTS: Final = {
    "product token": ("RFC 9309 section 2.2.1", _POLICY),
    "page": (f"{_PRACTICES}2", "RFC 9309 section 2.2.1"),
    "contact": (f"{_PRACTICES}6", "RFC 9110 section 10.1.2"),
    "one name": ("RFC 9309 section 2.2.1", f"{_PRACTICES}2"),
    "obedience": (f"{_PRACTICES}1", "RFC 9309 section 2.3.1.4", _POLICY),
    "page directives": (f"{_PRACTICES}1",),
    "rate": (f"{_PRACTICES}3", _POLICY),
}
_ADDON: Final = 'ADDONS = {"scrapy_rep.Addon": 300}'

_BROWSERS: Final = frozenset({"mozilla", "applewebkit", "chrome", "edg", "firefox", "opera", "safari"})
_URL: Final = re.compile(r"https?://[^\s;,()<>\"']+", re.IGNORECASE)
_MAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.)+[a-z]{2,}", re.IGNORECASE | re.ASCII)

Problems = Iterator[tuple[str, str]]  # what is wrong, and what to change


class IdentityRow(NamedTuple):
    """Something that crawlers are asked for: whether it is there, what was ``found``, what to ``change``."""

    name: str
    status: str
    found: str
    change: str = ""

    @classmethod
    def judged(cls, name: str, found: str, problems: Problems) -> IdentityRow:
        """That of the *problems* or, without any, of what was *found*."""
        if not (listed := dict(problems)):
            return cls(name, _GOOD, found)
        return cls(name, _MISSING, "; ".join(listed), "; ".join(dict.fromkeys(listed.values())))


class Identity:
    """Who crawls with *settings*, which are those that add-ons have left. Raises `InvalidSettingError`."""

    def __init__(self, settings: BaseSettings) -> None:
        self._settings = settings
        self._rep = RepSettings.from_settings(settings)
        self._policy = Policy.from_settings(self._rep, Mode.OBEY)
        self._tokens = tokens_of(settings)
        self._header_is_in, header = header_of(settings)
        self._header = to_unicode(header, errors="backslashreplace")
        of_robots = "ROBOTSTXT_USER_AGENT" if settings.get("ROBOTSTXT_USER_AGENT") else self._header_is_in
        self._name_is_in = "REP_USER_AGENTS" if self._rep.user_agents else of_robots

    def rows(self) -> Iterator[IdentityRow]:
        """The rows of the table."""
        names, url = ", ".join(self._tokens), _URL.search(self._header)
        yield IdentityRow.judged("product token", names, self._of_token())
        yield IdentityRow.judged("page", f"{url and url[0]} describes the crawler", self._of_page())
        yield IdentityRow.judged("contact", self._contact, self._of_contact())
        yield IdentityRow.judged("one name", f"{names} is in {self._header}", self._of_names())
        yield IdentityRow.judged("obedience", "robots.txt is obeyed", self._of_obedience())
        yield IdentityRow.judged(
            "page directives", "X-Robots-Tag and meta robots are obeyed", self._of_directives()
        )
        yield IdentityRow.judged("rate", "Crawl-delay, back-off and a limit of its own", self._of_rate())

    def _of_token(self) -> Problems:
        """Why a product token is no name of the crawler's own."""
        change = f"give the crawler a name of its own in {self._name_is_in}, of letters, _ and -"
        for token in self._tokens:
            if not token:
                yield "the User-Agent contains no product token", change
            elif token.lower() in _BROWSERS:
                yield f"{token} is the name of a browser", change
            elif known := crawler_of(token):
                yield f"{token} is a known name ({known.about})", change
            elif not re.fullmatch(r"[A-Za-z_-]+", token):
                yield f"{token} has characters besides letters, _ and -", change

    def _of_page(self) -> Problems:
        if not _URL.search(self._header):
            change = f"write one into {self._header_is_in}, as in NAME/1.0 (+https://example.com/bot)"
            yield "no URL in the User-Agent", change

    def _of_contact(self) -> Problems:
        if not self._contact:
            yield "no mail address in From or in the User-Agent", "write one as From into DEFAULT_REQUEST_HEADERS"

    @property
    def _contact(self) -> str:
        """The first mail address, and where it is; empty without one."""
        headers = self._settings.getdict("DEFAULT_REQUEST_HEADERS").items()
        sender = next((to_unicode(value) for name, value in headers if value and name.lower() == "from"), "")
        texts = (("From", sender), ("the User-Agent", self._header))
        return next((f"{found[0]} in {where}" for where, text in texts if (found := _MAIL.search(text))), "")

    def _of_names(self) -> Problems:
        for token in self._tokens:
            if not token or token.lower() not in self._header.lower():
                change = f"write the same name into {self._header_is_in} and {self._name_is_in}"
                yield f"robots.txt is asked as {token or '*'}, which the User-Agent does not contain", change

    def _of_obedience(self) -> Problems:
        if not self._settings.getbool("ROBOTSTXT_OBEY"):
            yield "robots.txt is not obeyed", "ROBOTSTXT_OBEY = True"
        is_ours = self._enables("DOWNLOADER_MIDDLEWARES", RepMiddleware)
        if not is_ours or self._rep.unreachable is Unreachable.ALLOW:
            why = "a site is crawled while its robots.txt is unreachable"
            yield why, 'REP_UNREACHABLE = "disallow"' if is_ours else _ADDON
        for site, mode in self._rep.modes.items():
            if mode != Mode.OBEY and site.startswith("*") and "." not in site[2:]:
                yield f"the mode of {site} is {mode}", "name single sites in REP_MODES"
        for one in self._policy.exceptions.all:
            if one.ends_at > clock.time() and not one.pattern.strip("/*$") and one.pattern != "/$":
                yield f"an exception covers all of {one.origin}", "narrow that in REP_EXCEPTIONS"

    def _of_directives(self) -> Problems:
        is_ours = self._enables("SPIDER_MIDDLEWARES", PageDirectivesMiddleware)
        if not (is_ours and self._rep.page_directives == "obey"):
            yield "X-Robots-Tag is not obeyed", f'{"" if is_ours else f"{_ADDON}; "}REP_PAGE_DIRECTIVES = "obey"'

    def _of_rate(self) -> Problems:
        settings, is_ours = self._settings, self._enables("EXTENSIONS", CrawlDelay)
        if not (is_ours and self._rep.crawl_delay and asks_robots(settings)):
            change = f'REP_CRAWL_DELAY = "{"obey" if asks_robots(settings) else "always"}"'
            yield "Crawl-delay is not kept", change if is_ours else _ADDON
        if not (is_ours and self._rep.backoff):
            yield "there is no back-off", "REP_BACKOFF = True" if is_ours else _ADDON
        at_once = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        if at_once != 1 and not (settings.getfloat("DOWNLOAD_DELAY") or settings.getbool("AUTOTHROTTLE_ENABLED")):
            change = "DOWNLOAD_DELAY = 1, AUTOTHROTTLE_ENABLED = True or CONCURRENT_REQUESTS_PER_DOMAIN = 1"
            yield f"{at_once} requests to a site at a time, without a delay", change

    def _enables(self, setting: str, component: type) -> bool:
        chosen = self._settings.getdict(setting).items()
        return any(order is not None and load_object(key) is component for key, order in chosen)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    add_shared(parser, "--spider", "--json")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    rows = [*Identity(with_addons(with_spider(settings, arguments.spider))).rows()]
    for row in rows:
        facts = {**row._asdict(), "documents": _DOCUMENTS[row.name]}
        out.write(json.dumps(facts) + "\n" if arguments.json else _lines(row, out))
    if not arguments.json:
        out.write(", ".join(f"{sum(row.status == one for row in rows)} {one}" for one in _STYLES) + "\n")
    return FOUND if any(row.status == _MISSING for row in rows) else OK


def _lines(row: IdentityRow, out: IO[str]) -> str:
    texts = [row.found, f"change: {row.change}" * bool(row.change), f"see {', '.join(_DOCUMENTS[row.name])}"]
    lines = f"\n{'':26}".join(wrapped(shown(text), out, 26, 26) for text in texts if text)
    return f"{paint(f'{row.status:<7}', _STYLES[row.status], out)}  {row.name:<15}  {lines}\n"
