"""``scrapy robots resources``: what it fetches, what it prints, and its exit code."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from scrapy_rep.tools.commands.resources import _redirect_problem
from tests.support.command import robots_command, scrapy_process
from tests.support.command_here import robots_here
from tests.support.site import Answer, Site, hang, redirect, robots

HTML = ("Content-Type", "text/html")
TWO = ("127.0.0.1", "127.0.0.2")


def html(text: str) -> Answer:
    return Answer(body=text.encode(), headers=[HTML])


def asked(folder: Path, *arguments: str, **settings: str) -> tuple[int, list[str], str]:
    """The exit code, the lines of the answer and the errors."""
    chosen = [option for name, value in settings.items() for option in ("-s", f"{name}={value}")]
    code, out, err = robots_here(folder, "resources", *arguments, *chosen)
    return code, out.splitlines(), err


def facts(folder: Path, *arguments: str, **settings: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in asked(folder, *arguments, "--json", **settings)[1]]


def test_each_resource_has_a_line_with_the_rule_that_decides(tmp_path: Path) -> None:
    with Site() as site:
        here = site.origin
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /css/\nDisallow: /js/\n"))
        site.answer(
            "/", html("<link rel=stylesheet href=/css/a.css><script src=/js/b.js></script><img src=c.png>")
        )
        code, lines, err = asked(tmp_path, f"{here}/")
        assert site.paths() == ["/robots.txt", "/"]
    assert (code, err) == (1, "")
    assert lines == [
        f"open     no rule      page         {here}/",
        f"blocked  line 3       script       {here}/js/b.js  Disallow: /js/",
        f"open     line 2       style sheet  {here}/css/a.css  Allow: /css/",
        f"open     no rule      image        {here}/c.png",
        "",
        "1 of 3 resources is blocked for Googlebot (1 script), so it may not see the page as visitors do.",
    ]


def test_all_open_resources_exit_with_0(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/", html("<img src=a><img src=b>"))
        code, lines, _ = asked(tmp_path, site.origin)
    assert (code, lines[-1]) == (0, "All 2 resources are open to Googlebot.")
    assert lines[1] == f"open     unavailable  image        {site.origin}/a"


def test_each_host_and_port_is_asked_for_its_own_robots_txt(tmp_path: Path) -> None:
    with Site(TWO, ports=2) as site:
        page, *others = site.origins
        site.answer("/", html("".join(f"<img src={origin}/a.png>" for origin in site.origins)))
        site.answer("/robots.txt", robots("User-agent: Googlebot\nDisallow: /a\n"), others[0])
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /b\n"), others[1])
        code, lines, _ = asked(tmp_path, page)
        assert all(site.count("/robots.txt", origin) == 1 for origin in site.origins)
        assert site.count("/a.png") == 0
    assert code == 1
    words = {line.split()[-1 if "Disallow" not in line else -3]: line.split()[0] for line in lines[1:-2]}
    assert words == {f"{page}/a.png": "open", f"{others[0]}/a.png": "blocked",
                     f"{others[1]}/a.png": "open", f"{others[2]}/a.png": "open"}  # fmt: skip


def test_an_unreachable_robots_txt_leaves_its_resources_unknown(tmp_path: Path) -> None:
    with Site(TWO) as site:
        page, other = site.origins
        site.answer("/", html(f"<img src=/a><img src={other}/b>"))
        site.answer("/robots.txt", Answer(503), other)
        code, lines, err = asked(tmp_path, page, REP_RETRY_DELAY="0.01")
    assert (code, err) == (2, "")
    assert lines[1].startswith(f"unknown  unreachable  image        {other}/b  {other} is unreachable: ")
    assert "503" in lines[1]
    assert lines[2].startswith("open     unavailable  image")
    assert (
        lines[-1]
        == "None of 2 resources is known to be blocked for Googlebot. Whether 1 may be loaded is unknown."
    )


def test_a_page_whose_robots_txt_is_unreachable_is_not_requested(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(500))
        code, lines, _ = asked(tmp_path, site.origin, REP_RETRY_DELAY="0.01")
        assert site.count("/") == 0
    assert code == 2
    assert lines[-1].startswith("The page was not fetched: ")


def test_a_page_that_is_closed_to_the_crawler_is_not_requested(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: Googlebot\nDisallow: /\n"))
        code, lines, _ = asked(tmp_path, f"{site.origin}/a")
        assert site.paths() == ["/robots.txt"]
    assert (code, len(lines)) == (1, 3)
    assert lines[0] == f"blocked  line 2       page         {site.origin}/a  Disallow: /"
    assert lines[-1].startswith("The page itself is blocked for Googlebot: it was not fetched")


def test_a_page_that_is_closed_to_the_project_is_not_requested(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: mybot\nDisallow: /\n"))
        code, lines, _ = asked(tmp_path, site.origin, USER_AGENT="mybot/1")
        assert site.paths() == ["/robots.txt"]
    assert code == 2
    assert lines[-1].startswith("The page was not read: not requested: Forbidden by robots.txt")


@pytest.mark.parametrize(
    ("agent", "token", "code"),
    [("bingbot", "bingbot", 0), ("Mozilla/5.0 (compatible; Googlebot/2.1)", "Googlebot", 1)],
)
def test_another_crawler_is_asked_about_by_its_token_or_its_header(
    tmp_path: Path, agent: str, token: str, code: int
) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: Googlebot\nDisallow: /a\n"))
        site.answer("/", html("<img src=/a>"))
        found, lines, _ = asked(tmp_path, site.origin, "--agent", agent)
        assert {arrival.headers["user-agent"].partition("/")[0] for arrival in site.log} == {"Scrapy"}
    assert found == code
    assert token in lines[-1]


@pytest.mark.parametrize(("agent", "code"), [("Googlebot-Image", 1), ("AdsBot-Google", 0), ("bingbot", 0)])
def test_google_a_crawler_is_asked_about_as_its_owner_documents(tmp_path: Path, agent: str, code: int) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: Googlebot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n"))
        site.answer("/", html("<img src=/a>" if agent != "AdsBot-Google" else "<img src=/b>"))
        assert asked(tmp_path, site.origin, "--agent", agent)[0] == code


def test_a_redirect_is_followed_where_both_hosts_allow_it(tmp_path: Path) -> None:
    with Site(TWO) as site:
        first, second = site.origins
        site.answer("/", redirect(f"{second}/b"), first)
        site.answer("/b", html("<img src=c>"))
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /c\n"), second)
        code, lines, _ = asked(tmp_path, first)
    assert code == 1
    assert lines[0].endswith(f"page         {first}")
    assert lines[1].endswith(f"page         {second}/b")
    assert lines[2] == f"blocked  line 2       image        {second}/c  Disallow: /c"


def test_a_redirect_to_a_page_that_is_closed_is_not_followed(tmp_path: Path) -> None:
    with Site(TWO) as site:
        first, second = site.origins
        site.answer("/", redirect(f"{second}/b"), first)
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /b\n"), second)
        code, lines, _ = asked(tmp_path, first)
        assert site.count("/b") == 0
    assert code == 1
    assert lines[1] == f"blocked  line 2       page         {second}/b  Disallow: /b"


def test_five_redirects_are_followed(tmp_path: Path) -> None:
    with Site() as site:
        for number in range(7):
            site.answer(f"/{number}", redirect(f"/{number + 1}"))
        code, lines, _ = asked(tmp_path, f"{site.origin}/0")
        assert (code, len(lines)) == (2, 8)
        assert lines[-1] == "The page was not read: it redirects more than 5 times."
        assert site.count("/6") == 0


def test_no_redirect_to_a_private_host_is_followed() -> None:
    assert _redirect_problem("https://a.example/", "http://127.0.0.1/", 1) == (
        "it redirects to http://127.0.0.1/, which is not followed"
    )
    assert _redirect_problem("https://a.example/", "https://b.example/", 1) == ""


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Answer(404, b"<img src=a>", headers=[HTML]), "HTTP status 404"),
        (
            Answer(body=b"%PDF", headers=[("Content-Type", "application/pdf")]),
            "it is not HTML but application/pdf",
        ),
        (hang(), "no answer: "),
        (redirect("javascript:0"), "it redirects to no page"),
    ],
)
def test_a_page_that_cannot_be_read_is_unknown(tmp_path: Path, answer: Answer, problem: str) -> None:
    with Site() as site:
        site.answer("/", answer)
        code, lines, _ = asked(tmp_path, site.origin, DOWNLOAD_TIMEOUT="0.5")
    assert code == 2
    assert lines[-1].startswith(f"The page was not read: {problem}")


def test_json_has_an_object_for_the_page_and_for_each_resource(tmp_path: Path) -> None:
    with Site() as site:
        here = site.origin
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /a\n"))
        site.answer("/", html("<img src=/a><script src=/b></script>"))
        page, closed, opened = facts(tmp_path, f"{here}/")
    assert page == {
        "agent": "Googlebot", "url": f"{here}/", "kind": "page", "allowed": True, "line": None, "rule": None,
        "reason": "no rule", "problem": None,
    }  # fmt: skip
    assert (closed["url"], closed["kind"], closed["allowed"]) == (f"{here}/a", "image", False)
    assert (closed["line"], closed["rule"], closed["reason"]) == (2, "Disallow: /a", "rule")
    assert (opened["url"], opened["kind"], opened["allowed"]) == (f"{here}/b", "script", True)


def test_json_says_on_standard_error_what_no_object_says(tmp_path: Path) -> None:
    with Site(TWO) as site:
        page, other = site.origins
        site.answer("/", Answer(404))
        code, lines, err = asked(tmp_path, page, "--json")
        assert (code, len(lines)) == (2, 1)
        assert err == "scrapy robots resources: error: The page was not read: HTTP status 404.\n"
        site.answer("/", html(f"<img src={other}/a>"))
        site.answer("/robots.txt", Answer(503), other)
        code, lines, err = asked(tmp_path, page, "--json", REP_RETRY_DELAY="0.01")
    assert (code, json.loads(lines[1])["allowed"], err) == (2, None, "")


def test_a_hundred_thousand_images_are_a_thousand_and_a_note(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/", html("".join(f"<img src={number}>" for number in range(100_000))))
        code, lines, _ = asked(tmp_path, site.origin)
    assert (code, len(lines)) == (2, 1_003)
    assert lines[-1] == "All 1,000 resources are open to Googlebot. Only the first 1,000 resources were checked."


def test_no_more_than_fifty_hosts_are_asked(tmp_path: Path) -> None:
    addresses = [f"127.0.0.{number}" for number in range(1, 54)]
    with Site(addresses) as site:
        site.answer("/", html("".join(f"<img src={origin}/a>" for origin in site.origins)))
        code, lines, _ = asked(tmp_path, site.origin)
        assert site.count("/robots.txt") == 50
    assert code == 2
    assert [line.split()[0] for line in lines[1:5]] == ["unknown"] * 3 + ["open"]
    assert lines[1].endswith("  at most 50 hosts are asked for a robots.txt")


def test_a_page_cannot_steer_the_terminal(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/", html("<img src='/\x1b[31m\u202e'>"))
        _, lines, _ = asked(tmp_path, site.origin)
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("arguments", [["ftp://[::1/"], ["https://"], ["a b"], ["https://h/", "--agent", "/"]])
def test_what_cannot_be_asked_is_an_error(tmp_path: Path, arguments: list[str]) -> None:
    code, lines, err = asked(tmp_path, *arguments)
    assert (code, lines) == (2, [])
    assert err.startswith("scrapy robots resources: error: ")


def test_it_keeps_the_pace_that_robots_txt_asks_for(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.5\n"))
        site.answer("/", redirect("/a"))
        site.answer("/a", html("<img src=b>"))
        code, _, _ = asked(tmp_path, site.origin)
        first, second = (arrival.time for arrival in site.log if arrival.path != "/robots.txt")
    assert code == 0
    assert second - first >= 0.45


def test_it_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/", html("<img src=a>"))
        code, out, err = robots_command(tmp_path, "resources", site.origin)
    assert (code, err) == (0, "")
    assert out.endswith("The only resource is open to Googlebot.\n")


def test_ctrl_c_ends_it_at_once_and_quietly_with_2(tmp_path: Path) -> None:
    with Site(TWO) as site:
        here, other = site.origins
        site.answer("/", html(f"<img src=/a><img src={other}/b>"))
        site.answer("/robots.txt", hang(), other)
        arguments = ("robots", "resources", here, "-s", "REP_TIMEOUT=60")
        with scrapy_process(*arguments, folder=tmp_path) as process:
            until = monotonic() + 30
            while not site.count("/robots.txt", other) and monotonic() < until:
                sleep(0.02)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)  # half as long as the fetch would take
    assert (process.returncode, out, err) == (2, b"", b"")
