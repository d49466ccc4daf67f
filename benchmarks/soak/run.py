"""One crawl of the world from its start to its end, through all events; what it leaves is in a folder.

| file | what it holds |
|---|---|
| ``run.json`` | the world, and what happened when |
| ``arrivals.log`` | what the servers received: see `benchmarks.soak.log` |
| ``notes.log`` | what the spider noted: see `benchmarks.soak.notes` |
| ``gauges.log`` | memory, files and CPU of the crawling processes |
| ``crawl-N.log``, ``stats-N.json`` | log and stats of each crawling process |
| ``hang-N.txt`` | what a crawling process waited for that hung |
| ``job-P``, ``store``, ``clock`` | a ``JOBDIR`` for each process, their SQLite file, how wrong their clock is |
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tests.support.redis_server import KEEPS_DATA, RedisServer, free_port

from . import gauges
from .events import EVENTS
from .small_disk import SmallDisk, SmallDiskError
from .subject import Job
from .world import World

TICK: Final = 0.25  # seconds between looks at the crawl
SETTLED: Final = 4.0  # seconds that a crawling process is given before something happens to it
DISK: Final = 256_000_000  # octets
PATIENCE: Final = 120.0  # seconds without any request after which a crawl hangs
MALLOC: Final = {"MALLOC_MMAP_THRESHOLD_": "131072"}
"""For glibc: give each larger block back when it is freed, as at the start of any process.

