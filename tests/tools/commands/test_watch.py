"""``scrapy robots watch``: what is told, when, to whom, and what is stored."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from scrapy_rep.tools.commands.watch import _AGENTS
from tests.support.command import scrapy_process
from tests.support.command_here import robots_here
from tests.support.site import Answer, Site, hang, robots

OPEN = "User-agent: *\nDisallow: /private/\n"
CLOSED = f"{OPEN}\nUser-agent: GPTBot\nDisallow: /\n"
UNAVAILABLE = Answer(503)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        site.answer("/robots.txt", robots(OPEN))
        yield site


class Watched:
    """The command with a list of the origins of *site*, and the file of its runs."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.folder = folder
        self.site = site
        self.file = folder / "seen.sqlite"
        (folder / "sites.txt").write_text("".join(f"{origin}\n" for origin in site.origins))

    def run(self, *arguments: str) -> tuple[int, list[str], str]:
        """The exit code, the lines without their origin where there is only one, and standard error."""
        code, out, err = robots_here(self.folder, "watch", "sites.txt", "--store", "seen.sqlite", *arguments)
        prefix = f"{self.site.origin}: " if len(self.site.origins) == 1 else ""
        return code, [line.removeprefix(prefix) for line in out.splitlines()], err

    def changed_to(self, answer: Answer | str, *arguments: str) -> tuple[int, list[str]]:
        """The exit code and the lines of a run after the robots.txt has changed."""
        self.site.answer("/robots.txt", robots(answer) if isinstance(answer, str) else answer)
        code, lines, err = self.run(*arguments)
        assert err == ""
        return code, lines

    def changes_to(self, text: str, *arguments: str) -> list[dict[str, Any]]:
        """What the run prints with ``--json``."""
        code, lines = self.changed_to(text, "--json", *arguments)
        assert code == bool(lines)
        return [json.loads(line) for line in lines]


@pytest.fixture
def watched(tmp_path: Path, site: Site) -> Watched:
    """A site whose robots.txt was stored by a first run."""
    watched = Watched(tmp_path, site)
    assert watched.run() == (0, [], "1 site stored for the first time: the next run compares\n")
    return watched


# What is told.


def test_nothing_is_printed_when_nothing_changed(watched: Watched) -> None:
    assert watched.run() == (0, [], "")
    assert watched.site.count("/robots.txt") == 2


def test_a_verdict_that_changed_is_told_once_with_the_rule_that_forbids(watched: Watched) -> None:
    assert watched.changed_to(CLOSED) == (1, ["GPTBot may no longer fetch / (line 5, Disallow: /)"])
    assert watched.run() == (0, [], "")
    assert watched.changed_to(OPEN) == (1, ["GPTBot may now fetch / (before: line 5, Disallow: /)"])


def test_a_change_of_the_text_alone_is_not_told_and_is_stored(watched: Watched) -> None:
    text = f"# All welcome\n\nUSER-AGENT: *\nDisallow: /private/ # keep out\nDisallow: /private/more\n{'#' * 90}\n"
    assert watched.changed_to(text) == (0, [])
    assert stored(watched)["body"] == text.encode()


def test_crawlers_to_which_the_same_is_said_share_a_sentence(watched: Watched) -> None:
    every = f"all {len(_AGENTS)} crawlers asked about"
    assert watched.changed_to("User-agent: *\nDisallow: /\n") == (
        1, [f"{every} may no longer fetch / (line 2, Disallow: /)"],
    )  # fmt: skip
    named = "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nUser-agent: CCBot\nAllow: /\n"
    assert watched.changed_to(named) == (1, ["Googlebot and CCBot may now fetch / (line 6, Allow: /)"])
    without = "User-agent: Googlebot\nUser-agent: CCBot\nDisallow: /x\n"
    assert watched.changed_to(without)[1] == [
        "GPTBot, OAI-SearchBot, ChatGPT-User, 20 more and crawlers without a group of their own"
        " may now fetch / (before: line 2, Disallow: /)",
        "Googlebot and CCBot may no longer fetch /x (line 3, Disallow: /x)",
    ]


