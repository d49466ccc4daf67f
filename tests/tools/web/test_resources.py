"""The box about the resources of a page: what it fetches, what it says, and what a visitor cannot make it do."""

from __future__ import annotations

import html as html_module
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from scrapy_rep.tools.web import fetch, network
from scrapy_rep.tools.web.visitors import LOCAL, PUBLIC
from tests.support.site import Answer, Site, hang, redirect, robots

from .checker import MULTIPART, Checker, Reply, checker, multipart
from .test_app import keys_in
from .test_fetch import names

TWO = ("127.0.0.1", "127.0.0.2")


def html(text: str) -> Answer:
    return Answer(body=text.encode(), headers=[("Content-Type", "text/html")])


def ask(running: Checker, url: str, agent: str = "Googlebot") -> Any:
    """The answer of the API; its sentences are one text."""
    reply = running.post("/api/resources", {"url": url, "agent": agent})
    assert reply.status == 200, reply.text
    assert isinstance(reply.data["summary"], list)
    return {**reply.data, "summary": " ".join(reply.data["summary"])}


def submit(running: Checker, page: str, agent: str = "Googlebot") -> Reply:
    """The page with the answer, which the form asks for."""
    body = multipart([("url", page), ("agent", agent)])
    return running._ask("POST", "/resources", body, {"Content-Type": MULTIPART})


def words(report: Any) -> dict[str, bool | None]:
    return {one["url"].rpartition("/")[2]: one["allowed"] for one in report["resources"]}


def test_each_resource_is_judged_by_the_robots_txt_of_its_host(local: Checker) -> None:
    with Site(TWO, ports=2) as site:
        here, *others = site.origins
        site.answer("/", html("<script src=/a></script>" + "".join(f"<img src={one}/b>" for one in others)))
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /a\n"), here)
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /b\n"), others[0])
        site.answer("/robots.txt", Answer(503), others[1])
        report = ask(local, here)
        assert sorted(site.paths()) == ["/", *["/robots.txt"] * 4]
    described = {*re.findall(r"\w+", local.get("/api").text)}
    assert keys_in(report) <= described
    assert [
        (one["url"], one["kind"], one["allowed"], one["line"], one["rule"]) for one in report["resources"]
    ] == [
        (f"{here}/a", "script", False, 2, "Disallow: /a"),
        (f"{others[0]}/b", "image", False, 2, "Disallow: /b"),
        (f"{others[1]}/b", "image", None, None, None),
        (f"{others[2]}/b", "image", True, None, None),
    ]
    assert report["resources"][2]["problem"] == "its robots.txt answers with status 503"
    assert report["resources"][3]["reason"] == "unavailable"
    assert not report["is_complete"]
    assert report["summary"].startswith(
        "2 of 4 resources are closed to Googlebot (1 script, 1 image), so it may not"
    )


def test_the_form_answers_with_a_page_without_a_script(local: Checker) -> None:
    with Site() as site:
        site.answer("/", html("<img src=/a><img src=/b>"))
        site.answer("/robots.txt", robots("User-agent: bingbot\nDisallow: /a\n"))
        reply = submit(local, f" {site.origin}/ ", "bingbot/2.0")
    assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "1 of 2 resources is closed to bingbot (1 image), so it sees the page without it." in reply.text
    assert "<code>Disallow: /a</code>" in reply.text
    assert f'value="{site.origin}/"' in reply.text
    assert 'value="bingbot"' in reply.text
    assert "<script" not in reply.text


def test_the_checker_and_a_page_of_its_own_have_the_box(local: Checker) -> None:
    for page in (local.get("/").text, local.get("/resources").text):
        assert 'action="resources"' in page
        assert 'value="Googlebot"' in page


def test_what_a_page_says_is_shown_as_text(local: Checker) -> None:
    hostile = "</script><img/src=x/onerror=alert(1)>"
    with Site() as site:
        site.answer("/", html(f"<img src='/{html_module.escape(hostile)}'><img src='/\u202e'>"))
        site.answer("/robots.txt", robots(f"User-agent: *\nDisallow: /*{hostile}\n"))
        reply = submit(local, site.origin)
    assert reply.status == 200
    assert "<img" not in reply.text
    assert "\u202e" not in reply.text


def test_a_page_that_is_closed_to_the_crawler_is_not_requested(local: Checker) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: Googlebot\nDisallow: /\n"))
        report = ask(local, site.origin)
        assert site.paths() == ["/robots.txt"]
        assert ask(local, site.origin, "bingbot")["pages"][0]["allowed"]
    assert report["summary"].startswith("The page itself is closed to Googlebot")
    assert (report["pages"][0]["allowed"], report["resources"]) == (False, [])


def test_google_a_crawler_is_asked_about_as_its_owner_documents(local: Checker) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: Googlebot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n"))
        site.answer("/", html("<img src=/a><img src=/b>"))
        assert words(ask(local, site.origin, "Googlebot-Image")) == {"a": False, "b": True}
        assert words(ask(local, site.origin, "AdsBot-Google")) == {"a": True, "b": True}
        assert words(ask(local, site.origin, "bingbot")) == {"a": True, "b": False}


