"""``/ai.txt`` of Spawning: which files of a site may train AI models, in the syntax of robots.txt.

https://spawning.ai/ai-txt (2023). Its generator writes one group, ``User-Agent: *``, with a pattern for each type
of media (``Disallow: *.jpg``, without a leading slash) and ``/`` for what is left; the longest pattern decides, as
in a robots.txt. Other files have the same name: draft-car-ai-txt-wellknown-00 (2026-06) is another format.
"""

from __future__ import annotations

from typing import Final

from scrapy_rep.protocol import RobotsTxt, parse

from .answers import Statement, shortened
from .vocabulary import Category, Signal

PATH: Final = "/ai.txt"
"""Where the file of an origin is."""


def read_file(body: bytes | RobotsTxt, token: str, url: str) -> list[Statement]:
    """Return what the file says about training with *url* to the crawler called *token*.

    *body* may be a parsed one, which answers for many URLs. Where no rule matches, nothing is said.
    """
    parsed = parse(body) if isinstance(body, bytes) else body
    verdict = parsed.verdict(token, url)
    if not verdict.rule or not verdict.rule.value:
        return []
    text = shortened(str(verdict.rule))
    return [Statement(Signal.AI_TXT, Category.AI_TRAIN, verdict.allowed, PATH, text, verdict.line)]
