"""Spiders for situations that the recording spider does not make."""

from __future__ import annotations

from typing import Any

from scrapy import Request

from tests.support.run_crawl import Recorder


class OneAfterAnother(Recorder):
    """Makes each request only when the one before has an outcome."""

    name = "one-after-another"

    async def start(self) -> Any:
        async for request in super().start():
            self.left = [Request(**arguments, callback=self.page, errback=self.failure, dont_filter=True)
                         for arguments in self.requests[1:]]  # fmt: skip
            yield request
            return

    def page(self, response: Any) -> Any:
        super().page(response)
        return self.next()

    def failure(self, failure: Any) -> Any:
        super().failure(failure)
        return self.next()

    def next(self) -> Any:
        return self.left.pop(0) if self.left else None
