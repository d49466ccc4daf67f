"""The verdict on a run: what the judge found, what the logs and gauges say, in one table."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import isnan, nan
from pathlib import Path
from statistics import median
from sys import getsizeof
from typing import Final, NamedTuple

from . import log, notes
from .gauges import Reading
from .judge import EXAMPLES, Findings, Judge
from .run import State

FINDINGS: Final = {
    "disallowed": "pages requested that the robots.txt of that moment forbade",
    "before robots.txt": "pages requested before the first robots.txt was answered",
    "robots.txt out of date": "pages requested by a robots.txt that counted no longer",
    "lost": "pages never requested",
    "lost to a connection": "pages whose requests never arrived, because the connection ended each time",
    "requested twice": "pages requested more often than faults and retries explain",
    "repeated after a kill": "pages requested again that were in the air when the crawl was killed",
    "repeated after a time-out": "pages requested again that were answered too late, on a busy machine",
    "robots.txt fetched again": "answers for a robots.txt that a process had in hand",
    "robots.txt fetched again for a reason": "the same, after an event or a time-out",
    "requested within Retry-After": "pages requested although the site had asked to wait",
    "requested within Retry-After in an outage": "the same, while the processes could not share a store",
    "unknown page": "requests that nothing leads to",
    "short gap at the download slot": "requests started before their Crawl-delay was over",
    "short gap at the download slot in an outage": "the same, while the processes could not share a store",
    "too fast at the server": "requests that arrived although all before them left no time for it",
    "short gap at the server": "gaps between arrivals shorter than the Crawl-delay",
    "traceback": "tracebacks in the logs",
}
REPORTED: Final = frozenset(
    {
        "lost to a connection",
        "repeated after a kill",
        "repeated after a time-out",
        "robots.txt fetched again for a reason",
        "requested within Retry-After in an outage",
        "short gap at the download slot in an outage",
        "short gap at the server",
    }
)
"""Counted, but no failure."""

FLAT: Final = 1.1
"""How much more memory a process may take at its end than a third of its time before."""

_RECORD: Final = 22
"""Octets of a fingerprint and its length in the file of Scrapy's filter of duplicates."""

_FINGERPRINT: Final = 64
"""Octets of the same in memory: 53, in blocks of 16."""

WIDTH: Final = 160
"""Characters of a line of a log that are shown."""

LONG: Final = 1_200.0
"""Seconds; a process of less may still grow towards its bounds."""


class Cost(NamedTuple):
    """*requests* and *urls* per second, CPU seconds per URL, the share of the time without a free CPU.

    URLs are what the scheduler hands out: also those that robots.txt forbids, which reach no server. At most so
    many octets of *memory* and *files* are in use.
    """

    requests: float
    urls: float
    cpu: float
    waited: float
    memory: int
    files: int


@dataclass(frozen=True)
class Verdict:
    """*gauges* belong to the crawling processes, by their number; *per_second* are the requests that arrived.

    *urls* is how many URLs the scheduler handed out; NaN when a process was killed that would have said so.
    *warnings* are what the stores logged.
    """

    state: State
    findings: Findings
    totals: Counter[str]
    per_second: Counter[int]
    gauges: dict[int, list[Reading]]
    urls: float
    warnings: list[str]

    @property
    def is_measured(self) -> bool:
        """Whether there are requests and figures; a crawl that was stopped at once has none."""
        return bool(self.per_second) and any(self.gauges.values())

    @property
    def failures(self) -> list[str]:
        found = [name for name in self.findings.counts if name not in REPORTED]
        for number, (before, after) in self.growth().items():
            if after > FLAT * before and self.gauges[number][-1].time - self.gauges[number][0].time > LONG:
                found.append(f"memory of process {number} grew from {before / 1e6:,.0f} to {after / 1e6:,.0f} MB")
        return found + [self.state.broken] * bool(self.state.broken)

    @property
    def passed(self) -> bool:
        return self.state.finished and not self.failures

    def middle(self) -> tuple[int, int, int]:
        """The first and the last second between the first tenth of the requests and the last, and their number.

        Neither the start counts nor the end, where few sites are left.
        """
        total, seen, middle = sum(self.per_second.values()), 0, []
        for second, requests in sorted(self.per_second.items()):
            seen += requests
            if 0.1 * total <= seen <= 0.9 * total:
                middle.append(second)
        first, last = (middle[0], middle[-1]) if middle else (min(self.per_second), max(self.per_second))
        return first, last, sum(self.per_second[second] for second in range(first, last + 1))

    def growth(self) -> dict[int, tuple[float, float]]:
        """The memory of each crawling process in octets: before the last third of its time, and at its end.

        Without that of Scrapy's filter of duplicates.
        """
        return {number: (_memory(of_one, 2 / 3), _memory(of_one, 1.0)) for number, of_one in self.gauges.items()}

    @property
    def cost(self) -> Cost:
        """Of the crawling processes, in the middle, without the time between two of them."""
        first, last, requests = self.middle()
        total = self.totals["requests"]
        cpu = waited = crawled = 0.0
        for readings in self.gauges.values():
            inside = [reading for reading in readings if first <= reading.time <= last + 1]
            if inside:
                cpu += inside[-1].cpu - inside[0].cpu
                waited += inside[-1].waited - inside[0].waited
                crawled += inside[-1].time - inside[0].time
        crawled = crawled or last + 1 - first  # one reading at most
        together = crawled / self.state.world.processes
        readings = [reading for of_one in self.gauges.values() for reading in of_one]
        return Cost(
            requests / together,
            requests / together * self.urls / total,
            cpu / requests / self.urls * total,
            waited / crawled,
            max(reading.memory for reading in readings),
            max(reading.files for reading in readings),
        )