def test_a_page_that_is_closed_to_the_checker_is_not_requested(local: Checker) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: Test\nDisallow: /\n"))
        report = ask(local, site.origin)
        assert site.paths() == ["/robots.txt"]
    assert report["summary"] == (
        "The page was not read: robots.txt disallows it to Test, which asks here (line 2)."
    )


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        (Answer(404), "The page was not read: HTTP status 404."),
        (Answer(headers=[("Content-Type", "image/png")]), "The page was not read: it is not HTML but image/png."),
        (Answer(raw=b"x"), "The page was not read: http://"),
    ],
)  # fmt: skip
def test_a_page_that_cannot_be_read_is_said(local: Checker, answer: Answer, summary: str) -> None:
    with Site() as site:
        site.answer("/", answer)
        assert ask(local, site.origin)["summary"].startswith(summary)


def test_a_page_whose_robots_txt_cannot_be_fetched_is_not_requested(local: Checker) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(500))
        report = ask(local, site.origin)
        assert site.count("/") == 0
    assert report["summary"] == "The page was not fetched: its robots.txt answers with status 500."


def test_a_redirect_is_followed_where_robots_txt_allows_its_target(local: Checker) -> None:
    with Site(TWO) as site:
        first, second = site.origins
        site.answer("/", redirect(f"{second}/b"), first)
        site.answer("/b", html("<img src=c>"))
        report = ask(local, first)
        assert [one["url"] for one in report["pages"]] == [first, f"{second}/b"]
        assert words(report) == {"c": True}
        assert site.count("/robots.txt", second) == 1
        site.answer("/robots.txt", robots("User-agent: Test\nDisallow: /\n"), second)
        assert ask(local, first)["summary"].startswith("The page was not read: robots.txt disallows it to Test")
        assert site.count("/b") == 1


def test_a_host_that_hangs_leaves_time_for_the_others() -> None:
    with Site(("127.0.0.1", "127.0.0.2", "127.0.0.3")) as site, checker(replace(LOCAL, fetch_time=4.0)) as running:
        here, slow, other = site.origins
        site.answer("/", html(f"<img src={slow}/a><img src={other}/b>"))
        site.answer("/robots.txt", hang(), slow)
        report = ask(running, here)
    assert words(report) == {"a": None, "b": True}
    assert "did not finish within" in report["resources"][0]["problem"]


def test_no_host_is_asked_when_the_time_is_over() -> None:
    with Site() as site, checker(replace(LOCAL, fetch_time=0.1)) as running:
        report = ask(running, site.origin)
        assert site.paths() == []
    assert report["summary"] == "The page was not fetched: there was no time left to ask."


def test_a_page_makes_it_ask_a_bounded_number_of_hosts() -> None:
    with Site([f"127.0.0.{n}" for n in range(1, 6)]) as site, checker(replace(LOCAL, resource_hosts=3)) as running:
        site.answer("/", html("".join(f"<img src={origin}/{n}>" for n, origin in enumerate(site.origins))))
        report = ask(running, site.origin)
        assert site.count("/robots.txt") == 3
    assert words(report) == {"0": True, "1": True, "2": True, "3": None, "4": None}
    assert report["resources"][0]["problem"] == "at most 3 hosts are asked for a robots.txt"


def test_a_hundred_thousand_images_are_bounded(local: Checker) -> None:
    with Site() as site:
        site.answer("/", html("".join(f"<img src={number}>" for number in range(100_000))))
        report = ask(local, site.origin)
    assert len(report["resources"]) == 1_000
    assert report["summary"].endswith("Only the first 1,000 resources were checked.")


def test_a_page_is_read_up_to_the_limit() -> None:
    with Site() as site, checker(replace(LOCAL, robots_octets=1_000)) as running:
        site.answer("/", html("<img src=a>" + " " * 1_000 + "<img src=b>"))
        report = ask(running, site.origin)
    assert words(report) == {"a": True}
    assert report["summary"].endswith("Only the first 1,000 octets of the page were read.")
    assert not report["is_complete"]


def test_strangers_have_no_private_page_fetched() -> None:
    with Site() as site, checker(PUBLIC) as running:
        report = ask(running, site.origin)
        assert site.paths() == []
    assert "not public" in report["summary"] or "only the default ports" in report["summary"]


