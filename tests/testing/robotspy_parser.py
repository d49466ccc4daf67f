"""The package robotspy as a parser back-end, which it does not bring itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robots import RobotsParser
from scrapy.robotstxt import RobotParser, decode_robotstxt
from scrapy.utils.python import to_unicode

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class RobotspyParser(RobotParser):
    """Decodes as Scrapy does for Protego, and asks `robots.RobotsParser`."""

    def __init__(self, body: bytes) -> None:
        self._robots = RobotsParser.from_string(decode_robotstxt(body, None))

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:  # noqa: ARG003  # Scrapy's interface
        return cls(robotstxt_body)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        return bool(self._robots.can_fetch(to_unicode(user_agent), to_unicode(url)))
