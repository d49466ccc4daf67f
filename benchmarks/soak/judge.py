"""The judge: from the log of the servers alone, what a crawl did that it must not do, or did not do.

It knows the world, which says what each answer for a robots.txt means, and has its own few lines of longest match;
it shares nothing with scrapy_rep. It reads the log once, and keeps a few octets per page, whatever the log's size.

A page is judged by the last answer for the robots.txt of its site that was sent before the page was requested. As
an answer is on its way, or a request was sent, while the other arrives, the answer before that one counts as well
for `IN_THE_AIR` seconds. An answer counts for 24 hours (RFC 9309 section 2.4), or for the max-age that it names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from .log import HOLD, HOP, Arrival
from .notes import GIVEN_UP, RETRIED, START, Note
from .world import FRONT, PARTS, SITEMAP_XML, Page, Rule, Site, World

CLOCK: Final = 0.001
"""Seconds by which a gap at the download slot may be too short: the resolution of what is noted."""

NOISE: Final = 0.02
"""Seconds by which a gap between arrivals may be too short, before it is reported."""

LAG: Final = 1.0
"""Seconds by which all arrivals at a site may come too soon together.

Crawler and servers take turns on a busy machine: one request that is late makes the next gap short, but however
many requests there are, they come no faster than their delay but for the lateness of the first.
"""

MOMENT: Final = 1.0
"""Seconds that a process takes to notice what has happened to it."""

IN_THE_AIR: Final = 5.0
"""Seconds that a request takes at most: the time-out of the crawler, and a little more.

For so long the answer before the last one counts as well, and one that is out of date. After a pause of the
crawler it is longer by that: what it had decided to request goes on its way then.
"""

LONGEST_DELAY: Final = 300.0
"""Seconds between two requests to which a back-off doubles at most.

A page that comes next after the robots.txt for which it waited has to wait once more, for the delay of the site;
before that robots.txt was as long a delay.
"""

TIMEOUT: Final = 3.0
"""Seconds that the crawler waits for a robots.txt; a busy machine may read it later, and then fetches it again."""

OUTAGE: Final = 40.0
"""Seconds after an event in which a process may not use the store: it tries again 5 to 30 s after a failure."""

UNSHARED: Final = " in an outage"

UNDER_WAY: Final = 1.5
"""Seconds after the first refusal in which other processes have heard of it, however busy the machine is."""

DAY: Final = 86_400.0
EXAMPLES: Final = 10  # of each finding


def _is_in(outages: Iterable[float], now: float) -> bool:
    return any(outage < now < outage + OUTAGE for outage in outages)


def allows(rules: Iterable[Rule], path: str) -> bool:
    """RFC 9309 section 2.2.2: the longest rule that matches decides, allow among equals; else it is allowed."""
    matching = [(len(rule.pattern), rule.allows) for rule in rules if _regex(rule.pattern).match(path)]
    return max(matching, default=(0, True))[1]


@lru_cache(maxsize=4_096)
def _regex(pattern: str) -> re.Pattern[str]:
    body, end = (pattern[:-1], "$") if pattern.endswith("$") else (pattern, "")
    return re.compile(".*".join(map(re.escape, body.split("*"))) + end)


def permits(site: Site, meaning: str, path: str) -> bool:
    """Whether an answer of that *meaning* permits *path*."""
    kind, _, version = meaning.partition(":")
    return allows(site.rules(int(version)), path) if kind == "rules" else kind == "all"


@dataclass
class Findings:
    """How often each thing was found that must not be, and the first examples of each."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, example: object) -> None:
        self.counts[name] += 1
        examples = self.examples.setdefault(name, [])
        if len(examples) < EXAMPLES:
            examples.append(str(example))


class _Record:
    """What the log says of one site so far."""

    __slots__ = (
        "answered_at", "arrivals", "arrived_at", "before", "changed_at", "first_at", "held_from", "held_until",
        "meaning", "meanings", "requests", "waited",
    )  # fmt: skip

    def __init__(self, world: World) -> None:
        self.meaning = ""  # of the last answer for its robots.txt; empty before the first
        self.before = ""  # of the one that said something else before it
        self.answered_at = self.changed_at = 0.0
        self.waited = 0.0  # between the last answer and the request before it
        self.first_at = 0.0  # the first request
        self.arrived_at = float("inf")  # the last one; nothing waits for one that has not been
        self.arrivals = 0
        self.meanings: list[str] = []
        self.held_from = self.held_until = float("-inf")  # what the last refusals asked for
        self.requests = bytearray(len(PARTS) * _stride(world))  # how many, by page

    def answered(self, now: float, meaning: str) -> None:
        self.answered_at, self.waited = now, min(now - self.arrived_at, LONGEST_DELAY)
        if meaning != self.meaning:
            self.before, self.meaning, self.changed_at = self.meaning, meaning, now
        if meaning not in self.meanings:
            self.meanings.append(meaning)


