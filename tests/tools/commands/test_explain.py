"""``scrapy robots explain``: the verdict of the engine, with reasons, for people and for programs."""

from __future__ import annotations

import io
import json
import re
import signal
import socketserver
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_rep.protocol import parse
from scrapy_rep.tools.commands import explain, run_told
from tests.protocol.test_google_verdicts import FOLDER, answers, bodies
from tests.support.command import robots_command, scrapy_process
from tests.support.command_here import robots_here
from tests.support.crawl import crawl, on_each_download_handler, on_each_loop
from tests.support.exceptions import day
from tests.support.redis_server import RedisServer
from tests.support.site import Answer, Site, hang, redirect, robots

from .shop import PROJECT, Shop

BODY = b"""User-agent: GPTBot
Disallow: /

User-agent: ExampleBot
User-agent: other
Crawl-delay: 2
Request-rate: 1/5
Disallow: /private/
Allow: /priv*.html$
Disallow: /\x1b[31m

User-agent: *
Disallow: /caf\xc3\xa9
Sitemap: https://example.com/a.xml
"""

LOOP_ARGUMENTS = {
    "asyncio": (),
    "twisted": ("-s", "FORCE_CRAWLER_PROCESS=True"),
    "reactorless": ("-s", "TWISTED_REACTOR_ENABLED=False"),
}


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "robots.txt").write_bytes(BODY)
    return str(tmp_path / "robots.txt")


def explained(*arguments: str, **settings: Any) -> tuple[int, str]:
    """The exit code and what is printed, in this process."""
    parser, out = ArgumentParser(), io.StringIO()
    explain.add_arguments(parser)
    code = run_told(explain, parser.parse_args(arguments), Settings(settings), out)
    return code, out.getvalue()


def test_one_url_is_explained_in_full(file: str) -> None:
    code, out = explained("/private/a.html", "--agent", "ExampleBot/2.1", "--file", file)
    assert (code, out) == (
        0,
        f"""allowed  /private/a.html

crawler      ExampleBot  (an example)
robots.txt   {file}
group        line 4     User-agent: ExampleBot
             ExampleBot is named, so groups of * do not count; 3 rules
rules        line 9     Allow: /priv*.html$  length 12  decides
             line 8     Disallow: /private/  length 9
delay        line 6     2 s between two requests
extensions   line 7     Request-rate: 1/5  5 s between two requests
sitemaps     https://example.com/a.xml
""",
    )


FOR_GOOGLE = b"""User-agent: googlebot
Crawl-delay: 2
Disallow: /bar

User-agent: *
Disallow: /
"""


@pytest.fixture
def for_google(tmp_path: Path) -> str:
    (tmp_path / "google.txt").write_bytes(FOR_GOOGLE)
    return str(tmp_path / "google.txt")


def test_google_a_known_crawler_is_explained_by_its_profile(for_google: str) -> None:
    code, out = explained("/foo", "--agent", "Googlebot-Image", "--file", for_google)
    assert (code, out) == (
        0,
        f"""allowed  /foo

crawler      Googlebot-Image  (Google: search for images)
             Googlebot-Image follows the group of googlebot, line 1; it does not read Crawl-delay
robots.txt   {for_google}
group        line 1     User-agent: googlebot
             Googlebot is named, so groups of * do not count; 1 rule
rules        none matches, so it is allowed
delay        line 2     2 s between two requests, which Googlebot-Image does not read
""",
    )


def test_google_a_crawler_that_ignores_groups_for_all_is_told_from_one_without_a_group(for_google: str) -> None:
    code, out = explained("/foo", "--agent", "AdsBot-Google", "--file", for_google)
    assert code == 0
    assert [line for line in out.splitlines() if "AdsBot" in line] == [
        "crawler      AdsBot-Google  (Google: quality of pages that ads link to)",
        "             AdsBot-Google ignores groups for *",
        "group        AdsBot-Google is not named, so no group counts",
    ]
    code, out = explained("/bar", "/foo", "--agent", "AdsBot-Google", "--agent", "Applebot", "--file", for_google)
    assert (code, [line.split()[0] for line in out.splitlines()]) == (
        1, ["allowed", "disallowed", "allowed", "allowed"],
    )  # fmt: skip


