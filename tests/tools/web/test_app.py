"""The page and the API over HTTP: what they answer, what they refuse, and what every response carries."""

from __future__ import annotations

import base64
import html
import json
import re
import socket
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest
from starlette.responses import Response

from scrapy_rep.tools.web import page, server
from scrapy_rep.tools.web.guard import HEADERS, Guard
from scrapy_rep.tools.web.visitors import LOCAL, PUBLIC
from scrapy_rep.tools.web.workers import _prepare
from tests.support.in_process import run
from tests.support.markdown import PAGES
from tests.support.site import Answer, Site, redirect, robots

from .checker import MULTIPART, ROBOTS, Checker, Reply, checker, event_loop, multipart
from .jobs import die, rest


def check(running: Checker, **question: Any) -> Reply:
    return running.post("/api/check", {"robots": ROBOTS, **question})


def test_the_api_answers_with_verdicts_and_findings(local: Checker) -> None:
    answer = check(local, urls=["/private/1", "/shop"], agents=["Googlebot"], dialect="google").data
    first, second = answer["verdicts"]
    assert (first["url"], first["agent"], first["allowed"]) == ("/private/1", "Googlebot", False)
    assert (first["line"], first["rule"]) == (2, "Disallow: /private")
    assert (second["allowed"], second["line"], second["rule"]) == (True, 0, "")
    finding = next(one for one in answer["findings"] if one["code"] == "misspelt-key")
    assert (finding["line"], finding["column"], finding["severity"]) == (3, 1, "warning")
    assert "Disalow" in finding["message"]
    assert answer["summary"][-1].startswith("Start with line 3: ")


def test_the_documentation_of_the_api_names_all_that_it_answers(local: Checker) -> None:
    text = ROBOTS + "Crawl-delay: 2\nContent-Signal: search=yes\nSitemap: /s.xml\n"
    answer = check(local, robots=text, urls=["/private", "/"], agents=["*", "a"]).data
    pages = PAGES["docs/howto/web-checker.md"] + PAGES["docs/reference/commands/lint.md"]  # has the findings
    described = {*re.findall(r"\w+", pages)}
    for agent in answer["agents"]:
        assert agent.pop("ai")[0].keys() == {"answers", "urls"}
    assert keys_in(answer) <= described


def keys_in(value: Any) -> set[str]:
    """The keys of all objects in *value*."""
    if isinstance(value, list):
        return {key for one in value for key in keys_in(one)}
    return value.keys() | keys_in([*value.values()]) if isinstance(value, dict) else set()


def test_the_table_can_be_saved(local: Checker) -> None:
    reply = local.submit([("robots", ROBOTS), ("action", "csv")])
    assert (reply.status, reply.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert reply.headers["content-disposition"] == 'attachment; filename="verdicts.csv"'
    assert reply.text.startswith("url,agent,allowed,line")


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/api/check", "{", 400, "not JSON"),
        ("/api/check", "[" * 100_000, 400, "not JSON"),
        ("/api/check", "[]", 400, "expected a JSON object"),
        ("/api/check", '{"robots": "", "dialect": "x"}', 400, "dialect"),
        ("/api/check", '{"robots": "", "urls": ["/", "notaurl"]}', 400, "write https://notaurl or /notaurl"),
        ("/api/fetch", "{}", 400, "expected a JSON object such as"),
        ("/api/fetch", '{"site": ""}', 400, "site: write a host"),
        ("/api/fetch", '{"site": "ftp://example.com"}', 422, "starts with https://"),
        ("/api/nowhere", "{}", 404, "Not Found"),
        ("/api", "{}", 404, "Not Found"),
    ],
)
def test_an_error_of_the_api_says_what_to_change(
    local: Checker, path: str, body: str, status: int, message: str
) -> None:
    reply = local._ask("POST", path, body.encode(), {})
    assert reply.status == status
    assert message in reply.data["error"]


def test_every_response_keeps_the_page_harmless(local: Checker) -> None:
    replies = [local.get("/"), local.get("/static/script.js"), local.get("/x"), check(local), check(local, urls=1)]
    for reply in replies:
        assert {name: reply.headers[name.lower()] for name in HEADERS} == HEADERS
        assert "set-cookie" not in reply.headers
        assert "server" not in reply.headers or reply.headers["server"] == "uvicorn"
    assert "unsafe" not in HEADERS["Content-Security-Policy"]
    assert replies[0].headers["cache-control"] == "no-store"


