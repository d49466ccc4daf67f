"""The engines under measurement: how to parse with each, and how to ask.

Each is imported in the process that measures it, and nowhere else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

OURS, EXACT, PEER = "scrapy_rep", "scrapy_rep, google-exact", "Protego"
PLAIN = "scrapy_rep, plain Python"
NEW_LIBRARY = "ROBOTPARSER"
"""The variable that names a file with the `urllib.robotparser` of a later Python; it is measured, too."""


@dataclass(frozen=True)
class Engine:
    """``allows`` answers None where the engine raises; ``tells`` asks all that a crawl wants of a new origin.

    ``path`` splits a URL for ``allows_path``, in an engine that can be asked about what is split already.
    """

    parse: Callable[[bytes], Any]
    allows: Callable[[Any, str, str], bool | None]
    tells: Callable[[Any, str, str], object] | None = None
    path: Callable[[str], bytes] | None = None
    allows_path: Callable[[Any, str, bytes], bool] | None = None


def text(body: bytes) -> str:
    return body.decode("utf-8-sig", errors="ignore")


def scrapy_rep(dialect: str = "google") -> Engine:
    from scrapy_rep.protocol import DIALECTS, RobotsTxt, parse, path_of

    flavour = DIALECTS[dialect]

    def tells(robots: RobotsTxt, agent: str, url: str) -> object:
        verdict = robots.verdict(agent, url)
        return verdict.allowed, verdict.line, robots.crawl_delay(agent), robots.sitemaps

    return Engine(
        lambda body: parse(body, flavour),
        lambda robots, agent, url: robots.verdict(agent, url).allowed,
        tells,
        lambda url: path_of(url, canonical_octets=flavour.canonical_octets),
        lambda robots, agent, path: robots.verdict_on_path(agent, path).allowed,
    )


def plain_python() -> Engine:
    """As where there is no compiler."""
    from scrapy_rep.protocol import path_pattern, robotstxt

    robotstxt._Compiled = None
    path_pattern.find_path = robotstxt.find_path = path_pattern._find_path
    return scrapy_rep()


def protego() -> Engine:
    from protego import Protego

    def tells(robots: Protego, agent: str, url: str) -> object:
        return robots.can_fetch(url, agent), robots.crawl_delay(agent), list(robots.sitemaps)

    return Engine(
        lambda body: Protego.parse(text(body)), lambda robots, agent, url: robots.can_fetch(url, agent), tells
    )


def standard_library(module: str = "urllib.robotparser") -> Engine:
    RobotFileParser = import_module(module).RobotFileParser  # noqa: N806

    def parse(body: bytes) -> RobotFileParser:
        parser = RobotFileParser()
        parser.parse(text(body).splitlines())
        return parser

    def tells(robots: RobotFileParser, agent: str, url: str) -> object:
        return robots.can_fetch(agent, url), robots.crawl_delay(agent), robots.site_maps()

    return Engine(parse, lambda robots, agent, url: robots.can_fetch(agent, url), tells)


def new_standard_library() -> Engine:
    """That of CPython since May 2026, which follows RFC 9309, from its file."""
    from urllib import parse

    def split(url: str, scheme: str) -> tuple[str | None, ...]:
        address, hash_sign, fragment = url.partition("#")
        address, mark, query = address.partition("?")
        found = parse.urlsplit(address, scheme)
        return found.scheme, found.netloc, found.path, query if mark else None, fragment if hash_sign else None

    def unsplit(_scheme: None, _netloc: None, path: str, query: str | None, fragment: str | None) -> str:
        return path + ("" if query is None else f"?{query}") + ("" if fragment is None else f"#{fragment}")

    if not hasattr(parse, "_urlsplit"):  # an older Python, where it cannot tell an empty query from none
        parse._urlsplit, parse._urlunsplit = split, unsplit  # type: ignore[attr-defined]
    path = Path(os.environ[NEW_LIBRARY]).resolve()
    sys.path.insert(0, str(path.parent))
    return standard_library(path.stem)


def robotspy() -> Engine:
    from robots import RobotsParser

    def tells(robots: RobotsParser, agent: str, url: str) -> object:
        return robots.can_fetch(agent, url), robots.sitemaps  # it reads no Crawl-delay

    return Engine(
        lambda body: RobotsParser.from_string(text(body)),
        lambda robots, agent, url: robots.can_fetch(agent, url),
        tells,
    )


def gpyrobotstxt() -> Engine:
    from gpyrobotstxt.robots_cc import RobotsMatcher

    def allows(body: bytes, agent: str, url: str) -> bool | None:
        """It parses for every decision, and raises on lines without a colon, which is no answer."""
        try:
            return bool(RobotsMatcher().allowed_by_robots(body, [agent], url))
        except TypeError:
            return None

    return Engine(bytes, allows)


def fast_robotstxt() -> Engine:
    """Made from Google's parser, by ctypes. It takes text, keeps no object, names neither group nor sitemaps."""
    from robotstxt import RobotsMatcher

    matcher = RobotsMatcher()

    def tells(body: str, agent: str, url: str) -> object:
        return matcher.is_allowed(body, agent, url), matcher.matching_line, matcher.crawl_delay

    return Engine(text, lambda body, agent, url: bool(matcher.is_allowed(body, agent, url)), tells)


def texting_robots() -> Engine:
    """A parser in Rust. An object is for one crawler, so it is made with the first question."""
    from texting_robots import Robot

    def of(file: dict[str, Any], agent: str) -> Robot:
        return file.get(agent) or file.setdefault(agent, Robot(agent, file[""]))

    def tells(file: dict[str, Any], agent: str, url: str) -> object:
        robot = of(file, agent)
        return robot.allowed(url), robot.delay, robot.sitemaps

    return Engine(lambda body: {"": body}, lambda file, agent, url: bool(of(file, agent).allowed(url)), tells)


ENGINES: dict[str, Callable[[], Engine]] = {
    OURS: scrapy_rep,
    EXACT: lambda: scrapy_rep("google-exact"),
    PLAIN: plain_python,
    PEER: protego,
    "urllib.robotparser": standard_library,
    "robotspy": robotspy,
    "gpyrobotstxt": gpyrobotstxt,
    "fast-robotstxt": fast_robotstxt,
    "texting-robots-py": texting_robots,
}
if os.environ.get(NEW_LIBRARY):
    ENGINES["urllib.robotparser, 2026"] = new_standard_library