def test_the_agents_may_be_named_by_token_or_header(watched: Watched) -> None:
    assert watched.changed_to(CLOSED, "--agent", "*", "--agent", "Mozilla/5.0 (compatible; bingbot/2.0)") == (
        0,
        [],
    )
    assert watched.changed_to(OPEN) == (1, ["GPTBot may now fetch / (before: line 5, Disallow: /)"])
    assert watched.changed_to("User-agent: bingbot\nDisallow: /private", "--agent", "bingbot/2.0") == (
        1, ["bingbot may no longer fetch /private (line 2, Disallow: /private)"],
    )  # fmt: skip


def test_other_agents_and_paths_may_be_asked_about_in_each_run(watched: Watched) -> None:
    assert watched.changed_to(CLOSED, "--path", "/x", "--agent", "CCBot") == (0, [])
    assert watched.changed_to(OPEN, "--path", "/x", "--path", "/y", "--agent", "GPTBot") == (
        1, ["GPTBot may now fetch /x and 1 more path (before: line 5, Disallow: /)"],
    )  # fmt: skip


def test_a_crawler_reads_a_robots_txt_as_its_owner_documents(watched: Watched) -> None:
    agents = ("--agent", "Googlebot-Image", "--agent", "AdsBot-Google")
    assert watched.changed_to("User-agent: *\nDisallow: /\n", *agents) == (
        1, ["Googlebot-Image may no longer fetch / (line 2, Disallow: /)"],
    )  # fmt: skip
    assert watched.changed_to("User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\n", *agents) == (
        1, ["Googlebot-Image may now fetch / (line 5, Allow: /)"],
    )  # fmt: skip


def test_named_paths_alone_are_asked_about(watched: Watched) -> None:
    text = f"{OPEN}Disallow: /shop/\nDisallow: /blog/\n"
    (change,) = watched.changes_to(text, "--path", "/blog/1?a=b", "--path", "/", "--agent", "*")
    assert change == {
        "site": watched.site.origin,
        "change": "verdict",
        "text": "crawlers without a group of their own may no longer fetch /blog/1?a=b (line 4, Disallow: /blog/)",
        "agents": ["*"],
        "paths": ["/blog/1?a=b"],
        "number_of_paths": 1,
        "old": {"allowed": True, "line": None, "rule": None, "reason": "no rule"},
        "new": {"allowed": False, "line": 4, "rule": "Disallow: /blog/", "reason": "rule"},
    }


@pytest.mark.parametrize(
    ("rule", "path"),
    [("Disallow: /a", "/a"), ("Disallow: /*?x=", "/?x="), ("Disallow: //cdn/", "//cdn/"), ("Disallow: /a$", "/a")],
)
def test_without_paths_each_new_rule_is_found_among_many_that_stay(watched: Watched, rule: str, path: str) -> None:
    many = OPEN + "".join(f"Disallow: /old{number}*x\n" for number in range(3_000))
    watched.changed_to(many, "--agent", "*")
    assert watched.changed_to(f"{many}{rule}\n", "--agent", "*") == (
        1, [f"crawlers without a group of their own may no longer fetch {path} (line 3003, {rule})"],
    )  # fmt: skip


def test_the_order_of_rules_is_meaning_in_a_dialect_in_which_the_first_one_decides(watched: Watched) -> None:
    first = "User-agent: *\nAllow: /a\nDisallow: /\n"
    then = "User-agent: *\nDisallow: /\nAllow: /a\n"
    arguments = ("--agent", "*", "-s", "REP_DIALECT=1996")
    watched.changed_to(first, *arguments)
    assert watched.changed_to(then, *arguments)[0] == 1
    assert watched.changed_to(first, "--agent", "*") == (0, [])


def test_delays_signals_and_sitemaps_are_meaning(watched: Watched) -> None:
    text = f"{OPEN}Crawl-delay: 2.5\nContent-Signal: ai-train=no\nSitemap: https://a.example/1\n"
    every = f"all {len(_AGENTS)} crawlers asked about"
    assert watched.changed_to(text) == (1, [
        "Crawl-delay for GPTBot, OAI-SearchBot, ChatGPT-User, 19 more and crawlers without a group of their own:"
        " 2.5 s (before: none)",
        f"AI use by {every}: ai-train no (before: unknown)",
        "Sitemap lines added: https://a.example/1",
    ])  # fmt: skip
    text = "Sitemap: https://a.example/2\n" + text.replace("2.5", "10").replace("=no", "=yes").replace("/1", "/3")
    assert [list(change.values())[3:] for change in watched.changes_to(text, "--agent", "*")] == [
        [["*"], 2.5, 10.0],
        [["*"], {"ai-train": "no"}, {"ai-train": "yes"}],
        [["https://a.example/2", "https://a.example/3"], ["https://a.example/1"]],
    ]


