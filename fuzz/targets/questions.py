"""What to ask a robots.txt: crawlers and URLs, some from the input, some made from the file itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

from fuzz.inputs import parts, text_of
from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, parse
from scrapy_rep.protocol.product_token import token_in

GOOGLES: Final = (GOOGLE, GOOGLE_EXACT)
"""The dialects that the fast engine reads."""

SITE: Final = "https://h.example"

_TOKENS_OF_FILE: Final = 2
_RULES_OF_FILE: Final = 3


class Questions(NamedTuple):
    """A robots.txt, and which URLs which crawlers ask it about."""

    body: bytes
    urls: tuple[str, ...]
    tokens: tuple[str, ...]


def questions_in(data: bytes) -> Questions:
    """The questions in an input of body, URL and product token."""
    body, url, token = parts(data, 3)
    return questions(body, text_of(url), text_of(token))


def questions(body: bytes, url: str, token: str) -> Questions:
    """What is to be asked about *body*, besides *url* and *token*."""
    urls = dict.fromkeys([url, f"{SITE}/", f"{SITE}/robots.txt", *_urls_like_rules(body)])
    tokens = dict.fromkeys([token, "zz", *islice(_names(body), _TOKENS_OF_FILE)])
    return Questions(body, tuple(urls), tuple(tokens))


def _names(body: bytes) -> Iterator[str]:
    """The names in user-agent lines, as a crawler with a wide name reads them."""
    agents = chain.from_iterable(group.agents for group in parse(body, limit=None).groups)
    return (token_in(agent.value, wide=True).decode("utf-8", "surrogateescape") for agent in agents)


def _urls_like_rules(body: bytes) -> Iterator[str]:
    """URLs that the rules of the file match, or nearly."""
    rules = chain.from_iterable(group.rules for group in parse(body, limit=None).groups)
    for rule in islice(rules, _RULES_OF_FILE):
        for path in _like(rule.value):
            yield SITE + path.decode("utf-8", "surrogateescape") if path.startswith(b"/") else text_of(path)


def _like(pattern: bytes) -> Iterable[bytes]:
    return pattern.replace(b"*", b"").rstrip(b"$"), pattern.replace(b"*", b"x").rstrip(b"$") + b"a", pattern
