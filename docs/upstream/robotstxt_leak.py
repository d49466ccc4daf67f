"""How many disallowed pages does a crawl request while they wait for one robots.txt? Needs Scrapy alone.

    python robotstxt_leak.py [asyncio | twisted | reactorless]

A server on 127.0.0.1 answers with a robots.txt after a second. It disallows /private, and a spider requests twelve
pages there. Prints the version of Scrapy and the number of pages that reached the server.
"""

from __future__ import annotations

import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import scrapy
from scrapy.crawler import AsyncCrawlerProcess, CrawlerProcess

PAGES = 12
LOOPS = {
    "asyncio": (AsyncCrawlerProcess, {}),
    "twisted": (CrawlerProcess, {"TWISTED_REACTOR": None}),
    "reactorless": (AsyncCrawlerProcess, {"TWISTED_REACTOR_ENABLED": False}),
}
requested = []


class Server(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"User-agent: *\nDisallow: /private\n"
        requested.append(self.path)
        if self.path == "/robots.txt":
            time.sleep(1)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Private(scrapy.Spider):
    name = "private"
    port = 0

    async def start(self):
        for number in range(PAGES):
            yield scrapy.Request(f"http://127.0.0.1:{self.port}/private/{number}")

    def parse(self, response):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    Thread(target=server.serve_forever, daemon=True).start()
    name = (sys.argv[1:] or ["asyncio"])[0]
    process_class, settings = LOOPS[name]
    process = process_class({"ROBOTSTXT_OBEY": True, "LOG_ENABLED": False, **settings})
    process.crawl(Private, port=server.server_port)
    process.start()
    if requested.count("/robots.txt") != 1:
        sys.exit("the crawl broke: it did not request robots.txt once")
    print(f"Scrapy {scrapy.__version__}, {name}: {len(requested) - 1} of {PAGES} disallowed pages requested")
