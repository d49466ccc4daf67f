"""The crawl of the world, in a process of its own: ``python -m benchmarks.soak.subject JOB``, a `Job` in JSON.

With the same folder it continues where the one before stopped. Its wall clock is wrong by the seconds in the file
`Job.clock`, which it reads at its start and at SIGUSR1. SIGUSR2 has it write what it waits for.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from .world import World, host_of


@dataclass(frozen=True)
class Job:
    """Crawl *world* from *folder*, which keeps everything; *store* is the folder of the SQLite file.

    *process* is one of those that crawl together, *number* counts all that were started. *obeys* is whether
    scrapy_rep is on, *redis* the URL of a Redis or empty, *turns_clock* whether there is a clock to turn,
    *disobeys* whether it ignores the robots.txt of one site.
    """

    world: World
    folder: str
    store: str
    process: int = 0
    number: int = 0
    obeys: bool = True
    redis: str = ""
    turns_clock: bool = False
    disobeys: bool = False
    concurrency: int = 32

    @classmethod
    def from_json(cls, text: str) -> Job:
        fields = json.loads(text)
        return cls(**{**fields, "world": World(**fields["world"])})

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @property
    def clock(self) -> Path:
        return Path(self.folder, "clock")

    @property
    def disobeyed(self) -> str:
        """The first site of this process with rules that do not change."""
        hosts = (host_of(number) for number in range(self.process, self.world.sites, self.world.processes))
        return next(host for host in hosts if self.world.site(host).kind == "plain") if self.disobeys else ""

    @property
    def jobdir(self) -> Path | None:
        return None if self.world.one_queue else Path(self.folder, f"job-{self.process}")

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
            "JOBDIR": str(self.jobdir or ""),
            "LOG_FILE": str(self.log),
            **(self.of_scrapy_rep if self.obeys else {"ROBOTSTXT_OBEY": False}),
        }

    @property
    def of_scrapy_rep(self) -> dict[str, Any]:
        shared = {"REP_STORE_PATH": f"{self.store}/robots.sqlite", "REP_REDIS_URL": self.redis}
        queue = IN_ONE_QUEUE | {"REDIS_URL": self.redis} if self.world.one_queue else {}
        return OBEYING | shared | queue | {"REP_WORKERS": self.world.processes if self.redis else 1}


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
    "SCHEDULER_DISK_QUEUE": "scrapy_rep.RecoverableLifoDiskQueue",
    "SCHEDULER_START_DISK_QUEUE": "scrapy_rep.RecoverableFifoDiskQueue",
    "REP_TIMEOUT": 3.0,
    "REP_RETRY_TIMES": 1,
    "REP_RETRY_DELAY": 0.5,
    "REP_RETRY_MAX_DELAY": 2.0,
    "REP_UNREACHABLE_WAIT": 9.0,
    "REP_MIN_TTL": 1.0,
    "REP_MEMORY_ENTRIES": 2_000,  # a long crawl soon has met more: what grows then grows for ever
    "REP_FOLLOW_SITEMAPS": True,
}

IN_ONE_QUEUE: Final[dict[str, Any]] = {
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "SCHEDULER_QUEUE_CLASS": "scrapy_rep.RedisHostQueue",
    "DUPEFILTER_CLASS": "scrapy_rep.RedisHostDupeFilter",
    "SCHEDULER_PERSIST": True,
}


def turn_clock(file: Path) -> None:
    """Have *file* turn the wall clock; to be called before anything takes `time.time` for itself.

    Twisted keeps the true clock. It times its calls by the wall clock, its connections among them: when that is
    turned back an hour, what was about to connect does so an hour later and times out later still, in any crawl.
    """
    import twisted.python.runtime  # noqa: F401, PLC0415  # takes `time.time` now

    true_time, wrong = time.time, [0.0]

    def turn(*_: object) -> None:
        wrong[0] = float(file.read_text("ascii")) if file.exists() else 0.0

    signal.signal(signal.SIGUSR1, turn)  # ignored until now
    turn()
    time.time = lambda: true_time() + wrong[0]


def run(job: Job) -> None:
    from scrapy.crawler import AsyncCrawlerProcess  # noqa: PLC0415  # after the clock

    from . import hang  # noqa: PLC0415
    from .notes import Notes  # noqa: PLC0415
    from .spider import Soak  # noqa: PLC0415

    process = AsyncCrawlerProcess(job.settings)
    crawler = process.create_crawler(Soak)
    process.crawl(crawler, world=job.world, process=job.process, notes=Notes(job.notes), disobeyed=job.disobeyed)
    signal.signal(signal.SIGUSR2, lambda *_: hang.write(crawler, Path(job.folder, f"hang-{job.number}.txt")))
    process.start()
    stats = crawler.stats.get_stats() if crawler.stats else {}
    job.stats.write_text(json.dumps(stats, default=str, indent=1))


if __name__ == "__main__":
    job = Job.from_json(sys.argv[1])
    if job.turns_clock:
        turn_clock(job.clock)
    run(job)
