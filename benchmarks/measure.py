"""What is measured of one engine, in a process of its own."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import thread_time
from typing import Any, Final

from .corpus import DECISIONS, File, read_corpus
from .engines import ENGINES, Engine
from .worst_cases import ADVERSARIES, NAMED, URL

AGENT: Final = "scrapy"
_ENOUGH: Final = 2.0  # seconds after which a worst case is not repeated
_OF_SAMPLE: Final = 10  # every tenth file: to trace allocations slows an engine down tenfold


def seconds(work: Callable[[], Any]) -> float:
    """Of CPU: whatever else runs on the machine takes time of its own.

    What *work* answers is dropped afterwards: dropping it costs nothing where a parser waits for a collection of
    garbage, which is off.
    """
    began = thread_time()
    kept = work()
    spent = thread_time() - began
    del kept
    return spent


def cold(engine: Engine, body: bytes, urls: list[str]) -> float:
    def work() -> Any:
        robots = engine.parse(body)
        for url in urls:
            engine.allows(robots, AGENT, url)
        return robots

    return seconds(work)


def warmed_up(engine: Engine, body: bytes, urls: list[str]) -> Any:
    """A parser that has made whatever it makes for later decisions."""
    robots = engine.parse(body)
    for url in urls:
        engine.allows(robots, AGENT, url)
    return robots


def warm(engine: Engine, file: File) -> float:
    robots, allows = warmed_up(engine, file.body, file.warm_up), engine.allows
    return seconds(lambda: [allows(robots, AGENT, url) for url in file.urls]) / len(file.urls)


def warm_by_path(engine: Engine, file: File) -> float:
    split, allows = engine.path, engine.allows_path
    if split is None or allows is None:
        return float("nan")
    robots, paths = warmed_up(engine, file.body, file.warm_up), [split(url) for url in file.urls]
    return seconds(lambda: [allows(robots, AGENT, path) for path in paths]) / len(paths)


def new_origin(engine: Engine, file: File) -> float:
    tells = engine.tells
    if tells is None:
        return float("nan")

    def work() -> Any:
        robots = engine.parse(file.body)
        return robots, tells(robots, AGENT, file.urls[0])

    return seconds(work)


BY_URL: Final = "one decision, warm"
BY_PATH: Final = "the same by path"
QUESTIONS: Final[dict[str, Callable[[Engine, File], float]]] = {
    "parse + 1 decision": lambda engine, file: cold(engine, file.body, file.urls[:1]),
    BY_URL: warm,
    BY_PATH: warm_by_path,
    f"parse + {DECISIONS} decisions": lambda engine, file: cold(engine, file.body, file.urls),
    "a new origin": new_origin,
}


class Subject:
    """One engine and the files it is asked about; lives in its own process."""

    def __init__(self, name: str, every: int) -> None:
        self._engine = ENGINES[name]()
        self._files = read_corpus(every)

    def seconds(self, question: str) -> list[float]:
        """Seconds per file."""
        work = QUESTIONS[question]
        gc.collect()
        gc.disable()
        times = [work(self._engine, file) for file in self._files]
        gc.enable()
        return times

    def octets_kept(self, decisions: int) -> float:
        """Octets kept per file beside the body, with the parsers of all files of a sample alive."""
        files = self._files[::_OF_SAMPLE]
        bodies = [file.body for file in files]
        gc.collect()
        tracemalloc.start()
        alive = []
        for file, body in zip(files, bodies, strict=True):
            robots = self._engine.parse(body)
            for url in file.urls[:decisions]:
                self._engine.allows(robots, AGENT, url)
            alive.append(robots)
        gc.collect()
        octets, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return octets / len(alive)

    def agreement(self) -> float:
        """The share of Google's verdicts that the engine gives, too."""
        right = total = 0
        for file in self._files:
            robots = self._engine.parse(file.body)
            right += sum(self._engine.allows(robots, *row[:2]) == row[2] for row in file.verdicts)
            total += len(file.verdicts)
        return right / total

    def worst(self, name: str) -> tuple[float, float]:
        """Seconds to parse a hostile body and decide once, and for a warm decision."""
        body = NAMED[name] if name in NAMED else ADVERSARIES[name]()
        first = cold(self._engine, body, [URL])
        if first < _ENOUGH:
            first = min(first, *(cold(self._engine, body, [URL]) for _ in range(2)))
        urls = [f"https://example.com/abc/{number}" for number in range(7)]
        return first, warm(self._engine, File(name, body, urls[2:], urls[:2], []))

    def sizes(self) -> list[int]:
        """The octets of each file."""
        return [len(file.body) for file in self._files]


def serve(connection: Connection, name: str, every: int) -> None:
    subject = Subject(name, every)
    while request := connection.recv():
        method, *arguments = request
        connection.send(getattr(subject, method)(*arguments))


class Worker:
    """The process of one engine."""

    def __init__(self, name: str, every: int) -> None:
        self.name = name
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, name, every), daemon=True)
        self._process.start()

    def ask(self, method: str, *arguments: Any) -> Any:
        """What the method of `Subject` of that name returns there."""
        self._connection.send((method, *arguments))
        return self._connection.recv()

    def close(self) -> None:
        self._connection.send(())
        self._process.join()
