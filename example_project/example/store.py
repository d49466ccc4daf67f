"""A store in a file of `shelve`, for one crawl at a time; it unpickles, so nobody else may write to its file."""

import shelve
from dataclasses import fields

from scrapy_rep import Entry
from scrapy_rep.protocol import Origin

FACTS = [field.name for field in fields(Entry) if field.name != "origin"]


class ShelfStore:
    def __init__(self, path):
        self.shelf = shelve.open(path)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings.get("SHELF", "robots.shelf"))

    async def get(self, origin):
        facts = self.shelf.get(str(origin))
        return Entry(origin, **facts) if facts else None

    async def put(self, entry):
        self.shelf[str(entry.origin)] = {name: getattr(entry, name) for name in FACTS}

    async def acquire_lease(self, origin, seconds):
        return True  # no other crawl fetches

    async def release_lease(self, origin):
        pass

    def close(self):
        self.shelf.close()

    def entries(self, origin=None):
        for key in sorted(self.shelf):
            if origin is None or key == str(origin):
                yield Entry(Origin.from_url(key), **self.shelf[key])

    def purge(self, origin=None):
        keys = [str(entry.origin) for entry in self.entries(origin)]
        for key in keys:
            del self.shelf[key]
        return len(keys)