def test_the_order_of_sitemaps_is_no_meaning(watched: Watched) -> None:
    watched.changed_to(f"{OPEN}Sitemap: https://a.example/1\nSitemap: https://a.example/2\n")
    assert watched.changed_to(f"Sitemap: https://a.example/2\nSitemap: https://a.example/1\n{OPEN}") == (0, [])


def test_the_case_of_a_scheme_and_a_host_and_a_default_port_are_no_meaning(watched: Watched) -> None:
    watched.changed_to(f"{OPEN}Sitemap: HTTP://A.example:80/s.xml\nSitemap: http://[\nSitemap: /s.xml\n")
    text = f"{OPEN}Sitemap: http://a.example/s.xml\nSitemap: http://[\nSitemap: /s.xml\n"
    assert watched.changed_to(text) == (0, [])
    assert watched.changed_to(text.replace("example/s.xml", "example/S.xml?a")) == (
        1, ["Sitemap lines added: http://a.example/S.xml?a; removed: http://a.example/s.xml"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "why"),
    [(Answer(404), "HTTP status 404"), (robots("<!doctype html>\n<p>Not here"), "an HTML page instead")],
)
def test_a_robots_txt_that_is_gone_is_one_change_and_so_is_its_return(
    watched: Watched, answer: Answer, why: str
) -> None:
    assert watched.changed_to(answer) == (1, [f"robots.txt is gone ({why}): everything is allowed"])
    assert watched.run() == (0, [], "")
    assert watched.changed_to(OPEN) == (1, [
        f"there is a robots.txt now (before: {why})",
        f"all {len(_AGENTS)} crawlers asked about may no longer fetch /private/ (line 2, Disallow: /private/)",
    ])  # fmt: skip


def test_another_way_of_having_no_robots_txt_is_no_change(watched: Watched) -> None:
    watched.changed_to(Answer(404))
    assert watched.changed_to(Answer(403)) == (0, [])
    assert watched.changed_to("<html><p>Hello") == (0, [])


@pytest.mark.parametrize("nothing", ["", "# All welcome\n", "User-agent: *\nDisallow:\n\nHello: world\n"])
def test_the_absence_of_a_robots_txt_that_says_nothing_is_no_change(watched: Watched, nothing: str) -> None:
    watched.changed_to(nothing)
    assert watched.changed_to(Answer(404)) == (0, [])
    assert watched.changed_to(nothing) == (0, [])


@pytest.mark.parametrize("something", ["Sitemap: https://a.example/1", "User-agent: *\nCrawl-delay: 3"])
def test_the_absence_of_a_robots_txt_without_rules_that_says_something_is_a_change(
    watched: Watched, something: str
) -> None:
    watched.changed_to(something)
    assert watched.changed_to(Answer(404)) == (
        1, ["robots.txt is gone (HTTP status 404): everything is allowed"],
    )  # fmt: skip
    code, lines = watched.changed_to(something)
    assert (code, lines[0]) == (1, "there is a robots.txt now (before: HTTP status 404)")


def test_a_page_that_contains_rules_is_a_robots_txt(watched: Watched) -> None:
    assert watched.changed_to(f"<html>\n{OPEN}") == (0, [])


def test_a_failure_is_told_once_and_so_is_its_end(watched: Watched) -> None:
    before = stored(watched)
    assert watched.changed_to(UNAVAILABLE) == (
        1, ["now unreachable (HTTP status 503): crawlers must assume that everything is disallowed"],
    )  # fmt: skip
    assert watched.run() == (0, [], "")
    assert stored(watched) == {**before, "problem": "HTTP status 503"}
    code, (line,) = watched.changed_to(f"# again\n{OPEN}")
    assert (code, line[:47]) == (1, "reachable again, nothing else has changed since")
    assert watched.run() == (0, [], "")


def test_after_a_failure_rules_are_compared_with_those_that_were_read_last(watched: Watched) -> None:
    watched.changed_to(UNAVAILABLE)
    assert watched.changed_to(CLOSED) == (
        1, ["reachable again", "GPTBot may no longer fetch / (line 5, Disallow: /)"],
    )  # fmt: skip