def test_the_form_works_without_a_script(local: Checker) -> None:
    fields = [("robots", ROBOTS.replace("\n", "\r\n")), ("urls", "/private\r\n/cart"), ("agents", "*"),
              ("names", "ExampleBot/1.0, Other"), ("dialect", "google-exact"), ("action", "check")]  # fmt: skip
    reply = local.submit(fields)
    assert reply.status == 200
    assert '<strong class="no">6 disallowed</strong>' in reply.text
    assert 'value="google-exact" checked>' in reply.text
    assert "crlf-line-ends" not in reply.text
    assert ">\nUser-agent: *\nDisallow: /private\n" in reply.text
    assert reply.text.rstrip().endswith("</html>")


def test_the_page_says_whose_group_a_crawler_follows(local: Checker) -> None:
    body = "User-agent: googlebot\r\nDisallow: /bar\r\n"
    reply = local.submit([("robots", body), ("urls", "/bar"), ("agents", "Googlebot-Image"), ("action", "check")])
    cell = reply.text.partition('data-agent="Follows">')[2].partition("</td>")[0]
    assert cell == (
        "the group of another crawler <small>Googlebot-Image follows the group of googlebot, line 1</small>"
    )


def test_the_octets_of_a_file_count_instead_of_the_text(local: Checker) -> None:
    reply = local.submit([("robots", "Disallow: /"), ("urls", "/x")], b"User-agent: *\r\nDisallow: /\xe9\r\n")
    assert "not-utf-8" in reply.text
    assert "crlf-line-ends" in reply.text
    assert "1 allowed" in reply.text


def test_a_file_never_touches_a_disk(local: Checker, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a temporary file")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    reply = local.submit([("urls", "/x")], b"User-agent: *\nDisallow: /x\n" + b"#" * 2_000_000)
    assert "1 disallowed" in reply.text


def test_a_fix_is_applied_without_a_script(local: Checker) -> None:
    page = local.submit([("robots", ROBOTS)]).text
    assert 'name="apply" value="misspelt-key:3:1"' in page
    fixed = local.submit([("robots", ROBOTS), ("apply", "misspelt-key:3:1")]).text
    assert ">\nUser-agent: *\nDisallow: /private\nDisallow: /cart\n" in fixed
    assert "misspelt-key" not in fixed
    assert fixed.count(" autofocus") == 1


def test_a_fix_that_changes_verdicts_says_what_it_changes_and_is_asked_for_twice(local: Checker) -> None:
    text = "User-agnt: *\nDisallow: /cart\n\nUser-agent: GPTBot\nDisallow: /\n"
    key = "misspelt-key-ignored:1:1"
    fields = [("robots", text), ("agents", "*"), ("agents", "GPTBot")]
    assert f'name="consider" value="{key}"' in local.submit(fields).text
    assert f">\n{text}" in html.unescape(local.submit([*fields, ("apply", key)]).text)
    considered = local.submit([*fields, ("consider", key)]).text
    assert f">\n{text}" in html.unescape(considered)
    assert "This changes what crawlers may fetch." in considered
    assert (
        "<li>crawlers without a group of their own may no longer fetch /cart (line 2, Disallow: /cart)"
        in considered
    )
    assert f'name="confirm" value="{key}"' in considered
    assert considered.count(" autofocus") == 1
    assert ">\nUser-agent: *\nDisallow: /cart\n" in local.submit([*fields, ("confirm", key)]).text


def test_a_key_of_no_finding_changes_nothing(local: Checker) -> None:
    for action in ("apply", "consider", "confirm"):
        reply = local.submit([("robots", ROBOTS), (action, "<x>:1:1")])
        assert (reply.status, f">\n{ROBOTS}" in reply.text, "autofocus" in reply.text) == (
            200,
            True,
            action != "consider",
        )


def test_a_robots_txt_is_written_from_choices_and_checked_like_any_other(local: Checker) -> None:
    page = local.get("/write").text
    assert 'name="training"' in page
    chosen = [("training", "yes"), ("parameters", "sort, color"), ("wordpress", "yes"),
              ("sitemap", "https://www.example/s.xml"), ("delay", "2")]  # fmt: skip
    written = local.submit(chosen, path="/write").text
    assert "\nUser-agent: GPTBot\n" in written
    assert "All 45 known crawlers that train AI are blocked from everything" in written
    assert "/?sort=1" in written
    assert "Works. Blocks 7 paths, and the whole site for" in written


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("delay", "x", "a number of seconds"), ("delay", "61", "between 0 and 60"), ("delay", "nan", "between 0"),
     ("parameters", "a b=", "not a parameter name"), ("sitemap", "s.xml", "a complete URL"),
     ("sitemap", "https://a.test/\nDisallow: /", "a complete URL")],
)  # fmt: skip
def test_a_choice_from_which_nothing_can_be_written_is_kept_and_the_page_says_what_to_change(
    local: Checker, name: str, value: str, message: str
) -> None:
    reply = local.submit([(name, value), ("training", "yes")], path="/write")
    assert (reply.status, message in reply.text) == (400, True)
    assert f'value="{html.escape(value)}"' in reply.text
    assert 'value="yes" checked' in reply.text


