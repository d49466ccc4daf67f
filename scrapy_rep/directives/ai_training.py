"""``DisallowAITraining`` and ``AllowAITraining``: rules of a robots.txt about the training of AI models.

draft-canel-robots-ai-control-00 (Microsoft, 2024-10-21) updates RFC 9309 with them. Version -01 (2025-04-04)
dropped them for a vocabulary and expired on 2025-10-06, so every statement here is irregular.

Their keys begin with ``Disallow`` and ``Allow``. Google's parser, and ours, takes keys by prefix: such a line is a
rule about crawling as well. A URL that may be crawled meets a ``DisallowAITraining`` only where an Allow wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scrapy_rep.protocol import Record, RobotsTxt
from scrapy_rep.protocol.path_pattern import path_of

from .answers import Statement, shortened
from .path_rules import PathRules
from .vocabulary import Category, Signal

_ALLOWS: Final = {b"disallowaitraining": False, b"allowaitraining": True}
KEYS: Final = _ALLOWS.keys()
"""The keys of these rules, in lower case."""


def read_robots_txt(robotstxt: RobotsTxt, token: str, url: str) -> list[Statement]:
    """Return what a robots.txt says about training with *url* to the crawler called *token*.

    The rule with the longest path decides. Where two are equally long, both are stated: a tie permits nothing.
    """
    return [*rules_in(robotstxt, token).statements(path_of(url))]


def rules_in(robotstxt: RobotsTxt, token: str) -> PathRules:
    """Return the rules of the group for the crawler called *token*; one with an empty path says nothing."""
    lines = {rule.line for rule in robotstxt.rules(token) if rule.value}
    records = (record for record in robotstxt.records if record.line in lines and record.key.lower() in _ALLOWS)
    return PathRules(((record.value, record) for record in records), _read)


def _read(record: Record) -> Iterator[Statement]:
    text = shortened(f"{record.key.decode()}: {record.text}")
    allows = _ALLOWS[record.key.lower()]
    yield Statement(
        Signal.DISALLOW_AI_TRAINING, Category.AI_TRAIN, allows, "robots.txt", text, record.line, irregular=True
    )
