"""``scrapy robots explain``: what sites and pages say besides Allow and Disallow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import robots_command
from tests.support.command_here import robots_here
from tests.support.crawl import on_each_loop
from tests.support.site import Answer, Site, redirect, robots
from tests.tools.commands.test_explain import LOOP_ARGUMENTS, explained

SIGNALS = """User-agent: *
Content-Signal: search=yes, ai-train=no, use=reference
Content-Usage: /a train-ai=y
Disallow: /private
License: https://example.com/license.xml
"""
TDMREP = "/.well-known/tdmrep.json"
HTML = ("Content-Type", "text/html")
PAGE = b"""<meta name="robots" content="noindex, max-snippet:5"><meta name="mybot" content="nofollow">
<meta name="otherbot" content="none"><meta name="tdm-reservation" content="0">"""


def uses(out: str) -> list[str]:
    """The lines about the use by AI."""
    lines = out.partition("\nAI use ")[2].splitlines()
    following = [line for line in lines[1:] if line.startswith(" " * 13)]
    return [line.strip() for line in lines[:1] + following]


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "robots.txt").write_text(SIGNALS)
    return str(tmp_path / "robots.txt")


def asked(folder: Path, *arguments: str, loop: str = "asyncio", **settings: str) -> tuple[int, str, str]:
    """The answer to ``explain --page`` as mybot; of another loop in a process of its own."""
    chosen = [option for name, value in settings.items() for option in ("-s", f"{name}={value}")]
    call = robots_here if loop == "asyncio" else robots_command
    given = (*arguments, "--page", "--agent", "mybot", *LOOP_ARGUMENTS[loop], *chosen)
    return call(folder, "explain", *given)


def facts(folder: Path, *arguments: str, **settings: str) -> dict[str, Any]:
    """The same in JSON."""
    _, out, err = asked(folder, *arguments, "--json", **settings)
    assert not err
    found: dict[str, Any] = json.loads(out)
    return found


# What a robots.txt says.


def test_the_signals_of_a_robots_txt_are_shown_with_their_answer_and_line(file: str) -> None:
    _, out = explained("/a", "--file", file)
    assert out.endswith(
        """
AI use       search    yes      line 2        Content-Signal: search=yes
             ai-train  no       line 2        Content-Signal: ai-train=no
                                line 3        Content-Usage: train-ai=y
             recorded           line 2        Content-Signal: use=reference
             license            https://example.com/license.xml
"""
    )
    assert "line 3        Content-Usage" not in explained("/b", "--file", file)[1]


def test_json_has_the_same_signals(file: str) -> None:
    ai = json.loads(explained("/b", "--file", file, "--json")[1])["ai"]
    assert ai["answers"] == {"search": "yes", "ai-input": "unknown", "ai-train": "no", "ai-index": "unknown"}
    assert [(one["text"], one["line"]) for one in ai["statements"]] == [
        ("ai-train=no", 2), ("search=yes", 2), ("use=reference", 2)
    ]  # fmt: skip
    assert ai["licenses"] == ["https://example.com/license.xml"]


def test_a_url_that_is_disallowed_has_no_signals(file: str) -> None:
    assert "AI use" not in explained("/private", "--file", file)[1]
    assert "AI use" not in explained("/private", "--file", file, REP_PURPOSES="ai-train")[1]
    assert json.loads(explained("/private", "--file", file, "--json")[1])["ai"] is None


def test_silence_is_shown_only_for_a_declared_purpose(tmp_path: Path, file: str) -> None:
    (tmp_path / "silent.txt").write_text("User-agent: *\nDisallow: /private\n")
    silent = str(tmp_path / "silent.txt")
    assert "AI use" not in explained("/a", "--file", silent)[1]
    assert uses(explained("/a", "--file", silent, REP_PURPOSES="ai-train")[1]) == ["no signals"]
    assert "ai-input  unknown" in uses(explained("/a", "--file", file, REP_PURPOSES="ai-input")[1])


# What the licenses say that a robots.txt names.


RSL = """<rsl xmlns="https://rslstandard.org/rsl"><content url="/a"><license>
<permits type="usage">search</permits><payment type="attribution"/></license></content>
<content url="/b"><license><prohibits type="usage">ai-train</prohibits></license></content></rsl>"""


def test_rsl_the_license_of_a_site_is_fetched_once_for_a_full_explanation(tmp_path: Path) -> None:
    with Site() as site:
        rules = f"User-agent: *\nDisallow: /x\nLicense: {site.origin}/license.xml\n"
        site.answer("/robots.txt", robots(rules))
        site.answer("/license.xml", Answer(body=RSL.encode()))
        a, b, x = (f"{site.origin}{path}" for path in ("/a", "/b", "/x"))
        agent = ("--agent", "mybot", *LOOP_ARGUMENTS["asyncio"])
        robots_here(tmp_path, "explain", x, *agent)
        robots_here(tmp_path, "explain", a, b, *agent)
        assert site.count("/license.xml") == 0, "nothing is said about them"
        _, out, _ = robots_here(tmp_path, "explain", a, b, x, "--full", *agent)
        assert site.count("/license.xml") == 1
        asked(tmp_path, a)
        assert site.paths()[-4:] == ["/robots.txt", TDMREP, "/license.xml", "/a"]
    assert "ai-train  no       license.xml   RSL: /b prohibits: ai-train" in uses(out.split("\nallowed ")[1])


# What a page says.


@on_each_loop
def test_a_page_is_requested_once_and_what_it_says_is_shown(tmp_path: Path, loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nContent-Signal: ai-input=yes\nAllow: /\n"))
        site.answer(TDMREP, Answer(body=b'[{"location": "/", "tdm-reservation": 1}]'))
        tags = [
            ("X-Robots-Tag", "noai, quux"),
            ("X-Robots-Tag", "otherbot: noindex"),
            ("Content-Usage", "search=n"),
        ]
        site.answer("/a", Answer(body=PAGE, headers=[HTML, *tags]))
        code, out, err = asked(tmp_path, f"{site.origin}/a", loop=loop)
        assert site.paths() == ["/robots.txt", TDMREP, "/a"]
    assert (code, err) == (0, "")
    assert out.partition("\npage ")[2] == """        HTTP status 200
