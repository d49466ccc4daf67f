"""Command line of the soak: ``python -m benchmarks.soak``, see docs/soak.md."""

from __future__ import annotations

import argparse
from pathlib import Path

from .events import EVENTS, OF_SCRAPY
from .run import Plan, Run, has_crawl
from .verdict import Verdict, judged, show
from .world import World


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description="Crawl a hostile world.")
    parser.add_argument(
        "--folder", type=Path, required=True, help="of the crawl; one that was stopped is continued"
    )
    parser.add_argument("--sites", type=int, default=50, help="(default: %(default)s)")
    parser.add_argument(
        "--leaves", type=int, default=25, help="pages per site, beside lists (default: %(default)s)"
    )
    parser.add_argument(
        "--faults", type=float, default=0.1, help="share of sites and pages (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--concurrency", type=int, default=32, help="of each process (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=1, help="that crawl together (default: %(default)s)")
    parser.add_argument("--redis", action="store_true", help="share a Redis, not a SQLite file")
    parser.add_argument("--queue", action="store_true", help="share a RedisHostQueue, by scrapy-redis")
    parser.add_argument("--events", nargs="*", choices=EVENTS, default=[], help="what happens, in this order")
    parser.add_argument("--disobey", action="store_true", help="at one site per process; the judge must find it")
    parser.add_argument("--off", action="store_true", help="crawl a second time, with robots.txt off")
    parser.add_argument("--judge", action="store_true", help="judge what is in the folder, crawl nothing")
    parser.add_argument("--chart", type=Path, help="draw memory and rate over time, .svg or .png (extra bench)")
    return parser


def crawl(chosen: argparse.Namespace, folder: Path, *, obeys: bool) -> Verdict:
    if chosen.judge and not has_crawl(folder):
        raise SystemExit(f"{folder} has no crawl to judge: leave --judge away")
    world = World(
        chosen.seed, chosen.sites, chosen.leaves, chosen.faults, processes=chosen.processes, one_queue=chosen.queue
    )
    events = chosen.events if obeys else [name for name in chosen.events if name in OF_SCRAPY]
    redis = chosen.redis or chosen.queue or "redis" in events
    plan = Plan(events, obeys, redis, disobeys=chosen.disobey, concurrency=chosen.concurrency)
    run = Run(folder, world, plan)
    state = run.state if chosen.judge else run.crawl()
    return judged(folder, state)


def main() -> None:
    chosen = options().parse_args()
    if chosen.chart:  # hours before it is needed
        from .chart import draw  # noqa: PLC0415  # needs matplotlib
    verdict = crawl(chosen, chosen.folder, obeys=True)
    if not verdict.is_measured:
        raise SystemExit(f"nothing was requested yet: {verdict.state.broken or 'the same command continues'}")
    off = crawl(chosen, chosen.folder / "off", obeys=False) if chosen.off else None
    print(*show(verdict, off), sep="\n")
    if chosen.chart:
        draw(verdict, off, chosen.chart)
    raise SystemExit(0 if verdict.passed else 1)


if __name__ == "__main__":
    main()
