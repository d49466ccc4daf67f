"""The answer in sentences: who is shut out of what, what is wrong, what to do first."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from scrapy_rep.protocol import Access, parse
from scrapy_rep.tools.crawlers import CRAWLERS, SEARCH_CRAWLERS
from scrapy_rep.tools.lint import Finding, Severity, lint
from scrapy_rep.tools.profiles import reading, special
from scrapy_rep.tools.web.question import CATEGORIES, CheckQuestion
from scrapy_rep.tools.web.sentences import sentences
from scrapy_rep.tools.web.verdicts import verdicts_on

TRAINING = CATEGORIES["training"]


def group(agents: Sequence[str], *rules: str) -> str:
    return "".join(f"User-agent: {agent}\n" for agent in agents) + "".join(f"{rule}\n" for rule in rules) + "\n"


def said(text: str) -> list[str]:
    return sentences(parse(text.encode()), ())[:-1]


BUT = " but those that ignore groups for * (AdsBot-Google, AdsBot-Google-Mobile, APIs-Google and 5 more)"
STAR = f"All crawlers{BUT}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["All crawlers may fetch everything."]),
        ("User-agent: *\nDisallow:", ["All crawlers may fetch everything."]),
        ("User-agent: *\nDisallow: /", [f"{STAR} are shut out of everything (line 2)."]),
        ("User-agent: *\nDisallow: /a", [f"{STAR} are shut out of /a (line 2)."]),
        ("User-agent: *\nDisallow: /a\nDisallow: /b", [f"{STAR} are shut out of /a and /b (line 2)."]),
        (
            group("*", *(f"Disallow: /{letter}" for letter in "abcde")),
            [f"{STAR} are shut out of /a, /b, /c and 2 more paths (line 2)."],
        ),
        (
            "User-agent: *\nDisallow: /a\nAllow: /a/b\nAllow: /c",
            [f"{STAR} are shut out of /a, but not of /a/b (line 2)."],
        ),
        ("User-agent: *\nDisallow: b\nDisallow: /a", [f"{STAR} are shut out of /a (line 3)."]),
        ("User-agent: *\nDisallow: /$", [f"{STAR} are shut out of the home page (line 2)."]),
        (
            "User-agent: *\nDisallow: /\nAllow: /$",
            [f"{STAR} are shut out of everything but the home page (line 2)."],
        ),
        (
            "User-agent: *\nDisallow: /x.html\nDisallow: /$\nAllow: /a",
            [f"{STAR} are shut out of /x.html and the home page (line 3)."],
        ),
        ("User-agent: *\nDisallow: /a\nDisallow: /b\nAllow: /b", [f"{STAR} are shut out of /a (line 2)."]),
        ("User-agent: *\nDisallow: /\nAllow: /a", [f"{STAR} are shut out of everything but /a (line 2)."]),
    ],
)
def test_what_is_closed_to_all_crawlers_is_one_sentence(text: str, expected: list[str]) -> None:
    assert said(text) == expected


def test_a_crawler_that_differs_is_named_with_its_owner_and_all_others_come_last() -> None:
    assert said(group(["GPTBot"], "Disallow: /")) == [
        "GPTBot (OpenAI: training) is shut out of everything (line 2).",
        "All other crawlers may fetch everything.",
    ]
    assert said(group(["*"], "Disallow: /") + group(["Googlebot"], "Disallow:"))[0] == (
        "Googlebot (Google: search) may fetch everything, and so may Googlebot-Image, Applebot, Googlebot-Video "
        "and 3 more, which follow its group."
    )


def test_google_crawlers_that_follow_the_group_of_another_share_its_sentence() -> None:
    assert said(group(["msnbot"], "Disallow: /")) == [
        "msnbot (Microsoft: search, until 2010) is shut out of everything (line 2), and so is bingbot, "
        "which follows its group.",
        "All other crawlers may fetch everything.",
    ]


def test_a_crawler_that_does_not_follow_robots_txt_is_only_asked() -> None:
    assert said(group(["curl"], "Disallow: /"))[0] == (
        "The file asks curl (library and command) to stay out of everything (line 2), but it does not follow "
        "robots.txt."
    )


_SPECIAL = [crawler.token for crawler in CRAWLERS if special(crawler.token) and not crawler.until]


def test_ours_what_all_others_may_is_true_of_each_crawler_that_no_sentence_tells_apart() -> None:
    choose = random.Random(37)  # noqa: S311
    for _ in range(150):
        names = choose.sample(["*", "Googlebot", "msnbot", "Yandex", "AdsBot-Google", "Applebot"], 2)
        body = "".join(
            group([name], choose.choice(["Disallow: /", "Disallow:", "Disallow: /a"])) for name in names
        )
        robotstxt, last = parse(body.encode()), said(body)[-1]
        for agent in _SPECIAL:
            as_read = reading(robotstxt, agent)
            if as_read.group == "*" or (as_read.group == "none" and " but those that ignore" not in last):
                is_open = as_read.verdict("/").allowed
                assert is_open or "shut out of everything" in last, (agent, body, last)
                assert not is_open or "shut out of everything" not in last, (agent, body, last)


def test_a_crawler_with_the_same_rules_as_all_others_is_not_named() -> None:
    assert said(group(["*", "Googlebot"], "Disallow: /x")) == [f"{STAR} are shut out of /x (line 3)."]


def test_all_that_train_ai_are_one_subject() -> None:
    first, rest = said(group(TRAINING, "Disallow: /"))
    line = len(TRAINING) + 1
    assert first == f"All {line - 1} known crawlers that train AI are shut out of everything (line {line})."
    assert rest == "All other crawlers may fetch everything."


def test_of_those_that_train_ai_the_sentence_says_how_many_are_missing() -> None:
    first = said(group(TRAINING[:5], "Disallow: /"))[0]
    assert first.startswith(f"Of the crawlers that train AI, {', '.join(TRAINING[:3])} and 2 more are shut out")
    assert first.endswith(f"; {len(TRAINING) - 5} others that are known are not, such as {TRAINING[5]}.")


def test_crawlers_are_spoken_of_by_their_kind() -> None:
    first, second, _ = said(group(["GPTBot", "CCBot", "AhrefsBot", "dotbot"], "Disallow: /"))
    assert first.startswith("Of the crawlers that train AI, GPTBot and CCBot are shut out of everything")
    assert second == "Of the SEO tools, AhrefsBot and dotbot are shut out of everything (line 5)."


def test_a_name_that_nobody_knows_is_spoken_of_as_one() -> None:
    assert said(group(["Googelbot"], "Disallow: /x"))[0] == (
        "Googelbot, which is no known crawler, is shut out of /x (line 2)."
    )


def test_a_file_of_very_many_groups_has_few_sentences() -> None:
    agents = [*SEARCH_CRAWLERS[:5], "GPTBot", "CCBot", "AhrefsBot", "dotbot"]
    found = said("".join(group([agent], f"Disallow: /{agent}") for agent in agents))
    assert len(found) == 8
    assert found[-2] == "3 more crawlers have other rules."


def test_a_few_urls_that_were_asked_about_are_spoken_of() -> None:
    body = b"User-agent: *\nDisallow: /a\n\nUser-agent: GPTBot\nDisallow: /b\nDisallow: /a\n"
    question = CheckQuestion(body, ("/", "/a", "/b", "/c"), ("*", "Googlebot", "GPTBot"))
    found = sentences(parse(body), (), verdicts_on(question))
    assert "/a is closed to all 3 crawlers that you asked about (lines 2 and 6)." in found
    assert "/b is closed to GPTBot (line 5) and open to the 2 others." in found
    assert "/c is open to all 3 crawlers that you asked about." in found
    assert not any(one.startswith("/ ") for one in found)
    many = CheckQuestion(body, ("/a", "/b", "/c", "/d"), ("*",))
    assert sentences(parse(body), (), verdicts_on(many)) == sentences(parse(body), ())


GONE = "there is no robots.txt, so all crawlers may fetch everything."
UNKNOWN = "what its robots.txt would say is unknown, so all crawlers stay away for now."


@pytest.mark.parametrize(
    ("access", "status", "first"),
    [
        (Access.UNAVAILABLE, 404, f"The server answers with status 404: {GONE}"),
        (Access.UNREACHABLE, 503, f"The server answers with status 503: {UNKNOWN}"),
        (Access.UNREACHABLE, None, f"The server gives no answer: {UNKNOWN}"),
    ],
)
def test_without_a_robots_txt_the_fetch_is_what_is_said(access: Access, status: int | None, first: str) -> None:
    assert sentences(parse(b""), (), access=access, status=status)[0] == first


SIX = Path(__file__).parents[1] / "lint" / "six-errors.txt"


def test_six_errors_are_said_with_what_follows_and_the_last_sentence_is_what_to_do() -> None:
    body = SIX.read_bytes()
    assert len(lint(body)) == 6
    first, *found, last = sentences(parse(body), lint(body))
    assert first == "All crawlers may fetch everything."
    assert [one.partition(": ")[0] for one in found] == [
        "Line 1 has a typo", "A consequence", "A consequence, line 3", "Line 3", "Line 4", "Line 5",
        "Line 2 has a typo", "Line 6",
    ]  # fmt: skip
    assert found[1] == "A consequence: Without a user-agent line the rules apply to no crawler."
    assert last == "Start with line 1: write User-agent."


def finding(severity: Severity, line: int, message: str = "It is wrong.") -> Finding:
    return Finding("unknown-record", severity, line, 1, message, "Remove it.")


def test_one_sentence_stands_for_all_lines_with_the_same_fault() -> None:
    found = sentences(parse(b""), [finding(Severity.ERROR, line) for line in (9, 2, 7, 4, 5, 6)])
    assert found[1:] == ["Lines 2, 4, 5, 6 and 2 more: It is wrong.", "Start with line 2: remove it."]


def test_notes_and_improvements_are_no_faults() -> None:
    found = sentences(parse(b""), [finding(Severity.NOTE, 1), finding(Severity.OPTIMISE, 2)])
    assert found[1:] == ["The linter finds no error and nothing to warn of."]


def test_faults_beyond_the_worst_are_counted() -> None:
    faults = [finding(Severity.WARNING, line, f"Fault {line}.") for line in range(1, 13)]
    assert sentences(parse(b""), faults)[-2] == "4 more errors and warnings are in the list below."


def test_a_fault_of_the_whole_file_has_no_line() -> None:
    assert sentences(parse(b""), [finding(Severity.ERROR, 0)])[1:] == ["It is wrong.", "Start here: remove it."]


def test_what_a_file_holds_is_fit_to_be_shown() -> None:
    found = sentences(parse("User-agent: \x1bbot\u202e\nDisallow: /\x1b\u202ex\n".encode()), ())
    assert all(one.isprintable() for one in found)
