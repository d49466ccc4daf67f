"""The parts of an answer: verdicts, the annotated file, dialects, and what they look like."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from time import process_time

import pytest

from scrapy_rep.protocol import DIALECTS, Access, parse
from scrapy_rep.tools.web import page
from scrapy_rep.tools.web.annotated import AnnotatedFile, annotate, fixed, found_in
from scrapy_rep.tools.web.fetch import FetchedFile
from scrapy_rep.tools.web.question import CATEGORIES, CheckQuestion, Form, checked
from scrapy_rep.tools.web.verdicts import MatchingRule, judge, own_urls
from scrapy_rep.tools.web.visitors import LOCAL, PUBLIC

BODY = b"""# shop
User-agent: *
Disallow: /private
Allow: /private/open
Crawl-delay: 2.5
Content-Signal: search=yes, ai-train=no

User-agent: GPTBot
Disallow: /
Frob: x
not a record
Sitemap: https://www.example/s.xml
"""
ASKED = CheckQuestion(BODY, ("/private/open/1", "https://example.com/x"), ("Googlebot", "GPTBot"))

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x1b[31m"


def test_each_url_is_judged_for_each_crawler_with_all_rules_that_match() -> None:
    first, second, third, _ = judge(ASKED).verdicts
    assert (first.url, first.agent, first.allowed, first.line) == ("/private/open/1", "Googlebot", True, 4)
    assert first.matches == (MatchingRule(4, "Allow: /private/open", 13), MatchingRule(3, "Disallow: /private", 8))
    assert (second.agent, second.allowed, second.line, second.rule) == ("GPTBot", False, 9, "Disallow: /")
    assert (third.allowed, third.line, third.reason, third.matches) == (True, 0, "no rule", ())


def test_the_first_rule_that_is_listed_is_the_one_that_decides() -> None:
    for one in judge(ASKED).verdicts:
        assert one.matches is not None
        assert one.line == (one.matches[0].line if one.matches else 0)


def test_a_file_with_very_many_rules_still_gives_exact_verdicts() -> None:
    body = b"User-agent: *\n" + b"".join(b"Disallow: /%d$\n" % number for number in range(20_000))
    found = judge(CheckQuestion(body, tuple(f"/{number}" for number in range(19_900, 20_100)), ("A", "B")))
    assert all(one.matches is None for one in found.verdicts)
    assert [one.allowed for one in found.verdicts] == [number // 2 >= 100 for number in range(400)]
    assert found.verdicts[0].line == 19_902


def test_a_long_rule_is_given_in_part_with_each_verdict() -> None:
    body = b"User-agent: *\n" + b"Disallow: /" + b"*x" * 5_000
    (verdict,) = judge(CheckQuestion(body, ("/" + "x" * 5_000,), ("*",))).verdicts
    assert verdict.matches is not None
    assert (verdict.allowed, len(verdict.rule), verdict.rule) == (False, 501, verdict.matches[0].rule)
    assert verdict.rule.endswith("*x*…")


def test_what_else_the_file_says_to_each_crawler() -> None:
    answer = judge(ASKED)
    general, named = answer.agents
    assert general.group == "*"
    assert [uses.answers["ai-train"] for uses in general.ai] == ["no"]
    assert (named.group, named.profile, named.crawl_delay, named.ai) == ("own", "", None, ())
    assert answer.sitemaps == ("https://www.example/s.xml",)


def test_a_crawl_delay_is_that_of_crawlers_that_read_it() -> None:
    googlebot, bingbot = judge(CheckQuestion(BODY, agents=("Googlebot", "bingbot"))).agents
    assert (googlebot.crawl_delay, googlebot.profile) == (None, "Googlebot does not read Crawl-delay")
    assert (bingbot.crawl_delay, bingbot.profile) == (2.5, "")


FOR_GOOGLE = b"User-agent: googlebot\nDisallow: /bar\n\nUser-agent: *\nDisallow: /\n"


def test_google_a_crawler_is_judged_by_its_profile() -> None:
    agents = ("Googlebot-Image", "Googlebot-Other", "AdsBot-Google")
    answer = judge(CheckQuestion(FOR_GOOGLE, ("/bar", "/x"), agents))
    assert [one.allowed for one in answer.verdicts] == [False, False, True, True, False, True]
    image, unknown, ads = answer.agents
    sentence = "Googlebot-Image follows the group of googlebot, line 1"
    assert (image.group, image.profile, answer.verdicts[0].matches) == (
        "fallback",
        sentence,
        (MatchingRule(2, "Disallow: /bar", 4),),
    )
    assert (unknown.group, unknown.profile) == ("*", "")
    assert (ads.group, ads.profile, answer.verdicts[2].matches) == (
        "none",
        "AdsBot-Google ignores groups for *",
        (),
    )


def test_a_known_crawler_has_its_owner_and_its_purpose_beside_its_name() -> None:
    known, unknown = judge(CheckQuestion(b"", agents=("googlebot", "a"))).agents
    assert (known.about, unknown.about) == ("Google: search", "")


def test_a_crawler_without_any_group_follows_none() -> None:
    assert judge(CheckQuestion(b"User-agent: a\nDisallow: /", agents=("b",))).agents[0].group == "none"
    assert judge(CheckQuestion(b"User-agent: *\nDisallow: /", agents=("b",))).agents[0].group == "*"


@pytest.mark.parametrize(
    ("access", "allowed", "reason"),
    [(Access.UNAVAILABLE, True, "unavailable"), (Access.UNREACHABLE, False, "unreachable")],
)
def test_without_a_robots_txt_the_fetch_decides(access: Access, allowed: bool, reason: str) -> None:
    question = CheckQuestion(b"", source=FetchedFile(status=404, access=access))
    (one,) = judge(question).verdicts
    assert (one.allowed, one.reason, one.line) == (allowed, reason, 0)


def test_a_url_of_another_origin_is_marked() -> None:
    urls = ("https://example.com/x", "http://example.com/x", "/x", "mailto:x")
    found = judge(CheckQuestion(BODY, urls, source=FetchedFile("https://example.com/robots.txt"))).verdicts
    assert [one.is_elsewhere for one in found] == [False, True, False, False]
    assert not any(one.is_elsewhere for one in judge(CheckQuestion(BODY, urls)).verdicts)


def annotated(body: bytes) -> AnnotatedFile:
    question = CheckQuestion(body)
    return annotate(question, found_in(question))


def test_each_line_has_its_kind() -> None:
    kinds = [line.kind for line in annotated(BODY).lines]
    assert kinds == [
        "comment", "user-agent", "disallow", "allow", "crawl-delay", "content-signal", "blank",
        "user-agent", "disallow", "unknown", "unread", "sitemap",
    ]  # fmt: skip


def test_findings_stand_at_their_lines() -> None:
    file = annotated(BODY)
    at = {line.number: {here.finding.code for here in line.findings} for line in file.lines}
    assert "unknown-record" in at[10]
    assert "unreadable-line" in at[11]
    assert file.finding_count == sum(file.counts.values())
    assert [*annotated(b"").codes] == ["empty-file"]


def test_findings_are_listed_the_worst_first_each_with_a_jump_to_its_line_and_back() -> None:
    codes = annotated(BODY).codes
    ranks = [here.finding.severity.rank for those in codes.values() for here in those]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) > 1
    html = page.file_html(CheckQuestion(BODY))
    for code, those in codes.items():
        assert f'<li id="F-{code}" class="finding {those[0].finding.severity.value}"' in html
        for here in those:
            assert f'<a href="#L{here.finding.line}">' in html or not here.finding.line
            assert f'href="#F-{code}">{here.title}</a>' in html or not here.finding.line


def test_what_follows_from_a_finding_is_a_part_of_it() -> None:
    html = page.file_html(
        CheckQuestion(b"User-agnt: *\nDisallow: /a\nDisallow: /b\n\nUser-agent: a\nDisallow: /\n")
    )
    cause = html.partition('<li id="F-')[2].partition('<li id="F-')[0]
    assert "misspelt-key-ignored" in cause
    assert re.search(r'<a href="#L2">line 2</a>: The rule comes .*<code>rule-before-user-agent</code>', cause)
    assert html.count("rule-before-user-agent") == 1


def test_a_crawler_that_follows_the_group_of_another_is_spoken_of_in_the_sentences() -> None:
    question = CheckQuestion(b"User-agent: Googlebot\nDisallow: /\n", agents=("Googlebot-Image", "bingbot"))
    assert "<p>Googlebot-Image, Applebot, Googlebot-Video and 3 more follow its group.</p>" in page.file_html(
        question
    )


def test_what_the_file_silences_is_not_found_as_the_linter_has_it() -> None:
    assert "unknown-record" in {
        here.finding.code for here in found_in(CheckQuestion(b"User-agent: *\nDisallow: /a\nFrob: x"))
    }
    silenced = CheckQuestion(b"# lint: ignore-file unknown-record\nUser-agent: *\nDisallow: /a\nFrob: x")
    assert "unknown-record" not in {here.finding.code for here in found_in(silenced)}


def test_what_could_be_better_is_called_an_improvement_and_silence_about_ai_is_no_signal() -> None:
    question = CheckQuestion(b"User-agent: *\nDisallow: /x\nDisallow: /x\n")
    html = page.file_html(question) + page.verdicts_html(question)
    assert "1 improvement" in html
    assert "<strong>improvement</strong>" in html
    assert "no signals" not in html
    assert ">optimise" not in html


def test_after_a_fix_the_focus_is_at_what_is_left_with_its_code_or_at_the_heading() -> None:
    body = b"User-agent: *\nDisalow: /a\nDisalow: /b\n"
    for key, focused in {"misspelt-key:1:1": 'id="A-misspelt-key:2:1"', "no-sitemap:0:0": 'id="F-no-sitemap"',
                         "useless-rule:9:1": 'id="findings"', "<x>": 'id="findings"'}.items():  # fmt: skip
        (element,) = re.findall(r"<[^>]* autofocus>", page.file_html(CheckQuestion(body), "apply", key))
        assert focused in element, key


def test_the_facts_of_a_fetch_are_one_line_and_another_file_at_www_is_a_notice() -> None:
    others = ("The same file at http://a.test.", "Another file at https://www.a.test.")
    source = FetchedFile("https://a.test/robots.txt", (), 200, content_type="text/plain", time=0.5, others=others)
    html = page.file_html(CheckQuestion(b"User-agent: *\n", source=source))
    assert re.findall('<p class="facts">(.*)</p>', html) == [
        "https://a.test/robots.txt · status 200 · text/plain · 14 bytes of 500 KiB · no redirect · "
        "<span>fetched 1970-01-01 00:00 UTC</span>",
        others[0],
    ]
    assert f'<p class="notice">{others[1]}</p>' in html
    assert "Pasted text · 0 bytes of 500 KiB · <span>checked 20" in page.file_html(CheckQuestion(b""))


def test_findings_of_one_code_are_one_card() -> None:
    rules = b"".join(b"Disalow: /%d\n" % number for number in range(300))
    html = page.file_html(CheckQuestion(b"User-agent: *\n" + rules + b"Frob: x\n"))
    assert len(re.findall('<li id="F-', html)) == len(re.findall('class="finding ', html)) < 6
    assert "300 places" in html
    assert "297 more" in html
    assert 'name="apply" value="misspelt-key">Apply all 300</button>' in html


def test_all_findings_of_a_code_are_fixed_at_once() -> None:
    question = CheckQuestion(b"User-agent: *\nDisalow: /a\nFrob: x\nDisalow: /b\n")
    assert fixed(question, "misspelt-key") == b"User-agent: *\nDisallow: /a\nFrob: x\nDisallow: /b\n"
    assert fixed(question, "misspelt-key:4:1") == b"User-agent: *\nDisalow: /a\nFrob: x\nDisallow: /b\n"


@pytest.mark.parametrize(
    ("rules", "urls"),
    [
        ("", ["/"]),
        ("Disallow: /", ["/"]),
        ("Disallow: /a/\nAllow: /a/b$\nDisallow: /a/", ["/", "/a/", "/a/b"]),
        ("Disallow: /*?sort=\nDisallow: *.pdf$\nDisallow: /x/*", ["/", "/page?sort=", "/page.pdf", "/x/"]),
        ("Disallow: //evil\nDisallow: b\nDisallow: /\x1b\nDisallow: /" + "x" * 300, ["/"]),
        (
            "\n".join(f"Disallow: /{number}" for number in range(20)),
            ["/", *(f"/{number}" for number in range(0, 20, 3))],
        ),
    ],
)
def test_the_urls_that_are_filled_in_are_those_of_the_rules(rules: str, urls: list[str]) -> None:
    question = CheckQuestion(f"User-agent: *\n{rules}\n".encode())
    assert own_urls(question).splitlines() == urls
    assert checked(replace(question, urls=tuple(urls)), PUBLIC).urls == tuple(urls)


def test_a_category_of_crawlers_is_one_column_that_stands_for_them_all() -> None:
    body = b"User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: *\nDisallow: /x\n"
    html = page.verdicts_html(CheckQuestion(body, ("/", "/x"), ("Googlebot",), categories=("training",)))
    assert re.findall(r'columnheader">([^<]*)', html)[:3] == ["URL", "Googlebot", "all crawlers that train AI"]
    number = len(CATEGORIES["training"])
    cells = re.findall(r"popovertarget=\S*>([^<]+)</button>", html)
    assert cells == ["allowed", "2 disallowed", "disallowed", "all disallowed"]
    assert html.count(f"of {number}</small>") == 2
    assert '<li>GPTBot <a href="#L3">line 3</a></li>' in html


def test_lines_beyond_what_a_browser_can_show_are_left_out_unless_something_is_found_in_them() -> None:
    file = annotated(b"# x\n" * 4_000 + b"Frob: x\n" + b"# x\n" * 5)
    assert [line.number for line in file.lines[2_999:]] == [3_000, 4_001]
    assert file.lines[-1].skipped == 1_000
    assert "1,000 lines without findings" in page.file_html(CheckQuestion(b"# x\n" * 4_000 + b"Frob: x\n"))


def test_a_long_line_is_shown_in_part() -> None:
    line = annotated(b"Disallow: /" + b"x" * 15_000).lines[0]
    assert len(line.text) == 501
    assert line.text.endswith("x…")


def test_every_dialect_can_be_chosen() -> None:
    start, _ = page.page_in_pieces(LOCAL, Form(page.PRESELECTED))
    chosen = re.findall(r'name="dialect" value="([^"]+)"', b"".join(start).decode())
    assert sorted(chosen) == sorted(DIALECTS)


def test_whatever_a_file_holds_is_shown_as_text() -> None:
    body = f"User-agent: *\nDisallow: /{HOSTILE}\nSitemap: javascript:{HOSTILE}\n{HOSTILE}\n# {HOSTILE}".encode()
    source = FetchedFile(f"https://example.com/{HOSTILE}", (HOSTILE,), content_type=HOSTILE, others=(HOSTILE,))
    question = CheckQuestion(body, (f"/{HOSTILE}",), ("*",), source=source)
    html = "".join(job(question) for job in (page.verdicts_html, page.file_html))
    assert not re.findall("[\u202e\x1b]|<img|<script|href=.javascript", html)
    assert html.count("&lt;img src=x onerror=alert(1)&gt;") >= 8
    assert re.findall(r"<a href=\"([^\"]*)", html) == re.findall(r"<a href=\"(#L\d+)\"", html)


def test_a_spreadsheet_does_not_compute_what_a_file_holds() -> None:
    question = CheckQuestion(b"User-agent: *\nDisallow: /x", ("=1+1", "@x", "/x"), ("*", "-a"))
    rows = list(csv.reader(io.StringIO(page.verdicts_csv(question))))
    assert rows[0] == ["url", "agent", "allowed", "line", "rule", "reason"]
    assert {row[0] for row in rows[1:]} == {"'=1+1", "'@x", "/x"}
    assert ["/x", "'-a", "false", "2", "Disallow: /x", "rule"] in rows


@pytest.mark.untraced
def test_the_verdicts_on_500_kib_cost_well_under_a_second() -> None:
    """Processor time: in a second of a quiet machine the page shows them."""
    rules = b"".join(b"Disallow: /shop%d/*/item%d$\n" % (number, number) for number in range(1_500))
    body = b"".join(b"User-agent: Bot%c\n%b\n" % (65 + number, rules) for number in range(10))
    urls = tuple(f"https://example.com/shop{number}/x/item{number}" for number in range(100))
    question = CheckQuestion(body[:512_000], urls, tuple(f"Bot{letter}" for letter in "ABCDEFGHIJ"))
    page.verdicts_html(CheckQuestion(b""))
    began = process_time()
    html = page.verdicts_html(question)
    spent = process_time() - began
    assert html.count("<td role=") == 1_000 + 20
    assert spent < 1.0


def test_the_verdicts_are_those_of_the_engine() -> None:
    robotstxt = parse(BODY)
    for one in judge(ASKED).verdicts:
        assert one.allowed is robotstxt.verdict(one.agent, one.url).allowed