By default it soon keeps blocks of up to 32 MiB: a gauge would show the most that was ever in use at once.
"""

_FILE: Final = "run.json"


@dataclass
class State:
    """What a run remembers: the number of *crawls* that were started, and when (monotonic) events *happened*.

    *steps* are all the times at which an event acted, *done* the processes whose crawl is finished.
    """

    world: World
    obeys: bool
    crawls: int = 0
    happened: list[tuple[str, float]] = field(default_factory=list)
    steps: list[tuple[str, float]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    broken: str = ""

    @classmethod
    def read(cls, file: Path) -> State:
        fields = json.loads(file.read_text("utf-8"))
        return cls(**{**fields, "world": World(**fields["world"])})

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(asdict(self), indent=1), "utf-8")

    @property
    def finished(self) -> bool:
        return len(self.done) == self.world.processes

    def steps_of(self, event: str) -> list[float]:
        return [when for name, when in self.steps if name == event]


def has_crawl(folder: Path) -> bool:
    """Whether a crawl in *folder* has begun."""
    return (folder / _FILE).exists()


@dataclass
class Crawler:
    """One process that crawls; *may_end* when an event has asked it to."""

    job: Job
    process: subprocess.Popen[bytes]
    began: float
    may_end: bool = False


@dataclass(frozen=True)
class Plan:
    """How the world is crawled: with which *events*, in which store, by spiders that obey, or *disobey* once."""

    events: Sequence[str] = ()
    obeys: bool = True
    redis: bool = False
    disobeys: bool = False
    concurrency: int = 32


class Run:
    """Crawls *world* from *folder* by *plan*; a crawl that was stopped is continued."""

    def __init__(self, folder: Path, world: World, plan: Plan) -> None:
        self.folder = folder
        self.redis: RedisServer | None = None
        self.disk: SmallDisk | None = None
        self._plan = plan
        self._resources = ExitStack()
        (folder / "store").mkdir(parents=True, exist_ok=True)
        self._file = folder / _FILE
        self.state = self._read_or_begin(world)
        self._crawlers: dict[int, Crawler] = {}
        self._arrivals = 0
        self._steps: Iterator[float] | None = None
        self._resumes_at = 0.0

    @property
    def store(self) -> Path:
        return (self.folder / "store").resolve()

    def _read_or_begin(self, world: World) -> State:
        """Raises ``SystemExit`` when the folder has a crawl of another world."""
        if not self._file.exists():
            return State(replace(world, port=free_port()), self._plan.obeys)
        state = State.read(self._file)
        if replace(state.world, port=world.port) != world:
            raise SystemExit(f"{self.folder} has a crawl of another world: {state.world}")
        return replace(state, broken="")

    def signal(self, number: signal.Signals, *, to_all: bool = True) -> None:
        """Send it to all, or to the one whose turn it is, by the number of events."""
        crawlers = sorted(self._crawlers.items())
        turn = len(self.state.happened) % max(len(crawlers), 1)
        for _, crawler in crawlers if to_all else crawlers[turn : turn + 1]:
            crawler.may_end = crawler.may_end or number in (signal.SIGINT, signal.SIGKILL)
            crawler.process.send_signal(number)

    def turn_clock(self, seconds: float) -> None:
        file = self.folder / "clock"
        file.write_text(str(seconds + (float(file.read_text("ascii")) if file.exists() else 0.0)), "ascii")
        self.signal(signal.SIGUSR1)

    def crawl(self) -> State:
        """Crawl to the end; Ctrl-C stops the crawl, so that it can be continued."""
        with self._resources:
            if not self.state.finished:
                self._prepare()
            try:
                while not (self.state.finished or self.state.broken):
                    self._start_missing()
                    time.sleep(TICK)
                    self._look(time.monotonic())
            except KeyboardInterrupt:
                print("stopping; the same command continues", file=sys.stderr)
                self._stop()
            finally:
                self.signal(signal.SIGKILL)
                for crawler in self._crawlers.values():
                    crawler.process.wait()
                self.state.write(self._file)
        return self.state

    def _stop(self) -> None:
        for number in (signal.SIGINT, signal.SIGCONT):
            self.signal(number)
        for crawler in self._crawlers.values():
            crawler.process.wait(PATIENCE)

    def _prepare(self) -> None:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # inherited: a crawl that begins is not ended by it
        world = json.dumps(asdict(self.state.world))
        command = [sys.executable, "-m", "benchmarks.soak.server", world, str(self.folder / "arrivals.log")]
        enter = self._resources.enter_context
        server = enter(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True))  # noqa: S603
        self._resources.callback(server.terminate)
        if server.stdout is None or server.stdout.readline() != "listening\n":
            raise SystemExit(f"the servers do not listen at port {self.state.world.port}")
        self._log = enter((self.folder / "arrivals.log").open("rb"))
        self._gauges = enter((self.folder / "gauges.log").open("a", encoding="ascii"))
        self._progressed_at = time.monotonic()
        if self._plan.redis:
            options = KEEPS_DATA if self.state.world.one_queue else ()  # a queue that Redis loses is lost
            self.redis = enter(RedisServer(*options))
        if "disk" in self._plan.events:
            try:
                self.disk = enter(SmallDisk(self.folder / "store", DISK))
            except SmallDiskError as error:
                self.state.skipped.append(f"disk: {error}")

    def _start_missing(self) -> None:
        """Start a process for each crawl that is not finished and has none."""
        for number in {*range(self.state.world.processes)} - {*self.state.done, *self._crawlers}:
            job = self._job(number)
            self.state.crawls += 1
            self.state.write(self._file)
            command = [*(self.disk.prefix if self.disk else ()), sys.executable, "-m", "benchmarks.soak.subject"]
            with (self.folder / f"stderr-{job.number}.log").open("w") as errors:
                process = subprocess.Popen(  # noqa: S603
                    [*command, job.to_json()], stderr=errors, start_new_session=True, env={**os.environ, **MALLOC}
                )
            self._crawlers[number] = Crawler(job, process, time.monotonic())

    def _job(self, process: int) -> Job:
        return Job(
            self.state.world,
            str(self.folder.resolve()),
            str(self.store),
            process=process,
            number=self.state.crawls,
            obeys=self.state.obeys,
            redis=self.redis.url if self.redis else "",
            turns_clock=bool({"clock", "suspend"} & {*self._plan.events}),
            disobeys=self._plan.disobeys,
            concurrency=self._plan.concurrency,
        )

    def _look(self, now: float) -> None:
        for number, crawler in list(self._crawlers.items()):
            if (code := crawler.process.poll()) is not None:
                del self._crawlers[number]
                self._ended(crawler, code)
            elif found := gauges.reading(crawler.process.pid, crawler.job.jobdir):
                self._gauges.write(f"{crawler.job.number} {found}\n")
        if arrived := sum(chunk.count(b"\n") for chunk in iter(lambda: self._log.read(1 << 20), b"")):
            self._arrivals += arrived
            self._progressed_at = now
        elif now - self._progressed_at > PATIENCE:
            self.state.broken = f"no request for {PATIENCE:g} s"
            self.signal(signal.SIGUSR2)
            time.sleep(SETTLED)
        if self._steps is not None and now >= self._resumes_at:
            self._step(now)
        elif self._steps is None and self._crawlers and all(map(self._is_settled, self._crawlers.values())):
            self._begin_event(now)

    def _is_settled(self, crawler: Crawler) -> bool:
        return not crawler.may_end and time.monotonic() - crawler.began > SETTLED

    def _begin_event(self, now: float) -> None:
        events, done = self._plan.events, len(self.state.happened)
        share = self._arrivals / self.state.world.expected_requests
        if done < len(events) and share > (done + 1) / (len(events) + 1):
            name = events[done]
            print(f"{self._arrivals:,} requests: {name}", file=sys.stderr, flush=True)
            self.state.happened.append((name, now))
            self._steps = EVENTS[name](self)
            self._step(now)

    def _step(self, now: float) -> None:
        holds = next(self._steps, 0.0) if self._steps else 0.0
        self.state.steps.append((self.state.happened[-1][0], time.monotonic()))
        self._resumes_at = now + holds
        if not holds:
            self._steps = None

    def _ended(self, crawler: Crawler, code: int) -> None:
        reason: Any = None
        with suppress(OSError, ValueError):
            reason = json.loads(crawler.job.stats.read_text("utf-8")).get("finish_reason")
        if reason == "finished":
            self.state.done.append(crawler.job.process)
        elif not (crawler.may_end or self.state.broken):
            self.state.broken = f"crawl {crawler.job.number} ended with {reason}, exit code {code}"