def test_in_json_the_profile_has_its_documents(for_google: str) -> None:
    _, out = explained("/bar", "--agent", "Googlebot-Image", "--file", for_google, "--json")
    facts = json.loads(out)
    assert (facts["agent"], facts["allowed"], facts["line"], facts["crawl_delay"]) == (
        "Googlebot-Image", False, 3, None,
    )  # fmt: skip
    assert facts["profile"] == {
        "token": "Googlebot",
        "group": "fallback",
        "line": 1,
        "sentence": "Googlebot-Image follows the group of googlebot, line 1; it does not read Crawl-delay",
        "tokens": ["Googlebot-Image", "Googlebot"],
        "category": "search",
        "follows": "its own group, or else that for *",
        "reads_crawl_delay": False,
        "retired": None,
        "replaced_by": None,
        "documents": [
            {"title": "Google's common crawlers", "owner": "Google", "date": "2026-07"},
            {"title": "How Google interprets the robots.txt specification", "owner": "Google", "date": "2026-04"},
        ],
    }
    _, out = explained("/bar", "--agent", "Googlebot-Unknown", "--file", for_google, "--json")
    assert json.loads(out)["profile"] is None


def test_rfc_2_2_1_the_crawler_of_a_project_is_asked_literally_whatever_its_name(for_google: str) -> None:
    code, out = explained("/foo", "--file", for_google, "--json", "--full", USER_AGENT="Googlebot-Image/1.0")
    facts = json.loads(out)
    assert (code, facts["agent"], facts["line"], facts["profile"]) == (1, "Googlebot-Image", 6, None)


def test_of_several_urls_each_gets_a_line_and_one_that_is_disallowed_ends_it_with_1(file: str) -> None:
    code, out = explained("/private/", "http://h/café", "/cafe", "/robots.txt", "--file", file)
    assert (code, out.splitlines()) == (
        1,
        [
            "allowed     no rule      /private/",
            "disallowed  line 13      http://h/café  Disallow: /café",
            "allowed     no rule      /cafe",
            "allowed     /robots.txt itself  /robots.txt",
        ],
    )


def test_full_explains_all_of_several(file: str) -> None:
    _, out = explained("/a", "/b", "--full", "--file", file)
    assert out.count("Scrapy is not named, so groups of * count; 1 rule\n") == 2
    assert out.count("none matches, so it is allowed") == 2


def test_several_agents_are_each_answered(file: str) -> None:
    code, out = explained("/private/x", "/x", "--agent", "GPTBot", "--agent", "nobody/1.0", "--file", file)
    assert (code, out.splitlines()) == (1, [
        "disallowed  line 2       /private/x  Disallow: /  (GPTBot)",
        "allowed     no rule      /private/x  (nobody)",
        "disallowed  line 2       /x  Disallow: /  (GPTBot)",
        "allowed     no rule      /x  (nobody)",
    ])  # fmt: skip
    _, out = explained("/x", "--agent", "GPTBot", "--agent", "nobody", "--file", file, "--json")
    assert [(fact["agent"], fact["allowed"]) for fact in map(json.loads, out.splitlines())] == [
        ("GPTBot", False), ("nobody", True)
    ]  # fmt: skip
    _, out = explained("/x", "--agent", "GPTBot", "--agent", "nobody", "--file", file, "--full")
    assert "crawler      GPTBot  (OpenAI: training)\n" in out
    assert "crawler      nobody\n" in out


def test_json_is_one_object_a_line_with_the_same_facts(file: str) -> None:
    code, out = explained("/private/x", "--agent", "examplebot", "--json", "--file", file)
    facts = json.loads(out)
    assert (code, facts["allowed"], facts["line"], facts["rule"]) == (1, False, 8, "Disallow: /private/")
    assert facts["group"] == {
        "by_name": True, "agents": [{"line": 4, "key": "User-agent", "value": "ExampleBot"}], "rules": 3
    }  # fmt: skip
    assert facts["matches"] == [{"line": 8, "rule": "Disallow: /private/", "length": 9}]
    assert (facts["crawl_delay"], [one["line"] for one in facts["extensions"]]) == (2.0, [6, 7])
    _, short = explained("/private/x", "/y", "--agent", "examplebot", "--json", "--file", file)
    first, second = map(json.loads, short.splitlines())
    assert first == {name: facts[name] for name in first}
    assert (second["allowed"], second["line"], second["reason"]) == (True, None, "no rule")


