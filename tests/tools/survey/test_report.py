"""The page: its figures, that it asks nobody for anything, that a real browser shows it."""

from __future__ import annotations

import html
import re
import socket
from base64 import b64encode
from collections import Counter
from datetime import datetime, timezone
from hashlib import sha256
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from scrapy_rep.census import Capture, Row, rows
from scrapy_rep.protocol.body_kind import body_kind
from scrapy_rep.tools.crawlers import COMMON_AI_CRAWLERS
from scrapy_rep.tools.survey.owners import registrable_domain
from scrapy_rep.tools.survey.report import report
from scrapy_rep.tools.survey.sites import SiteExplorer, site_item
from scrapy_rep.tools.survey.totals import Totals
from tests.census.counting import count
from tests.protocol.test_google_verdicts import FOLDER, bodies
from tests.support.chromium import dump_dom, needs_chromium

WHEN = datetime(2026, 1, 2, tzinfo=timezone.utc)
FILES = {
    "a.example": b"User-agent: *\nDisallow: /x\n# c\n\nSitemap: https://a.example/s.xml\n",
    "b.example": b"User-agent: *\nDisallow: /x\n# c\n\nSitemap: https://a.example/s.xml\n",
    "c.example": b"User-agent: GPTBot\nDisallow: /\nUser-agent: *\nCrawl-delay: 7\nAllow: /\n",
    "d.example": b"<!DOCTYPE html>\n<p>\n",
    "e.example": b"",
}


def measure(name: str, body: bytes, *, status: int | None = None, light: bool = False, **columns: Any) -> Row:
    return Row(**next(rows([Capture(name, status, body)], light=light)) | columns)


def without_file(name: str, status: int | None = None, **capture: Any) -> Row:
    return Row(**next(rows([Capture(name, status, **capture)])))


def page_of(files: dict[str, bytes], *others: Row, light: bool = False) -> str:
    records = [*(measure(name, body, status=200, light=light) for name, body in files.items()), *others]
    return page_about(records, files)


def page_about(records: list[Row], files: dict[str, bytes] | None = None) -> str:
    totals, sites, bodies = Totals(), SiteExplorer(), files or {}
    for record in records:
        totals.add(record)
        sites.add_site(record, site_item(record, bodies.get(record.site)))
    return report(totals, WHEN, expected=totals.sites, sites=sites)


def static(page: str) -> str:
    """The page without its data and its script."""
    return re.sub(r"(?s)<script.*?</script>", "", page)


