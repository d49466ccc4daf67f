"""The page: its figures, that it asks nobody for anything, that a real browser shows it."""

from __future__ import annotations

import html
import re
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
from scrapy_rep.tools.survey.report import report
from scrapy_rep.tools.survey.totals import ALL_SIGNALS, Totals
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


def page_about(records: list[Row], files: dict[str, bytes] | None = None, by: str = "") -> str:
    totals, bodies = Totals(), files or {}
    for record in records:
        totals.add(record)
    return report(
        totals, WHEN, expected=totals.sites, records=records, body=lambda record: bodies.get(record.site), by=by
    )


def static(page: str) -> str:
    """The page without its data and its script."""
    return re.sub(r"(?s)<script.*?</script>", "", page)


class _Tables(HTMLParser):
    """The rows of each table, by the heading above it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._tag = self._heading = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._tag = tag if tag not in ("a", "small") else self._tag
        if tag == "tr":
            self.found.setdefault(self._heading, []).append([])
        elif tag == "td":
            self.found[self._heading][-1].append("")

    def handle_data(self, data: str) -> None:
        if self._tag == "h2" and data.strip():
            self._heading = data
        elif self._tag == "td" and data.strip():
            cell = self.found[self._heading][-1]
            cell[-1] = f"{cell[-1]} {data.strip()}".strip()


def table(page: str, heading: str) -> dict[str, int]:
    """Name to figure of the first two columns below *heading*."""
    return {row[0]: int(row[1].replace(",", "")) for row in table_rows(page, heading)}


def table_rows(page: str, heading: str) -> list[list[str]]:
    return [row for row in _Tables(page).found.get(heading, []) if row]


def tiles(page: str) -> dict[str, str]:
    return {
        what: html.unescape(figure) for figure, what in re.findall(r"<li><b>(.*?)</b><span>(.*?)</span>", page)
    }


XML = b'<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>'
IN_ITS_PLACE = {
    "xml": XML, "azure": b"\xef\xbb\xbf" + XML, "json": b'{"statusCode":404}', "text": b"Not Found",
    "page": b"<html>\nUser-agent: *\nDisallow: /\n</html>",
}  # fmt: skip
BLANK = {"blank": b" \r\n\n", "mark": b"\xef\xbb\xbf", "nothing": b""}


def test_a_body_that_is_no_robots_txt_is_counted_apart() -> None:
    page = page_of({**IN_ITS_PLACE, **BLANK, "rules": b"User-agent: *\nDisallow: /x\n"})
    assert tiles(page)["of the sites have a robots.txt"] == "44%"
    assert table(page, "What the sites serve") == {
        "something else instead": 4, "empty": 3, "an HTML page instead": 1, "with rules": 1,
    }  # fmt: skip
    assert (
        "5 sites serve a web page or another text in its place; a rule that stands in it holds all the same."
        in page
    )


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
    assert shown["of the sites have a robots.txt"] == "57%"
    assert shown["of the files contain an error"] == "0%"
    assert shown["of the files shut out an AI crawler by name"] == "25%"
    assert shown["list a sitemap"] == shown["serve the same file as another site"] == "50%"
    assert table(page, "What the sites serve") == {
        "with rules": 3, "an HTML page instead": 1, "empty": 1, "no robots.txt": 1, "unreachable": 1,
    }  # fmt: skip
    assert table(page, "Sites that could not be read") == {"X: y": 1}
    assert table(page, "HTTP statuses") == {"HTTP status 200": 5, "HTTP status 404": 1}
    assert ["GPTBot", "training", "1", "0", "0", "0", "2"] in table_rows(page, "AI crawlers")
    assert table(page, "Crawlers named most often") == {"*": 3, "GPTBot": 1}
    assert table(page, "Rules per crawler")["1"] == 4
    assert ["note", "Empty file", "1", "1"] in [row[:4] for row in _Tables(page).found["What is wrong"]]
    assert table(page, "Crawl-delay")["10"] == 1
    assert table(page, "Sitemaps") == {"0": 2, "1": 2, "2": 0, "5": 0, "10": 0, "50": 0, "more": 0}
    octets = len(FILES["a.example"])
    assert f'<td class="number">2</td><td class="number">{octets}</td><td>a.example, b.example</td>' in page


SIGNALS = {
    "a": b"User-agent: *\nContent-Signal: ai-train=no, search=yes\n",
    "b": b"User-agent: *\nContent-Signal: ai-train=yes\nContent-Usage: train-ai=n\n",
    "c": b"User-agent: *\nContent-Signal: ai-train=yes\nLicense: https://c.example/l.xml\n",
    "d": b"User-agent: Google-Extended\nDisallow: /\nUser-agent: Applebot-Extended\nDisallow: /x\n",
    "e": b"User-agent: *\nDisallow: /x\n",
}


def test_ours_signals_are_counted_by_file_and_answer() -> None:
    page = page_of(SIGNALS)
    assert table_rows(page, "AI-use signals") == [
        ["Content-Signal", "3", "", ""],
        ["Content-Signal: ai-train", "3", "1", "2"],
        ["Content-Signal: search", "1", "0", "1"],
        ["Content-Usage", "1", "", ""],
        ["Content-Usage: ai-train", "1", "1", "0"],
        ["License", "1", "", ""],
    ]
    assert "<p>60% of the files have a Content-Signal" in page


def test_ours_where_signals_disagree_the_answer_is_no() -> None:
    totals = Totals()
    for name, body in SIGNALS.items():
        totals.add(measure(name, body))
    assert totals.ai_answers[ALL_SIGNALS] == {("ai-train", "no"): 2, ("ai-train", "yes"): 1, ("search", "yes"): 1}


def test_ours_without_signals_there_is_no_section_on_them() -> None:
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
    sums: Counter[str] = sum(counted.values(), Counter())
    lines = table(page, "What the lines are")
    for kind in ("disallow", "allow", "user-agent", "sitemap", "crawl-delay", "comment", "blank"):
        assert lines[kind] == sums[kind], kind
    assert sum(lines.values()) == sums["lines"]
    rules = [counts["allow"] + counts["disallow"] for counts in counted.values()]
    assert tiles(page)["rules in the median file"] == f"{median(rules):,.0f}"
    assert tiles(page)["is the median size"] == f"{median(map(len, files.values())):,.0f} B"
    for heading, values in (("Lines", [counts["lines"] for counts in counted.values()]), ("Rules", rules)):
        shown, at_most = table(page, heading), 0
        for label, edge in (("50", 50), ("500", 500)):
            at_most = sum(number for name, number in islice(shown.items(), list(shown).index(label) + 1))
            assert at_most == sum(value <= edge for value in values)
    twins = Counter(files.values())
    twins.pop(b"", None)
    same = sum(number for number in twins.values() if number > 1)
    assert f"<p>{same:,} sites serve the same file" in page


def test_what_a_hostile_site_says_is_text() -> None:
    evil = '"><script>alert(1)</script><img src=//h onerror=x>\u202e'
    record = Row(evil, sha256="1", bytes=3, agents_allow={evil: 0}, agents_disallow={evil: 1}, named={evil: 1},
                 restriction={"*": "none", evil: "all"}, restriction_lines={"*": 0, evil: 1}, findings={evil: 1},
                 crawl_delays={evil: 1.0}, strata={evil: evil}, location=evil)  # fmt: skip
    page = page_about([record, record, Row(evil, "unreachable", problem=evil)], by=evil)
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


def test_every_chart_says_in_words_what_it_shows() -> None:
    page = page_of(FILES)
    charts = re.findall(r'<svg class="\w+" role="(?:img|group)"[^>]* aria-labelledby="([\w-]+) ([\w-]+)">', page)
    assert len(set(charts)) == len(charts)
    assert len(charts) == page.count("<svg") >= 9
    for title, described in charts:
        assert re.search(rf'<title id="{title}">[^<]+</title>\s*<desc id="{described}">[^<]+</desc>', page)


def test_nothing_at_all_is_a_page_too() -> None:
    assert "robots.txt of 0 sites" in page_of({})
    totals = Totals()
    totals.add(Row("a.example"))
    page = report(totals, WHEN, expected=3_000)
    assert "<h1>robots.txt of 1 of 3,000 sites</h1>" in page
    assert "The survey was interrupted: 2,999 sites are missing." in page


@needs_chromium
def test_a_real_browser_shows_it(tmp_path: Path) -> None:
    (tmp_path / "survey.html").write_text(page_of(FILES), encoding="utf-8")
    shot = [f"--screenshot={tmp_path / 'page.png'}", "--window-size=1000,1400"]
    page = dump_dom((tmp_path / "survey.html").as_uri(), tmp_path, *shot).decode()
    assert tiles(page)["of the sites have a robots.txt"] == "80%"
    assert table(page, "Crawlers named most often") == {"*": 3, "GPTBot": 1}
    assert page.count("<svg") == page_of(FILES).count("<svg")
    assert (tmp_path / "page.png").stat().st_size > 30_000


def test_a_bar_is_as_long_as_its_share() -> None:
    page = page_of(
        {f"{number}.example": FILES["a.example"] for number in range(99)} | {"c.example": FILES["c.example"]}
    )
    bars = re.search(r'(?s)<svg [^>]*aria-labelledby="ai-crawlers-title.*?</svg>', page)
    assert bars
    assert re.findall(r'class="red" x="0.00%" y="0" width="([\d.]+%)"', bars.group()) == ["1.00%"]
    heights = {float(height) for height in re.findall(r'<rect class="blue"[^>]* height="([\d.]+)"', page)}
    assert max(heights) == 150.0  # 99% of the sizes, the highest of all charts
    assert min(heights - {0.0}) == pytest.approx(150 / 99, abs=0.06)


AI = {
    "named": b"User-agent: GPTBot\nUser-agent: PerplexityBot\nDisallow: /\nUser-agent: ICC-Crawler\nDisallow: /x",
    "open": b"User-agent: GPTBot\nAllow: /\nUser-agent: *\nDisallow: /\nSitemap: https://h.example/s.xml\n",
    "closed": b"User-agent: *\nDisallow: /\n",
    "part": b"User-agent: *\nDisallow: /x\nUser-agent: GPTBot\nDisallow: /y\n",
    "delay": b"User-agent: GPTBot\nCrawl-delay: 5\nUser-agent: *\nAllow: /\n",
}
UNKNOWN = [Row("down", "unreachable", problem="x"), Row("away", "redirected", 301)]


def test_ours_what_is_closed_by_name_or_through_the_star_counts_in_each_category() -> None:
    page = page_of(AI, without_file("without", 404), *UNKNOWN)
    assert table_rows(page, "What is closed to AI crawlers")[:4] == [
        ["any AI crawler", "3 50%", "1 17%", "2 33%"],
        ["crawlers for training", "3 50%", "1 17%", "2 33%"],
        ["crawlers for search", "3 50%", "1 17%", "2 33%"],
        ["crawlers at a user's request", "2 33%", "1 17%", "3 50%"],
    ]
    shown = tiles(page)
    assert shown["of the sites whose restrictions are known close something to an AI crawler"] == "67%"
    assert shown["of the sites whose restrictions are known close everything to one"] == "50%"
    assert "The restrictions of 6 sites are known" in page


def test_ours_the_levels_tell_a_site_with_a_sitemap_or_a_delay_from_one_with_nothing() -> None:
    page = page_of(AI, without_file("without", 404), *UNKNOWN)
    assert table_rows(page, "What is closed to AI crawlers")[4:] == [
        ["full: everything is closed", "2 33%", "3 50%", "3 50%", "3 50%", "2 33%"],
        ["pattern: a part is closed", "1 17%", "1 17%", "1 17%", "1 17%", "1 17%"],
        ["only a Sitemap or a Crawl-delay", "0 0%", "1 17%", "1 17%", "0 0%", "0 0%"],
        ["none", "3 50%", "1 17%", "1 17%", "2 33%", "3 50%"],
    ]


def test_ours_a_crawler_that_a_site_does_not_name_counts_through_the_star() -> None:
    records = [measure(name, body) for name, body in AI.items()]
    found = {row[0]: row[1:] for row in table_rows(page_about([*records, *UNKNOWN]), "AI crawlers")}
    assert found["GPTBot"] == ["training", "1", "1", "2", "1", "0"]
    assert found["CCBot"] == ["training", "0", "0", "0", "2", "1"]
    assert found["ICC-Crawler"] == ["training", "0", "1", "0", "2", "1"]
    assert set(found) == {*COMMON_AI_CRAWLERS, "ICC-Crawler"}


def test_ours_the_counts_of_restrictions_lead_to_the_sites() -> None:
    page = page_of(AI)
    tags = re.findall(r'<td class="number"><a href="#list\?tag=closes%3A(\w+)\+to\+([\w+]+)">(\d)</a>', page)
    assert ("all", "any+AI+crawler", "3") in tags
    assert ("part", "user+request", "1") in tags
    totals = Totals()
    for name, body in AI.items():
        totals.add(measure(name, body))
    assert totals.traits["closes", "all to any AI crawler"] == 3


def test_ours_a_light_survey_says_nothing_about_findings() -> None:
    page = page_of(FILES, light=True)
    for absent in ("What is wrong", "Nearly identical files", "contain an error"):
        assert absent not in page
    assert "The files were not linted" in page
    assert "not linted" not in page_of(FILES)
    assert "not linted" not in page_of({})


def test_ours_a_mixed_survey_says_how_many_files_were_linted() -> None:
    page = page_of(FILES | {"f": b"User-agent: *\nDisallow: x\n"}, measure("g", b"#", light=True))
    assert "5 of the files were linted" in page
    assert tiles(page)["of the linted files contain an error"] == "20%"


def test_ours_the_dates_are_those_of_the_captures() -> None:
    first, last = (
        measure(str(day), b"", fetched_at=datetime(2026, 3, day, tzinfo=timezone.utc)) for day in (4, 9)
    )
    assert "Captured from 4 March 2026 to 9 March 2026." in page_about([last, measure("x", b""), first])
    assert "Captured on 9 March 2026." in page_about([last, last])
    assert "Measured on 2 January 2026; when the files were captured is not known." in page_of(FILES)


def test_ours_a_redirect_that_was_not_followed_says_nothing_about_a_file() -> None:
    capture = Capture("https://h.example/robots.txt", 301, location="https://other.example/robots.txt")
    page = page_of(FILES, Row(**next(rows([capture]))))
    assert "1 site redirects to another place, which was not read" in page
    assert table(page, "What the sites serve")["redirected elsewhere"] == 1
    assert "The restrictions of 5 sites are known" in page


def strata_of(page: str, heading: str, row: str) -> list[str]:
    """The last three cells of a row: sites of .com, of .org, and unknown ones."""
    return next(cells[-3:] for cells in table_rows(page, heading) if row in cells[:2])


def by_tld() -> str:
    sites = {"https://a.com": FILES["a.example"], "https://b.com": FILES["b.example"],
             "https://c.org": FILES["c.example"], "e": FILES["a.example"] + b"Disallow: y\n"}  # fmt: skip
    return page_about([measure(f"{site}/robots.txt" if "://" in site else site, body, status=200)
                       for site, body in sites.items()], by="tld")  # fmt: skip


def test_ours_every_table_has_a_column_for_each_stratum() -> None:
    page = by_tld()
    heads = re.findall(r"<thead><tr>(.*?)</tr></thead>", page)
    assert len(heads) == page.count("<table>") - 1  # the list, which the script fills
    for head in heads:
        labels = re.findall(r"<th[^>]*>(.*?)</th>", head)
        assert labels[1:3] == ["sites", "with a robots.txt"] or [
            label.partition(":")[0] for label in labels[-3:]
        ] == [
            "com",
            "org",
            "unknown",
        ]
    for body in re.findall(r"(?s)<tbody>(.*?)</tbody>", page):
        assert len({row.count("<td") for row in re.findall(r"<tr>.*?</tr>", body)}) <= 1


def test_ours_a_stratum_has_the_counts_and_shares_of_its_own_sites() -> None:
    page = by_tld()
    assert table_rows(page, "Sites by top-level domain") == [
        ["all", "4", "4 100%", "4", "4 100%", "1 25%"],
        ["com", "2", "2 100%", "2", "2 100%", "0 0%"],
        ["org", "1", "1 100%", "1", "1 100%", "1 100%"],
        ["unknown", "1", "1 100%", "1", "1 100%", "0 0%"],
    ]
    assert strata_of(page, "What the sites serve", "with rules") == ["2 100%", "1 100%", "1 100%"]
    assert strata_of(page, "HTTP statuses", "HTTP status 200") == ["2 100%", "1 100%", "1 100%"]
    assert strata_of(page, "What is wrong", "Rule without a leading slash") == ["0 0%", "0 0%", "1 100%"]
    assert strata_of(page, "What is closed to AI crawlers", "any AI crawler") == ["0 0%", "1 100%", "0 0%"]
    assert strata_of(page, "What is closed to AI crawlers", "pattern: a part is closed") == [
        "2 100%", "0 0%", "1 100%"
    ]  # fmt: skip
    assert strata_of(page, "AI crawlers", "GPTBot") == ["0 0%", "1 100%", "0 0%"]
    assert strata_of(page, "Crawlers named most often", "*") == ["2 100%", "1 100%", "1 100%"]
    assert strata_of(page, "Means", "lines") == ["5.0", "5.0", "6.0"]
    assert strata_of(page, "Crawl-delay", "10") == ["0 0%", "1 100%", "0 0%"]
    assert strata_of(page, "What the lines are", "disallow") == ["2 20%", "1 20%", "2 33%"]
    assert strata_of(page, "Rules per crawler", "1") == ["2 100%", "2 100%", "0 0%"]
    assert strata_of(page, "Identical files", "2") == ["2 100%", "0 0%", "0 0%"]


def test_ours_findings_are_shares_of_the_files_that_were_linted() -> None:
    body = b"User-agent: *\nDisallow: x\n"
    records = [measure(f"https://{name}.com/robots.txt", body, light=name == "b") for name in "ab"]
    page = page_about(records, by="tld")
    assert table_rows(page, "What is wrong")[0][-1] == "1 100%"


def test_ours_without_strata_no_table_has_more_columns() -> None:
    assert "Sites by top-level domain" not in page_of(FILES)
    assert "the last columns" not in page_of(FILES)


def test_ours_a_column_that_no_site_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no site has a column sector, only tld"):
        page_about([measure("a", b"")], by="sector")


def test_errors_come_before_notes() -> None:
    page = page_of(FILES | {"f.example": b"User-agent: *\nDisallow: x\n"})
    severities = [row[0] for row in _Tables(page).found["What is wrong"] if row]
    assert severities[0] == "error"
    assert severities == sorted(severities, key=["error", "warning", "possible improvement", "note"].index)


def test_means_are_those_of_the_files() -> None:
    rows = {row[0]: row[1:] for row in _Tables(page_of(FILES)).found["Means"] if row}
    sizes = sorted(len(body) for name, body in FILES.items() if name != "d.example")
    assert rows["bytes"] == [f"{sum(sizes) / 4:.1f}", str(round((sizes[1] + sizes[2]) / 2)), str(sizes[-1])]
    assert rows["User-agent lines"] == ["1.0", "1", "2"]
    assert rows["lines with a comment"] == ["0.5", "0", "1"]


def test_files_that_are_nearly_identical_are_listed_together() -> None:
    lines = [f"Disallow: /{number}" for number in range(20)]
    files = {
        name: "\n".join(["User-agent: *", *lines, extra]).encode()
        for name, extra in zip("abc", ("", "# c", "Allow: /"))
    }
    page = page_of(files | {"d": b"User-agent: *\nAllow: /\n"})
    assert [row for row in _Tables(page).found["Nearly identical files"] if row] == [["3", "3", "95%", "a, b, c"]]
    assert "1 group of files share" in page


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
    assert re.findall(r'<th scope="row"><a [^>]*>(.*?)</a>', listed) == ["f.example"]
