"""The crawl of the world, in a process of its own: ``python -m benchmarks.soak.subject JOB``, a `Job` in JSON.

With the same folder it continues where the one before stopped. SIGUSR1 turns its wall clock to the next of
`CLOCKS`, if the job asks for that. SIGUSR2 has it write what it waits for.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from .world import World

CLOCKS: Final = (0.0, 26 * 3_600.0, -3_600.0, 0.0)
"""Seconds by which the wall clock is wrong, one after another."""


@dataclass(frozen=True)
class Job:
    """Crawl *world* from *folder*, which keeps everything; *store* is the folder of the SQLite file.

    *number* counts the processes of one crawl. *obeys* is whether scrapy_rep is on, *redis* the URL of a Redis or
    empty, *turns_clock* whether SIGUSR1 does.
    """

    world: World
    folder: str
    store: str
    number: int = 0
    obeys: bool = True
    redis: str = ""
    turns_clock: bool = False
    concurrency: int = 32

    @classmethod
    def from_json(cls, text: str) -> Job:
        fields = json.loads(text)
        return cls(**{**fields, "world": World(**fields["world"])})

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @property
    def log(self) -> Path:
        return Path(self.folder, f"crawl-{self.number}.log")

    @property
    def stats(self) -> Path:
        return Path(self.folder, f"stats-{self.number}.json")

    @property
    def notes(self) -> Path:
        return Path(self.folder, "notes.log")

    @property
    def settings(self) -> dict[str, Any]:
        return BASE | {
            "CONCURRENT_REQUESTS": self.concurrency,
            "JOBDIR": f"{self.folder}/job",
            "LOG_FILE": str(self.log),
            **(self.of_scrapy_rep if self.obeys else {"ROBOTSTXT_OBEY": False}),
        }

    @property
    def of_scrapy_rep(self) -> dict[str, Any]:
        return OBEYING | {"REP_STORE_PATH": f"{self.store}/robots.sqlite", "REP_REDIS_URL": self.redis}


BASE: Final[dict[str, Any]] = {
    "USER_AGENT": "SoakBot/1.0 (+http://127.0.0.1/)",
    "COOKIES_ENABLED": False,
    "DOWNLOAD_DELAY": 0.0,  # newer versions of Scrapy have another default in projects
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "CONCURRENT_ITEMS": 8,  # Scrapy starts so many tasks for each response: by default a quarter of all CPU
    "DOWNLOAD_TIMEOUT": 4,
    "DOWNLOAD_MAXSIZE": 2_000_000,
    "DOWNLOAD_WARNSIZE": 0,
    "RETRY_TIMES": 1,
    "TELNETCONSOLE_ENABLED": False,
    "MEMUSAGE_ENABLED": False,
    "LOG_LEVEL": "INFO",
}
OBEYING: Final[dict[str, Any]] = {
    "ADDONS": {"scrapy_rep.Addon": 300},
    "REP_TIMEOUT": 3.0,
    "REP_RETRY_TIMES": 1,
    "REP_RETRY_DELAY": 0.5,
    "REP_RETRY_MAX_DELAY": 2.0,
    "REP_UNREACHABLE_WAIT": 9.0,
    "REP_MIN_TTL": 1.0,
    "REP_FOLLOW_SITEMAPS": True,
}


def turn_clock() -> None:
    """Have SIGUSR1 turn the wall clock; to be called before anything takes `time.time` for itself.

    Twisted keeps the true clock. It times its calls by the wall clock, its connections among them: when that is
    turned back an hour, what was about to connect does so an hour later and times out later still, in any crawl.
    """
    import twisted.python.runtime  # noqa: F401, PLC0415  # takes `time.time` now

    true_time, state = time.time, {"turn": 0}

    def turned() -> float:
        return true_time() + CLOCKS[state["turn"] % len(CLOCKS)]

    def turn(*_: object) -> None:
        state["turn"] += 1

    time.time = turned
    signal.signal(signal.SIGUSR1, turn)


def run(job: Job) -> None:
    from scrapy.crawler import AsyncCrawlerProcess  # noqa: PLC0415  # after the clock

    from . import hang  # noqa: PLC0415
    from .notes import Notes  # noqa: PLC0415
    from .spider import Soak  # noqa: PLC0415

    process = AsyncCrawlerProcess(job.settings)
    crawler = process.create_crawler(Soak)
    process.crawl(crawler, world=job.world, notes=Notes(job.notes))
    signal.signal(signal.SIGUSR2, lambda *_: hang.write(crawler, Path(job.folder, f"hang-{job.number}.txt")))
    process.start()
    stats = crawler.stats.get_stats() if crawler.stats else {}
    job.stats.write_text(json.dumps(stats, default=str, indent=1))


if __name__ == "__main__":
    job = Job.from_json(sys.argv[1])
    if job.turns_clock:
        turn_clock()
    run(job)
