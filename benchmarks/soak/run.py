"""One crawl of the world from its start to its end, through all events; what it leaves is in a folder.

| file | what it holds |
|---|---|
| ``run.json`` | the world, and what happened when |
| ``arrivals.log`` | what the servers received: see `benchmarks.soak.log` |
| ``notes.log`` | what the spider noted: see `benchmarks.soak.notes` |
| ``gauges.log`` | memory, files and CPU of the crawling processes |
| ``crawl-N.log``, ``stats-N.json`` | log and stats of each crawling process |
| ``hang-N.txt`` | what a crawling process waited for that hung |
| ``job``, ``store`` | its ``JOBDIR`` and its SQLite file |
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tests.support.redis_server import RedisServer, free_port

from . import gauges
from .events import EVENTS
from .small_disk import SmallDisk, SmallDiskError
from .subject import Job
from .world import World

TICK: Final = 0.25  # seconds between looks at the crawl
SETTLED: Final = 4.0  # seconds that a crawling process is given before something happens to it
DISK: Final = 256_000_000  # octets
PATIENCE: Final = 120.0  # seconds without any request after which a crawl hangs
_FILE: Final = "run.json"


@dataclass
class State:
    """What a run remembers: the number of *crawls*, that is, processes, and when (monotonic) events *happened*.

    *steps* are all the times at which an event acted.
    """

    world: World
    obeys: bool
    crawls: int = 0
    happened: list[tuple[str, float]] = field(default_factory=list)
    steps: list[tuple[str, float]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    finished: bool = False
    broken: str = ""

    @classmethod
    def read(cls, file: Path) -> State:
        fields = json.loads(file.read_text("utf-8"))
        return cls(**{**fields, "world": World(**fields["world"])})

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(asdict(self), indent=1), "utf-8")

    def steps_of(self, event: str) -> list[float]:
        return [when for name, when in self.steps if name == event]


def has_crawl(folder: Path) -> bool:
    """Whether a crawl in *folder* has begun."""
    return (folder / _FILE).exists()


class Run:
    """Crawls *world* from *folder*, with *events* spread over the crawl; a crawl that was stopped is continued."""

    def __init__(
        self, folder: Path, world: World, *, obeys: bool, events: Sequence[str], concurrency: int
    ) -> None:
        self.folder = folder
        self.redis: RedisServer | None = None
        self.disk: SmallDisk | None = None
        self._events = list(events)
        self._concurrency = concurrency
        self._resources = ExitStack()
        (folder / "store").mkdir(parents=True, exist_ok=True)
        self._file = folder / _FILE
        self.state = self._read_or_begin(world, obeys=obeys)
        self._crawler: subprocess.Popen[bytes] | None = None
        self._arrivals = 0
        self._steps: Iterator[float] | None = None
        self._resumes_at = 0.0

    @property
    def store(self) -> Path:
        return (self.folder / "store").resolve()

    def _read_or_begin(self, world: World, *, obeys: bool) -> State:
        """Raises ``SystemExit`` when the folder has a crawl of another world."""
        if not self._file.exists():
            return State(replace(world, port=free_port()), obeys)
        state = State.read(self._file)
        if replace(state.world, port=world.port) != world:
            raise SystemExit(f"{self.folder} has a crawl of another world: {state.world}")
        return replace(state, broken="")

    def signal(self, number: signal.Signals) -> None:
        if self._crawler is not None:
            self._crawler.send_signal(number)

    def crawl(self) -> State:
        """Crawl to the end; Ctrl-C stops the crawl, so that it can be continued."""
        with self._resources:
            if not self.state.finished:
                self._prepare()
            try:
                while not (self.state.finished or self.state.broken):
                    self._one_process()
            except KeyboardInterrupt:
                print("stopping; the same command continues", file=sys.stderr)
                self._stop()
            finally:
                self.signal(signal.SIGKILL)
                self.state.write(self._file)
        return self.state

    def _stop(self) -> None:
        self.signal(signal.SIGINT)
        if self._crawler is not None:
            self._crawler.wait(PATIENCE)

    def _prepare(self) -> None:
        world = json.dumps(asdict(self.state.world))
        command = [sys.executable, "-m", "benchmarks.soak.server", world, str(self.folder / "arrivals.log")]
        enter = self._resources.enter_context
        server = enter(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True))  # noqa: S603
        self._resources.callback(server.terminate)
        if server.stdout is None or server.stdout.readline() != "listening\n":
            raise SystemExit(f"the servers do not listen at port {self.state.world.port}")
        self._log = enter((self.folder / "arrivals.log").open("rb"))
        self._gauges = enter((self.folder / "gauges.log").open("a", encoding="ascii"))
        if "redis" in self._events:
            self.redis = enter(RedisServer())
        if "disk" in self._events:
            try:
                self.disk = enter(SmallDisk(self.folder / "store", DISK))
            except SmallDiskError as error:
                self.state.skipped.append(f"disk: {error}")

    def _one_process(self) -> None:
        """Crawl with one process until it ends, because it has finished or because of an event."""
        job = self._job()
        self.state.crawls += 1
        self.state.write(self._file)
        command = [*(self.disk.prefix if self.disk else ()), sys.executable, "-m", "benchmarks.soak.subject"]
        with (self.folder / f"stderr-{job.number}.log").open("w") as errors:
            crawler = subprocess.Popen([*command, job.to_json()], stderr=errors, start_new_session=True)  # noqa: S603
        self._crawler = crawler
        ends = len(self.state.happened)
        began = self._progressed_at = time.monotonic()
        while crawler.poll() is None:
            self._look(crawler.pid, began)
            time.sleep(TICK)
        self._ended(job, crawler.returncode, {name for name, _ in self.state.happened[ends:]})

    def _job(self) -> Job:
        return Job(
            self.state.world,
            str(self.folder.resolve()),
            str(self.store),
            number=self.state.crawls,
            obeys=self.state.obeys,
            redis=self.redis.url if self.redis else "",
            turns_clock="clock" in self._events,
            concurrency=self._concurrency,
        )

    def _look(self, pid: int, began: float) -> None:
        now = time.monotonic()
        if found := gauges.reading(pid):
            self._gauges.write(f"{self.state.crawls} {found}\n")
        if arrived := sum(chunk.count(b"\n") for chunk in iter(lambda: self._log.read(1 << 20), b"")):
            self._arrivals += arrived
            self._progressed_at = now
        elif now - self._progressed_at > PATIENCE:
            self.state.broken = f"no request for {PATIENCE:g} s"
            self.signal(signal.SIGUSR2)
            time.sleep(SETTLED)
            self.signal(signal.SIGKILL)
        if self._steps is not None and now >= self._resumes_at:
            self._step(now)
        elif self._steps is None and now - began > SETTLED:
            self._begin_event(now)

    def _begin_event(self, now: float) -> None:
        done = len(self.state.happened)
        share = self._arrivals / self.state.world.expected_requests
        if done < len(self._events) and share > (done + 1) / (len(self._events) + 1):
            name = self._events[done]
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

    def _ended(self, job: Job, code: int, events: set[str]) -> None:
        reason: Any = None
        with suppress(OSError, ValueError):
            reason = json.loads(job.stats.read_text("utf-8")).get("finish_reason")
        if reason == "finished":
            self.state.finished = True
        elif not (events & {"sigint", "kill"} or self.state.broken):
            self.state.broken = f"crawl {job.number} ended with {reason}, exit code {code}"