@pytest.mark.parametrize("dialect", ["google", "1996"])
def test_what_a_hostile_file_changes_is_bounded_and_shown_on_one_line_each(watched: Watched, dialect: str) -> None:
    rules = "".join(f"Disallow: /{number}\u2028\x1b[2J{'x' * 300}\n" for number in range(400))
    arguments = ("--agent", "*", "-s", f"REP_DIALECT={dialect}")
    changes = watched.changes_to(f"User-agent: *\n{rules}", *arguments)
    assert len(changes) == 401
    assert all(change["text"].isprintable() and len(change["text"]) < 700 for change in changes)
    assert all(path.isprintable() for change in changes for path in change["paths"])


def many(name: str, others: str) -> str:
    rules = "".join(f"Disallow: /{name}{number}/\n" for number in range(60))
    return f"User-agent: *\n{rules}\nUser-agent: Googlebot\n{others}\n"


def test_many_rules_for_some_crawlers_hide_no_other_change(watched: Watched) -> None:
    before = many("old", "Disallow: /admin/\nSitemap: https://a.example/1\n")
    after = many("new", "Disallow: /\n")
    asked = ("--agent", "*", "--agent", "Googlebot")
    watched.changed_to(before)
    code, lines = watched.changed_to(after, *asked)
    assert code == 1
    group = "crawlers without a group of their own"
    assert lines == [
        f"{group} may now fetch /old0/ (before: line 2, Disallow: /old0/)",
        "Googlebot may no longer fetch / (line 64, Disallow: /)",
        "Sitemap lines removed: https://a.example/1",
        *(f"{group} may now fetch /old{n}/ (before: line {n + 2}, Disallow: /old{n}/)" for n in range(1, 10)),
        f"and 110 more rules for {group}",
    ]
    watched.changed_to(before, *asked)
    changes = watched.changes_to(after, *asked)
    assert len(changes) == 122


def test_every_named_path_is_told(watched: Watched) -> None:
    paths = [argument for number in range(60) for argument in ("--path", f"/new{number}/")]
    code, lines = watched.changed_to(many("new", ""), "--agent", "*", *paths)
    assert (code, len(lines)) == (1, 60)


def test_every_sitemap_is_told_in_json(watched: Watched) -> None:
    (change,) = watched.changes_to(OPEN + "".join(f"Sitemap: https://a.example/{n}\n" for n in range(60)))
    assert len(change["added"]) == 60


# Several sites.


def test_sites_are_told_in_the_order_of_the_list(tmp_path: Path) -> None:
    with Site([f"127.0.0.{number}" for number in range(1, 7)]) as site:
        watched = Watched(tmp_path, site)
        site.answer("/robots.txt", robots(OPEN))
        assert watched.run()[2] == "6 sites stored for the first time: the next run compares\n"
        for number, origin in enumerate(site.origins):
            if number != 2:
                site.answer("/robots.txt", robots(CLOSED, delay=0.3 - number / 20), origin)
        code, lines, _ = watched.run()
        assert code == 1
        assert lines == [
            f"{origin}: GPTBot may no longer fetch / (line 5, Disallow: /)"
            for number, origin in enumerate(site.origins)
            if number != 2
        ]