def test_the_crawler_is_the_one_of_the_settings(file: str) -> None:
    _, out = explained("/x", "--file", file, REP_USER_AGENTS=["nobody", "other"])
    assert "crawler      other\n" in out
    assert explained("/x", "--file", file, ROBOTSTXT_USER_AGENT="GPTBot")[0] == 1


def test_what_a_terminal_would_obey_is_shown_as_text(file: str) -> None:
    code, out = explained("/\x1b[31m", "--agent", "other", "--file", file)
    assert (code, "Disallow: /\\x1b[31m" in out, "\x1b" in out) == (1, True, False)


@pytest.mark.parametrize(
    ("dialect", "code", "lines"),
    [
        ("1996", 0, ["             ExampleBot is named, so groups of * do not count; 3 rules",
                     "rules        none matches, so it is allowed"]),
        ("geoportal-first", 1, ["             ExampleBot is named, so groups of * count only where none of its "
                                "rules matches; 4 rules",
                                "rules        line 13    Disallow: /caf\u00e9  length 8  decides"]),
        ("geoportal-longest", 1, ["             ExampleBot is named, so groups of * count, too; 4 rules",
                                  "rules        line 13    Disallow: /caf\u00e9  length 8  decides"]),
    ],
)  # fmt: skip
def test_another_dialect_is_named_with_what_it_reads(file: str, dialect: str, code: int, lines: list[str]) -> None:
    asked = ("/caf%C3%A9", "--agent", "ExampleBot", "--file", file, "--dialect", dialect)
    assert (found := explained(*asked))[0] == code
    assert f"dialect      {dialect}" in found[1].splitlines()


def test_the_crawl_delay_is_that_of_the_dialect(file: str) -> None:
    asked = ("/x", "--agent", "ExampleBot", "--file", file, "--dialect")
    assert "delay        line 6     2 s between two requests" in explained(*asked, "bing")[1]
    assert "extensions   line 6     Crawl-delay: 2\n" in explained(*asked, "yandex")[1]
    facts = json.loads(explained(*asked, "yandex", "--json", "--full")[1])
    assert (facts["dialect"], facts["crawl_delay"]) == ("yandex", None)


@pytest.mark.parametrize(
    ("dialect", "requested"),
    [
        ("yandex", "http://a.example/x?id=1"),
        ("geoportal-first", "https://b.example:8443/x?id=1&s=2"),
        ("google", None),
    ],
)
def test_a_url_that_the_site_writes_otherwise_is_shown(
    tmp_path: Path, dialect: str, requested: str | None
) -> None:
    (tmp_path / "robots.txt").write_text("User-agent: *\nHost: https://b.example:8443\nClean-param: s\n")
    asked = ("http://a.example/x?id=1&s=2", "--file", str(tmp_path / "robots.txt"), "--dialect", dialect)
    lines = explained(*asked)[1].splitlines()
    assert [line for line in lines if line.startswith("requested as")] == (
        [f"requested as {requested}"] if requested else []
    )
    assert json.loads(explained(*asked, "--json", "--full")[1])["requested_as"] == (requested or asked[0])


def test_the_dialect_and_the_size_are_those_of_the_settings(file: str) -> None:
    assert explained("/robots.txt", "--agent", "GPTBot", "--file", file)[0] == 0
    assert explained("/robots.txt", "--agent", "GPTBot", "--file", file, REP_DIALECT="google-exact")[0] == 1
    assert explained("/x", "--agent", "GPTBot", "--file", file, REP_MAX_SIZE=20)[0] == 0


SHOP = b"User-agent: *\nDisallow: /api/\nDisallow: /api/new/\nCrawl-delay: 9\n"
EXCEPTION = {"url": "https://shop.example/api/*", "reason": "ticket 47", "until": "2027-03-31"}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("scrapy_rep.clock.clock.time", lambda: 1_795_348_800.0)  # 2026-11-22, noon
    (tmp_path / "shop.txt").write_bytes(SHOP)
    return str(tmp_path / "shop.txt")


