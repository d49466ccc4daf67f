"""The parsers in Python: ``python -m benchmarks.court.python NAME`` answers for one of them.

Each function takes a robots.txt, an agent and a URL, and answers whether it is allowed; one that knows which line
decided answers that, too. Bodies are decoded as Scrapy does it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final


def text(body: bytes) -> str:
    return body.decode("utf-8-sig", errors="ignore")


def scrapy_rep(body: bytes, agent: str, url: str) -> tuple[bool, int]:
    from scrapy_rep.protocol import parse, product_token

    verdict = parse(body).verdict(product_token(agent) if "/" in agent else agent, url)
    return verdict.allowed, verdict.line


def plain_python(body: bytes, agent: str, url: str) -> tuple[bool, int]:
    from benchmarks import engines

    engines.plain_python()  # from here on in this process
    return scrapy_rep(body, agent, url)


def fast_robotstxt(body: bytes, agent: str, url: str) -> tuple[bool, int]:
    from robotstxt import RobotsMatcher

    matcher = RobotsMatcher()
    return matcher.is_allowed(text(body), agent, url), matcher.matching_line


def texting_robots(body: bytes, agent: str, url: str) -> bool:
    from texting_robots import Robot

    return bool(Robot(agent, body).allowed(url))


def protego(body: bytes, agent: str, url: str) -> bool:
    from protego import Protego

    return bool(Protego.parse(text(body)).can_fetch(url, agent))


def robotspy(body: bytes, agent: str, url: str) -> bool:
    from robots import RobotsParser

    return bool(RobotsParser.from_string(text(body)).can_fetch(agent, url))


def gpyrobotstxt(body: bytes, agent: str, url: str) -> bool:
    from gpyrobotstxt.robots_cc import RobotsMatcher

    return bool(RobotsMatcher().allowed_by_robots(body, [agent], url))


def robotexclusionrulesparser(body: bytes, agent: str, url: str) -> bool:
    from robotexclusionrulesparser import RobotExclusionRulesParser

    parser = RobotExclusionRulesParser()
    parser.parse(text(body))
    return bool(parser.is_allowed(agent, url))


def reppy2(body: bytes, agent: str, url: str) -> bool:
    from reppy.parser import Rules

    return bool(Rules(url, 200, text(body), 0).allowed(url, agent))


def standard_library(body: bytes, agent: str, url: str, module: Any = None) -> bool:
    from urllib import robotparser

    parser = (module or robotparser).RobotFileParser()
    parser.parse(text(body).splitlines())
    return bool(parser.can_fetch(agent, url))


def standard_library_of_main() -> Callable[[bytes, str, str], bool]:
    """That in the file ``CPYTHON_ROBOTPARSER``, with what it asks of its own ``urllib.parse``."""
    from urllib import parse

    def urlsplit(url: str, scheme: str) -> tuple[str | None, ...]:
        parts = parse.urlsplit(url, scheme)
        before, hash_, _ = url.partition("#")
        query = parts.query if "?" in before else None  # "" if it is empty
        return parts.scheme, parts.netloc, parts.path, query, parts.fragment if hash_ else None

    def urlunsplit(*parts: str | None) -> str:
        _, _, path, query, fragment = parts
        slashes = "//" if path and path.startswith("//") else ""
        return (
            f"{slashes}{path}"
            + ("" if query is None else f"?{query}")
            + ("" if fragment is None else f"#{fragment}")
        )

    vars(parse).update(_urlsplit=urlsplit, _urlunsplit=urlunsplit)
    spec: Any = spec_from_file_location("robotparser_of_main", os.environ["CPYTHON_ROBOTPARSER"])
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda body, agent, url: standard_library(body, agent, url, module)


PARSERS: Final[dict[str, Callable[[bytes, str, str], bool | tuple[bool, int]]]] = {
    "scrapy-rep": scrapy_rep,
    "plain": plain_python,
    "fast-robotstxt": fast_robotstxt,
    "texting-robots-py": texting_robots,
    "protego": protego,
    "robotspy": robotspy,
    "gpyrobotstxt": gpyrobotstxt,
    "robotexclusionrulesparser": robotexclusionrulesparser,
    "reppy2": reppy2,
    "urllib": standard_library,
}


def main(name: str) -> None:
    judge = standard_library_of_main() if name == "urllib-main" else PARSERS[name]
    for line in sys.stdin:
        path, agent, url = line.rstrip("\n").split("\t")
        try:
            said = judge(Path(path).read_bytes(), agent, url)
        except Exception as error:  # noqa: BLE001  # whatever a parser raises
            print(repr(error), flush=True)  # which is no verdict
            continue
        allowed, number = said if isinstance(said, tuple) else (said, 0)
        print("allowed" if allowed else "disallowed", number, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