def test_a_site_that_was_never_read_is_an_error_in_each_run_and_the_others_are_compared(tmp_path: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        watched = Watched(tmp_path, site)
        good, dead = site.origins
        site.answer("/robots.txt", UNAVAILABLE, dead)
        site.answer("/robots.txt", robots(OPEN), good)
        error = (
            f"scrapy robots watch: error: "
            f"{dead} is unreachable: HTTP status 503; no copy of its robots.txt is stored\n"
        )
        assert watched.run() == (2, [], f"{error}1 site stored for the first time: the next run compares\n")
        site.answer("/robots.txt", robots(CLOSED), good)
        assert watched.run() == (2, [f"{good}: GPTBot may no longer fetch / (line 5, Disallow: /)"], error)
        site.answer("/robots.txt", robots(OPEN), dead)
        assert watched.run() == (0, [], "1 site stored for the first time: the next run compares\n")
        assert watched.run() == (0, [], "")


def test_a_site_may_leave_the_list_and_come_back(watched: Watched) -> None:
    (watched.folder / "sites.txt").write_text("127.0.0.1:1\n")
    assert watched.run()[0] == 2
    (watched.folder / "sites.txt").write_text(f"# mine\n\n{watched.site.origin}/shop/\n")
    assert watched.changed_to(CLOSED)[0] == 1


def test_a_line_that_names_no_site_is_an_error_and_the_others_are_fetched(watched: Watched) -> None:
    with (watched.folder / "sites.txt").open("a") as file:
        file.write("https://[::1/\n")
    watched.site.answer("/robots.txt", robots(CLOSED))
    code, lines, err = watched.run()
    assert (code, len(lines)) == (2, 1)
    assert err.startswith("scrapy robots watch: error: sites.txt:2: https://[::1/: ")


def test_the_list_may_be_one_url(watched: Watched) -> None:
    watched.site.answer("/robots.txt", robots(CLOSED))
    code, out, _ = robots_here(watched.folder, "watch", f"{watched.site.origin}/a", "--store", "seen.sqlite")
    assert (code, out) == (1, f"{watched.site.origin}: GPTBot may no longer fetch / (line 5, Disallow: /)\n")


def test_the_list_may_come_from_standard_input(watched: Watched, given_here: Callable[[bytes], None]) -> None:
    given_here(f"{watched.site.origin}\n".encode())
    assert robots_here(watched.folder, "watch", "-", "--store", "seen.sqlite") == (0, "", "")


def test_robots_txt_is_fetched_whatever_scrapys_http_cache_holds(watched: Watched) -> None:
    cache = ("-s", "HTTPCACHE_ENABLED=True", "-s", f"HTTPCACHE_DIR={watched.folder / 'cache'}")
    assert watched.run(*cache) == (0, [], "")
    assert watched.changed_to(CLOSED, *cache)[0] == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nosuch", "--store", "f"], "nosuch: No such file or directory"),
        (["empty", "--store", "f"], "empty contains no site"),
        (["names", "--store", "f"], "names: the first line names no column of sites"),
        (["sites.txt", "--store", "nosuch/f"], "nosuch/f cannot be used: unable to open database file"),
        (["sites.txt", "--store", "sites.txt"], "sites.txt is not a file of this command: name another file"),
        (["sites.txt", "--store", "f", "--path", "shop"], "--path shop: a path starts with /"),
        (["sites.txt", "--store", "f", "--agent", "(!)"], "contains no product token"),
        (["sites.txt", "--store", "f", "-s", "REP_DIALECT=x"], "REP_DIALECT"),
    ],
)
def test_what_cannot_be_watched_is_said(watched: Watched, arguments: list[str], problem: str) -> None:
    (watched.folder / "empty").write_text("\n# nothing\n")
    (watched.folder / "names").write_text("name,number\n")
    before = watched.site.count("/robots.txt")
    code, out, err = robots_here(watched.folder, "watch", *arguments)
    assert (code, out) == (2, "")
    assert problem in err
    assert watched.site.count("/robots.txt") == before


# The file.


def stored(watched: Watched) -> dict[str, Any]:
    """The row of the one site."""
    with closing(sqlite3.connect(watched.file)) as database:
        database.row_factory = sqlite3.Row
        (row,) = database.execute("SELECT * FROM sites")
        return dict(row)


def test_the_file_is_one_file_and_holds_the_last_copy_with_its_date(watched: Watched) -> None:
    assert [path.name for path in watched.folder.iterdir() if path.name.startswith("seen")] == ["seen.sqlite"]
    row = stored(watched)
    assert row == {**row, "site": watched.site.origin, "status": 200, "problem": "", "body": OPEN.encode()}
    watched.run()
    assert stored(watched)["read_at"] > row["read_at"]


def edit(watched: Watched, statement: str) -> None:
    with closing(sqlite3.connect(watched.file)) as database, database:
        database.execute(statement)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("PRAGMA application_id = 7", "seen.sqlite belongs to another program: name another file"),
        ("PRAGMA user_version = 9", "seen.sqlite has format 9, which this version of scrapy_rep cannot read"),
        ("UPDATE sites SET body = 'text'", "seen.sqlite is damaged: the row of http://127.0.0.1:"),
        ("UPDATE sites SET read_at = 'then'", "seen.sqlite is damaged: the row of http://127.0.0.1:"),
    ],
)
def test_a_foreign_or_damaged_file_is_refused_and_stays_as_it_is(
    watched: Watched, statement: str, problem: str
) -> None:
    edit(watched, statement)
    before = watched.file.read_bytes()
    code, lines, err = watched.run()
    assert (code, lines) == (2, [])
    assert problem in err
    assert watched.file.read_bytes() == before


