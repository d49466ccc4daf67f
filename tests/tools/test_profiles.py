"""Known crawlers read a robots.txt as their owners document: by their profiles."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

import pytest

from scrapy_rep.protocol import DIALECTS, GOOGLE, Reason, parse
from scrapy_rep.tools.crawlers import COMMON_AI_CRAWLERS, CRAWLERS, Source, crawler_of
from scrapy_rep.tools.profiles import DISOBEYS, FALLBACK, GROUPS, NONE, OWN, STAR, reading, token_for

# 60 questions about real crawlers, with the document that answers each.

COMMON: Final = Source("Google's common crawlers", "Google", "2026-07")
SPECIAL: Final = Source("Google's special-case crawlers", "Google", "2026-02")
TRIGGERED: Final = Source("Google's user-triggered fetchers", "Google", "2026-10")
SPECIFICATION: Final = Source("How Google interprets the robots.txt specification", "Google", "2026-04")
BINGBOT: Final = Source("Bingbot is coming to town", "Microsoft", "2010-09")
BING_DELAY: Final = Source("Crawl delay and the Bing crawler, MSNBot", "Microsoft", "2009-08")
APPLEBOT: Final = Source("About Applebot", "Apple", "2026-09")
OPENAI: Final = Source("Overview of OpenAI crawlers", "OpenAI", "2026-04")
ANTHROPIC: Final = Source("Does Anthropic crawl data from the web", "Anthropic", "2026-04")
PERPLEXITY: Final = Source("Perplexity crawlers", "Perplexity", "2025")
META: Final = Source("Meta web crawlers", "Meta", "2026-04")
AMAZON: Final = Source("About Amazonbot", "Amazon", "2026-09")
MISTRAL: Final = Source("Mistral crawlers", "Mistral", "2026")
COMMON_CRAWL: Final = Source("CCBot", "Common Crawl", "2026-10")

DELAY: Final = "how long does it wait?"
FOLLOWS: Final = "does it always follow robots.txt?"


class Question(NamedTuple):
    """What *crawler* makes of *robots*: may it request the path *about*, or `DELAY`, or `FOLLOWS`?"""

    crawler: str
    robots: str
    about: str
    answer: bool | float | None
    document: Source


SHUT: Final = "User-agent: *\nDisallow: /\n"
BAR: Final = f"User-agent: googlebot\nDisallow: /bar\n\n{SHUT}"
PERSONAL: Final = "User-agent: Googlebot\nDisallow:\n\nUser-agent: Googlebot-Image\nDisallow: /personal\n"
THREE: Final = (
    "user-agent: googlebot-news\ndisallow: /1\n\nuser-agent: *\ndisallow: /2\n\n"
    "user-agent: googlebot\ndisallow: /3\n"
)
OTHER: Final = "User-agent: GoogleOther\nDisallow: /a\n\nUser-agent: Googlebot\nDisallow: /\n"
ADS: Final = f"User-agent: AdsBot-Google\nDisallow: /x\n\n{SHUT}"

OF_GOOGLE: Final = (
    Question("Googlebot-Image", BAR, "/bar", False, COMMON),
    Question("Googlebot-Image", BAR, "/foo", True, COMMON),
    Question("Googlebot-Video", BAR, "/foo", True, COMMON),
    Question("Googlebot-News", BAR, "/bar", False, COMMON),
    Question("Google-InspectionTool", BAR, "/foo", True, COMMON),
    Question("Google-CloudVertexBot", BAR, "/foo", True, COMMON),
    Question("Storebot-Google", BAR, "/foo", False, SPECIFICATION),
    Question("GoogleOther", BAR, "/foo", False, COMMON),
    Question("Google-Extended", BAR, "/foo", False, COMMON),
    Question("Googlebot-Image", PERSONAL, "/personal", False, COMMON),
    Question("Googlebot", PERSONAL, "/personal", True, COMMON),
    Question("Googlebot-News", THREE, "/3", True, SPECIFICATION),
    Question("GoogleOther-Image", OTHER, "/b", True, COMMON),
    Question("GoogleOther-Video", OTHER, "/a", False, COMMON),
    Question("AdsBot-Google", SHUT, "/", True, SPECIAL),
    Question("Mediapartners-Google", SHUT, "/", True, SPECIAL),
    Question("AdsBot-Google", ADS, "/x", False, SPECIAL),
    Question("AdsBot-Google-Mobile", ADS, "/x", True, SPECIAL),
    Question("Googlebot", "User-agent: Googlebot\nCrawl-delay: 10\n", DELAY, None, SPECIFICATION),
    Question("Google-Safety", "User-agent: Google-Safety\nDisallow: /\n", FOLLOWS, False, SPECIAL),
)

MSNBOT: Final = f"User-agent: msnbot\nDisallow: /a\nCrawl-delay: 7\n\n{SHUT}"
TWO_BOTS: Final = "User-agent: msnbot\nDisallow: /admin/\n\nUser-agent: bingbot\nDisallow: /mail/\n"
APPLES: Final = "User-agent: Applebot\nDisallow: /private/\n\nUser-agent: Googlebot\nDisallow: /\n"
NOT_TRAINED_ON: Final = "User-agent: Applebot-Extended\nDisallow: /private/\n"
IMAGES: Final = "User-agent: Googlebot-Image\nDisallow: /i/\n\nUser-agent: *\nDisallow: /s/\n"

OF_BING_AND_APPLE: Final = (
    Question("bingbot", MSNBOT, "/a", False, BINGBOT),
    Question("bingbot", MSNBOT, "/b", True, BINGBOT),
    Question("bingbot", MSNBOT, DELAY, 7.0, BINGBOT),
    Question("bingbot", TWO_BOTS, "/admin/", True, BINGBOT),
    Question("bingbot", TWO_BOTS, "/mail/", False, BINGBOT),
    Question("bingbot", f"User-agent: bingbot\nDisallow: /mail/\n\n{MSNBOT}", "/a", True, BINGBOT),
    Question("bingbot", SHUT, "/", False, BINGBOT),
    Question("bingbot", "User-agent: bingbot\nCrawl-delay: 5\n", DELAY, 5.0, BING_DELAY),
    Question("bingbot", "User-agent: *\nCrawl-delay: 3\n", DELAY, 3.0, BING_DELAY),
    Question("msnbot", "User-agent: msnbot\nCrawl-delay: 4\n", DELAY, 4.0, BING_DELAY),
    Question("Applebot", BAR, "/bar", False, APPLEBOT),
    Question("Applebot", BAR, "/foo", True, APPLEBOT),
    Question("Applebot", APPLES, "/x", True, APPLEBOT),
    Question("Applebot", APPLES, "/private/x", False, APPLEBOT),
    Question("Applebot", "User-agent: *\nDisallow: /not-allowed/\n", "/not-allowed/x", False, APPLEBOT),
    Question("Applebot", IMAGES, "/i/x", True, APPLEBOT),
    Question("Applebot", IMAGES, "/s/x", False, APPLEBOT),
    Question("Applebot-Extended", NOT_TRAINED_ON, "/private/x", False, APPLEBOT),
    Question("Applebot", NOT_TRAINED_ON, "/private/x", True, APPLEBOT),
    Question("iTMS", SHUT, FOLLOWS, False, APPLEBOT),
)


def shut_out(token: str) -> str:
    """A robots.txt that closes the site to *token* alone."""
    return f"User-agent: {token}\nDisallow: /\n"


OF_AI: Final = (
    Question("GPTBot", shut_out("GPTBot"), "/", False, OPENAI),
    Question("OAI-SearchBot", shut_out("GPTBot"), "/", True, OPENAI),
    Question("GPTBot", f"User-agent: GPTBot\nDisallow: /a\n\n{SHUT}", "/b", True, OPENAI),
    Question("ChatGPT-User", shut_out("ChatGPT-User"), FOLLOWS, False, OPENAI),
    Question("ClaudeBot", shut_out("ClaudeBot"), "/", False, ANTHROPIC),
    Question("Claude-User", shut_out("ClaudeBot"), "/", True, ANTHROPIC),
    Question("Claude-User", shut_out("Claude-User"), FOLLOWS, True, ANTHROPIC),
    Question("ClaudeBot", "User-agent: ClaudeBot\nCrawl-delay: 1\n", DELAY, 1.0, ANTHROPIC),
    Question("Claude-SearchBot", "User-agent: *\nCrawl-delay: 2\n", DELAY, 2.0, ANTHROPIC),
    Question("PerplexityBot", shut_out("PerplexityBot"), "/", False, PERPLEXITY),
    Question("Perplexity-User", shut_out("Perplexity-User"), FOLLOWS, False, PERPLEXITY),
    Question("meta-externalagent", shut_out("Meta-ExternalAgent"), "/", False, META),
    Question("meta-externalfetcher", shut_out("meta-externalfetcher"), FOLLOWS, False, META),
    Question("facebookexternalhit", SHUT, FOLLOWS, False, META),
    Question("Amazonbot", "User-agent: Amazonbot\nCrawl-delay: 10\n", DELAY, None, AMAZON),
    Question("Amzn-User", shut_out("Amzn-User"), FOLLOWS, False, AMAZON),
    Question("Amzn-SearchBot", shut_out("Amazonbot"), "/", True, AMAZON),
    Question("CCBot", "User-agent: CCBot\nCrawl-delay: 2\n", DELAY, 2.0, COMMON_CRAWL),
    Question("Google-NotebookLM", SHUT, FOLLOWS, False, TRIGGERED),
    Question("MistralAI-Training", shut_out("MistralAI-Training"), "/", False, MISTRAL),
)


def answered(question: Question) -> bool | float | None:
    as_read = reading(parse(question.robots.encode()), question.crawler)
    if question.about == DELAY:
        return as_read.crawl_delay
    if question.about == FOLLOWS:
        return not any(f"{words} robots.txt" in as_read.sentence for words in DISOBEYS.values())
    return as_read.verdict(f"https://example.com{question.about}").allowed


@pytest.mark.parametrize(
    "question", OF_GOOGLE + OF_BING_AND_APPLE + OF_AI, ids=lambda each: f"{each.crawler} {each.about}"
)
def test_a_crawler_does_what_a_document_says_that_its_profile_names(question: Question) -> None:
    crawler = crawler_of(question.crawler)
    assert crawler is not None
    assert question.document in crawler.documents
    assert answered(question) == question.answer


def test_sixty_different_questions_are_asked_with_answers_of_both_sides() -> None:
    for questions in (OF_GOOGLE, OF_BING_AND_APPLE, OF_AI):
        assert len(set(questions)) == 20
        on_paths = Counter(each.answer for each in questions if each.about.startswith("/"))
        assert min(on_paths[True], on_paths[False]) >= 4


# How a file is read by a profile.

BODY: Final = (
    b"User-agent: googlebot/2.1\nDisallow: /bar\nCrawl-delay: 9\n\nUser-agent: GPTBot\nUser-agent: ChatGPT-User\n"
    b"Disallow: /gpt\n\nUser-agent: *\nDisallow: /all\n"
)


@pytest.mark.parametrize(
    ("agent", "token", "group", "line", "sentence"),
    [
        ("GPTBot", "GPTBot", OWN, 5, "GPTBot is named, line 5"),
        ("gptbot", "gptbot", OWN, 5, "gptbot is named, line 5"),
        ("Googlebot", "Googlebot", OWN, 1, "Googlebot is named, line 1; it does not read Crawl-delay"),
        ("Applebot", "Googlebot", FALLBACK, 1, "Applebot follows the group of googlebot, line 1"),
        (
            "Googlebot-News", "Googlebot", FALLBACK, 1,
            "Googlebot-News follows the group of googlebot, line 1; it does not read Crawl-delay",
        ),
        ("bingbot", "bingbot", STAR, 9, ""),
        ("SomeOtherBot", "SomeOtherBot", STAR, 9, ""),
        ("*", "*", STAR, 9, ""),
        ("AdsBot-Google", "AdsBot-Google", NONE, 0, "AdsBot-Google ignores groups for *"),
        ("Google-Safety", "Google-Safety", STAR, 9, "Google-Safety does not follow robots.txt"),
        (
            "ChatGPT-User", "ChatGPT-User", OWN, 6,
            "ChatGPT-User is named, line 6; it does not always follow robots.txt",
        ),
        ("msnbot", "msnbot", STAR, 9, "msnbot was retired in 2010 and replaced by bingbot"),
        ("Gigabot", "Gigabot", STAR, 9, "Gigabot was retired in 2023"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_crawler(agent: str, token: str, group: str, line: int, sentence: str) -> None:
    as_read = reading(parse(BODY), agent)
    assert (as_read.agent, as_read.token, as_read.group, as_read.line) == (agent, token, group, line)
    assert as_read.sentence == sentence


@pytest.mark.parametrize(
    ("agent", "note"),
    [
        ("GPTBot", ""),
        ("ChatGPT-User", "ChatGPT-User does not always follow robots.txt"),
        ("Applebot", "Applebot follows the group of googlebot, line 1"),
    ],
)
def test_a_note_leaves_out_what_the_file_says_itself(agent: str, note: str) -> None:
    assert reading(parse(BODY), agent).note == note


def test_rfc_2_2_1_a_token_without_a_profile_is_asked_literally() -> None:
    robotstxt = parse(BAR.encode())
    for agent in ("Googlebot-Unknown", "Googlebotter", "MyBot", "*", ""):
        as_read = reading(robotstxt, agent)
        assert (as_read.crawler, as_read.token, as_read.sentence) == (None, agent, "")
        assert as_read.verdict("/bar") == robotstxt.verdict(agent, "/bar")


def test_a_crawler_with_nothing_special_is_asked_literally() -> None:
    robotstxt = parse(BODY)
    for crawler in CRAWLERS:
        as_read = reading(robotstxt, crawler.token)
        if not crawler.fallbacks and not crawler.ignores_star:
            assert as_read.token == crawler.token
            assert as_read.robotstxt is robotstxt


def test_google_what_is_for_all_does_not_count_for_a_crawler_that_ignores_it() -> None:
    as_read = reading(parse(b"User-agent: *\nDisallow: /\nCrawl-delay: 5\n"), "Mediapartners-Google")
    assert as_read.verdict("/").reason is Reason.NO_RULE
    assert as_read.verdict("/robots.txt").reason is Reason.ROBOTS_TXT
    assert as_read.crawl_delay is None


def test_a_file_without_groups_is_followed_by_nobody() -> None:
    as_read = reading(parse(b"Sitemap: https://example.com/s.xml\n"), "Googlebot-Image")
    assert (as_read.group, as_read.line, as_read.sentence) == (NONE, 0, "")
    assert as_read.group in GROUPS


def test_the_first_of_several_tokens_that_is_named_is_followed() -> None:
    assert token_for("Applebot", {"Googlebot", "Applebot"}.__contains__) == "Applebot"
    assert token_for("Applebot", {"Googlebot"}.__contains__) == "Googlebot"
    assert token_for("Applebot", set().__contains__) == "Applebot"
    assert token_for("AdsBot-Google", set().__contains__) is None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_profile_chooses_the_token_and_the_dialect_reads_the_file(dialect: str) -> None:
    robotstxt = parse(BAR.encode(), DIALECTS[dialect])
    as_read = reading(robotstxt, "Googlebot-Image")
    assert as_read.verdict("/bar") == robotstxt.verdict(as_read.token, "/bar")
    assert (as_read.verdict("/bar").line, as_read.line) == (2, 1)
    assert reading(robotstxt, "AdsBot-Google").verdict("/foo").allowed


def test_yandex_the_names_of_its_crawlers_contain_that_of_all() -> None:
    body = b"User-agent: Yandex\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n"
    google, yandex = (reading(parse(body, dialect), "YandexBot") for dialect in (GOOGLE, DIALECTS["yandex"]))
    assert (google.token, google.group, google.sentence) == (
        "Yandex", FALLBACK, "YandexBot follows the group of Yandex, line 1",
    )  # fmt: skip
    assert (yandex.token, yandex.group, yandex.sentence) == ("YandexBot", OWN, "YandexBot is named, line 1")
    for as_read in (google, yandex):
        assert [as_read.verdict(path).allowed for path in ("/a", "/b")] == [False, True]


def test_bing_a_delay_for_all_counts_beside_its_group_in_its_dialect() -> None:
    body = b"User-agent: msnbot\nDisallow: /a\n\nUser-agent: *\nCrawl-delay: 5\n"
    assert reading(parse(body), "bingbot").crawl_delay is None
    assert reading(parse(body, DIALECTS["bing"]), "bingbot").crawl_delay == 5.0


def test_the_line_is_that_which_names_the_crawler_where_those_for_all_count_too() -> None:
    body = b"User-agent: *\nDisallow: /\n\nUser-agent: GPTBot\nDisallow: /a\n"
    as_read = reading(parse(body, DIALECTS["geoportal-first"]), "GPTBot")
    assert (as_read.group, as_read.line, as_read.sentence) == (OWN, 4, "GPTBot is named, line 4")


# The table.


def test_each_crawler_whose_group_another_one_follows_is_in_the_table() -> None:
    known = {crawler.token for crawler in CRAWLERS}
    assert {token for crawler in CRAWLERS for token in crawler.fallbacks} <= known


def test_each_special_fact_has_a_document() -> None:
    for crawler in CRAWLERS:
        assert len(set(crawler.documents)) == len(crawler.documents)
        if crawler.fallbacks or crawler.reads_crawl_delay is not None:
            assert crawler.other_documents


def test_common_ai_crawlers_follow_their_own_group_or_that_of_all() -> None:
    """So what is closed to one that a row of a census does not name is what is closed to ``*``."""
    for name in COMMON_AI_CRAWLERS:
        crawler = crawler_of(name)
        assert crawler is not None
        assert not crawler.fallbacks
        assert not crawler.ignores_star
