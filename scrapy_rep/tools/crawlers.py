"""Known crawlers: product token, owner, purpose, category, and what of robots.txt they follow.

For the linter, explain, the survey, the census and the web checker. Needs only the standard library. The data is
in ``crawlers.csv``: adding a crawler is adding a line; a fact that nobody documents is left `Follows.UNKNOWN`. A
name that is a common word, such as Spider or Cursor, is left out: whoever writes it may mean anything.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scrapy_rep.protocol.display import StringEnum
from scrapy_rep.protocol.product_token import token_in

__all__ = [
    "AI_CRAWLERS", "AI_CRAWLERS_IN_USE", "ARCHIVE_CRAWLERS", "COMMON_AI_CRAWLERS", "CRAWLERS", "SEARCH_CRAWLERS",
    "Category", "Crawler", "Follows", "Source", "crawler_like", "crawler_of", "is_misnomer",
]  # fmt: skip

_TABLE: Final = Path(__file__).with_name("crawlers.csv")


class Follows(StringEnum):
    """What of robots.txt a crawler follows; each is a string."""

    RULES = "its own group, or else that for *"
    OWN_GROUP = "its own group only"
    PARTLY = "not always"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


class Category(StringEnum):
    """What a crawler's owner does with what it fetches; each is a string."""

    TRAINING = "training"
    SEARCH = "search"
    USER_REQUEST = "user request"
    ARCHIVE = "archive"
    SEO = "SEO"
    ADVERTISING = "advertising"
    PREVIEW = "preview"
    TOOL = "tool"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Source:
    """Where facts come from: the *title* of a document, its *owner*, and its *date*, or when it was read."""

    title: str
    owner: str
    date: str


@dataclass(frozen=True, slots=True)
class Crawler:
    """A crawler, or a program that asks for robots.txt or is named in many: its profile.

    ``owner`` is empty where there is no single one, or it is not known.
    ``token`` is the name that its documents write in a user-agent line. ``until`` is the year in which it was
    retired, empty while it is in use; ``instead`` is the token of its successor, if there is one. Where no group
    names it, it follows that of the first of its ``fallbacks`` that has one. ``reads_crawl_delay`` is None where
    no document says so. ``source`` describes it; what only some crawlers do is in the ``other_documents``: that of
    its fallbacks first. ``category`` is what its owner does with what it fetches; it ``is_of_ai`` if that serves
    language or image models.
    """

    token: str
    owner: str
    purpose: str
    follows: Follows
    source: Source
    until: str = ""
    instead: str = ""
    fallbacks: tuple[str, ...] = ()
    reads_crawl_delay: bool | None = None
    other_documents: tuple[Source, ...] = ()
    category: Category = Category.OTHER
    is_of_ai: bool = False

    @property
    def ignores_star(self) -> bool:
        """Whether groups for ``*`` do not count for it."""
        return self.follows is Follows.OWN_GROUP

    @property
    def documents(self) -> tuple[Source, ...]:
        """Where what is known of it comes from, each document once."""
        return tuple(dict.fromkeys((self.source, *self.other_documents)))

    @property
    def key(self) -> str:
        """What is looked up, in lower case: the part of the token that crawlers compare.

        The whole name where that is only its first word: other names share "The" or "Download".
        """
        return _words(self.token) if " " in self.token else _key(self.token)

    @property
    def about(self) -> str:
        """Who sends it, and what for, such as "Google: search"."""
        owner = f"{self.owner}: " if self.owner else ""
        return f"{owner}{self.purpose}{f', until {self.until}' if self.until else ''}"


def _key(name: str) -> str:
    return token_in(name.encode("utf-8", "surrogateescape"), wide=True).decode("utf-8", "surrogateescape").lower()


_LONGEST: Final = 40


def _words(name: str) -> str:
    """The words of *name* without a version or a comment, in lower case."""
    return " ".join(name[:_LONGEST].partition("/")[0].partition("(")[0].lower().split())


_MISNOMERS: Final = {
    "google": "Googlebot", "bing": "bingbot", "msn": "bingbot", "yahoo": "Slurp", "baidu": "Baiduspider",
    "duckduckgo": "DuckDuckBot", "apple": "Applebot", "facebook": "facebookexternalhit", "twitter": "Twitterbot",
    "openai": "GPTBot", "chatgpt": "ChatGPT-User", "gpt": "GPTBot", "anthropic": "ClaudeBot",
    "claude": "ClaudeBot", "perplexity": "PerplexityBot", "amazon": "Amazonbot",
    "ahrefs": "AhrefsBot", "semrush": "SemrushBot", "majestic": "MJ12bot", "commoncrawl": "CCBot",
    "adsense": "Mediapartners-Google",
}  # fmt: skip
"""Names of owners and products that are no token, and the crawler that is probably meant."""


def _source(document: str) -> Source:
    return Source(*document.split(" | "))


def _in_table() -> Iterator[Crawler]:
    with _TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            others = filter(None, (row["fallbacks_document"], row["crawl_delay_document"]))
            yield Crawler(
                row["token"], row["owner"], row["purpose"], Follows[row["follows"]], _source(row["document"]),
                row["until"], row["instead"], tuple(filter(None, row["fallbacks"].split(" | "))),
                {"yes": True, "no": False}.get(row["crawl_delay"]), tuple(map(_source, others)),
                Category[row["category"]], bool(row["ai"]),
            )  # fmt: skip