def _stride(world: World) -> int:
    return max(world.leaves, world.lists)


def _index(world: World, page: Page) -> int:
    return PARTS.index(page.part) * _stride(world) + page.number


class Judge:
    """Takes notes with `note`, then reads arrivals in their order with `read`; `close` says what is missing.

    *obeys* is whether the crawl obeys robots.txt: if not, it may request all, and must. *kills* are the times at
    which a crawling process was killed, *pauses* those between which one was stopped, *steps* those of all events.
    *outages* are those at which several processes lost what they share, *sqlite* those of them without Redis.
    """

    def __init__(
        self,
        world: World,
        *,
        obeys: bool = True,
        kills: Iterable[float] = (),
        pauses: Iterable[tuple[float, float]] = (),
        steps: Iterable[float] = (),
        outages: Iterable[float] = (),
        sqlite: Iterable[float] = (),
    ) -> None:
        self.findings = Findings()
        self.totals: Counter[str] = Counter()
        self.per_second: Counter[int] = Counter()
        self._world = world
        self._obeys = obeys
        self._outages, self._sqlite = sorted(outages), sorted(sqlite)
        self._kills, self._pauses, self._steps = sorted(kills), sorted(pauses), sorted(steps)
        self._given_up: set[tuple[str, int]] = set()
        self._retried: set[tuple[str, int]] = set()
        self._unanswered: set[tuple[str, int]] = set()
        self._started_at: dict[str, float] = {}
        self._records: dict[str, _Record] = {}

    def read(self, arrival: Arrival) -> None:
        self.totals["requests"] += 1
        self.per_second[int(arrival.time)] += 1
        if not self._world.knows(arrival.host):
            self.findings.add("unknown page", arrival)
            return
        site, record = self._world.site(arrival.host), self._record(arrival.host)
        if site.delay:
            self._pace(site, record, arrival)
        if arrival.is_page:
            self.totals["pages"] += 1
            self._page(site, record, arrival)
        elif arrival.meaning != HOP:
            self.totals["robots.txt"] += 1
            if self._obeys and record.meaning not in ("", "none") and site.kind not in ("changing", "loop"):
                self.findings.add(self._why_fetched_again(record.answered_at, arrival.time), arrival)
            record.answered(arrival.time, arrival.meaning)
        record.arrived_at = arrival.time

    def _record(self, host: str) -> _Record:
        record = self._records.get(host)
        if record is None:
            record = self._records[host] = _Record(self._world)
        return record

    def _pace(self, site: Site, record: _Record, arrival: Arrival) -> None:
        if not record.arrivals or _is_in(self._sqlite, arrival.time):
            record.first_at, record.arrivals = arrival.time, 0
        elif self._obeys and arrival.time - record.arrived_at < site.delay - NOISE:
            self.findings.add("short gap at the server", f"{arrival.time - record.arrived_at:.3f} s: {arrival}")
        if self._obeys and arrival.time - record.first_at < record.arrivals * site.delay - LAG:
            self.findings.add("too fast at the server", f"request {record.arrivals + 1} there: {arrival}")
        record.arrivals += 1

    def _page(self, site: Site, record: _Record, arrival: Arrival) -> None:
        page = site.page(arrival.path)
        if page is None:
            self.findings.add("unknown page", arrival)
            return
        index = _index(self._world, page)
        record.requests[index] = min(record.requests[index] + 1, 255)
        if any(arrival.time - MOMENT < kill < arrival.time + IN_THE_AIR for kill in self._kills):
            self._given_up.add((arrival.host, index))
        if record.requests[index] > site.requests(page):
            self.findings.add(self._why_again((arrival.host, index)), arrival)
        if self._obeys:
            self._judge(site, record, arrival)
            self._hold(record, arrival)

    def _hold(self, record: _Record, arrival: Arrival) -> None:
        late = self._in_the_air(arrival.time) - IN_THE_AIR
        if record.held_from + UNDER_WAY + late < arrival.time < record.held_until - NOISE:
            asked = arrival.time - record.held_from
            name = "requested within Retry-After" + UNSHARED * _is_in(self._outages, record.held_from)
            self.findings.add(name, f"{asked:.2f} s after it was asked to wait: {arrival}")
        if arrival.meaning.startswith(HOLD):
            self.totals["refused"] += 1
            if arrival.time >= record.held_until:
                record.held_from = arrival.time
            record.held_until = max(record.held_until, arrival.time + int(arrival.meaning[len(HOLD) :]) - 1)

    def _received_at(self, answered_at: float) -> float:
        """When the crawler may have received an answer: after the pause in which it was on its way."""
        ended = (end for begin, end in self._pauses if begin - IN_THE_AIR < answered_at < end)
        return max(ended, default=answered_at)

    def _in_the_air(self, now: float) -> float:
        """For how long a request that arrives *now* may have been on its way."""
        ended = (end - begin for begin, end in self._pauses if end - MOMENT < now < end + IN_THE_AIR)
        return IN_THE_AIR + max(ended, default=0.0)

    def _why_fetched_again(self, before: float, now: float) -> str:
        is_explained = any(before - IN_THE_AIR < step < now for step in self._steps)
        is_unshared = _is_in(self._outages, before)
        may_have_been_late = TIMEOUT <= now - before < 3 * IN_THE_AIR
        return "robots.txt fetched again" + " for a reason" * (is_explained or is_unshared or may_have_been_late)

    def _why_again(self, page: tuple[str, int]) -> str:
        if page in self._given_up:
            return "repeated after a kill"
        return "repeated after a time-out" if page in self._retried else "requested twice"

    def _judge(self, site: Site, record: _Record, arrival: Arrival) -> None:
        if not record.meaning:
            self.findings.add("before robots.txt", arrival)
        elif not permits(site, record.meaning, arrival.path):
            age = arrival.time - record.changed_at
            if age <= self._in_the_air(arrival.time) and permits(site, record.before, arrival.path):
                self.totals["by the answer before"] += 1
            else:
                self.findings.add("disallowed", f"{arrival}, by {record.meaning}")
        lifetime = self._world.max_age if site.kind == "changing" else DAY
        age = arrival.time - self._received_at(record.answered_at)
        waited = record.waited if record.arrived_at == record.answered_at else 0.0
        if record.meaning and age > max(lifetime, waited) + self._in_the_air(arrival.time):
            self.findings.add("robots.txt out of date", f"{arrival}, answered {age:.1f} s before")

    def note(self, note: Note) -> None:
        """Take down what the crawling process noted; to be called in the order of the notes."""
        if note.what == START and self._obeys:
            self.totals["starts at paced sites"] += 1
            gap = note.time - self._started_at.get(note.about, float("-inf"))
            if gap < self._world.site(note.about).delay - CLOCK:
                name = "short gap at the download slot" + UNSHARED * _is_in(self._outages, note.time)
                self.findings.add(name, f"{gap:.4f} s at {note.about}")
            self._started_at[note.about] = note.time
        elif note.what in (RETRIED, GIVEN_UP):
            host, _, path = note.about.partition("/")
            page = self._world.site(host).page(f"/{path}")
            if page is not None:
                noted = self._retried if note.what == RETRIED else self._unanswered
                noted.add((host, _index(self._world, page)))

    def close(self) -> None:
        """Look for what was never requested."""
        for host in self._world.hosts():
            site = self._world.site(host)
            self.totals["sites met"] += host in self._records
            for where, page in self._expected(site):
                self.totals["pages expected"] += 1
                if not self._requests(where, page):
                    is_cut_off = (where.host, _index(self._world, page)) in self._unanswered
                    self.findings.add(
                        "lost" + " to a connection" * is_cut_off, where.world.url(where.host, where.path(page))
                    )

    def _requests(self, site: Site, page: Page) -> int:
        record = self._records.get(site.host)
        return record.requests[_index(self._world, page)] if record else 0

    def _expected(self, site: Site) -> Iterator[tuple[Site, Page]]:
        """The pages that a crawler must have requested because it entered *site*: those that it always might."""
        known = [FRONT, *(link for number in range(self._world.lists) for link in site.links(number))]
        if site.kind == "sitemap" and self._obeys:
            known += [SITEMAP_XML, *site.in_sitemap()]
        if not self._may(site, FRONT):
            return
        for page in known:
            step: tuple[Site, Page] | None = (site, page)
            seen: set[tuple[str, Page]] = set()
            while step is not None and self._may(*step) and (step[0].host, step[1]) not in seen:
                yield step
                seen.add((step[0].host, step[1]))
                step = step[0].redirect(step[1])

    def _may(self, site: Site, page: Page) -> bool:
        """Whether every answer for the robots.txt of *site* allows *page*, or all but a first refusal did."""
        if not self._obeys:
            return True
        record, path = self._records.get(site.host), site.path(page)
        meanings = record.meanings if record and record.meanings else _in_theory(site)
        return all(permits(site, meaning, path) for meaning in meanings if meaning != "none" or len(meanings) == 1)


def _in_theory(site: Site) -> list[str]:
    """What the world says of a site that was never asked."""
    return ["rules:0" if site.access == "rules" else site.access.value]
