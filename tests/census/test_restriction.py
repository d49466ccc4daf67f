"""What a robots.txt effectively closes to a crawler."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from scrapy_rep.census import Capture, long, rows
from scrapy_rep.protocol import DIALECTS, parse
from tests.protocol.test_google_verdicts import FOLDER, bodies

HAND_COUNTED = Path(__file__).with_name("hand_counted.tsv")


def closed(body: str, agent: str = "GPTBot", dialect: str = "google") -> tuple[str, int]:
    """What is closed to *agent*, and the line that shows it."""
    capture = Capture("https://h/robots.txt", 200, body.encode())
    (row,) = rows([capture], agents=[agent], dialect=DIALECTS[dialect], light=True)
    return row["restriction"][agent], row["restriction_lines"][agent]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("Disallow:", ("none", 1)),
        ("Allow: /", ("none", 1)),
        ("Disallow: /", ("all", 2)),
        ("Disallow: /*", ("all", 2)),
        ("Disallow: *", ("all", 2)),
        ("Disallow: /$", ("part", 2)),
        ("Disallow: /a", ("part", 2)),
        ("Disallow: *.pdf$", ("part", 2)),
        ("Disallow: /*?", ("part", 2)),
        ("Disallow: a", ("none", 1)),
        ("Disallow: /\nAllow: /", ("none", 3)),
        ("Disallow: /a\nAllow: /", ("part", 2)),
        ("Disallow: /a\nAllow: /a", ("none", 1)),
        ("Disallow: /a\nAllow: /a\nDisallow: /b", ("part", 4)),
        ("Disallow: /\nAllow: /a", ("part", 2)),
        ("Disallow: /\nAllow: /$", ("part", 2)),
        ("Disallow: /\nAllow:", ("all", 2)),
        ("Disallow: /\nAllow: /robots.txt", ("all", 2)),
        ("Disallow: /\nAllow: /robots.txt$\nAllow: /a", ("part", 2)),
        ("Disallow: /\nAllow: a", ("all", 2)),
        ("Disallow: /*\nAllow: /a", ("part", 2)),
        ("Disallow: /**********\nAllow: /a", ("all", 2)),
        ("Disallow: //\n", ("part", 2)),
        ("Disallow: /caf\u00e9/", ("part", 2)),
        ("Disallow: /a%2Fb", ("part", 2)),
        ("Disallow: /a$b", ("part", 2)),
        ("Disallow: /$\nDisallow: /a", ("part", 2)),
        ("Disallow: /$\nDisallow: /*-", ("part", 2)),
        ("Disallow: /$\nDisallow: /*!", ("part", 2)),
        ("Disallow: /\nAllow: /a\nAllow: /index.htm", ("part", 2)),
        ("Crawl-delay: 5", ("none", 1)),
    ],
)
def test_rfc_2_2_2_a_rule_counts_when_it_decides_about_a_url(rules: str, expected: tuple[str, int]) -> None:
    assert closed(f"User-agent: GPTBot\n{rules}") == expected
    assert closed(f"User-agent: *\n{rules}") == expected, "through *"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", ("none", 0)),
        ("User-agent: CCBot\nDisallow: /", ("none", 0)),
        ("User-agent: *\nDisallow: /\nUser-agent: gptbot/1.0\nDisallow:", ("none", 3)),
        ("User-agent: *\nDisallow:\nUser-agent: gptbot\nDisallow: /", ("all", 4)),
        ("User-agent: gptbot\nAllow: /a\nUser-agent: x\nAllow: /\nUser-agent: gptbot\nDisallow: /", ("part", 6)),
    ],
)  # fmt: skip
def test_rfc_2_2_1_its_own_groups_together_replace_those_of_all(body: str, expected: tuple[str, int]) -> None:
    assert closed(body) == expected


FOR_GOOGLE = "User-agent: googlebot\nDisallow: /a\nCrawl-delay: 5\n\nUser-agent: *\nDisallow: /\n"


@pytest.mark.parametrize(
    ("agent", "expected", "by", "level"),
    [
        ("Googlebot-Image", ("part", 2), "fallback", "pattern"),
        ("googlebot-image", ("part", 2), "fallback", "pattern"),
        ("Applebot", ("part", 2), "fallback", "pattern"),
        ("Storebot-Google", ("all", 6), "*", "full"),
        ("AdsBot-Google", ("none", 0), None, "none"),
    ],
)
def test_google_a_known_crawler_is_asked_about_by_its_profile(
    agent: str, expected: tuple[str, int], by: str | None, level: str
) -> None:
    capture = Capture("https://h/robots.txt", 200, FOR_GOOGLE.encode())
    for asked in ([agent], []):  # when the row is made, and of a row that is there
        (row,) = rows([capture], agents=asked, light=True)
        found = {each["agent"].lower(): each for each in long([row], [agent])}[agent.lower()]
        assert (found["treatment"], found["line"]) == expected
        assert (found["by"], found["level"]) == (by, level)
    (row,) = rows([capture], agents=[agent], light=True)
    (name,) = {*row["restriction"]} - {"*", "Googlebot"}
    assert (row["restriction"][name], row["restriction_lines"][name]) == expected
    assert (name in row["home_closed"]) is (by == "*")
    assert row["named"] == {"Googlebot": 1}


def test_a_crawler_follows_its_own_group_before_that_of_another() -> None:
    assert closed(f"{FOR_GOOGLE}\nUser-agent: Applebot\nDisallow:\n", "Applebot") == ("none", 8)


def test_the_first_match_decides_where_the_dialect_says_so() -> None:
    body = "User-agent: GPTBot\nAllow: /\nDisallow: /a\n"
    assert (closed(body)[0], closed(body, dialect="geoportal-first")[0]) == ("part", "none")


@pytest.mark.parametrize(
    ("rules", "dialect", "expected"),
    [
        ("Disallow: /$", "1994", "part"),
        ("Disallow: /a*b", "1996", "part"),
        ("Disallow: $", "rambler-2006", "part"),
        ("Allow:", "geoportal-first", "all"),
        ("Allow:\nAllow: /a", "geoportal-longest", "part"),
    ],
)
def test_rules_mean_what_the_dialect_makes_of_them(rules: str, dialect: str, expected: str) -> None:
    assert closed(f"User-agent: GPTBot\n{rules}", dialect=dialect)[0] == expected


_AGENTS = ("*", "GPTBot", "CCBot/2.0", "MJ12bot", "* x")
_PIECES = ("/", "a", "b", "*", "$", "?", ".", "!", "-", "%2F", "\u00e9", "index.html")


def _random_file(choose: random.Random) -> str:
    lines = []
    for _ in range(choose.randint(1, 2)):
        lines += [f"User-agent: {choose.choice(_AGENTS)}" for _ in range(choose.randint(1, 2))]
        for _ in range(choose.randint(0, 4)):
            pattern = "/" * (choose.random() < 0.7) + "".join(choose.choices(_PIECES, k=choose.randint(0, 3)))
            lines.append(f"{choose.choice(('Disallow', 'Disallow', 'Allow'))}: {pattern}")
    return "\n".join(lines)


def _random_paths(choose: random.Random, body: str) -> set[str]:
    """Some paths, and those that the rules of *body* are about."""
    values = [line.partition(": ")[2] for line in body.splitlines() if not line.startswith("User-agent")]
    shapes = [
        value.replace("*", each).removesuffix(end) for value in values for each in ("", "x", "*") for end in "$ "
    ]
    paths = {"/" + shape.removeprefix("/") + tail for shape in shapes for tail in ("", "z", "/")}
    paths |= {"/" + "".join(choose.choices(_PIECES, k=choose.randint(0, 3))) for _ in range(20)} | {"/zz"}
    return paths - {"/robots.txt"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_verdicts_on_any_urls_are_what_the_restriction_says(dialect: str) -> None:
    choose, asked = random.Random(dialect), ("GPTBot", "CCBot", "MJ12bot", "zzz")  # noqa: S311
    for _ in range(60):
        body = _random_file(choose)
        paths, robotstxt = _random_paths(choose, body), parse(body.encode(), DIALECTS[dialect])
        capture = Capture("https://h/robots.txt", 200, body.encode())
        (row,) = rows([capture], agents=asked, dialect=DIALECTS[dialect], light=True)
        for agent in asked:
            verdicts = {robotstxt.verdict(agent, f"https://h{path}").allowed for path in paths}
            expected = {"none": {True}, "all": {False}, "part": {True, False}}[row["restriction"][agent]]
            assert verdicts == expected, (agent, body)


def test_who_may_not_request_the_home_page_is_listed() -> None:
    body = b"User-agent: *\nDisallow: /$\nUser-agent: CCBot\nDisallow: /a\n"
    (row,) = rows([Capture("https://h/robots.txt", 200, body)], agents=["GPTBot", "CCBot"])
    assert row["home_closed"] == ["*", "GPTBot"]


def test_a_known_crawler_that_is_named_is_told_though_nobody_asked() -> None:
    (row,) = rows([Capture("https://h/robots.txt", 200, b"User-agent: bingbot\nDisallow: /")], agents=[])
    assert (row["restriction"], row["named"]) == ({"*": "none", "bingbot": "all"}, {"bingbot": 1})


def test_thousands_of_rules_that_decide_nothing_take_no_second() -> None:
    rules = "".join(f"Disallow: /{number}x\nAllow: /{number}x\n" for number in range(20_000))
    assert closed(f"User-agent: *\n{rules}")[0] == "none"


def hand_counted() -> dict[str, dict[str, str]]:
    with HAND_COUNTED.open(encoding="utf-8", newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        return {row["host"]: row for row in csv.DictReader(lines, delimiter="\t")}


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_a_hundred_files_are_counted_as_by_hand() -> None:
    """Whether any AI crawler is restricted, what is closed to all others, and to GPTBot, and how."""
    expected, files = hand_counted(), bodies(Path(FOLDER))
    captures = [Capture(f"https://{host}/robots.txt", 200, files[host]) for host in expected]
    by_hand, found = [], []
    for (host, row), values in zip(expected.items(), rows(captures, light=True), strict=True):
        of = {each["agent"]: each for each in long([values])}
        is_any = any(
            each["treatment"] != "none" for each in of.values() if each["category"] or each["agent"] == "*"
        )
        gptbot = of["GPTBot"]
        found.append(
            (host, "yes" if is_any else "no", of["*"]["treatment"], gptbot["treatment"], gptbot["by"] or "nothing")
        )
        by_hand.append((host, row["any"], row["star"], row["gptbot"], row["gptbot_by"]))
    assert len(found) == 100
    assert found == by_hand