@pytest.fixture
def two_worlds(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site at two addresses and on the default port: 127.0.0.2 is the internet, 127.0.0.1 is not."""
    monkeypatch.setattr(network, "is_public", lambda address: address == "127.0.0.2")
    with Site(("127.0.0.2", "127.0.0.1")) as site:
        monkeypatch.setitem(fetch._DEFAULT_PORTS, "http", int(site.origin.rpartition(":")[2]))
        yield site


@pytest.mark.parametrize("limits", [LOCAL, PUBLIC], ids=["local", "public"])
def test_a_public_page_leads_to_no_private_host(limits: Any, two_worlds: Site) -> None:
    port = two_worlds.origin.rpartition(":")[2]
    resolver = names(outer_test="127.0.0.2", inner_test="127.0.0.1", other_test="127.0.0.2")
    images = "".join(f"<img src=http://{host}.test:{port}/{host}>" for host in ("inner", "other"))
    two_worlds.answer("/", html(images))
    two_worlds.answer("/away", redirect(f"http://inner.test:{port}/"))
    with checker(limits, resolver=resolver) as running:
        report = ask(running, f"http://outer.test:{port}/")
        assert words(report) == {"inner": None, "other": True}
        assert (
            report["resources"][0]["problem"] == "inner.test is at an address that is not public: it is not asked"
        )
    with checker(limits, resolver=resolver) as running:
        assert "is not public" in ask(running, f"http://outer.test:{port}/away")["summary"]
    assert not [arrival for arrival in two_worlds.log if "127.0.0.1" in arrival.origin]


def test_a_private_page_may_load_from_both_worlds(two_worlds: Site) -> None:
    port = two_worlds.origin.rpartition(":")[2]
    resolver = names(outer_test="127.0.0.2", inner_test="127.0.0.1", own_test="127.0.0.1")
    two_worlds.answer("/", html("".join(f"<img src=http://{one}.test:{port}/{one}>" for one in ("outer", "own"))))
    with checker(LOCAL, resolver=resolver) as running:
        assert words(ask(running, f"http://inner.test:{port}/")) == {"outer": True, "own": True}


def test_a_host_is_asked_once_in_a_while_though_its_page_is_fetched_too(two_worlds: Site) -> None:
    port = two_worlds.origin.rpartition(":")[2]
    resolver = names(a_test="127.0.0.2", b_test="127.0.0.2", c_test="127.0.0.2")
    for host, other in (("a", "b"), ("c", "b")):
        two_worlds.answer(f"/{host}", html(f"<img src=/1><img src=http://{other}.test:{port}/2>"))
    limits = replace(PUBLIC, fetch_interval=1_000.0)
    with checker(limits, resolver=resolver) as running:
        assert words(ask(running, f"http://a.test:{port}/a")) == {"1": True, "2": True}
        reply = running.post("/api/resources", {"url": f"http://a.test:{port}/a"})
        assert (reply.status, int(reply.headers["retry-after"]) > 900) == (429, True)
        assert "a.test was asked a moment ago" in reply.data["error"]
        reply = submit(running, f"http://a.test:{port}/a")
        assert reply.status == 429
        assert "a.test was asked a moment ago" in reply.text
    assert two_worlds.count("/a") == 1


def test_a_host_of_a_resource_that_was_asked_a_moment_ago_is_unknown(
    two_worlds: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "is_public", lambda _: True)
    port = two_worlds.origin.rpartition(":")[2]
    two_worlds.answer("/", html(f"<img src=http://b.test:{port}/2>"))
    resolver = names(a_test="127.0.0.1", b_test="127.0.0.2")
    with checker(replace(PUBLIC, fetch_interval=1_000.0), resolver=resolver) as running:
        assert running.post("/api/fetch", {"site": f"http://b.test:{port}"}).status == 200
        (resource,) = ask(running, f"http://a.test:{port}/")["resources"]
    assert (resource["allowed"], resource["reason"]) == (None, "not asked")
    assert resource["problem"].startswith("b.test was asked a moment ago")


@pytest.mark.parametrize(
    ("page", "agent", "status", "message"),
    [
        ("", "Googlebot", 400, "page: write its address"),
        ("x" * 5_000, "Googlebot", 400, "page: write its address"),
        ("ftp://h/", "Googlebot", 422, "starts with https://"),
        ("http://[::1", "Googlebot", 422, "[::1"),
        ("http://127.0.0.1/", "/", 400, "contains no product token"),
        ("http://127.0.0.1/", "x" * 300, 400, "agent: it has more than 256 characters"),
    ],
)
def test_an_error_says_what_to_change_and_keeps_what_was_written(
    local: Checker, page: str, agent: str, status: int, message: str
) -> None:
    reply = submit(local, page, agent)
    assert reply.status == status
    assert 'role="alert"' in reply.text
    assert message in reply.text
    assert f'value="{page}"' in reply.text
    reply = local.post("/api/resources", {"url": page, "agent": agent})
    assert reply.status == status
    assert message in reply.data["error"]


@pytest.mark.parametrize("data", [[], {}, {"url": 1}, {"url": "h", "agent": None}, {"url": "h", "site": "h"}])
def test_the_api_says_what_it_expects(local: Checker, data: object) -> None:
    reply = local.post("/api/resources", data)
    assert reply.status == 400
    assert reply.data["error"].startswith("expected a JSON object such as")


def test_a_form_in_another_encoding_is_refused(local: Checker) -> None:
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    reply = local._ask("POST", "/resources", b"url=h", kind)
    assert reply.status == 400
    assert "multipart/form-data" in reply.text
