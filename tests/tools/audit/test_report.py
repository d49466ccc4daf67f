"""The page about logs: its sentences, that it shows text and loads nothing, that a real browser shows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.tools.audit.logs import Log
from scrapy_rep.tools.audit.sentences import Summary, report
from tests.support.chromium import dump_dom, needs_chromium

from .sample import (
    AI,
    BACKOFF,
    EXCEPTED,
    FORBIDDEN,
    NOT_OBEYED,
    PAGE,
    REPORTED,
    RUN,
    SHOP,
    START,
    decision,
    dropped,
    sums,
    write,
)


def summary_of(folder: Path, *events: Any) -> Summary:
    return Summary([Log(write(folder / "a.jsonl", *events))])


def test_it_opens_with_who_what_and_whether(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, *RUN)
    assert summary.sentences() == (
        "The spider shop requested pages of 1 site on 22 November 2026, 09:12 to 09:40 UTC, under the name"
        " ExampleBot.",
        "98 requests were sent. 3 of them went against robots.txt: 2 by an exception until 2027-03-31: written"
        " permission of the shop; 1 by the setting REP_MODES (report). For 4 the rules were not checked: 3 by the"
        " setting ROBOTSTXT_OBEY (False); 1 by the spider (dont_obey_robotstxt): our own pictures. 1 further"
        " request was not sent, because robots.txt forbids that or could not be fetched.",
        "The log is intact as far as the chain of hashes shows: each of 10 lines follows from the one before it,"
        " and the robots.txt files that it names were not checked.",
    )
    page = report(summary)
    lead = page[page.index("<h1>") : page.index('<ul class="tiles">')]
    assert re.findall(r"<p>(.*)</p>", lead) == list(summary.sentences())
    assert re.findall(r'class="badge (\w+)">(.*?)</', lead) == [
        ("red", "3 of 98 requests went against robots.txt, 1 of them without an exception; 4 were sent without"
                " checking it"),
        ("green", "The log is intact"),
    ]  # fmt: skip


ALLOWED = sums(allowed=26)
OTHER = {**EXCEPTED, "exception": {**EXCEPTED["exception"], "reason": "a trial"}}


@pytest.mark.parametrize(
    ("events", "verdict", "colour"),
    [
        ([*[EXCEPTED] * 18, ALLOWED], "18 of 44 requests went against robots.txt, all by one dated exception",
         "violet"),
        ([EXCEPTED, OTHER], "2 of 2 requests went against robots.txt, all by 2 dated exceptions", "violet"),
        ([EXCEPTED], "1 of 1 request went against robots.txt, by one dated exception", "violet"),
        ([REPORTED, ALLOWED], "1 of 27 requests went against robots.txt, without an exception", "red"),
        ([NOT_OBEYED, ALLOWED], "1 of 27 requests were sent without checking robots.txt", "amber"),
        ([FORBIDDEN, ALLOWED], "All 26 requests kept to robots.txt", "green"),
        ([FORBIDDEN], "No request was sent", "grey"),
    ],
)  # fmt: skip
def test_the_badge_says_what_was_done_and_is_red_where_nobody_permitted_it(
    tmp_path: Path, events: list[Any], verdict: str, colour: str
) -> None:
    assert summary_of(tmp_path, START, *events).verdict() == (verdict, colour)


def test_grey_is_what_was_not_sent_and_red_what_was_sent_without_permission(tmp_path: Path) -> None:
    page = report(summary_of(tmp_path, *RUN))
    bars = re.findall(r'(?s)<tr><th scope="row">(.*?)</th><td>.*?<rect class="(\w+)"', page)
    assert dict(bars)["not sent"] == "grey"
    assert [name for name, colour in bars if colour == "red"] == ["against robots.txt, in the mode report"]


def test_a_run_without_an_end_is_counted_with_at_least(tmp_path: Path) -> None:
    assert (
        summary_of(tmp_path, START, EXCEPTED).sentences()[1].startswith("At least 1 request was sent. 1 of them")
    )


def test_a_broken_log_is_said_first(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *RUN)
    path.write_bytes(path.read_bytes().replace(b"/api/1", b"/api/2", 1))
    page = report(Summary([Log(path)]))
    assert page.index("The log is NOT intact: ") < page.index('<ul class="tiles">')
    assert "line 4: this line does not follow line 3" in page


def test_several_runs_name_their_spiders_and_days(tmp_path: Path) -> None:
    other = {**START, "spider": "news", "time": "2026-11-20T23:59:01Z", "agents": ["NewsBot"]}
    who = summary_of(tmp_path, *RUN, other, *RUN[1:]).sentences()[0]
    assert who == (
        "The spiders shop, news requested pages of 1 site in 2 runs from 20 November 2026, 23:59, to"
        " 22 November 2026, 09:40 UTC, under the names ExampleBot, NewsBot."
    )


def test_more_words_than_fit_are_summed_up(tmp_path: Path) -> None:
    events = [
        decision("excepted", exception={"url": SHOP, "reason": f"reason {number}", "until": "2027-01-01"})
        for number in range(5)
    ]
    assert summary_of(tmp_path, START, *events).sentences()[1].endswith("reason 2; 2 for other reasons.")


def test_sites_that_slowed_the_crawl_down_are_in_the_sentence_and_in_a_table(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, START, BACKOFF, BACKOFF)
    assert summary.sentences()[1].endswith(
        "2 times the crawl slowed down, because a site asked for that or failed repeatedly."
    )
    page = report(summary)
    row = page[page.index("<h2>Slowed down</h2>") :]
    assert re.findall(r"<td[^>]*>(.*)</td>", row)[:3] == ["2", "shop.example.com", "HTTP status 429"]
    assert "<h2>Slowed down</h2>" not in report(summary_of(tmp_path, *RUN))


def test_what_pages_say_and_what_was_dropped_is_in_tables_and_the_sum_in_the_sentence(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, START, PAGE, AI, dropped(3), dropped(1, "item", "its page says noindex"))
    assert summary.sentences()[1].endswith("4 links and items were dropped, because robots.txt or a page says so.")
    page = report(summary)
    rows = [re.findall(r"<td[^>]*>(.*)</td>", page[page.index(f"<h2>{title}</h2>") :])[:5] for title in NOTES]
    assert rows == [
        ["1", SHOP, "noindex", "–", f'<span class="url">{SHOP}/old</span>'],
        ["1", SHOP, "ai-train", "ai-train=no (robots.txt)", f'<span class="url">{SHOP}/art</span>'],
        ["3", SHOP, "link", "Disallow: /api/", "–"],
    ]
    assert not any(title in report(summary_of(tmp_path, *RUN)) for title in NOTES)


NOTES = ["Pages that restrict what becomes of them", "Reserved pages", "Dropped links and items"]
EVIL = '"><script>alert(1)</script><img src=//h onerror=x>\u202e{{ 7*7 }}'


def test_what_a_hostile_log_says_is_text(tmp_path: Path) -> None:
    evil = {name: EVIL for name in START if name not in {"event", "time", "v"}}
    page = report(
        summary_of(
            tmp_path,
            {**START, **evil, "agents": [EVIL], "modes": {EVIL: EVIL}},
            decision(
                "excepted", rule=EVIL, origin=EVIL, url=EVIL, exception=dict.fromkeys(["url", "reason"], EVIL)
            ),
            {"event": "robots", "access": "unreachable", "origin": EVIL, "error": EVIL},
            {"event": "backoff", "slot": EVIL, "why": EVIL},
            {"event": "page", "url": EVIL, "directives": ["noindex"]},
            {**AI, "url": EVIL, "statements": [{**AI["statements"][1], "text": EVIL, "source": EVIL}]},
            {"event": "sums", "dropped": [dict.fromkeys(["what", "origin", "why"], EVIL) | {"count": 1}]},
            {"event": "end", "reason": EVIL, "counts": {}, "unused": [{"url": EVIL + "2", "until": EVIL}]},
        )
    )
    assert not re.search(r"<script|<img|\u202e", page)
    assert page.count("&lt;script&gt;") >= 20
    assert "{{ 7*7 }}" in page


def test_it_loads_nothing_and_runs_nothing(tmp_path: Path) -> None:
    page = report(summary_of(tmp_path, *RUN))
    assert not re.findall(
        r"(?i)<(?:script|link|img|iframe|object|base|form)|url\(|@import|\son\w+=|(?:src|href)=", page
    )
    assert "default-src 'none'" in page


def test_each_cell_of_a_narrow_page_has_its_label(tmp_path: Path) -> None:
    page = report(summary_of(tmp_path, *RUN))
    tables = "".join(re.findall(r'<table class="grid">.*?</table>', page, re.DOTALL))
    assert tables.count("<td") == tables.count("data-label=") >= 20


@needs_chromium
def test_a_real_browser_shows_it(tmp_path: Path) -> None:
    page = tmp_path / "audit.html"
    html = report(summary_of(tmp_path, *RUN))
    page.write_text(html, encoding="utf-8")
    shot = [f"--screenshot={tmp_path / 'page.png'}", "--window-size=1000,1400"]
    dom = dump_dom(page.as_uri(), tmp_path, *shot).decode()
    assert dom.count('<table class="grid">') == html.count('<table class="grid">') >= 5
    assert (tmp_path / "page.png").stat().st_size > 30_000