def _memory(readings: list[Reading], share: float) -> float:
    """The median of the memory in the twentieth of the *readings* before that *share* of them."""
    last = max(int(share * len(readings)), 1)
    of_all = median(reading.memory for reading in readings[max(last - len(readings) // 20 - 1, 0) : last])
    return of_all - _of_filter(readings[last - 1].seen)


def _of_filter(seen: int) -> float:
    """The memory of Scrapy's filter of duplicates with a file of *seen* octets, as of 2.19: a set of bytes."""
    fingerprints = seen // _RECORD
    return fingerprints * _FINGERPRINT + getsizeof({*range(fingerprints)})


def judged(folder: Path, state: State) -> Verdict:
    pauses = [(begin, end) for name in ("stop", "suspend") for begin, end in in_pairs(state.steps_of(name))]
    steps = [when for _, when in state.steps]
    sqlite = [when for name in ("lock", "disk") for when in state.steps_of(name)] * (state.world.processes > 1)
    outages = [*sqlite, *state.steps_of("redis") * (state.world.processes > 1)]
    judge = Judge(
        state.world, obeys=state.obeys, kills=state.steps_of("kill"), pauses=pauses, steps=steps,
        outages=outages, sqlite=sqlite,
    )  # fmt: skip
    for note in notes.read(folder / "notes.log"):
        judge.note(note)
    for arrival in log.read(folder / "arrivals.log"):
        judge.read(arrival)
    if state.finished:
        judge.close()
    warnings: list[str] = []
    for file in sorted(folder.glob("crawl-*.log")):
        warnings += islice(of_stores(file), EXAMPLES)
    for file in [*folder.glob("crawl-*.log"), *folder.glob("stderr-*.log")]:
        for example in tracebacks(file):
            judge.findings.add("traceback", f"{file.name}: {example}")
    gauges = read_gauges(folder / "gauges.log")
    urls = read_urls(folder, state.crawls)
    return Verdict(state, judge.findings, judge.totals, judge.per_second, gauges, urls, warnings)


def in_pairs(times: list[float]) -> Iterator[tuple[float, float]]:
    yield from zip(times[::2], times[1::2], strict=False)


def of_stores(file: Path) -> Iterator[str]:
    """The warnings of the stores, and when they could be used again."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        yield from (line.strip() for line in lines if "[scrapy_rep.crawl.robots.stores." in line)


def read_urls(folder: Path, crawls: int) -> float:
    files = [folder / f"stats-{number}.json" for number in range(crawls)]
    if not all(file.exists() for file in files):
        return nan
    stats, names = [json.loads(file.read_text("utf-8")) for file in files], ("dequeued", "dequeued/redis")
    return float(sum(each.get(f"scheduler/{name}", 0) for each in stats for name in names))


def tracebacks(file: Path) -> Iterator[str]:
    """The last line of each."""
    inside = False
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("Traceback (most recent call last)"):
                inside = True
            elif inside and re.match(r"\S", line):
                inside = False
                yield line.strip()


def read_gauges(file: Path) -> dict[int, list[Reading]]:
    found: dict[int, list[Reading]] = {}
    for line in file.read_text("ascii").splitlines():
        number, _, rest = line.partition(" ")
        found.setdefault(int(number), []).append(Reading.from_text(rest))
    return found


def show(verdict: Verdict, off: Verdict | None = None) -> Iterator[str]:
    state, totals = verdict.state, verdict.totals
    yield f"{totals['requests']:,} requests at {totals['sites met']:,} of {state.world.sites:,} sites:"
    yield f"{totals['robots.txt']:,} answers for robots.txt, {totals['pages']:,} for pages"
    yield f"{totals['refused']:,} of them with Retry-After; {totals['starts at paced sites']:,} by a Crawl-delay"
    yield f"{totals['pages expected']:,} pages were expected; others depend on when their rules changed, or repeat"
    yield from _events(verdict)
    yield "\n| found | |\n|---|---|"
    for name, meaning in FINDINGS.items():
        yield f"| {meaning} | {verdict.findings.counts[name]:,} |"
    for name, examples in verdict.findings.examples.items():
        yield f"\n{name}:"
        yield from (f"  {example}" for example in examples)
    if off is not None:
        others = [f"{name}: {count:,}" for name, count in sorted(off.findings.counts.items())]
        yield f"\nWith robots.txt off the judge found {', '.join(others) or 'nothing'}."
    yield ""
    yield from _cost(verdict, off)
    ending = "stopped, not finished" if not state.finished and not state.broken else ""
    yield "\nPASS" if verdict.passed else f"\nFAIL: {', '.join(verdict.failures) or ending}"


def _events(verdict: Verdict) -> Iterator[str]:
    state = verdict.state
    names = ", ".join(name for name, _ in state.happened)
    yield f"events: {names or 'none'}; crawling processes: {state.crawls}"
    yield from (f"skipped: {skipped}" for skipped in state.skipped)
    yield from (f"  {warning[:WIDTH]}" for warning in verdict.warnings)


def _cost(verdict: Verdict, off: Verdict | None) -> Iterator[str]:
    yield "| | requests per second | URLs per second | CPU per URL | waited for a CPU | memory | files, at most |"
    yield "|---|---|---|---|---|---|---|"
    for name, one in (("scrapy_rep", verdict), ("robots.txt off", off)):
        if one is not None:
            cost = one.cost
            urls = "– | –" if isnan(cost.urls) else f"{cost.urls:,.0f} | {cost.cpu * 1e3:.2f} ms"
            rates = f"{cost.requests:,.0f} | {urls} | {cost.waited:.0%}"
            yield f"| {name} | {rates} | {cost.memory / 1e6:,.0f} MB | {cost.files:,} |"