def test_a_site_is_fetched_and_checked_without_a_script(local: Checker) -> None:
    with Site() as site:
        site.answer("/robots.txt", redirect("/other"))
        site.answer("/other", robots(ROBOTS))
        page = local.submit([("site", site.origin), ("action", "fetch"), ("urls", "/private")]).text
    assert "1 disallowed" in page
    (facts,) = re.findall('<p class="facts">(.*)</p>', page)
    assert facts.startswith(f"{site.origin}/robots.txt · status 200 · text/plain · ")
    assert f" · {len(ROBOTS)} bytes of 500 KiB · 1 redirect · <span>fetched 20" in facts
    assert f"Redirected to {site.origin}/other" in page
    assert ">\nUser-agent: *\nDisallow: /private" in page


BY = {"bookmark": "none", "our own page": "same-origin"}
AIMED = {"a link of another site": "cross-site", "another port": "same-site", "what is yet to be invented": "x"}


@pytest.mark.parametrize("sender", [*BY.values(), *AIMED.values(), ""])
def test_an_address_with_a_site_fetches_it_for_a_person_and_for_no_other_page(local: Checker, sender: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(ROBOTS))
        reply = local.get(f"/?site={site.origin}", **({"Sec-Fetch-Site": sender} if sender else {}))
        asked = len(site.log)
    assert (reply.status, f'name="site" value="{site.origin}"' in reply.text) == (200, True)
    is_person = sender in BY.values()
    assert (asked, "Disalow: /cart" in reply.text) == (int(is_person), is_person)
    assert ("Press Fetch to check the robots.txt of" in reply.text) is not is_person


def test_an_address_with_a_site_is_bounded_like_a_question() -> None:
    person = {"Sec-Fetch-Site": "none"}
    with checker(replace(LOCAL, requests_per_client=0)) as running:
        assert running.get("/?site=example.com", **person).status == 429
        assert running.get("/").status == 200
    with checker(PUBLIC) as running:
        reply = running.get("/?site=http://127.0.0.1", **person)
        assert (reply.status, "not public" in reply.text) == (422, True)
        assert running.get(f"/?site={'x' * 9_999}", **person).status == 422
    with checker() as running:
        assert running.get("/?site=a.test", Host="evil.test", **person).status == 421


def test_whatever_the_address_names_as_a_site_is_shown_as_text(local: Checker) -> None:
    text = local.get("/?site=%22%3E%3Cscript%3E").text
    assert "&#34;&gt;&lt;script&gt;" in text
    assert "<script>" not in text


def test_the_example_has_an_answer(local: Checker) -> None:
    text = local.submit([("robots", "x"), ("urls", "/mine"), ("action", "example")]).text
    assert ">\n# The robots.txt of a shop" in text
    assert '<p class="verdict' in text
    assert ">\n/\n/cart\n/account\n/page?sort=</textarea>" in text


