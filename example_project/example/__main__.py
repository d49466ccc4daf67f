"""Crawls the site and prints what was crawled and what was forbidden: ``python -m example``."""

from __future__ import annotations

from threading import Thread

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.project import get_project_settings

from .site import serve
from .spiders.links import LinksSpider


def show(item: dict[str, object]) -> None:
    if "crawled" in item:
        print(f"crawled    {item['crawled']}")
    else:
        print(f"forbidden  {item['forbidden']}  by line {item['line']} of robots.txt: {item['rule']}")


def main() -> None:
    with serve() as site:
        Thread(target=site.serve_forever, daemon=True).start()
        settings = get_project_settings()
        settings.set("LOG_LEVEL", "WARNING")
        process = AsyncCrawlerProcess(settings)
        crawler = process.create_crawler(LinksSpider)
        crawler.signals.connect(show, signal=signals.item_scraped)
        process.crawl(crawler)
        process.start()
        site.shutdown()
    stats = crawler.stats.get_stats()
    print(f"robots.txt fetched: {stats['robotstxt/request_count']}, forbidden: {stats['robotstxt/forbidden']}")


if __name__ == "__main__":
    main()
