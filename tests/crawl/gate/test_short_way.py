"""What is plainly allowed passes by one short way, and is told from nothing that took the long one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler

from scrapy_rep import RepExtension, RepMiddleware
from scrapy_rep.clock import clock
from scrapy_rep.crawl.policy.meta import BLANK, META_KEY, stamp_of
from scrapy_rep.crawl.policy.policy import Decision, Mode, Outcome
from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.crawl.robots.robots import Robots
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.extras.audit.audit import Audit
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from tests.support.exceptions import exception
from tests.support.in_process import crawler_at_rest

SITE = "https://a.example"
RULES = b"User-agent: *\nDisallow: /private\nAllow: /private/open\n\nUser-agent: mybot\nDisallow: /mine\n"


def extension_of(crawler: Crawler, body: bytes = RULES, **kwargs: Any) -> RepExtension:
    """The extension of a crawl that has the robots.txt of `SITE` in memory."""
    extension = crawler.get_extension(RepExtension)
    assert extension is not None
    origin, now = Origin.from_url(SITE), clock.time()
    entry = Entry(origin, Access.SUCCESSFUL, origin.robots_url, 200, body, (), now, now + 60, tried_at=now)
    robots = Robots(entry, Access.SUCCESSFUL, **{"until": now + 60, "parser": RepRobotParser(body), **kwargs})
    origins = extension.registry.origins
    origins.put(origins.of(origin), robots, 1)
    return extension


def gate_of(crawler: Crawler) -> RepMiddleware:
    gate = crawler.get_downloader_middleware(RepMiddleware)
    assert gate is not None
    return gate


def passes(extension: Any, request: Request) -> bool:
    """Whether *request* passes the gate of the crawl of *extension* by the short way."""
    answer: Any = gate_of(extension._crawl.crawler).process_request(request)
    if answer is not None:
        answer.close()
    return answer is None


def judge(gate: RepMiddleware, request: Request) -> None:
    """Let *request*, which waits for nothing, pass by the long way."""
    judging: Any = gate.process_request(request)
    with pytest.raises(StopIteration):
        judging.send(None)


@pytest.mark.parametrize("path", ["/", "/private/open", "/mine", "/robots.txt", "/caf%C3%A9?x=1"])
@pytest.mark.parametrize("agent", ["mybot/1.0", "other", ""])
def test_the_stamp_is_that_of_the_long_way(path: str, agent: str) -> None:
    extension = extension_of(crawler_at_rest())
    short, long = (Request(f"{SITE}{path}", headers={"User-Agent": agent}) for _ in range(2))
    robots = extension.registry.current(short.url)
    assert robots is not None
    decision = extension.judge.decide(robots, long)
    assert passes(extension, short) is not decision.is_forbidden
    extension.account.decided(long, robots, decision)
    assert short.meta == long.meta


def test_each_request_has_a_stamp_of_its_own() -> None:
    extension = extension_of(crawler_at_rest())
    first, second = Request(f"{SITE}/1"), Request(f"{SITE}/2")
    assert passes(extension, first)
    assert passes(extension, second)
    first.meta[META_KEY]["page"] = ["noindex"]
    assert second.meta[META_KEY]["page"] is None


def test_a_stamp_that_was_copied_is_replaced() -> None:
    extension = extension_of(crawler_at_rest())
    copied = Request(f"{SITE}/")
    assert passes(extension, copied)
    copied.meta[META_KEY] |= {"verdict": "reported", "rule": "Disallow: /x"}
    robots = extension.registry.current(copied.url)
    assert robots is not None
    extension.account.decided(copied, robots, extension.judge.decide(robots, copied))
    assert (copied.meta[META_KEY]["verdict"], copied.meta[META_KEY]["rule"]) == ("allowed", None)


def test_a_stamp_that_was_copied_into_a_request_for_a_robots_txt_is_removed() -> None:
    gate = gate_of(crawler_at_rest())
    meta = {"is_robotstxt_request": True, "dont_obey_robotstxt": True}
    assert gate.process_request(Request(f"{SITE}/robots.txt", meta=meta)) is None
    copied = Request(
        f"{SITE}/private", meta={**meta, META_KEY: stamp_of(Decision(Mode.OBEY, Outcome.ALLOWED), BLANK)}
    )
    judge(gate, copied)
    assert META_KEY not in copied.meta


MORE: dict[str, dict[str, Any]] = {
    "modes": {"REP_MODES": {"b.example": "report"}},
    "exceptions": {"REP_EXCEPTIONS": [exception(f"{SITE}/private/*")]},
    "purposes": {"REP_PURPOSES": ["ai-train"]},
    "targets": {"REP_TARGET_URL": {"api.example": "url"}},
}


@pytest.mark.parametrize("settings", MORE.values(), ids=MORE)
def test_where_the_owner_of_the_crawl_asks_for_more_nothing_passes_by_it(settings: dict[str, Any]) -> None:
    assert not passes(extension_of(crawler_at_rest(settings)), Request(f"{SITE}/"))


def test_what_obeys_nothing_asks_nothing_and_stamps_nothing() -> None:
    extension, request = extension_of(crawler_at_rest({"ROBOTSTXT_OBEY": False})), Request(f"{SITE}/private")
    assert passes(extension, request)
    assert not request.meta
    assert not passes(extension, Request(f"{SITE}/private", meta={"rep_fetch": True}))


def test_what_obeys_nothing_still_uses_the_download_slot_of_the_site_behind_a_service() -> None:
    settings = {"ROBOTSTXT_OBEY": False, "REP_TARGET_URL": {"api.example": "url"}}
    gate, request = gate_of(crawler_at_rest(settings)), Request(f"https://api.example/?url={SITE}/")
    judge(gate, request)
    assert request.meta["download_slot"] == "a.example"


def test_what_obeys_nothing_is_still_written_to_the_audit_log(tmp_path: Path) -> None:
    settings = {"ROBOTSTXT_OBEY": False, "REP_AUDIT": str(tmp_path / "audit.jsonl")}
    extension = extension_of(crawler_at_rest(settings))
    assert not passes(extension, Request(f"{SITE}/"))
    audit = Crawl.of(extension._crawl.crawler).find(Audit)
    assert audit is not None
    audit.log.close()


@pytest.mark.parametrize("key", ["dont_obey_robotstxt", "rep_fetch", "download_slot", "rep"])
def test_a_request_that_asks_for_more_does_not_pass_by_it(key: str) -> None:
    assert not passes(extension_of(crawler_at_rest()), Request(f"{SITE}/", meta={key: "x"}))


def test_no_robots_txt_or_one_that_has_expired_or_asks_for_a_delay_lets_nothing_pass_by_it() -> None:
    request = Request(f"{SITE}/")
    assert passes(extension_of(crawler_at_rest()), request.copy())
    assert not passes(crawler_at_rest().get_extension(RepExtension), request)
    assert not passes(extension_of(crawler_at_rest(), until=clock.time() - 1), request)
    assert not passes(extension_of(crawler_at_rest(), b"User-agent: other\nCrawl-delay: 1\n"), request)
    assert not passes(extension_of(crawler_at_rest()), Request("https://"))