def test_urls_that_are_filled_in_follow_the_file_until_a_person_writes_others(local: Checker) -> None:
    def urls(*fields: tuple[str, str]) -> str:
        text = local.submit([("robots", "User-agent: *\nDisallow: /a\nDisallow: /b"), *fields]).text
        return text.partition('placeholder="filled in from the rules">\n')[2].partition("</textarea>")[0]

    assert urls() == "/\n/a\n/b"
    assert urls(("urls", "/\r\n/old"), ("filled", "/\r\n/old")) == "/\n/a\n/b"
    assert urls(("urls", "/mine"), ("filled", "/\r\n/old")) == "/mine"


def test_a_site_without_a_robots_txt_allows_everything_and_the_page_says_so(local: Checker) -> None:
    with Site() as site:
        page = local.submit([("site", site.origin), ("action", "fetch"), ("robots", "Disallow: /")]).text
        assert "The server answers with status 404: there is no robots.txt" in page
        assert "1 allowed" in page
        site.answer("/robots.txt", Answer(503))
        page = local.submit([("site", site.origin), ("action", "fetch")]).text
    assert "what its robots.txt would say is unknown" in page
    assert "1 disallowed" in page


def test_the_file_can_be_saved_with_all_its_octets(local: Checker) -> None:
    reply = local.submit([("action", "save")], b"User-agent: *\r\nDisallow: /\xe9\r\n")
    assert reply.body == b"User-agent: *\r\nDisallow: /\xe9\r\n"
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert reply.headers["content-disposition"] == 'attachment; filename="robots.txt"'


def test_a_problem_leaves_the_form_as_it_was(local: Checker) -> None:
    reply = local.submit([("robots", ROBOTS), ("urls", "/a\n/b"), ("names", "(")])
    assert reply.status == 400
    assert "contains no product token" in reply.text
    assert ">\n/a\n/b</textarea>" in reply.text
    assert "Disalow: /cart" in reply.text
    assert local.submit([("site", "file:///etc/passwd"), ("action", "fetch")]).status == 422


def test_a_form_that_is_too_large_to_be_shown_again_is_not() -> None:
    with checker(replace(LOCAL, urls=10, url_characters=100)) as running:
        reply = running.submit([("robots", ROBOTS), ("urls", "&" * 2_000)])
    assert (reply.status, "too many URLs or names" in reply.text, "&amp;&amp;" in reply.text) == (400, True, False)


def test_a_long_text_of_any_characters_is_shown_again(local: Checker) -> None:
    robots = "# é\U0001f600&<\n" * 30_000
    page = local.submit([("robots", robots), ("urls", "/")]).text
    assert html.unescape(page.partition("<textarea")[2].partition(">\n")[2].partition("</textarea>")[0]) == robots


def test_a_form_in_another_encoding_is_refused_unread(local: Checker) -> None:
    reply = local._ask("POST", "/", b"robots=%26", {"Content-Type": "application/x-www-form-urlencoded"})
    assert (reply.status, "send it as multipart/form-data" in reply.text) == (400, True)


def test_the_steps_of_a_fetch_are_sent_as_they_happen(local: Checker) -> None:
    with Site() as site:
        site.answer("/robots.txt", redirect("/other"))
        site.answer("/other", Answer(200, b"Disallow: /\xff"))
        *steps, result = local.post("/api/fetch", {"site": site.origin}).lines
    assert [step["step"].partition(":")[0] for step in steps] == [
        "asking http", "status 302", "asking http", "status 200, 12 bytes",
    ]  # fmt: skip
    assert (result["source"]["status"], result["source"]["access"]) == (200, "successful")
    assert result["robots"] == "Disallow: /\ufffd"
    assert base64.b64decode(result["octets"]) == b"Disallow: /\xff"


def test_a_fetch_that_fails_says_why_in_its_last_step(local: Checker) -> None:
    with Site() as site:
        site.stop_listening()
        assert "does not answer" in local.post("/api/fetch", {"site": site.origin}).lines[-1]["error"]


def test_strangers_cannot_have_this_machine_look_around() -> None:
    with checker(PUBLIC) as running, Site() as site:
        site.answer("/robots.txt", robots(ROBOTS))
        assert "only the default ports" in running.post("/api/fetch", {"site": site.origin}).lines[-1]["error"]
        assert "not public" in running.post("/api/fetch", {"site": "http://127.0.0.2"}).lines[-1]["error"]
        again = running.post("/api/fetch", {"site": "http://127.0.0.2/x"})
        assert (again.status, again.headers["retry-after"]) == (429, "5")
        page = running.submit([("site", "http://localhost"), ("action", "fetch")])
        assert (page.status, site.log) == (422, [])
        assert "not public" in page.text


