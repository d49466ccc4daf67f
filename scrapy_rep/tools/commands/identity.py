"""Check that sites can tell who the crawler is, and that it behaves as crawlers are asked to.

    scrapy robots identity [--spider NAME] [--offline] [--json]

Reads the settings of the project, or of one of its spiders, as its add-ons leave them. The page whose URL is in
the User-Agent is requested once, where robots.txt allows that, and must name the product token. Each row says what
was found, what to change, and which documents ask for it; --json prints one object per line. Nothing is signed.
Exits with 0 when nothing is missing, 1 when something is, 2 when the settings cannot be read.
"""

from __future__ import annotations

import json
import re
import sys
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
from scrapy_rep.directives.html import MAX_SIZE, HtmlPage
from scrapy_rep.extras.pages.page_directives import PageDirectivesMiddleware
from scrapy_rep.protocol import Origin
from scrapy_rep.protocol.display import shown
from scrapy_rep.settings import RepSettings, Unreachable, asks_robots
from scrapy_rep.tools.crawlers import crawler_of
from scrapy_rep.tools.resources import Found, PageResponse, check

from . import FOUND, OK
from .crawl_runner import with_addons, with_spider
from .fetching import CrawlFetcher, crawl, with_gate
from .resources import PageAsker
from .terminal import Progress, paint

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_GOOD, _MISSING, _NOT_CHECKED = "ok", "missing", "not checked"
_STYLES: Final = {_GOOD: "good", _MISSING: "bad", _NOT_CHECKED: "faint"}

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
    "IP ranges": (f"{_PRACTICES}5", "draft-illyes-webbotauth-jafar-00"),
    "signature": ("draft-ietf-webbotauth-httpsig-protocol-01", "Cloudflare: Verified bots"),
}
_ADDON: Final = 'ADDONS = {"scrapy_rep.Addon": 300}'

_BROWSERS: Final = frozenset({"mozilla", "applewebkit", "chrome", "edg", "firefox", "opera", "safari"})
_URL: Final = re.compile(r"https?://[^\s;,()<>\"']+", re.IGNORECASE)
# No run of letters is read twice, and an image for fine screens, such as logo@2x.png, is no address.
_MAIL: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.)+(?!(?:avif|gif|jpe?g|png|svg|webp)\b)[a-z]{2,}",
    re.IGNORECASE | re.ASCII,
)

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


