"""Product tokens of crawlers and of user-agent lines: RFC 9309 section 2.2.1."""

from __future__ import annotations

import pytest

from scrapy_rep.protocol import product_token
from scrapy_rep.protocol.product_token import Token, is_global


def named(token: str | bytes, value: bytes, *, wide: bool = True) -> bool:
    return Token.of(token, wide=wide).is_named_by(value)


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Scrapy/2.19 (+https://scrapy.org)", "Scrapy"),
        ("Scrapy", "Scrapy"),
        ("my-bot_x", "my-bot_x"),
        ("MJ12bot/1.4", "MJ12bot"),
        ("news.bot.v2", "news.bot.v2"),
        ("  spaced/1", "spaced"),
        ("First/1 Second/2", "First"),
        ("bücher/1", "bücher"),
    ],
)
def test_rfc_2_2_1_the_first_product_of_a_header_is_the_token(header: str, token: str) -> None:
    assert product_token(header) == token


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Mozilla/5.0 (compatible; Examplebot/2.1; +http://bot.example/)", "Examplebot"),
        (
            "Mozilla/5.0 (X11) AppleWebKit/537 (KHTML, like Gecko; compatible; Late/1.2; +https://x.example)",
            "Late",
        ),
        ("Mozilla/5.0 (X11) Gecko/1 Firefox/1 (compatible; Tail12/3)", "Tail12"),
        ("Mozilla/5.0 (COMPATIBLE;Tight)", "Tight"),
        ("mozilla/5.0 (compatible; lower/1)", "lower"),
    ],
    ids=["usual", "inside-a-comment", "after-products", "no-white-space", "lower-case-mozilla"],
)
def test_ours_after_mozilla_the_name_behind_compatible_is_the_token(header: str, token: str) -> None:
    assert product_token(header) == token


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (
            "Mozilla/5.0 (Macintosh) AppleWebKit/600 (KHTML, like Gecko) Safari/600 (Fruit/0.1; +http://f.example)",
            "Fruit",
        ),
        ("Mozilla/5.0 (Linux; Named/3.2; https://n.example)", "Named"),
        ("Mozilla/5.0 (Any/1; HTTP://a.example)", "Any"),
    ],
    ids=["plus", "behind-a-semicolon", "upper-case-http"],
)
def test_ours_after_mozilla_a_comment_with_an_address_names_the_crawler(header: str, token: str) -> None:
    assert product_token(header) == token


def test_ours_compatible_comes_before_a_comment_with_an_address() -> None:
    header = "Mozilla/5.0 (Second/1; +http://s.example) (compatible; First/1)"

    assert product_token(header) == "First"


@pytest.mark.parametrize(
    "header",
    [
        "Mozilla",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120",
        "Mozilla/5.0 (compatible; )",
        "Mozilla/5.0 (Name/1; no address)",
        "Mozilla/5.0 (incompatible; Name)",
        "Mozilla/5.0 (Name; +http://n.example)",
    ],
    ids=["bare", "browser", "compatible-with-nothing", "no-address", "incompatible", "no-version"],
)
def test_ours_a_browser_that_does_not_say_who_it_is_is_mozilla(header: str) -> None:
    assert product_token(header) == "Mozilla"


def test_ours_compatible_counts_behind_mozilla_alone() -> None:
    assert product_token("Mybot/1 (compatible; Other/2)") == "Mybot"
    assert product_token("Mozillabot/1 (compatible; Other/2)") == "Mozillabot"


@pytest.mark.parametrize("header", ["", " ", "*", "()/;", "\t"])
def test_ours_a_header_without_a_usable_character_has_no_token(header: str) -> None:
    assert product_token(header) == ""


def test_ours_octets_that_are_no_text_survive_in_a_token() -> None:
    assert product_token(b"caf\xe9bot/1") == "caf\udce9bot"
    assert Token.of("caf\udce9bot", wide=True).name == b"caf\xe9bot"