OWN = "http://127.0.0.1:{port}"
SENT_BY: dict[str, tuple[dict[str, str], tuple[int, int]]] = {
    "a program": ({}, (200, 200)),
    "our page": ({"Sec-Fetch-Site": "same-origin", "Origin": OWN}, (200, 200)),
    "our page, in a browser without referrers": ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, (200, 200)),
    "our page behind a proxy that speaks TLS": (
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://checker.example"}, (200, 200)
    ),
    "a person": ({"Sec-Fetch-Site": "none"}, (200, 200)),
    "our page, in an old browser": ({"Origin": OWN}, (200, 200)),
    "another site": ({"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}, (403, 403)),
    "another port": ({"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"}, (403, 403)),
    "a sandboxed frame": ({"Sec-Fetch-Site": "cross-site", "Origin": "null"}, (403, 403)),
    "what is yet to be invented": ({"Sec-Fetch-Site": "x", "Origin": OWN}, (403, 403)),
    "another site, in an old browser": ({"Origin": "http://evil.example"}, (403, 200)),
    "a sandboxed frame, in an old browser": ({"Origin": "null"}, (403, 200)),
}  # fmt: skip
"""Who sends a form: the fields, and the status on this machine alone and with --public, where anyone may ask."""


@pytest.mark.parametrize("sender", SENT_BY)
def test_a_page_of_another_site_cannot_ask(local: Checker, sender: str) -> None:
    fields, statuses = SENT_BY[sender]
    with checker(PUBLIC) as public:
        for running, status in zip((local, public), statuses, strict=True):
            headers = {name: value.format(port=running.port) for name, value in fields.items()}
            assert running.post("/api/check", {"robots": ROBOTS}, **headers).status == status
            assert running.submit([("robots", ROBOTS)], b"", "/", **headers).status == status


def test_who_listens_on_an_open_address_is_not_asked_by_another_site() -> None:
    """Chromium sends no Sec-Fetch-Site to it, as it is neither loopback nor TLS."""
    with checker(host="0.0.0.0") as running:
        for origin, status in {"http://evil.example": 403, "null": 403, running.url.rstrip("/"): 200}.items():
            assert running.submit([("robots", ROBOTS)], Origin=origin).status == status


@pytest.mark.parametrize("path", ["/", "/write", "/nowhere"])
def test_a_form_that_is_refused_is_answered_with_a_page(path: str) -> None:
    with checker(replace(LOCAL, request_octets=1_000)) as running:
        refused = [
            running.submit([("robots", ROBOTS)], path=path, Origin="null"),
            running.submit([("robots", "x" * 1_000)], path=path),
            running.submit([("robots", ROBOTS)], path=path, Host="evil.test"),
            running._ask("POST", path, b"x=y", {"Content-Type": "application/x-www-form-urlencoded"}),
        ]
    with checker(replace(LOCAL, requests_per_client=0)) as running:
        refused.append(running.submit([("robots", ROBOTS)], path=path))
    assert [reply.status for reply in refused] == [403, 413, 421, 404 if path == "/nowhere" else 400, 429]
    for reply in refused:
        assert reply.headers["content-type"] == "text/html; charset=utf-8"
        assert '<p class="problem" role="alert">' in reply.text
        assert 'id="answer"' in reply.text or path == "/write"


def test_choices_that_ask_for_too_much_are_answered_with_the_form(local: Checker) -> None:
    with checker(replace(LOCAL, urls=2, verdicts=10)) as running:
        reply = running.submit([("parameters", "a b c d e"), ("training", "yes")], path="/write")
    assert (reply.status, 'value="a b c d e"' in reply.text) == (400, True)


def test_a_name_that_was_rebound_to_this_machine_reads_nothing(local: Checker) -> None:
    for host, status in {
        "evil.test": 421,
        "evil.test:80": 421,
        "[": 421,
        "localhost:1": 200,
        "[::1]": 200,
    }.items():
        assert local.get("/", Host=host).status == status, host
    with checker(PUBLIC) as running:
        assert running.get("/", Host="checker.example").status == 200


def test_a_request_has_a_size() -> None:
    with checker(replace(LOCAL, request_octets=1_000)) as running:
        assert running.post("/api/check", {"robots": "x" * 900}).status == 200
        reply = running.post("/api/check", {"robots": "x" * 1_000})
        assert (reply.status, reply.data) == (413, {"error": "a request has at most 1,000 bytes"})
        assert status_of(running, b"Content-Length: -1\r\n\r\n") in {400, 413}
        chunked = b"Transfer-Encoding: chunked\r\n\r\n" + b"100\r\n" + b"x" * 256 + b"\r\n"
        assert status_of(running, chunked + b"400\r\n" + b"x" * 1_024 + b"\r\n") == 413


def test_a_request_has_a_time() -> None:
    with checker(replace(LOCAL, receive_time=0.3)) as running:
        began = monotonic()
        assert status_of(running, b"Content-Length: 100\r\n\r\n{") == 408
        assert monotonic() - began < 10


def status_of(running: Checker, rest: bytes) -> int:
    """The status for a request that is sent in part, and never ends."""
    with socket.create_connection(("127.0.0.1", running.port), timeout=30) as connection:
        connection.sendall(b"POST /api/check HTTP/1.1\r\nHost: localhost\r\n" + rest)
        return int(connection.recv(65_536).split()[1])


@pytest.fixture
def _restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is never ready."""
    monkeypatch.setattr(page, "file_html", rest)


def asking_much(running: Checker) -> AbstractContextManager[object]:
    """Meanwhile a large question is worked on."""
    fields = [("robots", "#" * 10_000), ("urls", "\n".join(f"/{number}" for number in range(100)))]
    return running.unread("/", multipart(fields), MULTIPART)


def test_work_that_takes_long_is_ended_and_the_next_question_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    with checker(replace(LOCAL, work_time=1.0, workers=1)) as running:
        with monkeypatch.context() as patched:
            patched.setattr(page, "facts", rest)
            patched.setattr(page, "verdicts_html", rest)
            reply, form = check(running), running.submit([("robots", ROBOTS)])
        assert (reply.status, "stopped after 1 s" in reply.data["error"]) == (400, True)
        assert (form.status, "stopped after 1 s" in form.text) == (200, True)
        assert form.text.rstrip().endswith("</html>")
        assert check(running).status == 200


@pytest.mark.usefixtures("_restless")
@pytest.mark.parametrize("hosts", ["1111", "1234"], ids=["one visitor", "many visitors"])
def test_large_questions_hold_up_no_small_one_of_another_visitor(hosts: str) -> None:
    limits = replace(LOCAL, work_time=60.0, wait_time=10.0, workers=2, workers_per_client=1)
    with checker(limits) as running, ExitStack() as asking:
        for host in hosts:
            asking.enter_context(asking_much(replace(running, address=f"127.0.0.{host}")))
        other = replace(running, address="127.0.0.9")
        assert (check(other).status, other.get("/").status) == (200, 200)


@pytest.mark.usefixtures("_restless")
def test_with_no_process_free_it_says_so() -> None:
    with checker(replace(LOCAL, work_time=60.0, wait_time=0.2, workers=1)) as running, asking_much(running):
        reply = check(running)
    assert (reply.status, reply.headers["retry-after"]) == (503, "5")
    assert reply.data["error"].startswith("The server is busy")


@pytest.mark.usefixtures("_restless")
def test_what_is_worked_on_for_a_visitor_who_has_left_is_ended() -> None:
    with checker(replace(LOCAL, work_time=60.0, wait_time=20.0, workers=1)) as running:
        with asking_much(running):
            pass
        assert check(running).status == 200


LONG = json.dumps(
    {"robots": "", "urls": [f"/{'x' * 4_000}{number}" for number in range(100)], "agents": ["a", "b", "c"]}
).encode()


def test_an_answer_that_is_not_read_keeps_the_place_of_its_visitor() -> None:
    with checker(replace(LOCAL, requests_per_client=1)) as running:
        with running.unread("/api/check", LONG) as connection:
            assert check(running).status == 429
            assert check(replace(running, address="127.0.0.2")).status == 200
            assert len(rest_of(connection)) > 1_200_000
        assert check(running).status == 200


def test_an_answer_that_is_not_read_for_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_PATIENCE", 0.2)
    one = replace(LOCAL, requests_per_client=1)
    with checker(one) as running, running.unread("/api/check", LONG) as connection:
        while check(running).status == 429:
            sleep(0.05)
        assert len(rest_of(connection)) < 1_000_000


def rest_of(connection: socket.socket) -> bytes:
    """What arrives until the connection ends."""
    octets = b""
    with suppress(OSError):
        while piece := connection.recv(65_536):
            octets += piece
    return octets


def test_an_answer_has_a_size() -> None:
    with checker(replace(LOCAL, answer_octets=3_000)) as running:
        reply = check(running, urls=[f"/{number}" for number in range(50)])
        assert (reply.status, "the limit is 3,000: ask about less" in reply.data["error"]) == (400, True)
        assert "the limit is 3,000: ask about less" in running.submit([("robots", ROBOTS * 50)]).text
        assert check(running, urls=["/"], robots="").status == 200


def test_an_answer_is_given_to_the_server_in_pieces_that_fit_its_buffer() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    guard = Guard(Response(b"12345678" * 20_000), LOCAL, "127.0.0.1")
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")]}
    run(guard(scope, None, send))  # type: ignore[arg-type]
    start, *pieces = sent
    assert (start["type"], "body" in start) == ("http.response.start", False)
    assert b"".join(piece["body"] for piece in pieces) == b"12345678" * 20_000
    assert [len(piece["body"]) for piece in pieces] == [65_536, 65_536, 28_928, 0]
    assert [piece.get("more_body", False) for piece in pieces] == [True, True, True, False]


def test_a_client_with_many_questions_at_once_has_to_wait() -> None:
    with checker(replace(LOCAL, requests_per_client=1)) as running, Site() as site:
        site.answer("/robots.txt", Answer(200, hangs=True))
        asking = Thread(target=running.post, args=("/api/fetch", {"site": site.origin}))
        asking.start()
        while not site.log:
            sleep(0.01)
        reply = running.post("/api/check", {"robots": ""})
        assert (reply.status, reply.headers["retry-after"]) == (429, "1")
        assert running.get("/").status == 200
        site.close()
        asking.join()
        assert running.post("/api/check", {"robots": ""}).status == 200


def test_a_failure_of_our_own_tells_strangers_nothing_and_keeps_the_headers(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "facts", int)  # which a question is not
    with checker() as running:
        reply = check(running, urls=["/secret"])
        assert (reply.status, reply.data["error"]) == (500, "the checker itself failed: its log says where")
        assert reply.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
        monkeypatch.undo()
        assert check(running).status == 200
    log = capfd.readouterr().err
    assert "TypeError" in log
    assert "secret" not in log


def test_a_process_that_is_ready_has_imported_what_its_jobs_need() -> None:
    code = f"import sys, {_prepare.__module__}; print({page.__name__!r} in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\n"


def processes() -> set[str]:
    """The processes that this one has started and that have not ended."""
    lists = [path.read_text("ascii") for path in Path("/proc/self/task").glob("*/children")]
    return {number for text in lists for number in text.split()}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="lists its processes as Linux does")
def test_processes_that_were_ended_are_replaced_within_the_limit_and_there_are_none_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = processes()
    with event_loop() as loop, checker(replace(LOCAL, work_time=2.0, workers=2), loop=loop) as running:
        assert len(processes() - before) == 2
        with monkeypatch.context() as patched:
            patched.setattr(page, "facts", rest)
            asking = [Thread(target=check, args=(running,)) for _ in range(3)]
            for one in asking:
                one.start()
            while any(one.is_alive() for one in asking):
                assert len(processes() - before) <= 2
                sleep(0.05)
        assert [check(running).status for _ in range(3)] == [200] * 3
    assert processes() <= before


def test_a_process_that_ends_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    with checker(replace(LOCAL, workers=1)) as running:
        monkeypatch.setattr(page, "facts", die)
        reply = check(running)
        assert (reply.status, "the process that worked on this" in reply.data["error"]) == (400, True)
        monkeypatch.undo()
        assert check(running).status == 200
