"""One of several workers: what to crawl is a queue in Redis that all of them share, by scrapy-redis."""

import scrapy


class FleetSpider(scrapy.Spider):
    name = "fleet"
    sites = [f"127.0.0.{number}" for number in range(11, 21)]
    custom_settings = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_QUEUE_CLASS": "scrapy_rep.RedisHostQueue",
        "DUPEFILTER_CLASS": "scrapy_rep.RedisHostDupeFilter",
        "SCHEDULER_PERSIST": True,  # the first worker to finish leaves the others their queue
    }

    async def start(self):
        """Every worker offers all sites; the shared filter lets each into the queue once."""
        for site in self.sites:
            yield scrapy.Request(f"http://{site}:8999/")

    def parse(self, response):
        yield from response.follow_all(css="a")
        yield {"crawled": response.url}
