"""`ItemStamp`: puts the stamp of a response into the items of its callback (``REP_ITEM_FIELD``)."""

from __future__ import annotations

import logging
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from scrapy import Item
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_rep.crawl.policy.meta import META_KEY
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.log import describe

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

SHORT: Final = ("verdict", "mode", "rule", "sha256", "fetched", "page")
"""The fields of a short stamp. Filter by ``verdict``: in every mode, most pages are allowed."""


class ItemStamp(BaseSpiderMiddleware):
    """Spider middleware that puts the stamp of the response into each item; the add-on enables it.

    All items have the field; it is None if robots.txt was not consulted for the response. Items of ``start()``
    have no response and stay unchanged. An item that cannot take the stamp passes without it.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` without ``REP_ITEM_FIELD``."""
        super().__init__(crawler)
        settings = Crawl.of(crawler).settings
        if not settings.item_field:
            raise NotConfigured
        self._field = settings.item_field
        self._is_short = settings.item_stamp == "short"
        self._warned: set[type] = set()

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return *item* with a copy of the stamp of *response*."""
        if response is None or item is None:
            return item
        try:
            ItemAdapter(item)[self._field] = self._stamp(response.meta.get(META_KEY))
        except Exception as error:  # noqa: BLE001  # item classes validate and freeze as they like
            self.crawler.stats.inc_value("rep/item/unstamped_count")
            if type(item) not in self._warned:
                self._warned.add(type(item))
                self._warn(type(item), error)
        return item

    def _stamp(self, stamp: Any) -> dict[str, Any] | None:
        if not isinstance(stamp, dict):
            return None
        if not self._is_short:
            return deepcopy(stamp)
        ai = stamp.get("ai")
        return {**{name: deepcopy(stamp.get(name)) for name in SHORT}, "ai": dict(ai["answers"]) if ai else None}

    def _warn(self, item_class: type, error: Exception) -> None:
        logger.warning(
            "Items of %s.%s carry no stamp of robots.txt: %s",
            item_class.__module__, item_class.__qualname__, self._reason(item_class, error),
            extra={"spider": self.crawler.spider},
        )  # fmt: skip

    def _reason(self, item_class: type, error: Exception) -> str:
        """Why items of *item_class* cannot take the stamp, and what to add to the class."""
        if not isinstance(error, KeyError):
            return f"{self._field!r}, the field of REP_ITEM_FIELD, cannot be set ({describe(error)})"
        field = "scrapy.Field()" if issubclass(item_class, Item) else "None"
        annotation = "" if issubclass(item_class, Item) else ": dict | None"
        return f"add the field of REP_ITEM_FIELD to the class: {self._field}{annotation} = {field}"