def test_the_exception_that_would_apply_is_named_and_changes_no_verdict(shop: str) -> None:
    code, out = explained("https://shop.example/api/1", "--file", shop, REP_EXCEPTIONS=[EXCEPTION])
    assert code == 1
    assert "exception    excepted until 2027-03-31: ticket 47\n             https://shop.example/api/*\n" in out
    several = explained("https://shop.example/api/1", "/x", "--file", shop, REP_EXCEPTIONS=[EXCEPTION])[1]
    assert [line.partition("Disallow: /api/")[2] for line in several.splitlines()] == [
        "  (excepted until 2027-03-31: ticket 47)", ""
    ]  # fmt: skip
    code, out = explained("https://shop.example/api/1", "--file", shop, "--json", REP_EXCEPTIONS=[EXCEPTION])
    facts = json.loads(out)
    assert (code, facts["allowed"], facts["mode"]) == (1, False, "obey")
    assert facts["exception"] == {**EXCEPTION, "for": ["rule"]}
    assert (facts["lapsed_exception"], facts["delay_exception"]) == (None, None)


def test_an_exception_for_another_rule_is_said_not_to_apply(shop: str) -> None:
    pinned = {**EXCEPTION, "rule": "Disallow: /api/"}
    _, out = explained("https://shop.example/api/new/1", "--file", shop, REP_EXCEPTIONS=[pinned])
    assert "exception    does not apply: it is for Disallow: /api/, and another rule decides\n" in out
    _, out = explained("https://shop.example/api/new/1", "--file", shop, "--json", REP_EXCEPTIONS=[pinned])
    facts = json.loads(out)
    assert (facts["exception"], facts["lapsed_exception"]["rule"]) == (None, "Disallow: /api/")


def test_an_exception_from_the_delay_is_named_where_there_is_a_delay(shop: str, file: str) -> None:
    lifted = [{**EXCEPTION, "for": "crawl-delay"}]
    asked = ("https://shop.example/api/1", "--agent", "x")
    assert (
        "no delay     excepted until 2027-03-31: ticket 47\n"
        in explained(*asked, "--file", shop, REP_EXCEPTIONS=lifted)[1]
    )
    assert "no delay" not in explained(*asked, "--file", file, REP_EXCEPTIONS=lifted)[1]


def test_a_mode_other_than_obey_is_named(shop: str) -> None:
    modes = {"shop.example": "report", "b.example": "ignore"}
    urls = [f"https://{host}/api/1" for host in ("shop.example", "b.example", "c.example")]
    code, out = explained(*urls, "--file", shop, REP_MODES=modes)
    assert (code, [line.partition("/api/  ")[2] for line in out.splitlines()]) == (
        1, ["(mode report)", "(mode ignore)", ""]
    )  # fmt: skip
    full = explained(*urls, "--full", "--file", shop, REP_MODES=modes, ROBOTSTXT_OBEY=False)[1]
    assert [line for line in full.splitlines() if line.startswith("mode ")] == [
        "mode         report: what robots.txt disallows is requested and reported",
        "mode         ignore: the rules are not checked",
        "mode         off: ROBOTSTXT_OBEY is False, so the rules are not checked",
    ]
    facts = [*map(json.loads, explained(*urls, "/x", "--file", shop, "--json", REP_MODES=modes)[1].splitlines())]
    assert [fact["mode"] for fact in facts] == ["report", "ignore", "obey", None]


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_google_every_answer_on_real_files_is_that_of_the_engine_and_the_line_that_of_google(
    tmp_path: Path,
) -> None:
    files = bodies(Path(FOLDER))
    for row in islice(answers(Path(FOLDER)), 0, None, 1_999):
        (tmp_path / "file").write_bytes(files[row.file])
        asked = (row.url, "--agent", row.agent, "--json", "--file", str(tmp_path / "file"))
        code, out = explained(*asked, REP_DIALECT="google-exact", REP_MAX_SIZE=10**9)
        facts = json.loads(out)
        assert (str(1 - code), str(facts["line"] or 0)) == (row.allowed, row.line), row
        ours = parse(files[row.file]).verdict(row.agent, row.url)
        assert json.loads(explained(*asked)[1])["line"] == (ours.line or None), row


