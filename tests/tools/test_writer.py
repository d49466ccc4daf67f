"""What is written from choices says what was chosen, and the linter finds no fault in it."""

from __future__ import annotations

from itertools import product

import pytest

from scrapy_rep.protocol import parse
from scrapy_rep.tools.crawlers import AI_CRAWLERS, AI_CRAWLERS_IN_USE, CRAWLERS, SEARCH_CRAWLERS, Category
from scrapy_rep.tools.lint import Severity
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.file_linter import FileLinter
from scrapy_rep.tools.writer import TRAINING, ChoiceError, Choices, telling_paths, written

ALL = [
    Choices(closed, training, parameters, wordpress, sitemap, delay)
    for closed, training, parameters, wordpress, sitemap, delay in product(
        (False, True), (False, True), ((), ("sort",), ("sort", "filter[color]")), (False, True),
        ("", "https://www.example/sitemap.xml"), (0.0, 2.5),
    )
]  # fmt: skip
NOT_TRAINING = [token for token in AI_CRAWLERS_IN_USE if AI_CRAWLERS[token] is not Category.TRAINING]
OTHERS = ["*", *SEARCH_CRAWLERS, *NOT_TRAINING, "ExampleBot"]
ADS = "AdsBot-Google"


def test_every_combination_lints_without_errors_and_warnings() -> None:
    for choices in ALL:
        found = FileLinter(Config()).lint("robots.txt", written(choices).encode()).findings
        assert not [one for one in found if one.severity in {Severity.ERROR, Severity.WARNING}], choices
    assert len(ALL) == 96


def test_the_verdicts_of_every_combination_are_what_was_chosen() -> None:
    for choices in ALL:
        file = parse(written(choices).encode())
        is_open = not choices.is_closed
        for agent in OTHERS[::7]:
            assert file.verdict(agent, "/").allowed is is_open
            for path in ("/shoes?sort=price", "/shoes?page=2&sort=price"):
                assert file.verdict(agent, path).allowed is (is_open and not choices.parameters)
            assert file.verdict(agent, "/shoes?resort=1").allowed is is_open
            assert file.verdict(agent, "/wp-admin/x").allowed is (is_open and not choices.is_wordpress)
            assert file.verdict(agent, "/?s=shoes").allowed is (is_open and not choices.is_wordpress)
            assert file.verdict(agent, "/wp-admin/admin-ajax.php").allowed is is_open
        for agent in TRAINING:
            assert file.verdict(agent, "/").allowed is (is_open and not choices.is_training_closed)
        assert file.sitemaps == ((choices.sitemap,) if choices.sitemap and is_open else ())
        assert file.crawl_delay("*") == (choices.delay if choices.delay and is_open else None)


def test_what_trains_ai_is_shut_out_and_no_other_known_crawler_is() -> None:
    file = parse(written(Choices(is_training_closed=True)).encode())
    shut = {crawler.token for crawler in CRAWLERS if not file.verdict(crawler.token, "/").allowed}
    assert shut == {*TRAINING}
    assert {"GPTBot", "ClaudeBot", "Google-Extended"} <= shut
    assert not shut & {"Googlebot", "OAI-SearchBot", "ChatGPT-User"}


def test_a_closed_site_is_closed_to_crawlers_that_follow_no_group_for_all_too() -> None:
    text = written(Choices(is_closed=True))
    assert parse(text.encode()).has_group(ADS)
    assert not parse(text.encode()).verdict(ADS, "/").allowed
    assert not parse(written(Choices()).encode()).has_group(ADS)


def test_each_part_is_explained_by_a_comment_above_it() -> None:
    for choices in ALL:
        for part in written(choices).split("\n\n"):
            assert part.startswith("# ")
    text = written(Choices(parameters=("sort",), is_wordpress=True, delay=1))
    for line in ("Disallow: /*?sort=", "Disallow: /wp-admin/", "Disallow: /?s=", "Crawl-delay: 1"):
        before = text.splitlines()[text.splitlines().index(line) - 1]
        assert before.startswith("# ")


def test_the_telling_paths_are_those_on_which_a_choice_makes_a_difference() -> None:
    choices = Choices(parameters=("a", "b", "c", "d"), is_wordpress=True)
    file, nothing = parse(written(choices).encode()), parse(written(Choices()).encode())
    first, *others = telling_paths(choices)
    assert first == "/"
    assert len(others) == 4
    assert not any(file.verdict("*", path).allowed for path in others)
    assert all(nothing.verdict("*", path).allowed for path in others)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (Choices(parameters=("sort=",)), "'sort=' is not a parameter name"),
        (Choices(parameters=("a\nDisallow: /",)), "is not a parameter name"),
        (Choices(parameters=("a*",)), "is not a parameter name"),
        (Choices(parameters=("",)), "is not a parameter name"),
        (Choices(parameters=tuple(map(str, range(51)))), "at most 50 parameters; 51 were given"),
        (Choices(delay=-1), "between 0 and 60 seconds"),
        (Choices(delay=float("nan")), "between 0 and 60 seconds"),
        (Choices(sitemap="/sitemap.xml"), "must be a complete URL"),
        (Choices(sitemap="https://a.test/\nDisallow: /"), "must be a complete URL"),
        (Choices(sitemap="https://a.test/x#y"), "must be a complete URL"),
        (Choices(sitemap="https://[/"), "must be a complete URL"),
        (Choices(sitemap="https://a.test/" + "x" * 2_000), "must be a complete URL"),
    ],
)
def test_a_value_that_fits_in_no_line_is_refused(choices: Choices, message: str) -> None:
    with pytest.raises(ChoiceError, match=r"^[A-Z'].*\.$") as raised:
        written(choices)
    assert message in str(raised.value)