class _Tables(HTMLParser):
    """The rows of the tables below each heading: the texts of their cells, without those that have none."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._is_heading = self._is_cell = False
        self._heading = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "h2":
            self._is_heading, self._heading = True, ""
        elif tag == "tr":
            self.found.setdefault(self._heading, []).append([])
        elif tag == "td" or (tag == "th" and ("scope", "row") in attrs):
            self._is_cell = True
            self.found[self._heading][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._is_heading = self._is_heading and tag != "h2"
        self._is_cell = self._is_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._is_heading:
            self._heading += data
        elif self._is_cell and data.strip():
            cell = self.found[self._heading][-1]
            cell[-1] = f"{cell[-1]} {data.strip()}".strip()


def table_rows(page: str, heading: str) -> list[list[str]]:
    rows = ([cell for cell in row if cell] for row in _Tables(static(page)).found.get(heading, []))
    return [row for row in rows if row]


def table(page: str, heading: str) -> dict[str, int]:
    """Name to figure of the first two columns below *heading*."""
    return {row[0]: int(row[1].replace(",", "")) for row in table_rows(page, heading)}


def tiles(page: str) -> dict[str, str]:
    """The figure and the share of each tile, by its text."""
    found = re.findall(r"<li>(?:<strong>(.*?)</strong>)?<b>(.*?)</b><span>(.*?)</span>", page)
    return {name or what: re.sub("<.*?>", "", html.unescape(figure)) for name, figure, what in found}


XML = b'<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>'
IN_ITS_PLACE = {
    "xml": XML, "azure": b"\xef\xbb\xbf" + XML, "json": b'{"statusCode":404}', "text": b"Not Found",
    "page": b"<html>\nUser-agent: *\nDisallow: /\n</html>",
}  # fmt: skip
BLANK = {"blank": b" \r\n\n", "mark": b"\xef\xbb\xbf", "nothing": b""}


def test_a_body_that_is_no_robots_txt_is_counted_apart() -> None:
    page = page_of({**IN_ITS_PLACE, **BLANK, "rules": b"User-agent: *\nDisallow: /x\n"})
    assert tiles(page)["of the sites have a robots.txt with rules"] == "1 11%"
    assert table(page, "What the sites serve") == {
        "something else instead": 4, "empty": 3, "an HTML page instead": 1, "with rules": 1,
    }  # fmt: skip
    assert "None: without rules, no robots.txt, unreachable, redirected elsewhere." in page


def test_the_rules_in_a_page_are_what_it_closes() -> None:
    row = measure("page", IN_ITS_PLACE["page"])
    assert (row.kind, row.has_file, row.restriction) == ("an HTML page instead", False, {"*": "all"})


def test_the_report_and_the_linter_count_the_same_blank_files() -> None:
    for name, body in (BLANK | IN_ITS_PLACE | {"nul": b"\0\0", "comment": b"#"}).items():
        row = measure(name, body)
        assert (row.kind == "empty") == ("empty-file" in (row.findings or {})), name


def test_the_figures_are_those_of_the_files() -> None:
    page = page_of(FILES, without_file("f.example", 404), without_file("g.example", problem="X: y"))
    shown = tiles(page)
    assert shown["of the sites have a robots.txt with rules"] == "3 43%"
    assert shown["of the files contain an error"] == "0 0%"
    assert shown["Blocked by name"] == "1 17%"
    assert shown["of the files list a sitemap"] == "2 50%"
    assert shown["of the files are the same as that of another site"] == "2 50%"
    assert table(page, "What the sites serve") == {
        "with rules": 3, "an HTML page instead": 1, "empty": 1, "no robots.txt": 1, "unreachable": 1,
    }  # fmt: skip
    assert table(page, "Sites that could not be read") == {"X: y": 1}
    assert table(page, "HTTP statuses") == {"HTTP status 200": 5, "HTTP status 404": 1}
    assert ["GPTBot", "training", "1", "0", "0"] in table_rows(page, "AI crawlers blocked completely, by name")
    assert table(page, "Crawlers named most often") == {"GPTBot": 1}
    assert table(page, "What is wrong")["Empty file"] == 1


SIGNALS = {
    "a": b"User-agent: *\nContent-Signal: ai-train=no, search=yes\n",
    "b": b"User-agent: *\nContent-Signal: ai-train=yes\nContent-Usage: train-ai=n\n",
    "c": b"User-agent: *\nContent-Signal: ai-train=yes\nLicense: https://c.example/l.xml\n",
    "d": b"User-agent: Google-Extended\nDisallow: /\nUser-agent: Applebot-Extended\nDisallow: /x\n",
    "e": b"User-agent: *\nDisallow: /x\n",
}


def test_signals_are_counted_by_file_and_where_they_disagree_the_answer_is_no() -> None:
    page = page_of(SIGNALS)
    assert table(page, "AI-use signals") == {
        "Content-Signal": 3, "Content-Usage": 1, "License": 1,
        "ai-train: no": 2, "ai-train: yes": 1, "search: yes": 1,
    }  # fmt: skip
    assert "<p>60% of the files have a Content-Signal" in page


def test_without_signals_there_is_no_section_on_them() -> None:
    assert "AI-use signals" in page_of({"c": SIGNALS["c"]})
    assert "AI-use signals" not in page_of({"d": SIGNALS["d"]})
    assert "AI-use signals" not in page_of(FILES)


@pytest.mark.full
@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_the_figures_of_real_files_are_those_that_simple_code_counts() -> None:
    files = dict(islice(bodies(Path(FOLDER)).items(), 0, None, 14))
    page = page_of(files)
    files = {name: body for name, body in files.items() if body_kind(body).is_robots_txt}
    counted = {name: count(body) for name, body in files.items()}
    rules = [counts["allow"] + counts["disallow"] for counts in counted.values()]
    assert tiles(page)["rules in the median file"] == f"{median(rules):,.0f}"
    assert tiles(page)["is the median size"] == f"{median(map(len, files.values())):,.0f} B"
    twins = Counter(files.values())
    twins.pop(b"", None)
    same = sum(number for number in twins.values() if number > 1)
    assert tiles(page)["of the files are the same as that of another site"].split()[0] == f"{same:,}"


def test_what_a_hostile_site_says_is_text() -> None:
    evil = '"><script>alert(1)</script><img src=//h onerror=x>\u202e'
    record = Row(evil, sha256="1", bytes=3, agents_allow={evil: 0}, agents_disallow={evil: 1}, named={evil: 1},
                 restriction={"*": "none", evil: "all"}, restriction_lines={"*": 0, evil: 1}, findings={evil: 1},
                 crawl_delays={evil: 1.0}, strata={evil: evil}, location=evil)  # fmt: skip
    page = page_about([record, record, Row(evil, "unreachable", problem=evil)])
    assert "<script" not in static(page)
    assert "<img" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page


def test_it_asks_no_other_host_and_runs_its_own_script_alone() -> None:
    page = page_of(FILES)
    assert not re.findall(
        r'(?i)<(?:link|img|iframe|object|base)|url\(|@import|\son\w+=|src=|href="(?!#)|fetch\(|\beval\(|innerHTML|style=',
        page,
    )
    assert not re.findall(r"https?://", page)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    (script,) = re.findall(r"(?s)<script>(.*?)</script>", page)
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith(f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'")


def test_every_bar_stands_beside_its_name_and_its_figures() -> None:
    page = page_of(FILES)
    bars = re.findall(r'<table class="bars" aria-label="[^"]+">(.*?)</table>', page, re.DOTALL)
    rows = [row for each in bars for row in re.findall(r"<tr>(.*?)</tr>", each, re.DOTALL)]
    assert len(rows) == len(re.findall('<svg class="bar" aria-hidden="true">', "".join(bars))) >= 10
    figures = r'<th scope="row">.+</th><td>.*<svg.+</td><td class="number">[\d,]+</td><td class="number">.+%</td>'
    assert all(re.fullmatch(figures, row, re.DOTALL) for row in rows)


def test_nothing_at_all_is_a_page_too() -> None:
    assert "robots.txt of 0 sites" in page_of({})
    totals = Totals()
    totals.add(Row("a.example"))
    page = report(totals, WHEN, expected=3_000, sites=SiteExplorer())
    assert "<h1>robots.txt of 1 of 3,000 sites</h1>" in page
    assert "The survey was interrupted: 2,999 sites are missing." in page


@needs_chromium
def test_a_real_browser_shows_it(tmp_path: Path) -> None:
    (tmp_path / "survey.html").write_text(page_of(FILES), encoding="utf-8")
    shot = [f"--screenshot={tmp_path / 'page.png'}", "--window-size=1000,1400"]
    page = dump_dom((tmp_path / "survey.html").as_uri(), tmp_path, *shot).decode()
    assert tiles(page)["of the sites have a robots.txt with rules"] == "3 60%"
    assert table(page, "Crawlers named most often") == {"GPTBot": 1}
    assert page.count("<svg") == page_of(FILES).count("<svg")
    assert (tmp_path / "page.png").stat().st_size > 30_000


def test_the_longest_bar_is_the_largest_value_and_what_has_none_is_a_sentence() -> None:
    files = {f"{number}.example": FILES["a.example"] for number in range(96)} | {"d": b"", "c": FILES["c.example"]}
    page = page_of(files, without_file("f.example", 404), without_file("g.example", problem="X"))
    chart = re.search(r'(?s)aria-label="Sites by what they serve">(.*?)</table>', page)
    assert chart
    widths = re.findall(r'<rect class="\w+" x="0.00%" width="([\d.]+%)"', chart.group())
    assert widths == ["100.00%", "1.03%", "1.03%", "1.03%"]
    assert "None: without rules, an HTML page instead" in page


def test_more_bars_than_fifteen_open_on_a_click() -> None:
    names = "".join(f"User-agent: bot{number}\n" for number in range(40))
    page = page_of({"a": f"{names}Disallow: /\n".encode()})
    assert "<summary>25 more</summary>" in page
    assert len(table(page, "Crawlers named most often")) == 40


AI = {
    "named": b"User-agent: GPTBot\nUser-agent: PerplexityBot\nDisallow: /\nUser-agent: ICC-Crawler\nDisallow: /x",
    "open": b"User-agent: GPTBot\nAllow: /\nUser-agent: *\nDisallow: /\nSitemap: https://h.example/s.xml\n",
    "closed": b"User-agent: *\nDisallow: /\n",
    "part": b"User-agent: *\nDisallow: /x\nUser-agent: GPTBot\nDisallow: /y\n",
    "delay": b"User-agent: GPTBot\nCrawl-delay: 5\nUser-agent: *\nAllow: /\n",
}
UNKNOWN = [Row("down", "unreachable", problem="x"), Row("away", "redirected", 301)]


def test_each_site_counts_once_by_name_or_through_the_star_in_each_category() -> None:
    page = page_of(AI, without_file("without", 404), *UNKNOWN)
    rows = [[cell for cell in row if not cell.startswith("0")] for row in _blocks(page)]
    assert rows == [
        ["any AI crawler", "1", "1", "2", "2"],
        ["AI crawlers: search", "1", "2", "1", "2"],
        ["AI crawlers: training", "1", "1", "2", "2"],
        ["AI crawlers: user request", "2", "1", "3"],
    ]
    shown = tiles(page)
    assert (shown["Blocked by name"], shown["Blocked completely"]) == ("2 33%", "3 50%")
    assert shown["Only through *"] == "2 33%"
    assert "3 50%" not in shown["Only through *"]
    assert "at the 6 sites whose rules are known" in page


def _blocks(page: str) -> list[list[str]]:
    """The rows of the first chart without its legends and shares."""
    rows = table_rows(page, "What sites close to AI crawlers")
    return [[row[0], *(re.sub(r"^.*? (\d+) [\d.<]+%$", r"\1", cell) for cell in row[1:])] for row in rows]


def test_a_rule_for_everyone_is_no_block_by_name_and_a_group_that_opens_more_is_none() -> None:
    star = b"User-agent: *\nDisallow: /wp-admin/\n"
    opened = b"User-agent: *\nDisallow: /\n\nUser-agent: GPTBot\nDisallow: /x\n"
    assert tiles(page_of({"a": star}))["Blocked by name"] == "0 0%"
    assert tiles(page_of({"a": star}))["Only through *"] == "1 100%"
    assert tiles(page_of({"a": opened}))["Blocked by name"] == "0 0%"
    assert tiles(page_of({"a": opened}))["Blocked completely"] == "1 100%"


def test_a_crawler_is_blocked_by_name_only_where_a_group_names_it() -> None:
    records = [measure(name, body) for name, body in AI.items()]
    rows = table_rows(page_about([*records, *UNKNOWN]), "AI crawlers blocked completely, by name")
    found = {row[0]: row[1:] for row in rows if len(row) == 5}
    assert found["GPTBot"] == ["training", "1", "1", "2"]
    assert found["CCBot"] == ["training", "0", "0", "0"]
    assert found["ICC-Crawler"] == ["training", "0", "1", "0"]
    assert set(found) == {*COMMON_AI_CRAWLERS, "ICC-Crawler"}


def test_the_counts_of_restrictions_lead_to_the_sites() -> None:
    page = page_of(AI)
    assert 'href="#list?tag=blocks%3Aany+AI+crawler%3A+everything%2C+by+name">1</a>' in page
    totals = Totals()
    for name, body in AI.items():
        totals.add(measure(name, body))
    assert totals.traits["blocks", "any AI crawler: everything, to all crawlers (*)"] == 2


def test_an_owner_of_many_sites_is_one_owner() -> None:
    blocked, opened = b"User-agent: GPTBot\nDisallow: /\n", b"User-agent: *\nAllow: /\n"
    sites = {f"https://{number}.shop.co.uk/robots.txt": blocked for number in range(8)}
    sites |= {"https://a.co.uk/robots.txt": opened, "https://b.example/robots.txt": opened}
    page = page_about([measure(url, body) for url, body in sites.items()])
    assert table_rows(page, "One owner, one count") == [
        ["by name", "8 80%", "1 33%", "1 50%"],
        ["completely", "8 80%", "1 33%", "1 50%"],
        ["only through *", "0 0%", "0 0%", "0 0%"],
        ["shop.co.uk", "8", "80%"],
    ]
    assert "shop.co.uk has 80% of the sites: shares by domain say more than those by site." in page


def test_the_domain_of_a_site_asks_no_network_and_is_the_site_itself_where_it_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket.socket, "connect", None)
    Totals().add(Row("https://\ud800.example"))
    names = ("https://a.b.co.uk:80", "https://x.blogspot.com", "http://127.0.0.1", "https://[::1]", "file")
    assert [*map(registrable_domain, names)] == ["b.co.uk", "blogspot.com", *names[2:]]


def test_a_folder_of_files_knows_no_status_and_says_it() -> None:
    said = "Files in a folder have no HTTP status"
    assert said in page_about([measure("a", FILES["a.example"])])
    assert said not in page_of(FILES)


def test_a_light_survey_says_nothing_about_findings() -> None:
    page = page_of(FILES, light=True)
    for absent in ("What is wrong", "contain an error"):
        assert absent not in page
    assert "The files were not linted" in page
    assert "not linted" not in page_of(FILES)
    assert "not linted" not in page_of({})


def test_a_mixed_survey_says_how_many_files_were_linted() -> None:
    page = page_of(FILES | {"f": b"User-agent: *\nDisallow: x\n"}, measure("g", b"#", light=True))
    assert "5 of the files were linted" in page
    assert tiles(page)["of the linted files contain an error"] == "1 20%"


def test_the_dates_are_those_of_the_captures() -> None:
    first, last = (
        measure(str(day), b"", fetched_at=datetime(2026, 3, day, tzinfo=timezone.utc)) for day in (4, 9)
    )
    assert "Captured from 4 March 2026 to 9 March 2026." in page_about([last, measure("x", b""), first])
    assert "Captured on 9 March 2026." in page_about([last, last])
    assert "Report made on 2 January 2026; when the files were captured is not known." in page_of(FILES)


def test_a_redirect_that_was_not_followed_says_nothing_about_a_file() -> None:
    capture = Capture("https://h.example/robots.txt", 301, location="https://other.example/robots.txt")
    page = page_of(FILES, Row(**next(rows([capture]))))
    assert "A redirect to another place was not followed" in page
    assert table(page, "What the sites serve")["redirected elsewhere"] == 1
    assert "at the 5 sites whose rules are known" in page


def test_errors_come_before_warnings_and_notes_have_bars_of_their_own() -> None:
    page = page_of(FILES | {"f.example": b"User-agent: *\nDisallow: x\nUser-agent: *\nDisallow: /\n"})
    chart, _, others = page[page.index('aria-label="Files with an error') :].partition("<summary>")
    colours = re.findall(r'<rect class="(\w+)"', chart)
    assert colours[0] == "red"
    assert colours == sorted(colours, reverse=True)
    assert set(re.findall(r'<rect class="(\w+)"', others.partition("</details>")[0])) <= {"blue", "grey"}


@needs_chromium
def test_a_browser_shows_a_site_with_its_findings_at_their_lines(tmp_path: Path) -> None:
    page = page_of(FILES | {"f.example": b"User-agent: GPTBot\nDisallow: x<img>\n"})
    (tmp_path / "survey.html").write_text(page, encoding="utf-8")
    url = (tmp_path / "survey.html").as_uri()
    item = static(dump_dom(f"{url}#item?f.example", tmp_path, "--virtual-time-budget=5000").decode())
    assert "GPTBot: may request all" in item
    line = re.search(r'<tr id="line-2".*?<code>(.*?)</code><span class="note red">(.*?)</span>', item)
    assert line
    assert line.groups() == ("Disallow: x&lt;img&gt;", "Rule without a leading slash")
    (link,) = set(re.findall(r'href="(#list\?tag=finding%3Apath-without-slash)"', page))
    listed = static(dump_dom(f"{url}{link}", tmp_path, "--virtual-time-budget=5000").decode())
    assert re.findall(r'<th scope="row"><a href="#item[^>]*>(.*?)</a>', listed) == ["f.example"]
