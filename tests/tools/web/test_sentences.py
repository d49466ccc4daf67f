"""The answer in sentences: who is blocked from what, what is wrong, what to do first."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from scrapy_rep.protocol import Access, parse
from scrapy_rep.tools.crawlers import CRAWLERS, SEARCH_CRAWLERS
from scrapy_rep.tools.lint import Finding, Severity, lint
from scrapy_rep.tools.profiles import reading, special
from scrapy_rep.tools.web.question import CATEGORIES
from scrapy_rep.tools.web.sentences import sentences

TRAINING = CATEGORIES["training"]


def group(agents: Sequence[str], *rules: str) -> str:
    return "".join(f"User-agent: {agent}\n" for agent in agents) + "".join(f"{rule}\n" for rule in rules) + "\n"


def said(text: str) -> list[str]:
    """Who is blocked from what; of those who ignore groups for * only when they are."""
    _, *found = sentences(parse(text.encode()), ())
    return [one for one in found if "ignore groups for *" not in one]


def plain(text: str) -> str:
    """The verdict on the whole file."""
    return sentences(parse(text.encode()), lint(text.encode()))[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "Blocks nothing."),
        ("User-agent: *\nDisallow:", "Blocks nothing."),
        ("User-agent: *\nDisallow: /", "Blocks the whole site."),
        (
            group(["*"], "Disallow: /") + group(["Googlebot"], "Disallow:"),
            "Blocks the whole site for all but Googlebot.",
        ),
        ("User-agent: *\nDisallow: /a", "Blocks 1 path."),
        ("User-agent: *\nDisallow: /\nAllow: /a\nAllow: /b", "Blocks everything but 2 paths."),
        (group(["GPTBot"], "Disallow: /"), "Blocks the whole site for GPTBot."),
        (
            group(["GPTBot"], "Disallow: /") + group(["*"], "Disallow: /a"),
            "Blocks 1 path, and the whole site for GPTBot.",
        ),
        (group(["GPTBot"], "Disallow: /a"), "Blocks a part of the site for GPTBot."),
    ],
)
def test_the_verdict_on_the_whole_file_comes_first(text: str, expected: str) -> None:
    assert plain(text).partition(". ")[2] == expected


def test_the_verdict_begins_with_whether_the_file_works() -> None:
    good = "User-agent: *\nDisallow: /x\nSitemap: https://a.test/s.xml\n"
    assert plain(good) == "Works. Blocks 1 path."
    assert plain(good + "Frob: x\n").startswith("Works, with 1 warning. ")
    assert plain("User-agnt: *\nDisallow: /x\n").startswith("Has 1 error")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "may fetch everything."),
        ("User-agent: *\nDisallow:", "may fetch everything."),
        ("User-agent: *\nDisallow: /", "are blocked from everything (line 2)."),
        ("User-agent: *\nDisallow: /a", "are blocked from /a (line 2)."),
        ("User-agent: *\nDisallow: /a\nDisallow: /b", "are blocked from /a and /b (line 2)."),
        (
            group("*", *(f"Disallow: /{letter}" for letter in "abcde")),
            "are blocked from /a, /b, /c and 2 more paths (line 2).",
        ),
        (
            "User-agent: *\nDisallow: /a\nAllow: /a/b\nAllow: /c",
            "are blocked from /a, but not from /a/b (line 2).",
        ),
        ("User-agent: *\nDisallow: b\nDisallow: /a", "are blocked from /a (line 3)."),
        ("User-agent: *\nDisallow: /$", "are blocked from the home page (line 2)."),
        ("User-agent: *\nDisallow: /\nAllow: /$", "are blocked from everything but the home page (line 2)."),
        (
            "User-agent: *\nDisallow: /x.html\nDisallow: /$\nAllow: /a",
            "are blocked from /x.html and the home page (line 3).",
        ),
        ("User-agent: *\nDisallow: /a\nDisallow: /b\nAllow: /b", "are blocked from /a (line 2)."),
        ("User-agent: *\nDisallow: /\nAllow: /a", "are blocked from everything but /a (line 2)."),
    ],
)
def test_what_is_closed_to_all_crawlers_is_one_sentence(text: str, expected: str) -> None:
    assert said(text) == [f"All crawlers {expected}"]


def test_crawlers_that_ignore_groups_for_star_are_told_apart() -> None:
    assert sentences(parse(b"User-agent: *\nDisallow: /"), ())[-1] == (
        "AdsBot-Google, AdsBot-Google-Mobile, APIs-Google and 5 more ignore groups for *, so they may fetch "
        "everything."
    )


def test_a_crawler_that_differs_is_named_with_its_owner_and_all_others_come_last() -> None:
    assert said(group(["GPTBot"], "Disallow: /")) == [
        "GPTBot (OpenAI: training) is blocked from everything (line 2).",
        "All other crawlers may fetch everything.",
    ]
    assert said(group(["*"], "Disallow: /") + group(["Googlebot"], "Disallow:")) == [
        "Googlebot (Google: search) may fetch everything.",
        "Googlebot-Image, Applebot, Googlebot-Video and 3 more follow its group.",
        "Googlebot has its own group, so the rules for * do not apply to it.",
        "All other crawlers are blocked from everything (line 2).",
    ]


def test_google_crawlers_that_follow_the_group_of_another_share_its_sentence() -> None:
    assert said(group(["msnbot"], "Disallow: /")) == [
        "msnbot (Microsoft: search, until 2010) is blocked from everything (line 2).",
        "bingbot follows its group.",
        "All other crawlers may fetch everything.",
    ]


def test_a_crawler_that_does_not_follow_robots_txt_is_only_asked() -> None:
    assert said(group(["curl"], "Disallow: /"))[0] == (
        "curl (library and command) is blocked from everything (line 2), but it does not follow robots.txt."
    )


_SPECIAL = [crawler.token for crawler in CRAWLERS if special(crawler.token) and not crawler.until]


def test_what_all_others_may_is_true_of_each_crawler_that_no_sentence_tells_apart() -> None:
    choose = random.Random(37)  # noqa: S311
    for _ in range(150):
        names = choose.sample(["*", "Googlebot", "msnbot", "Yandex", "AdsBot-Google", "Applebot"], 2)
        body = "".join(
            group([name], choose.choice(["Disallow: /", "Disallow:", "Disallow: /a"])) for name in names
        )
        robotstxt, last = parse(body.encode()), said(body)[-1]
        for agent in _SPECIAL:
            as_read = reading(robotstxt, agent)
            if as_read.group == "*":
                is_open = as_read.verdict("/").allowed
                assert is_open or "blocked from everything" in last, (agent, body, last)
                assert not is_open or "blocked from everything" not in last, (agent, body, last)


def test_a_crawler_with_the_same_rules_as_all_others_is_not_named() -> None:
    assert said(group(["*", "Googlebot"], "Disallow: /x")) == ["All crawlers are blocked from /x (line 3)."]


def test_all_that_train_ai_are_one_subject() -> None:
    first, rest = said(group(TRAINING, "Disallow: /"))
    line = len(TRAINING) + 1
    assert first == f"All {line - 1} known crawlers that train AI are blocked from everything (line {line})."
    assert rest == "All other crawlers may fetch everything."


def test_of_those_that_train_ai_the_sentence_says_how_many_are_missing() -> None:
    first = said(group(TRAINING[:5], "Disallow: /"))[0]
    assert first.startswith(
        f"Of the crawlers that train AI, {', '.join(TRAINING[:3])} and 2 more are blocked from"
    )
    assert first.endswith(f"; {len(TRAINING) - 5} others that are known are not, such as {TRAINING[5]}.")


def test_crawlers_are_spoken_of_by_their_kind() -> None:
    first, second, _ = said(group(["GPTBot", "CCBot", "AhrefsBot", "dotbot"], "Disallow: /"))
    assert first.startswith("Of the crawlers that train AI, GPTBot and CCBot are blocked from everything")
    assert second == "Of the SEO tools, AhrefsBot and dotbot are blocked from everything (line 5)."


def test_a_name_that_nobody_knows_is_spoken_of_as_one() -> None:
    assert said(group(["Googelbot"], "Disallow: /x"))[0] == (
        "Googelbot, which is no known crawler, is blocked from /x (line 2)."
    )


def test_a_file_of_very_many_groups_has_few_sentences() -> None:
    agents = [*SEARCH_CRAWLERS[:5], "GPTBot", "CCBot", "AhrefsBot", "dotbot"]
    found = said("".join(group([agent], f"Disallow: /{agent}") for agent in agents))
    assert len(found) == 9
    assert found[-2] == "3 more crawlers have other rules."


SIGNALS = "User-agent: *\nContent-Signal: search=yes, ai-train=no\n\n"


def test_what_content_signal_says_is_a_sentence_and_who_does_not_read_it_another() -> None:
    everyone = "All crawlers may fetch everything."
    signal = "Content-Signal says yes to search and no to AI training (line 2)."
    assert said(SIGNALS) == [everyone, signal]
    assert said(SIGNALS + group(["GPTBot"], "Allow: /"))[1:] == [
        signal,
        "GPTBot has its own group, so this does not apply to it.",
    ]
    assert said(SIGNALS + group(["GPTBot", "CCBot"], "Content-Signal: ai-train=yes"))[1:] == [
        signal,
        "GPTBot and CCBot have their own groups, so this does not apply to them.",
        "For GPTBot and CCBot: Content-Signal says yes to AI training (line 6).",
    ]
    assert said(SIGNALS + group(["GPTBot"], "Content-Signal: search=yes, ai-train=no"))[1:] == [
        signal,
        "GPTBot has its own group, so this does not apply to it.",
        "For GPTBot: Content-Signal says yes to search and no to AI training (line 5).",
    ]
    assert said(group(["GPTBot"], "Content-Usage: train-ai=n"))[1:] == [
        "For GPTBot: Content-Usage says no to AI training (line 2)."
    ]


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
    assert sentences(parse(b""), (), access=access, status=status)[1] == first


SIX = Path(__file__).parents[1] / "lint" / "six-errors.txt"


def test_six_errors_come_to_a_verdict_and_what_to_do_first() -> None:
    body = SIX.read_bytes()
    assert len(lint(body)) == 6
    verdict, who, last = sentences(parse(body), lint(body))
    assert verdict.startswith("Has ")
    assert who == "All crawlers may fetch everything."
    assert last.startswith("Start with line 1: ")


def finding(severity: Severity, line: int, message: str = "It is wrong.") -> Finding:
    return Finding("unknown-record", severity, line, 1, message, "Remove it.")


def test_what_to_do_first_is_about_the_worst_and_then_the_first_of_all_faults() -> None:
    found = [finding(Severity.WARNING, 1), finding(Severity.ERROR, 9), finding(Severity.ERROR, 2)]
    assert sentences(parse(b""), found)[2:] == ["Start with line 2: It is wrong. Remove it."]
    assert sentences(parse(b""), [finding(Severity.ERROR, 0)])[2:] == ["Start here: It is wrong. Remove it."]


def test_notes_and_improvements_are_no_faults() -> None:
    found = sentences(parse(b""), [finding(Severity.NOTE, 1), finding(Severity.OPTIMISE, 2)])
    assert found == ["Works. Blocks nothing.", "All crawlers may fetch everything."]


def test_what_a_file_holds_is_fit_to_be_shown() -> None:
    found = sentences(parse("User-agent: \x1bbot\u202e\nDisallow: /\x1b\u202ex\n".encode()), ())
    assert all(one.isprintable() for one in found)