class Answered(NamedTuple):
    """What came of the page: its text, the ``problem`` with it, or ``why_not`` it was not requested."""

    text: str = ""
    problem: str = ""
    why_not: str = ""


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
        self.token = self._tokens[0]
        self.url = url[0] if (url := _URL.search(self._header)) else ""

    def rows(self, page: Answered) -> Iterator[IdentityRow]:
        """The rows of the table; *page* is what came of the page at `url`."""
        names = ", ".join(self._tokens)
        yield IdentityRow.judged("product token", names, self.of_token())
        yield IdentityRow("page", *self._page(page))
        yield IdentityRow("contact", *self._contact(page))
        yield IdentityRow.judged("one name", f"{names} is in {self._header}", self._of_names())
        yield IdentityRow.judged("obedience", "robots.txt is obeyed", self._of_obedience())
        yield IdentityRow.judged(
            "page directives", "X-Robots-Tag and meta robots are obeyed", self._of_directives()
        )
        yield IdentityRow.judged("rate", "Crawl-delay, back-off and a limit of its own", self._of_rate())
        yield IdentityRow("IP ranges", *self._ranges(page))
        yield IdentityRow("signature", _NOT_CHECKED, "scrapy_rep signs no requests")

    def of_token(self) -> Problems:
        """Why the product tokens are no name of the crawler's own."""
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

    def _page(self, page: Answered) -> tuple[str, ...]:
        if not self.url:
            change = f"write one into {self._header_is_in}, as in NAME/1.0 (+https://example.com/bot)"
            return _MISSING, "no URL in the User-Agent", change
        if page.why_not:
            return _NOT_CHECKED, f"{self.url} was not requested: {page.why_not}"
        if page.problem:
            return _MISSING, f"{self.url}: {page.problem}", "let it answer with an HTML page"
        if re.search(rf"(?<![\w-]){re.escape(self.token)}(?![\w-])", page.text, re.IGNORECASE):
            return _GOOD, f"{self.url} names {self.token}"
        change = "say there by which product token robots.txt can address the crawler"
        return _MISSING, f"{self.url} does not name {self.token}", change

    def _contact(self, page: Answered) -> tuple[str, ...]:
        headers = self._settings.getdict("DEFAULT_REQUEST_HEADERS").items()
        sender = next((to_unicode(value) for name, value in headers if value and name.lower() == "from"), "")
        for where, text in (("From", sender), ("the User-Agent", self._header), ("the page", page.text)):
            if found := _MAIL.search(text):
                return _GOOD, f"{found[0]} in {where}"
        if self.url and page.why_not:
            return _NOT_CHECKED, "not in From or the User-Agent; the page was not requested"
        change = "write a mail address on the page, or as From into DEFAULT_REQUEST_HEADERS"
        return _MISSING, "no mail address in From, in the User-Agent or on the page", change

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

    def _ranges(self, page: Answered) -> tuple[str, ...]:
        for one in HtmlPage(page.text).elements(["client-ranges"]):
            if one.name == "link" and "client-ranges" in one.attributes.get("rel", "").lower().split():
                return _GOOD, f"the page links {one.attributes.get('href', '')}"
        return _NOT_CHECKED, "cannot be checked here: no page that links client-ranges"

    def _enables(self, setting: str, component: type) -> bool:
        chosen = self._settings.getdict(setting).items()
        return any(order is not None and load_object(key) is component for key, order in chosen)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("--spider", metavar="NAME", help="check this spider, with its custom_settings")
    parser.add_argument("--offline", action="store_true", help="do not request the page")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    chosen = with_spider(settings, arguments.spider)
    identity = Identity(with_addons(chosen))
    rows = [*identity.rows(_answered(identity, chosen, is_offline=arguments.offline))]
    for row in rows:
        facts = {**row._asdict(), "documents": _DOCUMENTS[row.name]}
        out.write(json.dumps(facts) + "\n" if arguments.json else _lines(row, out))
    if not arguments.json:
        out.write(", ".join(f"{sum(row.status == one for row in rows)} {one}" for one in _STYLES) + "\n")
    return FOUND if any(row.status == _MISSING for row in rows) else OK


def _lines(row: IdentityRow, out: IO[str]) -> str:
    texts = [row.found, f"change: {row.change}" * bool(row.change), f"see {', '.join(_DOCUMENTS[row.name])}"]
    status = paint(f"{row.status:<11}", _STYLES[row.status], out)
    return f"{status}  {row.name:<15}  " + f"\n{'':30}".join(map(shown, filter(None, texts))) + "\n"


class _PageReader(PageAsker):
    """Keeps the text of the page, and asks for none of its resources."""

    text = ""

    async def find(self, page: PageResponse, url: str) -> Found:  # noqa: ARG002
        self.text = page.body[:MAX_SIZE].decode("utf-8", "replace")
        return Found(())


def _answered(identity: Identity, settings: BaseSettings, *, is_offline: bool) -> Answered:
    """What comes of the page of *identity*, which is requested as a crawl with *settings* requests it."""
    answers, token, url, progress = [], identity.token, identity.url, Progress(sys.stderr)

    async def work(fetcher: CrawlFetcher) -> None:
        report = await check(url, token, reader := _PageReader(token, fetcher, progress))
        last = report.pages[-1].verdict
        why_not = f"robots.txt disallows it to {token} ({last.where})" if last.allowed is False else ""
        answers.append(Answered(reader.text, report.problem or last.problem, why_not))

    if not url or is_offline or any(identity.of_token()):
        return Answered(why_not="--offline" if is_offline else "the crawler has no name of its own")
    try:
        Origin.from_url(url)
    except ValueError as error:
        return Answered(problem=str(error))
    try:
        crawl(with_gate(settings), work)
    finally:
        progress.clear()
    return answers[0]