def test_a_file_with_damaged_pages_is_refused(watched: Watched) -> None:
    whole = watched.file.read_bytes()
    watched.file.write_bytes(whole[:4_096] + b"\xff" * (len(whole) - 4_096))
    code, lines, err = watched.run()
    assert (code, lines) == (2, [])
    assert "seen.sqlite is damaged: " in err
    assert "Remove it to begin again" in err


@pytest.mark.parametrize("missing", [2_192, 10])
def test_a_file_whose_end_is_missing_is_refused_and_stays_as_it_is(watched: Watched, missing: int) -> None:
    rest = watched.file.read_bytes()[:-missing]
    watched.file.write_bytes(rest)
    code, lines, err = watched.run()
    assert (code, lines) == (2, [])
    assert "seen.sqlite is damaged: its end is missing. Remove it to begin again" in err
    assert watched.file.read_bytes() == rest


def test_a_robots_txt_store_of_a_project_is_refused(watched: Watched) -> None:
    store = watched.folder / "store"
    robots_here(watched.folder, "explain", f"{watched.site.origin}/", "-s", f"REP_STORE_PATH={store}")
    assert store.exists()
    code, _, err = robots_here(watched.folder, "watch", "sites.txt", "--store", "store")
    assert (code, err) == (2, "scrapy robots watch: error: store belongs to another program: name another file\n")


def test_an_empty_file_is_a_new_one(watched: Watched) -> None:
    watched.file.write_bytes(b"")
    assert watched.run() == (0, [], "1 site stored for the first time: the next run compares\n")


def test_two_runs_do_not_use_a_file_at_once(watched: Watched) -> None:
    watched.site.answer("/robots.txt", hang())
    arguments = ("robots", "watch", "sites.txt", "--store", "seen.sqlite", "-s", "DOWNLOAD_TIMEOUT=60")
    asked = watched.site.count("/robots.txt")
    with scrapy_process(*arguments, folder=watched.folder) as first:
        wait_until(lambda: watched.site.count("/robots.txt") > asked)
        refused = "scrapy robots watch: error: another run uses seen.sqlite: wait until it has ended\n"
        assert watched.run() == (2, [], refused)
        first.kill()
        first.communicate()
    assert watched.changed_to(CLOSED)[0] == 1


def test_a_run_that_is_interrupted_stores_nothing(tmp_path: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        watched = Watched(tmp_path, site)
        site.answer("/robots.txt", robots(OPEN))
        watched.run()
        first, second = site.origins
        site.answer("/robots.txt", robots(CLOSED), first)
        site.answer("/robots.txt", hang(), second)
        before, arguments = watched.file.read_bytes(), ("robots", "watch", "sites.txt", "--store", "seen.sqlite")
        with scrapy_process(*arguments, folder=tmp_path) as process:
            wait_until(lambda: len(site.log) == 4)
            process.send_signal(2)
            said = b"scrapy robots watch: error: interrupted: nothing was stored\n"
            assert process.communicate(timeout=30) == (b"", said)
        assert process.returncode == 2
        assert watched.file.read_bytes() == before


def test_a_run_whose_crawl_ends_before_all_sites_are_fetched_stores_nothing(tmp_path: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2", "127.0.0.3"]) as site:
        watched = Watched(tmp_path, site)
        site.answer("/robots.txt", robots(OPEN, delay=0.8))
        assert watched.run("-s", "CLOSESPIDER_TIMEOUT=1", "-s", "CONCURRENT_REQUESTS=1")[:2] == (2, [])
        assert len(site.log) < 3
        assert watched.run("-s", "CONCURRENT_REQUESTS=3")[2].startswith("3 sites stored for the first time")


def wait_until(is_so: Callable[[], bool]) -> None:
    until = monotonic() + 30
    while not is_so():
        assert monotonic() < until
        threading.Event().wait(0.02)
