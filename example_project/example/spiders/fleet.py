"""One of several workers: what to crawl is a queue in Redis that all of them share, by scrapy-redis."""

import scrapy


class FleetSpider(scrapy.Spider):
    name = "fleet"
    site = "http://127.0.0.1:8999"
    pages = 60
    custom_settings = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_PERSIST": True,  # the first worker to finish leaves the others their queue
        "DUPEFILTER_CLASS": "scrapy_rep.RedisHostDupeFilter",
        "SCHEDULER_QUEUE_CLASS": "scrapy_rep.RedisHostQueue",
    }

    async def start(self):
        """Every worker offers all pages; the shared filter lets each into the queue once."""
        for number in range(int(self.pages)):
            yield scrapy.Request(f"{self.site}/page/{number}")

    def parse(self, response):
        yield {"crawled": response.url}
