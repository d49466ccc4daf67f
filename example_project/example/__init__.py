"""A Scrapy project that obeys robots.txt by one line of settings, and a local site to crawl."""
