"""Whatever a server does with its robots.txt ends in the access that the semantics name."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest
from scrapy import Request

from tests.support.crawl import LOOPS, Crawl, crawl, loop_params
from tests.support.site import Answer, Answers, Site, hang, redirect, reset, robots, truncated

RULES = "User-agent: *\nDisallow: /page\n"
HTML = b"<html><head><title>Welcome</title></head><body>User-agent: * Disallow: /</body></html>"
META_REFRESH = b'<html><head><meta http-equiv="refresh" content="0; url=/elsewhere.txt"></head></html>'

ALLOWED, FORBIDDEN, UNREACHABLE = None, "rule", "unreachable"


def chain(hops: int) -> dict[str, Answers]:
    """A robots.txt that stands at the end of so many redirects."""
    paths = ["/robots.txt", *(f"/hop{number}" for number in range(1, hops))]
    answers: dict[str, Answers] = {here: redirect(there) for here, there in pairwise(paths)}
    return {**answers, paths[-1]: redirect("/rules"), "/rules": robots(RULES)}


def one(answer: Answers) -> dict[str, Answers]:
    return {"/robots.txt": answer}


def encoded(body: bytes) -> Answer:
    return Answer(body=gzip.compress(body), headers=[("Content-Encoding", "gzip"), ("Content-Type", "text/plain")])


@dataclass(frozen=True)
class Situation:
    answers: Callable[[], dict[str, Answers]]
    outcome: str | None


SITUATIONS = {
    "rules": Situation(lambda: one(robots(RULES)), FORBIDDEN),
    "five-redirects": Situation(lambda: chain(5), FORBIDDEN),
    "six-redirects": Situation(lambda: chain(6), ALLOWED),
    "redirect-loop": Situation(lambda: one(redirect("/robots.txt")), ALLOWED),
    "redirect-to-file": Situation(lambda: one(redirect("file:///etc/passwd")), ALLOWED),
    "redirect-to-ftp": Situation(lambda: one(redirect("ftp://127.0.0.1/robots.txt")), ALLOWED),
    "redirect-to-nonsense": Situation(lambda: one(redirect("http://[")), ALLOWED),
    "redirect-without-location": Situation(lambda: one(Answer(302)), ALLOWED),
    "redirect-to-error": Situation(
        lambda: {"/robots.txt": redirect("/broken"), "/broken": Answer(500)}, UNREACHABLE
    ),
    "redirect-to-missing": Situation(
        lambda: {"/robots.txt": redirect("/gone"), "/gone": Answer(404)}, ALLOWED
    ),
    "redirect-permanent": Situation(
        lambda: {"/robots.txt": redirect("/rules", 308), "/rules": robots(RULES)}, FORBIDDEN
    ),
    "meta-refresh": Situation(
        lambda: {
            "/robots.txt": Answer(body=META_REFRESH, headers=[("Content-Type", "text/html")]),
            "/elsewhere.txt": robots(RULES),
        },
        ALLOWED,
    ),
    "reset": Situation(lambda: one(reset()), UNREACHABLE),
    "time-out": Situation(lambda: one(hang()), UNREACHABLE),
    "not-http": Situation(lambda: one(Answer(raw=b"SSH-2.0-OpenSSH_9.2\r\n")), UNREACHABLE),
    "closed-without-answer": Situation(lambda: one(Answer(raw=b"")), UNREACHABLE),
    "truncated": Situation(lambda: one(truncated(RULES.encode())), UNREACHABLE),
    "soft-404": Situation(lambda: one(Answer(500, b"<title>Page not found</title>")), ALLOWED),
    "honest-500": Situation(lambda: one(Answer(500, b"<title>Oops</title>")), UNREACHABLE),
    "empty": Situation(lambda: one(robots("")), ALLOWED),
    "html": Situation(lambda: one(Answer(body=HTML, headers=[("Content-Type", "text/html")])), ALLOWED),
    "binary": Situation(lambda: one(Answer(body=bytes(range(256)) * 40)), ALLOWED),
    "binary-before-rules": Situation(
        lambda: one(Answer(body=bytes(range(256)) + b"\n" + RULES.encode())), FORBIDDEN
    ),
    "wrong-charset": Situation(
        lambda: one(Answer(body=RULES.encode(), headers=[("Content-Type", "text/plain; charset=utf-16")])),
        FORBIDDEN,
    ),
    "no-content-type": Situation(lambda: one(Answer(body=RULES.encode())), FORBIDDEN),
    "image-content-type": Situation(
        lambda: one(Answer(body=RULES.encode(), headers=[("Content-Type", "image/png")])), FORBIDDEN
    ),
    "10-MB": Situation(lambda: one(robots(RULES + "# padding\n" * 1_000_000)), FORBIDDEN),
    "10-MB-rules-last": Situation(lambda: one(robots("# padding\n" * 1_000_000 + RULES)), ALLOWED),
    "20-MB": Situation(lambda: one(robots(RULES + "# padding\n" * 2_000_000)), FORBIDDEN),
    "gzip": Situation(lambda: one(encoded(RULES.encode())), FORBIDDEN),
    "gzip-of-2-MB": Situation(lambda: one(encoded(RULES.encode() + b"# padding\n" * 200_000)), FORBIDDEN),
    "gzip-bomb": Situation(lambda: one(encoded(RULES.encode() + b"\0" * 64_000_000)), UNREACHABLE),
    "not-gzip": Situation(
        lambda: one(Answer(body=RULES.encode(), headers=[("Content-Encoding", "gzip")])), UNREACHABLE
    ),
}  # fmt: skip
PATIENT = {"REP_TIMEOUT": 60.0, "REP_RETRY_TIMES": 1, "REP_RETRY_DELAY": 0.5, "REP_UNREACHABLE_WAIT": 60}


def impatient(request: Request, cause: Request) -> Request:
    """A ``REP_REQUEST_HOOK``: what hangs is given up soon, and nothing else, however busy the machine is."""
    if cause.meta["tag"] == "time-out":
        request.meta["download_timeout"] = 0.5
    return request


@dataclass(frozen=True)
class Outcome:
    """What one crawl over all situations came to, and at which origin each of them was met."""

    crawl: Crawl
    site: Site
    origins: dict[str, str]

    def of(self, name: str) -> str | None:
        """The reason why the page was not had, or None when it was."""
        url = f"{self.origins[name]}/page"
        return None if url in self.crawl.urls else self.crawl.failure(url).reason


@pytest.fixture(scope="module", params=loop_params(LOOPS))
def outcome(request: pytest.FixtureRequest) -> Iterator[Outcome]:
    addresses = [f"127.0.2.{number}" for number in range(1, len(SITUATIONS) + 1)]
    with Site(addresses) as site:
        origins = dict(zip(SITUATIONS, site.origins))
        for name, situation in SITUATIONS.items():
            for path, answer in situation.answers().items():
                site.answer(path, answer, origins[name])
        requests = [{"url": f"{origin}/page", "meta": {"tag": name}} for name, origin in origins.items()]
        settings = {**PATIENT, "REP_REQUEST_HOOK": f"{__name__}.impatient"}
        result = crawl(*requests, settings=settings, loop=request.param)
        yield Outcome(result, site, origins)


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_situation_ends_in_the_access_that_is_named_for_it(outcome: Outcome, name: str) -> None:
    assert outcome.of(name) == SITUATIONS[name].outcome
    forbidden = SITUATIONS[name].outcome is not ALLOWED
    assert outcome.site.count("/page", outcome.origins[name]) == (0 if forbidden else 1)


def test_every_request_has_an_outcome(outcome: Outcome) -> None:
    assert outcome.crawl.exit_code == 0
    assert len(outcome.crawl.pages) + len(outcome.crawl.failures) == len(SITUATIONS)


def test_nothing_logs_a_traceback_or_an_error(outcome: Outcome) -> None:
    assert outcome.crawl.tracebacks == []
    assert outcome.crawl.lines("ERROR") == []


def test_an_origin_is_warned_about_once_at_most(outcome: Outcome) -> None:
    warnings = outcome.crawl.lines("WARNING")
    assert warnings
    for name, origin in outcome.origins.items():
        assert len([line for line in warnings if f"{origin}/" in line or f"{origin} " in line]) <= 1, name


def test_rfc_2_3_1_2_the_sixth_redirect_is_not_followed(outcome: Outcome) -> None:
    origin = outcome.origins["six-redirects"]
    assert outcome.site.paths(origin) == ["/robots.txt", *(f"/hop{number}" for number in range(1, 6)), "/page"]


def test_google_a_meta_refresh_is_not_followed(outcome: Outcome) -> None:
    assert outcome.site.count("/elsewhere.txt") == 0


def test_a_body_is_read_no_further_than_its_limit(outcome: Outcome) -> None:
    assert outcome.crawl.stats["downloader/response_bytes"] < 5_000_000


def test_a_robots_txt_is_logged_with_its_size() -> None:
    """Alone: of many the first ten are logged, whichever come first."""
    with Site() as site:
        site.answer("/robots.txt", SITUATIONS["rules"].answers()["/robots.txt"], site.origin)
        result = crawl({"url": f"{site.origin}/page"})
        entry = next(line for line in result.lines("INFO") if site.origin in line)
    assert "successful (HTTP status 200, 30 octets, 0 redirects)" in entry


def test_an_unreachable_origin_is_asked_again(outcome: Outcome) -> None:
    # Not those whose connection breaks: aiohttp sends such a request twice by itself. Where the loop is held up by
    # another body until the next attempt is due, the page makes it; test_gate counts attempts at one origin.
    for name in ("time-out", "truncated", "honest-500"):
        assert outcome.site.count("/robots.txt", outcome.origins[name]) >= 2, name


def test_a_failure_is_the_cause_of_the_exception(outcome: Outcome) -> None:
    causes = {
        name: outcome.crawl.failure(f"{outcome.origins[name]}/page").cause
        for name, situation in SITUATIONS.items()
        if situation.outcome is UNREACHABLE
    }
    assert all(causes.values())
    assert causes["honest-500"] == ["FetchError", "HTTP status 500"]
    assert causes["truncated"] == ["FetchError", "truncated response"]


def test_an_unreachable_origin_says_when_to_ask_again(outcome: Outcome) -> None:
    for failure in outcome.crawl.failures:
        if failure.reason == UNREACHABLE:
            assert failure.retry_after is not None
            assert 0 <= failure.retry_after <= 600
            assert (failure.rule, failure.line) == (None, 0)
        else:
            assert failure.retry_after is None
            assert (failure.rule, failure.origin) == ("Disallow: /page", failure.url.removesuffix("/page"))


def test_html_is_counted(outcome: Outcome) -> None:
    assert outcome.crawl.stats["rep/html_count"] == 2


def test_unreachable_is_not_counted_as_forbidden(outcome: Outcome) -> None:
    reasons = [failure.reason for failure in outcome.crawl.failures]
    assert outcome.crawl.stats["robotstxt/forbidden"] == reasons.count(FORBIDDEN)
    assert outcome.crawl.stats["rep/forbidden_unreachable_count"] == reasons.count(UNREACHABLE)


def test_an_error_that_is_raised_for_each_request_keeps_the_frames_of_none() -> None:
    with Site() as site:
        site.answer("/robots.txt", reset())
        result = crawl(
            *(f"{site.origin}/{number}" for number in range(3)),
            spider="tests.crawl.spiders:TellsOfFrames",
            settings={"REP_UNREACHABLE": "raise", "REP_RETRY_TIMES": 0, "RETRY_ENABLED": False},
        )
    assert len(result.failures) == 3
    assert {failure.type for failure in result.failures} == {result.stats["kept/type"]}
    assert result.stats["kept/frames"] == 0
