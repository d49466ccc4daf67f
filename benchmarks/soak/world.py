"""What every site of the world serves, and what its robots.txt means: facts from a seed, without any state.

Server, spider and judge each compute the same world from the same `World`, so that they need not talk. A site is
one address of 127.0.0.0/8. Its front page and its lists link to the leaves, and never fail, so that every leaf is
known to a crawler that may enter the site at all. Leaves fail, lead elsewhere, or are forbidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from random import Random
from typing import Final, NamedTuple

LEAVES_PER_LIST: Final = 20
SHARE_REQUESTED: Final = 0.72
"""Of the pages of a world, as measured: the others are forbidden, or of sites that are unreachable."""

LIMIT: Final = 5
"""Leaves that a limited site serves in `WINDOW` seconds; it refuses the next one, and all for `RETRY_AFTER`."""

WINDOW: Final = 10.0
RETRY_AFTER: Final = 4

SHARED: Final = 3
"""Of so many sites one is crawled by all processes."""

DELAYS: Final = (0.2, 0.5, 1.0)
"""Seconds; the Crawl-delays of paced sites."""

SECTIONS: Final = (
    "archive", "basket", "catalogue", "diary", "events", "forum", "gallery", "help", "images", "jobs", "kitchen",
    "letters",
)  # fmt: skip
ENDINGS: Final = (".html", ".html", ".html", ".pdf", ".html?sort=price", "/print")


class Access(str, Enum):
    """What an answer for a robots.txt means, by RFC 9309 section 2.3.1."""

    RULES = "rules"
    ALL = "all"
    NONE = "none"


class Kind(NamedTuple):
    """How sites of one kind answer for their robots.txt: how common it is, and what a crawler must conclude."""

    weight: int
    access: Access


HEALTHY: Final = {
    "plain": Kind(34, Access.RULES),
    "own group": Kind(14, Access.RULES),  # the rules are in the group of the crawler, * is forbidden everything
    "missing": Kind(10, Access.ALL),  # 404
    "refused": Kind(5, Access.ALL),  # 403
    "empty": Kind(4, Access.ALL),
    "web page": Kind(3, Access.ALL),
    "moved": Kind(5, Access.RULES),  # at the end of three redirects
    "compressed": Kind(5, Access.RULES),
    "changing": Kind(8, Access.RULES),  # other rules every few seconds, with max-age and validators
    "paced": Kind(6, Access.RULES),  # a Crawl-delay
    "sitemap": Kind(3, Access.RULES),
    "limited": Kind(2, Access.RULES),  # 429 or 503 with Retry-After to what is too fast; all pages are sound
    "hostile": Kind(2, Access.RULES),  # binary, long lines, wildcards, then the rules
    "huge": Kind(1, Access.RULES),  # rules, padding beyond 500 KiB, then a rule that no longer counts
    "closed": Kind(2, Access.RULES),  # everything is forbidden
}
FAULTY: Final = {
    "reset": Kind(10, Access.NONE),
    "hanging": Kind(4, Access.NONE),
    "dripping": Kind(8, Access.RULES),  # slowly, but in time
    "too slow": Kind(4, Access.NONE),
    "500": Kind(10, Access.NONE),
    "503": Kind(8, Access.NONE),  # with Retry-After
    "recovering": Kind(20, Access.RULES),  # 429 with Retry-After, then the rules
    "loop": Kind(10, Access.ALL),  # a redirect to itself
    "long chain": Kind(6, Access.ALL),  # more than five redirects
    "truncated": Kind(10, Access.NONE),
    "not compressed": Kind(8, Access.NONE),  # says gzip, and is not
    "bomb": Kind(2, Access.NONE),
    "not HTTP": Kind(6, Access.NONE),
}


class Leaf(NamedTuple):
    """How a page answers: how common it is, how often a crawler may ask that retries once, and where it leads."""

    weight: int
    requests: int
    leads_to: str = ""  # the section of the next page


SOUND: Final = "sound"
LEAVES: Final = {
    "moved": Leaf(20, 1, "moved"),
    "moved twice": Leaf(6, 1, "hop"),
    "moved into the forbidden": Leaf(10, 1, "forbidden"),
    "moved away": Leaf(6, 1, "from"),  # to the next site
    "circle": Leaf(4, 1, "circle"),
    "404": Leaf(14, 1),
    "500": Leaf(8, 2),
    "503": Leaf(6, 2),
    "429": Leaf(6, 2),
    "reset": Leaf(6, 4),  # Twisted repeats what fails on a connection that had served before, each time once
    "truncated": Leaf(5, 2),
    "dripping": Leaf(4, 1),
    "not compressed": Leaf(3, 1),
    "bomb": Leaf(1, 1),
    "hanging": Leaf(1, 2),
}
TARGETS: Final = ("moved", "hop", "hopped", "forbidden", "from", "circle")
"""Sections that are reached by redirects alone."""

LIST: Final = "list"
LEAF: Final = "leaf"
SITEMAP: Final = "sitemap"
PARTS: Final = (LIST, LEAF, SITEMAP, *TARGETS)

_PATH: Final = re.compile(r"/([a-z]+)/(\d+)")


class Rule(NamedTuple):
    allows: bool
    pattern: str


class Page(NamedTuple):
    """A list, a leaf, or what the redirect of leaf *number* leads to: *part* is one of `PARTS`."""

    part: str
    number: int


FRONT: Final = Page(LIST, 0)
SITEMAP_XML: Final = Page(SITEMAP, 0)
_FIXED: Final = {"/": FRONT, "/sitemap.xml": SITEMAP_XML}


@dataclass(frozen=True)
class World:
    """*sites* with so many *leaves* each; the share *faults* of the sites and of the leaves fails somehow.

    The rules of changing sites change every *period* seconds. So many *processes* crawl it together, and may have
    *one_queue*: then any of them may request any page.
    """

    seed: int
    sites: int
    leaves: int
    faults: float
    port: int = 0
    period: float = 20.0
    processes: int = 1
    one_queue: bool = False

    def hosts(self) -> Iterator[str]:
        return map(host_of, range(self.sites))

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"

    def knows(self, host: str) -> bool:
        return 0 <= number_of(host) < self.sites

    def after(self, host: str) -> str:
        """The site to which pages of *host* move away."""
        return host_of((number_of(host) + 1) % self.sites)

    def site(self, host: str) -> Site:
        return _site(self, host)

    @property
    def max_age(self) -> float:
        """Seconds that the robots.txt of a changing site counts."""
        return self.period / 2

    @property
    def lists(self) -> int:
        return max(-(-self.leaves // LEAVES_PER_LIST), 1)

    @property
    def expected_requests(self) -> int:
        """About how many requests a crawler that obeys makes."""
        return int(self.sites * (self.lists + 1 + self.leaves) * SHARE_REQUESTED)


def host_of(number: int) -> str:
    """The address in 127.0.0.0/8 of site *number*; 16 million fit."""
    return f"127.{1 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


def number_of(host: str) -> int:
    _, high, middle, low = map(int, host.split("."))
    return ((high - 1) << 16) + (middle << 8) + low


@dataclass(frozen=True)
class Site:
    """One address; *delay* is its Crawl-delay in seconds, 0 for none."""

    world: World
    host: str
    kind: str
    access: Access
    delay: float

    def rules(self, version: int) -> tuple[Rule, ...]:
        """The rules for the crawler in *version* of the robots.txt."""
        return _rules(self, version)

    def version(self, now: float) -> int:
        """The version that the site serves at *now*, POSIX seconds."""
        return int(now / self.world.period) if self.kind == "changing" else 0

    def is_due(self, page: Page, process: int) -> bool:
        """Whether crawling *process* requests *page*: it has sites of its own, and of shared ones some leaves."""
        if self.world.one_queue:
            return True
        number, processes = number_of(self.host), self.world.processes
        if number % SHARED:
            return number % processes == process
        return page.part != LEAF or page.number % processes == process

    def leaf(self, number: int) -> str:
        """What leaf *number* is like: `SOUND`, or one of `LEAVES`."""
        draw = self._draw(number)
        if self.kind == "limited" or (draw & 0xFFFF) >= self.world.faults * 0x10000:
            return SOUND
        return _LEAVES[(draw >> 16) % len(_LEAVES)]

    def path(self, page: Page) -> str:
        """The path and query of *page*."""
        if page in (FRONT, SITEMAP_XML):
            return "/" if page == FRONT else "/sitemap.xml"
        if page.part != LEAF:
            return f"/{page.part}/{page.number}.html"
        draw = self._draw(page.number) >> 32
        section, ending = SECTIONS[draw % len(SECTIONS)], ENDINGS[(draw >> 8) % len(ENDINGS)]
        return f"/{section}/{page.number}{ending}"

    def page(self, path: str) -> Page | None:
        """The page at *path*; None for one that the site does not have."""
        found = _PATH.match(path)
        if found is None:
            return _FIXED.get(path)
        part, number = found[1], int(found[2])
        page = Page(part if part in PARTS else LEAF, number)
        last = self.world.lists if part == LIST else self.world.leaves
        return page if number < last and path == self.path(page) else None

    def links(self, number: int) -> Iterator[Page]:
        """What list *number* links to: the next list, and its leaves, but for those that the sitemap has."""
        first = number * LEAVES_PER_LIST
        step = 2 if self.kind == "sitemap" else 1
        for leaf in range(first, min(first + LEAVES_PER_LIST, self.world.leaves), step):
            yield Page(LEAF, leaf)
        if number + 1 < self.world.lists:
            yield Page(LIST, number + 1)

    def in_sitemap(self) -> Iterator[Page]:
        """The leaves that are known from the sitemap alone."""
        return (Page(LEAF, leaf) for leaf in range(1, self.world.leaves, 2))

    def redirect(self, page: Page) -> tuple[Site, Page] | None:
        """Where *page* redirects to."""
        part, number = page
        if part == LEAF:
            leads_to = LEAVES[kind].leads_to if (kind := self.leaf(number)) != SOUND else ""
        else:
            leads_to = {"hop": "hopped", "circle": "circle"}.get(part, "")
        if not leads_to:
            return None
        site = self.world.site(self.world.after(self.host)) if leads_to == "from" else self
        return site, Page(leads_to, number)

    def requests(self, page: Page) -> int:
        """How often crawlers that retry once request *page* at most."""
        processes = 1 if self.world.one_queue else self.world.processes
        if page.part in (LIST, SITEMAP) and number_of(self.host) % SHARED == 0:
            return processes
        if page.part == SITEMAP and self._is_moved_to():  # by a process that follows the sitemaps of all it meets
            return processes
        if self.kind == "limited" and page.part == LEAF:
            return 2
        kind = self.leaf(page.number) if page.part == LEAF else SOUND
        return LEAVES[kind].requests if kind != SOUND else 1

    def _is_moved_to(self) -> bool:
        """Whether pages of the site before this one move here: another process may crawl that one."""
        before = self.world.site(host_of((number_of(self.host) - 1) % self.world.sites))
        return any(before.leaf(number) == "moved away" for number in range(self.world.leaves))

    def _draw(self, number: int) -> int:
        name = f"{self.world.seed}/{self.host}/{number}".encode()
        return int.from_bytes(blake2b(name, digest_size=8).digest(), "big")


@lru_cache(maxsize=65_536)
def _site(world: World, host: str) -> Site:
    random = Random(f"{world.seed}/{host}")  # noqa: S311
    kinds = FAULTY if random.random() < world.faults else HEALTHY
    kind = random.choices(list(kinds), [kind.weight for kind in kinds.values()])[0]
    delay = random.choice(DELAYS) if kind == "paced" else 0.0
    return Site(world, host, kind, kinds[kind].access, delay)


@lru_cache(maxsize=32_768)
def _rules(site: Site, version: int) -> tuple[Rule, ...]:
    """Lists stay allowed, so that all leaves are known; a redirect leads into what is forbidden."""
    if site.kind == "closed":
        return (Rule(False, "/"),)
    random = Random(f"{site.world.seed}/{site.host}/{version}")  # noqa: S311
    sections = random.sample(SECTIONS, 4)
    prefixes, excepted, tied, wild = sections[:2], sections[1], sections[2], sections[3]
    rules = [Rule(False, "/forbidden/"), *(Rule(False, f"/{section}/") for section in prefixes)]
    rules += [Rule(True, f"/{excepted}/1"), Rule(False, f"/{tied}/"), Rule(True, f"/{tied}/")]
    rules += [Rule(False, f"/{wild}/*7"), Rule(True, f"/{wild}/*7.html$")]
    rules += random.sample([Rule(False, "/*.pdf$"), Rule(False, "/*?sort="), Rule(False, "/*/print$")], 2)
    random.shuffle(rules)
    return tuple(rules)


_LEAVES: Final = [kind for kind, leaf in LEAVES.items() for _ in range(leaf.weight)]