@pytest.mark.parametrize("value", [b"*", b"* ", b"*\tall of you", b"* foo", b"*\x0bx", b"*\x0cx"])
def test_google_a_star_alone_or_before_white_space_is_global(value: bytes) -> None:
    assert is_global(value)


@pytest.mark.parametrize("value", [b"", b"*foo", b"**", b"*/1", b" *", b"a*", b"*\xc2\xa0x"])
def test_google_any_other_value_is_not_global(value: bytes) -> None:
    assert not is_global(value)


def test_rfc_2_2_1_tokens_are_compared_without_case() -> None:
    assert named("ExampleBot", b"eXAMPLEbOT")
    assert named("examplebot", b"EXAMPLEBOT")
    assert not named("examplebot", b"exampleb0t")


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("Examplebot-Image", b"Examplebot"),
        ("Examplebot", b"Examplebot-Image"),
        ("mybot", b"my"),
        ("my", b"mybot"),
        ("bot", b"mybot"),
        ("mybot", b"bot"),
        ("mybot", b""),
        ("", b"mybot"),
    ],
)
@pytest.mark.parametrize("wide", [True, False], ids=["wide", "narrow"])
def test_rfc_2_2_1_a_token_is_equal_or_it_is_not(token: str, value: bytes, wide: bool) -> None:
    assert not named(token, value, wide=wide)
    assert named(token, token.encode(), wide=wide)


@pytest.mark.parametrize(
    "value",
    [b"Foobot/2.1", b"Foobot Images", b"Foobot*", b"foobot, barbot", b"Foobot2", b"Foobot\xc3\xa9", b"Foobot."],
)
@pytest.mark.parametrize("wide", [True, False], ids=["wide", "narrow"])
def test_google_a_token_in_the_file_ends_at_the_first_other_character(value: bytes, wide: bool) -> None:
    assert named("foobot", value, wide=wide)
    assert not named("barbot", value, wide=wide)


@pytest.mark.parametrize("value", [b"/foobot", b"1foobot", b"(foobot)", b".foobot", b"\xc3\xa9foobot"])
def test_google_a_value_that_starts_outside_is_the_empty_token(value: bytes) -> None:
    assert named("", value, wide=False)
    assert not named("foobot", value, wide=False)


def test_google_a_name_with_a_digit_is_never_addressed() -> None:
    assert not named("MJ12bot", b"MJ12bot", wide=False)
    assert named("MJ", b"MJ12bot", wide=False)


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("MJ12bot", b"MJ12bot"),
        ("MJ12bot", b"mj12BOT/1.4"),
        ("news.bot", b"News.Bot (comment)"),
        ("bücher", "bücher".encode()),
        ("b\udcfccher", b"b\xfccher"),
        ("360Spider", b"360spider, other"),
        ("MJ12bot/2.0", b"MJ12bot"),
    ],
)
def test_ours_a_name_beyond_rfc_characters_is_compared_on_all_of_them(token: str, value: bytes) -> None:
    assert named(token, value)
    assert not named(token, value, wide=False)


@pytest.mark.parametrize("value", [b"MJ", b"MJ12", b"MJ12bot2", b"MJ12bot.x", b"MJ13bot", b"MJ12bot\xc3\xa9"])
def test_ours_a_wide_name_is_equal_or_it_is_not(value: bytes) -> None:
    assert not named("MJ12bot", value)
    assert named("MJ12bot", b"MJ12bot")


def test_ours_a_name_of_rfc_characters_still_cuts_the_line_as_google_does() -> None:
    assert named("MJ", b"MJ12bot")
    assert not named("MJ1", b"MJ12bot")


def test_ours_case_is_folded_in_ascii_alone() -> None:
    assert named("Éric", "Éric".encode())
    assert named("Éric", "ÉRIC".encode())
    assert not named("Éric", "éric".encode())
