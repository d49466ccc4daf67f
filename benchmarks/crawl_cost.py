"""What obeying robots.txt costs a crawl: none at all, Scrapy's built-in middleware and scrapy_rep side by side.

CPU: what the middleware takes per request in a crawl of one origin whose robots.txt is in hand, with one of median
length and with a long one: the cost of Scrapy's own grows with the rules.

Memory: the resident set of a crawl of many origins, one page each, every robots.txt different, and how much of it
per origin is due to robots.txt, once what the crawl takes without one is subtracted.

Every figure comes from a real crawl, in a process of its own, of a real server on 127.0.0.0/8 (Linux). The
variants take turns, so that a busy machine slows all alike. CPU time counts, not the clock on the wall.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import linear_regression, median, quantiles
from tempfile import TemporaryDirectory
from typing import Any, Final

from scrapy_rep.tools.processes import cores

from .any_origin import LONG, MEDIAN, AnyOrigin
from .apart import apart
from .crawl_subject import run
from .figures import Benchmark, main, table

OFF, BUILT_IN, OURS = "robots.txt off", "Scrapy's built-in", "scrapy_rep"
SETTINGS: Final[dict[str, dict[str, Any]]] = {
    OFF: {"ROBOTSTXT_OBEY": False},
    BUILT_IN: {"ROBOTSTXT_OBEY": True},
    OURS: {"ADDONS": {"scrapy_rep.Addon": 300}},
}
EVERY: Final = 1_000  # origins


def crawl(server: AnyOrigin, name: str, spider: str, count: int) -> dict[str, Any]:
    """The figures of one crawl; one that broke must not pass for one that was cheap."""
    with TemporaryDirectory() as folder:
        settings = {**SETTINGS[name], "REP_STORE_PATH": f"{folder}/robots.sqlite"}
        figures: dict[str, Any] = apart(run, spider, server.port, count, settings)
    files = 0 if name == OFF else count if spider == "Origins" else 1
    expected = {"response_received_count": count + files, "robotstxt/request_count": files, "log_count/ERROR": 0}
    if figures["stats"] != expected or (spider == "Pages" and figures.get("refuses", False) is (name == OFF)):
        raise SystemExit(f"the crawl broke: {figures}")
    return figures


def per_request(length: int, rounds: int, pages: int) -> dict[str, dict[str, list[float]]]:
    """CPU seconds by variant: of a page, and of the middleware per request, of each crawl."""
    found: dict[str, dict[str, list[float]]] = {name: {"page": [], "request": []} for name in SETTINGS}
    order = list(found)
    with AnyOrigin(lasting=True, rules=length) as server:
        for _ in range(rounds):
            for name in order:
                figures = crawl(server, name, "Pages", pages)
                found[name]["page"].append(figures["page"])
                found[name]["request"].append(median(figures["request"]))
            order.append(order.pop(0))
    return found


def memory(origins: int) -> dict[str, list[float]]:
    """Resident megabytes at every so many origins, by variant."""

    def crawled(name: str) -> list[float]:
        return [size / 1e6 for size in crawl(server, name, "Origins", origins)["resident"]]

    with AnyOrigin(lasting=False) as server, ThreadPoolExecutor(cores()) as pool:  # what one holds is its own
        return dict(zip(SETTINGS, pool.map(crawled, SETTINGS), strict=True))


def measure(rounds: int = 3, pages: int = 2_400, origins: int = 20_000) -> dict[str, Any]:
    cpu = {length: per_request(length, rounds, pages) for length in (MEDIAN, LONG)}
    return {
        "page": median(cpu[MEDIAN][OFF]["page"]),
        "request": {n: {name: spread(of["request"]) for name, of in cpu[n].items()} for n in cpu},
        "every": EVERY,
        "memory": memory(origins),
    }


def spread(values: list[float]) -> list[float]:
    """Median between quartiles, in microseconds."""
    return [value * 1e6 for value in quantiles(values * 2 if len(values) == 1 else values, method="inclusive")]


def growth(figures: dict[str, Any], name: str) -> float:
    """kB per origin in the second half of the crawl, without what grows without robots.txt."""
    return slope(figures["memory"][name]) - slope(figures["memory"][OFF])


def slope(sizes: list[float]) -> float:
    half = len(sizes) // 2
    return linear_regression(range(half * EVERY, (len(sizes) + 1) * EVERY, EVERY), sizes[half - 1 :]).slope * 1e3


def found(crawl_cost: dict[str, Any]) -> Iterator[str]:
    yield "CPU per request, with a robots.txt in hand, of the middleware alone, and resident memory:"
    yield ""
    lengths, last = crawl_cost["request"], {name: sizes[-1] for name, sizes in crawl_cost["memory"].items()}
    origins = f"{EVERY * len(crawl_cost['memory'][OFF]):,}"
    yield from table(
        ["", *(f"{length} rules" for length in lengths), f"memory at {origins} origins", "one more file"],
        (
            (name, *(f"{of[name][1]:.1f} µs" for of in lengths.values()), f"{last[name]:.0f} MB",
             f"{growth(crawl_cost, name):.1f} kB")
            for name in (BUILT_IN, OURS)
        ),
    )  # fmt: skip


BENCHMARK: Final = Benchmark(
    measure,
    minutes=5,
    quick={"rounds": 1, "pages": 600, "origins": 4_000},
    blocks={"crawl_cost": found},
    pictures={"crawl_cost.svg": "benchmarks.crawl_cost_chart.draw"},
)

if __name__ == "__main__":
    main(__spec__.name)