directives   noindex, nofollow, max-snippet=5, noai: holds for this crawler
             X-Robots-Tag  noai           for every crawler
             X-Robots-Tag  quux           for every crawler  unread
             meta          noindex        for every crawler
             meta          max-snippet:5  for every crawler
             meta          nofollow       for mybot
AI use       search    no       header        Content-Usage: search=n
             ai-input  yes      line 2        Content-Signal: ai-input=yes
                                meta          tdm-reservation: 0
             ai-train  no       X-Robots-Tag  noai
                                meta          tdm-reservation: 0
"""  # fmt: skip


def test_the_reservation_of_the_site_counts_where_the_page_has_none(tmp_path: Path) -> None:
    with Site() as site:
        site.answer(TDMREP, Answer(body=b'[{"location": "/a", "tdm-reservation": 1}]'))
        _, out, _ = asked(tmp_path, f"{site.origin}/a", f"{site.origin}/b")
        assert sorted(site.paths()) == sorted(["/robots.txt", TDMREP, "/a", "/b"])
    first, second = out.split("\nallowed ")
    assert uses(first) == [
        "ai-input  no       tdmrep.json   tdm-reservation: 1",
        "ai-train  no       tdmrep.json   tdm-reservation: 1",
    ]
    assert not uses(second)


def test_a_page_that_is_disallowed_is_not_requested(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: mybot\nDisallow: /a\n"))
        code, out, _ = asked(tmp_path, f"{site.origin}/a")
        assert site.paths() == ["/robots.txt"]
    assert (code, "page         not requested: robots.txt disallows it\n" in out) == (1, True)
    assert "directives" not in out


def test_a_page_that_the_project_may_not_have_is_not_requested_for_another_agent(
    tmp_path: Path,
) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: mybot\nAllow: /\n\nUser-agent: *\nDisallow: /a\n"))
        code, out, _ = asked(tmp_path, f"{site.origin}/a")
        assert site.count("/a") == 0
    refused = "page         not requested: Forbidden by robots.txt (line 5, Disallow: /a)\n"
    assert (code, refused in out) == (0, True)


def test_a_page_that_a_crawl_refuses_to_request_because_it_is_reserved_is_explained_all_the_same(
    tmp_path: Path,
) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(SIGNALS.replace("https://example.com", site.origin)))
        found = facts(tmp_path, f"{site.origin}/a", REP_PURPOSES="ai-train", REP_AI_SIGNALS="refuse")
        assert site.count("/a") == 1
    assert found["page"]["problem"] is None


def test_a_redirect_is_not_followed_and_an_error_page_has_no_effect(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/old", redirect("/new", 301))
        site.answer("/gone", Answer(404, headers=[("X-Robots-Tag", "noindex")]))
        _, old, _ = asked(tmp_path, f"{site.origin}/old")
        _, gone, _ = asked(tmp_path, f"{site.origin}/gone", REP_PAGE_DIRECTIVES="obey")
        assert site.count("/new") == 0
    assert "page         HTTP status 301\n             redirects to /new, which was not requested\n" in old
    assert "page         HTTP status 404\n             an error page: what it says has no effect\n" in gone


def test_a_page_that_does_not_answer_is_asked_for_once(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/a", Answer(resets=True))
        found = facts(tmp_path, f"{site.origin}/a")
        assert site.count("/a") == 1
    assert found["page"]["status"] is None
    assert found["page"]["problem"].startswith("no answer: ")


def test_a_page_waits_for_the_crawl_delay(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.4\n"))
        site.answer(TDMREP, Answer(404))
        asked(tmp_path, f"{site.origin}/a", f"{site.origin}/b")
        first, second = (arrival.time for arrival in site.log if arrival.path in {"/a", "/b"})
    assert second - first > 0.38


def test_json_has_what_the_page_says(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/a", Answer(body=PAGE, headers=[HTML, ("X-Robots-Tag", "quux")]))
        found = facts(tmp_path, f"{site.origin}/a")
    page = found["page"]
    assert (page["status"], page["directives"], page["unread"]) == (
        200, ["noindex", "nofollow", "max-snippet=5"], ["quux"]
    )  # fmt: skip
    assert page["rules"][1:3] == [
        {"name": "noindex", "value": None, "agent": None, "source": "meta", "text": "noindex", "is_read": True},
        {"name": "max-snippet", "value": 5, "agent": None, "source": "meta", "text": "max-snippet:5",
         "is_read": True},
    ]  # fmt: skip
    assert found["ai"]["answers"]["ai-train"] == "yes"


def test_several_agents_share_one_request(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: none\nDisallow: /\n"))
        site.answer("/a", Answer(body=PAGE, headers=[HTML]))
        _, out, _ = asked(tmp_path, f"{site.origin}/a", "--agent", "otherbot", "--agent", "none", "--json")
        assert site.count("/a") == 1
    pages = {found["agent"]: found["page"]["directives"] for found in map(json.loads, out.splitlines())}
    assert pages == {
        "mybot": ["noindex", "nofollow", "max-snippet=5"],
        "otherbot": ["noindex", "nofollow", "max-snippet=5"],
        "none": [],
    }


def test_a_page_and_a_file_do_not_go_together(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained("/a", "--page", "--file", file)[0] == 2
    assert "omit --file" in capsys.readouterr().err