CRAWLERS: Final = tuple(_in_table())
"""All known crawlers."""

SEARCH_CRAWLERS: Final = (
    "Googlebot", "Googlebot-Image", "bingbot", "DuckDuckBot", "YandexBot", "Baiduspider", "Applebot", "Slurp",
)  # fmt: skip
"""Crawlers of search engines that many robots.txt files are written for."""

AI_CRAWLERS: Final[dict[str, Category]] = {
    crawler.token: crawler.category for crawler in CRAWLERS if crawler.is_of_ai and " " not in crawler.token
}
"""The tokens of crawlers that collect text or images for language or image models, or answer with their help.

Each has what its owner does with what it fetches: training, search or user request; a token that only controls
the use of pages is training. Retired names are in it, for site owners still write them. Search engines are not,
whatever else they do with their pages. A name of several words is not: crawlers compare its first word, which
other names share.
"""

AI_CRAWLERS_IN_USE: Final = tuple(
    crawler.token for crawler in CRAWLERS if crawler.token in AI_CRAWLERS and not crawler.until
)
"""The tokens of `AI_CRAWLERS` that are not retired."""

COMMON_AI_CRAWLERS: Final = (
    "GPTBot", "OAI-SearchBot", "ChatGPT-User", "ClaudeBot", "Claude-SearchBot", "Claude-User", "anthropic-ai",
    "Google-Extended", "Applebot-Extended", "PerplexityBot", "Perplexity-User", "MistralAI-User", "DuckAssistBot",
    "meta-externalagent", "meta-externalfetcher", "FacebookBot", "Amazonbot", "CCBot", "Bytespider", "cohere-ai",
    "Diffbot", "YouBot", "omgili", "Timpibot",
)  # fmt: skip
"""The tokens of `AI_CRAWLERS` that a census asks about whether a file names them or not; many files do."""

ARCHIVE_CRAWLERS: Final = ("archive.org_bot", "ia_archiver", "Arquivo-web-crawler", "heritrix")
"""Crawlers that keep what they find."""

_BY_KEY: Final = {crawler.key: crawler for crawler in CRAWLERS}


def crawler_of(name: str) -> Crawler | None:
    """The crawler that the user-agent line *name* addresses, whatever the case; None when it is not known.

    One whose token has several words is found by all of them alone, any other by the first.
    """
    return _BY_KEY.get(_words(name)) or _BY_KEY.get(_key(name))


def crawler_like(name: str) -> Crawler | None:
    """The crawler that *name*, the value of a user-agent line, was probably meant for.

    None for a name that is known, and for one that resembles none: it may have spaces too many, one letter
    wrong, missing, too many or swapped with its neighbour, or be the name of the owner.
    """
    key, joined = _key(name), _joined(name)
    if crawler_of(name):
        return None
    if joined != key:  # more than one word: "Google bot" names a crawler called Google
        return _BY_JOINED.get(joined) or _one_letter_off(joined)
    meant = _MISNOMERS.get(key)
    return _BY_KEY[_key(meant)] if meant else _one_letter_off(key)


def is_misnomer(name: str) -> bool:
    """Whether *name* is that of an owner or a product, for which `crawler_like` names one of perhaps several."""
    return _joined(name) == _key(name) and _key(name) in _MISNOMERS


_SHORTEST: Final = 7  # letters: one wrong letter makes a shorter name another one
_SHORTEST_STEM: Final = 6  # without "bot": Snapbot is not ShapBot


def _joined(name: str) -> str:
    return "".join(name[:_LONGEST].lower().split())


def _shortened(key: str) -> Iterator[str]:
    """*key*, and *key* without one of its letters."""
    yield key
    for at in range(1, len(key)):  # the first letter is rarely the wrong one
        yield key[:at] + key[at + 1 :]


def _by_shortened() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key in _BY_KEY:
        for shorter in _shortened(key) if len(key) >= _SHORTEST else ():
            found.setdefault(shorter, []).append(key)
    return found


_BY_JOINED: Final = {_joined(crawler.token): crawler for crawler in CRAWLERS}
_BY_SHORTENED: Final = _by_shortened()


def _one_letter_off(key: str) -> Crawler | None:
    """The known crawler from which *key* differs by one letter, looked up by what both are without a letter."""
    if not _SHORTEST <= len(key) <= _LONGEST:
        return None
    for shorter in _shortened(key):
        for known in _BY_SHORTENED.get(shorter, ()):
            if len(known.removesuffix("bot")) >= _SHORTEST_STEM and _is_one_mistake(key, known):
                return _BY_KEY[known]
    return None


def _is_one_mistake(key: str, known: str) -> bool:
    """Whether *key* is *known* with one letter wrong, missing, too many, or swapped with its neighbour."""
    if len(key) != len(known):
        return abs(len(key) - len(known)) == 1
    wrong = [at for at, (one, other) in enumerate(zip(key, known, strict=True)) if one != other]
    if len(wrong) == 1:
        return True
    first, last = wrong[0], wrong[-1]
    return len(wrong) == 2 and last == first + 1 and key[first : last + 1] == known[last] + known[first]
