"""Parser back-ends for situations that ours does not make."""

from __future__ import annotations

import logging
from typing import Any

from scrapy.robotstxt import ProtegoRobotParser
from typing_extensions import Self


class Telling(ProtegoRobotParser):
    """Logs what it is handed."""

    @classmethod
    def from_crawler(cls, crawler: Any, robotstxt_body: bytes) -> Self:
        logging.getLogger(__name__).info("parser was handed %r", robotstxt_body)
        return super().from_crawler(crawler, robotstxt_body)


class Breaking(ProtegoRobotParser):
    """Cannot parse a file that allows something."""

    @classmethod
    def from_crawler(cls, crawler: Any, robotstxt_body: bytes) -> Self:
        if b"Allow" in robotstxt_body:
            raise ArithmeticError("cannot parse")
        return super().from_crawler(crawler, robotstxt_body)


class FailsWhenAsked(ProtegoRobotParser):
    """Cannot judge what is broken."""

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        if "broken" in str(url):
            raise ArithmeticError("cannot judge")
        return super().allowed(url, user_agent)