@pytest.fixture
def given_here(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Puts octets on the standard input of this process."""
    return lambda octets: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(octets)))


def test_urls_come_from_standard_input_too(file: str, given_here: Callable[[bytes], None]) -> None:
    given_here(b"/a\n\n  /caf\xc3\xa9  \r\n/b")
    code, out = explained("--file", file)
    assert (code, len(out.splitlines())) == (1, 3)
    given_here(b"User-agent: *\nDisallow: /")
    assert explained("/x", "--file", "-")[0] == 1


def test_without_urls_a_closed_standard_input_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert explained()[0] == 2
    assert "no URL given: name one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "given", "problem"),
    [
        (["/x", "--file", "nosuch"], b"", "nosuch: No such file or directory"),
        (["/x", "--file", "."], b"", ".: Is a directory"),
        (["--file", "-"], b"", "standard input cannot provide both"),
        (["-", "--file", "FILE"], b"\x7fELF\2\1", "standard input is not a text file: line 1 cannot be a URL"),
        (["-", "--file", "FILE"], b"/" * 100_000, "standard input is not a text file"),
        (["s3://bucket/x"], b"", "no robots.txt speaks for the scheme of 's3://bucket/x'"),
        (["http://[/x"], b"", "http://[/x: Invalid IPv6 URL"),
        (["/x", "--file", "FILE", "--agent", ""], b"", "--agent '' contains no product token"),
    ],
)
def test_what_cannot_be_told_is_said_in_one_line_and_ends_it_with_2(
    file: str,
    given_here: Callable[[bytes], None],
    capsys: pytest.CaptureFixture[str],
    *,
    arguments: list[str],
    given: bytes,
    problem: str,
) -> None:
    given_here(given)
    assert explained(*[file if one == "FILE" else one for one in arguments])[0] == 2
    err = capsys.readouterr().err
    assert problem in err
    assert err.count("\n") == 1


def test_robots_txt_is_fetched_once_per_origin_and_the_way_to_it_is_told(tmp_path: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        first, second = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"), first)
        site.answer("/robots.txt", redirect(f"{first}/robots.txt"), second)
        urls = [f"{first}/x", f"{second}/y", f"{second}/x", f"{first}/z"]
        code, out, err = robots_here(tmp_path, "explain", *urls)
        assert site.count("/robots.txt", second) == 1
        assert (code, err) == (1, "")
        assert all("http" in line for line in out.splitlines()), out
        assert [(line.split()[0], line.split("http")[1].split()[0]) for line in out.splitlines()] == [
            (verdict, url.removeprefix("http"))
            for verdict, url in zip(["disallowed", "allowed", "disallowed", "allowed"], urls)
        ]
        code, out, err = robots_here(tmp_path, "explain", f"{second}/y")
    assert (code, err) == (0, "")
    assert f"robots.txt   {first}/robots.txt\n             redirected to {first}/robots.txt\n" in out
    assert "HTTP status 200, successful, 27 octets, fetched just now\n" in out


def test_a_stored_robots_txt_is_told_to_be_one(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(404))
        store = f"REP_STORE_PATH={tmp_path / 'store'}"
        robots_here(tmp_path, "explain", site.origin, "-s", store)
        code, out, _ = robots_here(tmp_path, "explain", site.origin, "-s", store)
        assert site.count("/robots.txt") == 1
    assert code == 0
    assert "HTTP status 404, unavailable, 0 octets, from the store, fetched " in out
    assert "without a robots.txt everything is allowed" in out


def test_nobody_at_a_shell_waits_for_the_back_off_of_a_crawl(tmp_path: Path) -> None:
    store, addon = {"REP_STORE_PATH": str(tmp_path / "store")}, 'ADDONS={"scrapy_rep.Addon": 300}'
    with Site(ports=2) as site:
        site.answer("/busy", Answer(429, headers=[("Retry-After", "60")]))
        crawl(f"{site.origin}/busy", settings={**store, "RETRY_ENABLED": False})
        began = monotonic()
        shared = ["-s", f"REP_STORE_PATH={store['REP_STORE_PATH']}", "-s", addon]
        code, _, _ = robots_here(tmp_path, "explain", site.origins[1], *shared)
        assert site.count("/robots.txt", site.origins[1]) == 1
    assert (code, monotonic() - began < 30) == (0, True)


def test_a_host_that_cannot_be_reached_is_a_clear_line_and_2(tmp_path: Path) -> None:
    hosts = ("http://127.0.0.1:1/x", "ftp+x://h")
    code, out, err = robots_here(tmp_path, "explain", *hosts, "-s", "REP_RETRY_TIMES=0")
    assert (code, out) == (2, "disallowed  unreachable  http://127.0.0.1:1/x\n")
    scheme, refused = err.splitlines()
    assert re.fullmatch(
        (
            r"scrapy robots explain: error: "
            r"http://127\.0\.0\.1:1 is unreachable: [A-Z]\w+ [\w ]+: 111: Connection refused\."
        ),
        refused,
    )
    assert scheme == "scrapy robots explain: error: ftp+x://h: no robots.txt speaks for the scheme of 'ftp+x://h'"


@on_each_download_handler
def test_a_bare_host_that_speaks_no_tls_is_told_in_words_to_be_asked_by_http(tmp_path: Path, loop: str) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _PlainHttp) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        host = f"127.0.0.1:{server.server_address[1]}"
        call = robots_here if loop == "asyncio" else robots_command
        arguments = (f"{host}/x", *LOOP_ARGUMENTS[loop], "-s", "REP_RETRY_TIMES=0")
        full, lines = call(tmp_path, "explain", *arguments), call(tmp_path, "explain", *arguments, "--json")
        server.shutdown()
    told = re.compile(
        r"the server does not answer with TLS \([\w ]+\): try http:// instead of https://$", re.MULTILINE
    )
    assert [len(told.findall(stream)) for stream in full[1:]] == [1, 0]  # once
    assert told.sub("…", lines[2]) == f"scrapy robots explain: error: https://{host} is unreachable: …\n"
    assert (full[0], lines[0]) == (2, 2)


class _PlainHttp(socketserver.BaseRequestHandler):
    """Answers whatever it is sent as a web server without TLS does."""

    def handle(self) -> None:
        self.request.recv(4096)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def test_several_agents_ask_each_origin_once(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: GPTBot\nDisallow: /\n"))
        agents = ("--agent", "GPTBot", "--agent", "other")
        code, out, err = robots_here(tmp_path, "explain", f"{site.origin}/x", *agents)
        assert site.count("/robots.txt") == 1
    assert (code, err) == (1, "")
    assert [line.rpartition("  ")[2] for line in out.splitlines()] == ["(GPTBot)", "(other)"]


def test_a_page_in_place_of_a_robots_txt_is_told(tmp_path: Path) -> None:
    page = "<!DOCTYPE html><html><body>Welcome</body></html>"
    told = "an HTML page instead of a robots.txt: it disallows nothing unless it contains rules\n"
    (tmp_path / "page.txt").write_text(page)
    with Site() as site:
        site.answer("/robots.txt", Answer(body=page.encode()))
        for arguments in ([f"{site.origin}/x"], ["/x", "--file", "page.txt"]):
            code, out, _ = robots_here(tmp_path, "explain", *arguments)
            assert (code, told in out) == (0, True)
            _, out, _ = robots_here(tmp_path, "explain", *arguments, "--json", "--full")
            assert json.loads(out)["robots_txt"]["is_html"] is True


# What the crawl of a spider does.


def planned(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str, **custom: Any) -> tuple[int, str, str]:
    """The answer about the spider *shop* with these ``custom_settings``."""
    monkeypatch.setattr(Shop, "custom_settings", custom)
    given = [argument for name, value in PROJECT.items() for argument in ("-s", f"{name}={value}")]
    return robots_here(folder, "explain", *arguments, *given, "-s", "REP_UNREACHABLE_WAIT=0")


@pytest.fixture
def shops() -> Iterator[Site]:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", robots(SHOP.decode()))
        site.answer("/robots.txt", Answer(503), site.origins[1])
        yield site


def test_with_a_spider_the_first_line_is_what_its_crawl_does_and_the_verdict_is_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shops: Site
) -> None:
    api, until = f"{shops.origin}/api/1", day()
    exception = {"url": f"{shops.origin}/api/*", "reason": "ticket 47", "until": until}
    code, out, err = planned(tmp_path, monkeypatch, api, "--spider", "shop", REP_EXCEPTIONS=[exception])
    assert (code, err, out.splitlines()[:3]) == (0, "", [
        f"requested      {api}: excepted, line 2, Disallow: /api/ (until {until}: ticket 47)",
        f"disallowed  {api}",
        "",
    ])  # fmt: skip
    code, out, _ = planned(tmp_path, monkeypatch, api, "--spider", "shop")
    assert (code, out.splitlines()[:2]) == (1, [
        f"not requested  {api}: Forbidden by robots.txt (line 2, Disallow: /api/)",
        f"disallowed  {api}",
    ])  # fmt: skip
    facts = json.loads(planned(tmp_path, monkeypatch, api, "--spider", "shop", "--json")[1])
    assert (facts["requested"], facts["allowed"]) == (False, False)
    assert facts["why"] == "Forbidden by robots.txt (line 2, Disallow: /api/)"
    assert shops.paths() == ["/robots.txt"] * 3


@pytest.mark.parametrize(
    ("custom", "code", "expected"),
    [
        ({}, 1, ["not: Forbidden by robots.txt (line 2, Disallow: /api/)", "requested: no rule"]),
        ({"REP_MODES": {"127.0.0.1": "report"}}, 0,
         ["requested: reported, line 2, Disallow: /api/", "requested: no rule"]),
        ({"REP_MODES": {"127.0.0.1": "ignore"}}, 0, ["requested: robots.txt is not checked"] * 2),
        ({"ROBOTSTXT_OBEY": False}, 0, ["requested: robots.txt is not checked"] * 2),
        ({"REP_CRAWL_DELAY_MAX": 5, "REP_CRAWL_DELAY_OVER_MAX": "skip"}, 1,
         ["not: Forbidden by robots.txt (line 2, Disallow: /api/)",
          "not: Forbidden by robots.txt (line 4, crawl-delay)"]),
    ],
)  # fmt: skip
def test_each_setting_of_the_spider_counts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shops: Site,
    *,
    custom: dict[str, Any],
    code: int,
    expected: list[str],
) -> None:
    urls = [f"{shops.origin}/api/1", f"{shops.origin}/x"]
    found = planned(tmp_path, monkeypatch, *urls, "--spider", "shop", **custom)
    told = [re.sub(r"^(not|requested).*?(?: +)http\S+:", r"\1:", line) for line in found[1].splitlines()]
    assert (found[0], found[2], told) == (code, "", expected)


def test_an_unreachable_robots_txt_ends_it_with_2_unless_the_crawl_requests_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shops: Site
) -> None:
    url = f"{shops.origins[1]}/x"
    code, out, _ = planned(tmp_path, monkeypatch, url, "--spider", "shop")
    first = f"not requested  {url}: Forbidden by robots.txt (unreachable) (HTTP status 503)"
    assert (code, out.splitlines()[0]) == (2, first)
    code, out, _ = planned(tmp_path, monkeypatch, url, "--spider", "shop", REP_UNREACHABLE="raise")
    assert (code, out.splitlines()[0].endswith(f": robots.txt of {shops.origins[1]} is unreachable")) == (2, True)
    code, out, _ = planned(tmp_path, monkeypatch, url, "--spider", "shop", REP_MODES={"127.0.0.2": "ignore"})
    assert (code, out.splitlines()[0]) == (0, f"requested      {url}: robots.txt is not checked")


def test_the_spider_is_asked_for_by_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shops: Site
) -> None:
    shops.answer("/robots.txt", robots("User-agent: NamedBot\nDisallow: /x\n"), shops.origin)
    assert planned(tmp_path, monkeypatch, f"{shops.origin}/x", "--spider", "named")[0] == 1
    assert planned(tmp_path, monkeypatch, f"{shops.origin}/x", "--spider", "shop")[0] == 0


def test_the_dialect_is_that_of_the_spider_or_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shops: Site
) -> None:
    shops.answer("/robots.txt", robots("User-agent: *\nDisallow: /*x\n"), shops.origin)
    asked = (f"{shops.origin}/x", "--spider", "shop")
    assert planned(tmp_path, monkeypatch, *asked)[0] == 1
    assert planned(tmp_path, monkeypatch, *asked, REP_DIALECT="1994")[0] == 0
    assert planned(tmp_path, monkeypatch, *asked, "--dialect", "1994")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--spider", "none"), "there is no spider called 'none' in this project"),
        (("--spider", "shop", "--agent", "x"), "omit --agent and --file"),
        (("--spider", "shop", "--file", "robots.txt"), "omit --agent and --file"),
        (("--spider", "shop", "-s", "ADDONS={}", "-s", "ROBOTSTXT_OBEY=True"),
         'enable no scrapy_rep.RepMiddleware: set ADDONS = {"scrapy_rep.Addon": 300}'),
    ],
)  # fmt: skip
def test_a_spider_that_cannot_be_asked_for_ends_it_with_2(
    tmp_path: Path, shops: Site, *, arguments: tuple[str, ...], problem: str
) -> None:
    modules = ("-s", f"SPIDER_MODULES={Shop.__module__}")
    code, out, err = robots_here(tmp_path, "explain", f"{shops.origin}/x", *modules, *arguments)
    assert (code, out, err.rstrip().endswith(problem), err.count("\n")) == (2, "", True, 1)


def test_a_closed_pipe_is_quiet(file: str) -> None:
    with scrapy_process("robots", "explain", "/x", "--full", "--json", *["/y"] * 9_999, "--file", file) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline().startswith(b'{"url": "/x"')
        process.stdout.close()
        assert (process.wait(60), process.stderr.read()) == (2, b"")


@on_each_loop
def test_ctrl_c_ends_it_at_once_and_quietly_with_2(tmp_path: Path, loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", hang())
        arguments = (*LOOP_ARGUMENTS[loop], "-s", "REP_TIMEOUT=60")
        with scrapy_process("robots", "explain", site.origin, *arguments, folder=tmp_path) as process:
            until = monotonic() + 30
            while not site.count("/robots.txt") and monotonic() < until:
                sleep(0.02)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)  # half as long as the fetch would take
    assert (process.returncode, out, err) == (2, b"", b"")


@pytest.mark.parametrize("store", ["sqlite", "redis"])
def test_a_back_off_that_another_crawl_was_asked_for_is_told_and_not_waited_for(
    store: str, redis_server: RedisServer, tmp_path: Path
) -> None:
    shared = f"REP_STORE_PATH={tmp_path / 'store'}" if store == "sqlite" else f"REP_REDIS_URL={redis_server.url}"
    with Site() as site:
        site.answer("/busy", Answer(429, headers=[("Retry-After", "600")]))
        settings = {**dict([shared.split("=", 1)]), "RETRY_ENABLED": False}
        crawl(f"{site.origin}/busy", settings=settings)
        began = monotonic()
        code, out, err = robots_here(tmp_path, "explain", f"{site.origin}/page", "-s", shared)
        facts = json.loads(robots_here(tmp_path, "explain", f"{site.origin}/page", "--json", "-s", shared)[1])
    told = r"^back-off     no request for (9 min 5\d s|10 min) more, because the site asked for that or failed"
    assert re.search(told, out, re.MULTILINE), out + err
    assert (code, 580 < facts["backoff"] <= 600) == (0, True)
    assert monotonic() - began < 60


def test_without_a_back_off_none_is_told(tmp_path: Path) -> None:
    with Site() as site:
        _, out, _ = robots_here(tmp_path, "explain", f"{site.origin}/page")
        facts = json.loads(robots_here(tmp_path, "explain", f"{site.origin}/page", "--json")[1])
    assert "back-off" not in out
    assert facts["backoff"] is None
