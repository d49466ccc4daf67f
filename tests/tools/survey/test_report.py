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

import pytest

from scrapy_rep.protocol.access import is_html
from scrapy_rep.tools.survey import SiteRecord
from scrapy_rep.tools.survey.measure import measure
from scrapy_rep.tools.survey.report import report
from scrapy_rep.tools.survey.totals import ALL_SIGNALS, Totals
from tests.protocol.test_google_verdicts import FOLDER, bodies
from tests.support.chromium import dump_dom, needs_chromium

from .counting import count

WHEN = datetime(2026, 1, 2, tzinfo=timezone.utc)
FILES = {
    "a.example": b"User-agent: *\nDisallow: /x\n# c\n\nSitemap: https://a.example/s.xml\n",
    "b.example": b"User-agent: *\nDisallow: /x\n# c\n\nSitemap: https://a.example/s.xml\n",
    "c.example": b"User-agent: GPTBot\nDisallow: /\nUser-agent: *\nCrawl-delay: 7\nAllow: /\n",
    "d.example": b"<!DOCTYPE html>\n<p>\n",
    "e.example": b"",
}


def page_of(files: dict[str, bytes], *others: SiteRecord) -> str:
    totals, records = Totals(), [*(measure(name, body, status=200) for name, body in files.items()), *others]
    for record in records:
        totals.add(record)
    return report(totals, WHEN, expected=totals.sites, records=records, body=lambda record: files.get(record.site))


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
        self._tag = tag if tag != "a" else self._tag
        if tag == "tr":
            self.found.setdefault(self._heading, []).append([])
        elif tag == "td":
            self.found[self._heading][-1].append("")

    def handle_data(self, data: str) -> None:
        if self._tag == "h2" and data.strip():
            self._heading = data
        elif self._tag == "td" and data.strip():
            self.found[self._heading][-1][-1] += data.strip()


def table(page: str, heading: str) -> dict[str, int]:
    """Name to figure of the first two columns below *heading*."""
    rows = [row for row in _Tables(page).found[heading] if row]
    return {row[0]: int(row[1].replace(",", "")) for row in rows}


def tiles(page: str) -> dict[str, str]:
    return {
        what: html.unescape(figure) for figure, what in re.findall(r"<li><b>(.*?)</b><span>(.*?)</span>", page)
    }


def test_the_figures_are_those_of_the_files() -> None:
    page = page_of(
        FILES, SiteRecord("f.example", "unavailable", 404), SiteRecord("g.example", "unreachable", problem="X: y")
    )
    shown = tiles(page)
    assert shown["of the sites have a robots.txt"] == "57%"
    assert shown["of the files contain an error"] == "0%"
    assert shown["shut out an AI crawler by name"] == "25%"
    assert shown["list a sitemap"] == shown["serve the same file as another site"] == "50%"
    assert table(page, "What the sites serve") == {
        "with rules": 3, "an HTML page instead": 1, "empty": 1, "no robots.txt": 1, "unreachable": 1,
    }  # fmt: skip
    assert table(page, "Sites that could not be read") == {"X: y": 1}
    assert table(page, "HTTP statuses") == {"HTTP status 200": 5, "HTTP status 404": 1}
    assert table(page, "AI crawlers")["GPTBot"] == 1
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
    rows = [row for row in _Tables(page).found["AI-use signals"] if row]
    assert rows == [
        ["Content-Signal", "3", "", ""],
        ["Content-Signal: ai-train", "3", "1", "2"],
        ["Content-Signal: search", "1", "0", "1"],
        ["Content-Usage", "1", "", ""],
        ["Content-Usage: ai-train", "1", "1", "0"],
        ["License", "1", "", ""],
        ["Google-Extended (Google, 2023-09)", "1", "1", "0"],
        ["Applebot-Extended (Apple, 2024-06)", "1", "0", "0"],
    ]
    assert "<p>80% of the files have a Content-Signal" in page


def test_ours_where_signals_disagree_the_answer_is_no() -> None:
    totals = Totals()
    for name, body in SIGNALS.items():
        totals.add(measure(name, body))
    assert totals.ai_answers[ALL_SIGNALS] == {("ai-train", "no"): 2, ("ai-train", "yes"): 1, ("search", "yes"): 1}


def test_ours_without_signals_there_is_no_section_on_them() -> None:
    assert "AI-use signals" in page_of({"c": SIGNALS["c"]})
    assert "AI-use signals" in page_of({"d": SIGNALS["d"]})
    assert "AI-use signals" not in page_of(FILES)


@pytest.mark.full
@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_the_figures_of_real_files_are_those_that_simple_code_counts() -> None:
    files = dict(islice(bodies(Path(FOLDER)).items(), 0, None, 14))
    page = page_of(files)
    files = {name: body for name, body in files.items() if not is_html(body)}
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
    record = SiteRecord(evil, problem=None, sha256="1", bytes=3, agents={evil: {"allow": 0, "disallow": 1}},
                        findings={evil: 1}, crawl_delays={evil: 1.0})  # fmt: skip
    page = page_of({}, record, record, SiteRecord(evil, "unreachable", problem=evil))
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
    totals.add(SiteRecord("a.example"))
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


def test_only_crawlers_that_somebody_names_are_listed() -> None:
    assert table(page_of(FILES), "AI crawlers") == {"GPTBot": 1}
    assert "No file names the other 115 that were looked for." in page_of(FILES)


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
    assert "GPTBot: restricted" in item
    line = re.search(r'<tr id="line-2".*?<code>(.*?)</code><span class="note red">(.*?)</span>', item)
    assert line
    assert line.groups() == ("Disallow: x&lt;img&gt;", "Rule without a leading slash")
    (link,) = set(re.findall(r'href="(#list\?tag=finding%3Apath-without-slash)"', page))
    listed = static(dump_dom(f"{url}{link}", tmp_path, "--virtual-time-budget=5000").decode())
    assert re.findall(r'<th scope="row"><a [^>]*>(.*?)</a>', listed) == ["f.example"]
