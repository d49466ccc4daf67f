"""The names of crawlers as a census counts them."""

from __future__ import annotations

import pytest

from scrapy_rep.census import Capture, long, rows


def names(*values: str) -> list[str]:
    body = "".join(f"User-agent: {value}\nDisallow: /{number}\n" for number, value in enumerate(values))
    (row,) = rows([Capture("s", body=body.encode("utf-8", "surrogateescape"))], light=True)
    return [*row["agents_disallow"]]


@pytest.mark.parametrize(
    "value", ["The Knowledge AI", "Web Downloader", "Download Ninja", "URLy Warning", "Xaldon WebSpider"]
)
def test_a_name_of_several_words_stays_whole(value: str) -> None:
    assert names(value) == [value]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("GPTBot/1.0", "GPTBot"),
        ("GPTBot 1.0", "GPTBot"),
        ("Mozilla/5.0 (compatible; X)", "Mozilla"),
        ("Web Downloader/6.9", "Web Downloader"),
        ("FrontPage Express (x)", "FrontPage Express"),
        ("Microsoft URL Control - 5.01.4511", "Microsoft URL Control"),
        ("NetZip  Downloader v1.0b", "NetZip Downloader"),
        ("Foobot, Barbot", "Foobot"),
    ],
)
def test_a_name_has_no_version_and_no_comment(value: str, name: str) -> None:
    assert names(value) == [name]


def test_what_follows_the_name_of_a_known_crawler_is_not_in_it() -> None:
    assert names("GPTBot and friends", "gptbot") == ["GPTBot"]
    assert names("* for all", "'quoted'") == ["*", ""]


def test_a_name_has_at_most_64_octets() -> None:
    assert names("x" * 5_000) == ["x" * 64]
    assert names("x " * 5_000) == [("x " * 32).strip()]
    assert names("ä b" * 5_000)[0].startswith("ä bä b")


@pytest.mark.parametrize("agent", ["GPTBot", "mybot", "Web"])
def test_the_delay_of_a_crawler_is_found_by_its_token(agent: str) -> None:
    body = f"User-agent: {agent} Downloader\nCrawl-delay: 5\n".encode()
    found = long(rows([Capture("s", body=body)], agents=[agent], light=True), [agent])
    assert {row["agent"]: row["level"] for row in found} == {"*": "none", agent: "sitemap and delay only"}
