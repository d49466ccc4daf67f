"""What runs of this package for one request: calls, functions, files, classes, and calls into a higher room.

``python -m tests.support.walks`` prints the figures of a page whose robots.txt is known, of a page of a new
origin, and of a page under a Crawl-delay, in a default crawl with SQLite.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from scrapy import Request

from tests.support.crawl import crawl
from tests.support.rooms import rank
from tests.support.run_crawl import Recorder
from tests.support.site import Site, robots

ORIGINS, PAGES = 10, 30
RULES = "User-agent: *\nDisallow: /private\n"
DELAYED = f"{RULES}Crawl-delay: 0.05\n"

CARRIERS = {
    f"scrapy_rep.crawl.{name}"
    for name in ("runtime.events", "runtime.event_loop", "runtime.crawl", "robots.stores.sqlite_connection")
}
"""What calls upward by its nature: events, timers, `Crawl.part`, which builds, and a thread for a file."""


class Walk:
    """What ran between `begin` and `end`, page by page."""

    def begin(self) -> None:
        self.pages: list[Counter[tuple[str, str]]] = [Counter()]
        self.classes: dict[tuple[str, str], str] = {}  # by the function that has such a ``self``
        self.upward: Counter[str] = Counter()
        sys.setprofile(self._note)

    def next_page(self) -> None:
        self.pages.append(Counter())

    def _note(self, frame: Any, event: str, _: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event != "call" or not module.startswith("scrapy_rep."):
            return
        name = frame.f_code.co_qualname if sys.version_info >= (3, 11) else frame.f_code.co_name
        self.pages[-1][module, name] += 1
        if "self" in frame.f_locals:
            self.classes[module, name] = type(frame.f_locals["self"]).__qualname__
        caller = frame.f_back.f_globals.get("__name__", "") if frame.f_back is not None else ""
        if caller.startswith("scrapy_rep.") and caller not in CARRIERS and rank(caller) < rank(module):
            self.upward[f"{caller} calls {module} {name}"] += 1

    def end(self) -> dict[str, Any]:
        """The figures for one page. What ran in nine of ten pages counts: the others met what the clock starts."""
        sys.setprofile(None)
        ran, calls = Counter(key for page in self.pages for key in page), Counter[tuple[str, str]]()
        for page in self.pages:
            calls.update(page)
        usual = {key: calls[key] / len(self.pages) for key, pages in ran.items() if pages >= 0.9 * len(self.pages)}
        return {
            "calls": round(sum(usual.values())),
            "functions": len(usual),
            "modules": sorted({module for module, _ in usual}),
            "classes": sorted({self.classes[key] for key in usual if key in self.classes}),
            "upward": dict(self.upward),
            "names": {f"{module.removeprefix('scrapy_rep.')}.{name}": n for (module, name), n in usual.items()},
        }


class Walks(Recorder):
    """Requests a page, then one of each new origin, then more of the last; notes what ran in the stats."""

    name = "walks"
    origins = ""

    def page(self, response: Any) -> Any:
        super().page(response)
        pages = len(self.facts["pages"])
        if pages == 1:
            self.walk = Walk()
            self.walk.begin()
        elif pages == 1 + ORIGINS:
            self.crawler.stats.set_value("walk/new", json.dumps(self.walk.end()))
        elif pages == 3 + ORIGINS:
            self.walk.begin()
        elif pages == 3 + ORIGINS + PAGES:
            self.crawler.stats.set_value("walk/warm", json.dumps(self.walk.end()))
            return
        else:
            self.walk.next_page()
        origins = self.origins.split()
        yield Request(f"{origins[min(pages, ORIGINS)]}/{pages}", self.page)


def walks(rules: str = RULES, **settings: Any) -> dict[str, dict[str, Any]]:
    """The walks of a new origin and of a known one under these *rules*."""
    hosts = [f"127.0.0.{number}" for number in range(1, ORIGINS + 2)]
    with tempfile.TemporaryDirectory() as folder, Site(hosts) as site:
        site.answer("/robots.txt", robots(rules))
        settings = {"REP_STORE_PATH": str(Path(folder, "robots.sqlite")), **settings}
        result = crawl(
            f"{site.origins[0]}/first",
            spider="tests.support.walks:Walks",
            attributes={"origins": " ".join(site.origins)},
            settings=settings,
            apart=True,
        )
    return {kind: json.loads(result.stats[f"walk/{kind}"]) for kind in ("new", "warm")}


def main() -> None:
    found = walks()
    for name, walk in {
        "warm": found["warm"],
        "new origin": found["new"],
        "delayed": walks(DELAYED)["warm"],
    }.items():
        print(  # noqa: T201
            f"{name}: {walk['calls']} calls, {walk['functions']} functions, {len(walk['modules'])} files,"
            f" {len(walk['classes'])} classes, {sum(walk['upward'].values())} upward"
        )
        if "-v" in sys.argv:
            for each, count in sorted(walk["names"].items()):
                print(f"    {count:5.1f} {each}")  # noqa: T201
            print("    classes:", " ".join(walk["classes"]), "\n    upward:", walk["upward"])  # noqa: T201


if __name__ == "__main__":
    main()
