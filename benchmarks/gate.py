"""What a slow or dead robots.txt does to a crawl: Scrapy's built-in middleware beside scrapy_rep.

The leak: twelve disallowed pages wait for one robots.txt that takes a second. How many of them are
requested all the same?

Starvation: forty origins whose robots.txt hangs are requested before the forty pages of a healthy one.
When do the 41 requests (its robots.txt is one of them) reach the healthy origin? And when it is alone?

Every figure comes from a real crawl, in a process of its own, of a real server on 127.0.0.0/8 (Linux).
From the root of the repository, with the extra `test`.
"""

from __future__ import annotations

from typing import Any, Final

from tests.support.crawl import Crawl, crawl
from tests.support.site import Site, hang, robots

from .figures import Benchmark, main

BUILT_IN, OURS, ALONE = "Scrapy's built-in", "scrapy_rep", "scrapy_rep, healthy origin alone"
SETTINGS = {BUILT_IN: {"ADDONS": {}, "ROBOTSTXT_OBEY": True}, OURS: {}, ALONE: {}}

PRIVATE = [f"/private/{number}" for number in range(12)]
PAGES = [f"/page/{number}" for number in range(40)]
HANGING = [f"127.0.3.{number}" for number in range(1, 41)]

# Both give a robots.txt up after 15 s and try nothing twice, so that the crawls end.
PATIENCE = 15.0
BOUNDS = {"DOWNLOAD_TIMEOUT": PATIENCE, "RETRY_ENABLED": False, "REP_TIMEOUT": PATIENCE, "REP_RETRY_TIMES": 0}


def check(fine: bool, result: Crawl) -> None:
    """A crawl that broke must not pass for one that obeyed."""
    if result.exit_code or not fine:
        raise SystemExit(f"the crawl broke: {result.stats}\n{result.stderr[-4_000:]}")


def leaked(settings: dict[str, Any]) -> int:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n", delay=1.0))
        result = crawl(*(site.origin + path for path in PRIVATE), settings=settings)
        forbidden = sum(failure.message.startswith("Forbidden by robots.txt") for failure in result.failures)
        check(len(result.pages) + forbidden == len(PRIVATE), result)
        return len(set(PRIVATE) & set(site.paths()))


def healthy(settings: dict[str, Any], hanging: list[str]) -> list[float]:
    """When the healthy origin was asked, counted from the first request of the crawl at any origin."""
    with Site(["127.0.0.1", *hanging]) as site:
        origin, *others = site.origins
        site.answer("/robots.txt", hang())
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"), origin)
        urls = [f"{other}/page" for other in others] + [origin + path for path in PAGES]
        result = crawl(*urls, settings={**settings, **BOUNDS}, timeout=180)
        check(sorted(site.paths(origin)) == sorted(["/robots.txt", *PAGES]), result)
        began = min(arrival.time for arrival in site.log)
        return sorted(arrival.time - began for arrival in site.log if arrival.origin == origin)


def measure(hanging: int = len(HANGING)) -> dict[str, Any]:
    """Per crawl: how many disallowed pages were requested; when the healthy origin was, in seconds."""
    beside = {BUILT_IN: HANGING[:hanging], OURS: HANGING[:hanging], ALONE: []}
    times = {name: healthy(SETTINGS[name], others) for name, others in beside.items()}
    return {
        "leaked": {name: leaked(SETTINGS[name]) for name in (BUILT_IN, OURS)},
        "healthy": times,
    }


BENCHMARK: Final = Benchmark(
    measure, minutes=1.5, quick={"hanging": 2}, pictures={"gate.svg": "benchmarks.gate_chart.draw"}
)

if __name__ == "__main__":
    main(__spec__.name)
