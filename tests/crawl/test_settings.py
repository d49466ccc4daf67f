"""Every ``REP_*`` setting is parsed and checked, and messages say what is expected."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import ScrapyDeprecationWarning
from scrapy.settings import Settings

from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import DIALECTS, GOOGLE, GOOGLE_EXACT, Access
from scrapy_rep.settings import _FIELDS, _REMOVED, RepSettings, Unreachable


def read(**settings: Any) -> RepSettings:
    return RepSettings.from_settings(Settings(settings))


def test_without_any_setting_the_defaults_apply() -> None:
    settings = read()
    assert settings == RepSettings()
    assert (settings.dialect, settings.max_size, settings.unreachable) == (GOOGLE, 512_000, Unreachable.DISALLOW)
    assert (settings.unreachable_wait, settings.max_waiting) == (30.0, 1_000)


@pytest.mark.parametrize(
    ("name", "value", "attribute", "expected"),
    [
        ("REP_DIALECT", "google-exact", "dialect", GOOGLE_EXACT),
        ("REP_DIALECT", "yandex", "dialect", DIALECTS["yandex"]),
        ("REP_MAX_SIZE", "1000", "max_size", 1_000),
        ("REP_TIMEOUT", "2.5", "timeout", 2.5),
        ("REP_RETRY_TIMES", 0, "retry_times", 0),
        ("REP_UNREACHABLE", "allow", "unreachable", Unreachable.ALLOW),
        ("REP_UNREACHABLE_WAIT", 0, "unreachable_wait", 0.0),
        ("REP_CRAWL_DELAY", "obey", "crawl_delay", True),
        ("REP_CRAWL_DELAY", "always", "crawl_delay", True),
        ("REP_CRAWL_DELAY", "ignore", "crawl_delay", False),
        ("REP_CRAWL_DELAY_MAX", "60", "crawl_delay_max", 60.0),
        ("REP_CRAWL_DELAY_OVER_MAX", "skip", "crawl_delay_over_max", "skip"),
        ("REP_USER_AGENTS", ["my-news", "my"], "user_agents", ("my-news", "my")),
        ("REP_USER_AGENTS", "my-news, my", "user_agents", ("my-news", "my")),
        ("REP_USER_AGENTS", "my/1.0 (+https://my.example)", "user_agents", ("my",)),
        ("REP_USER_AGENTS", ["my (+https://my.example)"], "user_agents", ("my",)),
        ("REP_USER_AGENTS", ["Mozilla/5.0 (compatible; my/1.0)"], "user_agents", ("my",)),
        ("REP_REDIS_URL", "redis://h", "redis_url", "redis://h"),
        ("REP_REDIS_URL", "rediss://u:p@[::1]:7/1?a=b", "redis_url", "rediss://u:p@[::1]:7/1?a=b"),
        ("REP_REDIS_URL", "unix:///run/redis.sock", "redis_url", "unix:///run/redis.sock"),
        ("REP_REDIS_REQUIRED", "True", "redis_required", True),
        ("REP_WORKERS", "10", "workers", 10),
        ("REP_CLIENT_META", ["impersonate", "cookiejar"], "client_meta", {"impersonate", "cookiejar"}),
        ("REP_CLIENT_META", "impersonate, cookiejar", "client_meta", {"impersonate", "cookiejar"}),
        ("REP_CLIENT_META", "", "client_meta", set()),
        ("REP_STATUS_ACCESS", {403: "disallow"}, "status_access", {403: Access.UNREACHABLE}),
        ("REP_STATUS_ACCESS", '{"503": "allow"}', "status_access", {503: Access.UNAVAILABLE}),
    ],
)
def test_a_setting_is_read_as_code_or_as_text(name: str, value: Any, attribute: str, expected: Any) -> None:
    assert getattr(read(**{name: value}), attribute) == expected


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("REP_DIALECT", "Bing", "google, google-exact, 1994"),
        ("REP_DIALECT", ["google"], "google, google-exact"),
        ("REP_MAX_SIZE", -1, "octets, 1 or more"),
        ("REP_MAX_SIZE", 0, "octets, 1 or more"),
        ("REP_MAX_SIZE", "many", "octets, 1 or more"),
        ("REP_MAX_SIZE", 1.5, "octets, 1 or more"),
        ("REP_MAX_SIZE", True, "octets, 1 or more"),
        ("REP_MAX_SIZE", float("inf"), "octets, 1 or more"),
        ("REP_TIMEOUT", 0, "seconds above 0"),
        ("REP_TIMEOUT", "nan", "seconds above 0"),
        ("REP_RETRY_TIMES", -1, "0 or more"),
        ("REP_UNREACHABLE", "maybe", "one of disallow, allow, retry, raise"),
        ("REP_UNREACHABLE_WAIT", -1, "seconds, 0 or more"),
        ("REP_REDIS_TIMEOUT", 0, "seconds above 0"),
        ("REP_REDIS_PREFIX", 5, "a string"),
        ("REP_WORKERS", 0, "processes, 1 or more"),
        ("REP_CLIENT_META", 5, "a list of meta keys"),
        ("REP_CRAWL_DELAY", True, "one of obey, always, ignore"),
        ("REP_CRAWL_DELAY_MAX", 0, "seconds above 0"),
        ("REP_CRAWL_DELAY_MAX", "inf", "seconds above 0"),
        ("REP_CRAWL_DELAY_OVER_MAX", "ignore", "one of cap, obey, skip"),
        ("REP_STATUS_ACCESS", {403: "deny"}, "statuses from 200 to 599 to allow"),
        ("REP_STATUS_ACCESS", {99: "allow"}, "statuses from 200 to 599 to allow"),
        ("REP_STATUS_ACCESS", "403", "statuses from 200 to 599 to allow"),
        ("REP_STATUS_ACCESS", "{403", "statuses from 200 to 599 to allow or disallow, or the same as JSON"),
        ("REP_STATUS_ACCESS", [403], "statuses from 200 to 599 to allow"),
        ("REP_USER_AGENTS", ["", "my"], "list of product tokens"),
        ("REP_USER_AGENTS", "(+)", "list of product tokens"),
        ("REP_USER_AGENTS", ["User-Agent: my/1.0"], "list of product tokens"),
        ("REP_USER_AGENTS", ["https://my.example/bot"], "list of product tokens"),
        ("REP_USER_AGENTS", ["www.my.example/bot"], "list of product tokens"),
        ("REP_USER_AGENTS", "my bot", "such as ExampleBot, without spaces"),
        ("REP_USER_AGENTS", ["my bot/1.0"], "such as ExampleBot, without spaces"),
        ("REP_USER_AGENTS", ["fine", "my+bot"], "such as ExampleBot, without spaces"),
        ("REP_USER_AGENTS", 5, "list of product tokens"),
        ("REP_USER_AGENTS", [5], "list of product tokens"),
        ("REP_REQUEST_HOOK", "no.such.module", "import path"),
        ("REP_REQUEST_HOOK", "math.pi", "import path"),
        ("REP_REQUEST_HOOK", "math.missing", "import path .*doesn't define any object named 'missing'"),
        ("REP_TARGET_URL", "no.such.module", "import path .No module named 'no'"),
        ("REP_STORE", "no.such.Store", "import path of a store class .No module named 'no'"),
        ("REP_STORE", "redis", "sqlite, memory, or the import path"),
    ],
)
def test_an_invalid_value_names_the_setting_and_what_is_expected(name: str, value: Any, expected: str) -> None:
    with pytest.raises(InvalidSettingError, match=expected) as caught:
        read(**{name: value})
    assert str(caught.value).startswith(f"{name} = {value!r}: expected ")


def test_an_invalid_value_is_reported_without_the_exception_behind_it() -> None:
    with pytest.raises(InvalidSettingError) as caught:
        read(REP_MAX_SIZE="many")
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "url", ["s3cr3t", "http://:s3cr3t@h", "redis://", "redis://:s3c/r3t@h", "redis://h:s3cr3t", "unix://", 5]
)
def test_an_invalid_redis_url_is_not_shown(url: Any) -> None:
    with pytest.raises(InvalidSettingError, match=r"^REP_REDIS_URL: expected redis://") as caught:
        read(REP_REDIS_URL=url)
    assert "s3c" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_the_repr_of_the_settings_does_not_show_the_redis_url() -> None:
    assert "s3cr3t" not in repr(read(REP_REDIS_URL="redis://:s3cr3t@h"))


def test_a_misspelt_setting_suggests_the_closest_one() -> None:
    with pytest.raises(InvalidSettingError, match="unknown setting REP_TIMOUT: did you mean REP_TIMEOUT"):
        read(REP_TIMOUT=5)


def test_a_removed_setting_is_ignored_with_a_warning_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_REMOVED, "REP_QQQQ", "set DOWNLOAD_DELAY")
    with pytest.warns(ScrapyDeprecationWarning, match=r"^REP_QQQQ no longer has an effect: set DOWNLOAD_DELAY$"):
        assert read(REP_QQQQ=object()) == RepSettings()


def test_a_setting_of_the_release_candidate_that_was_removed_still_starts_a_crawl() -> None:
    with pytest.warns(ScrapyDeprecationWarning, match=r"^REP_RATE_AND_VISIT_TIME no longer has an effect: "):
        assert read(REP_RATE_AND_VISIT_TIME=True) == RepSettings()


def test_a_removed_setting_is_not_one_that_exists() -> None:
    assert _FIELDS.keys().isdisjoint(_REMOVED)


def test_an_unknown_setting_lists_those_that_exist() -> None:
    with pytest.raises(InvalidSettingError, match="unknown setting REP_QQQQ: expected one of REP_USER_AGENTS, "):
        read(REP_QQQQ=5)


def test_a_min_ttl_above_the_max_ttl_is_rejected() -> None:
    with pytest.raises(InvalidSettingError, match="REP_MIN_TTL = 600: expected at most REP_MAX_TTL, which is 300"):
        read(REP_MIN_TTL=600, REP_MAX_TTL=300)


def hook(request: Request, cause: Request) -> Request:
    return request


def test_a_hook_is_found_by_its_import_path() -> None:
    assert read(REP_REQUEST_HOOK=f"{__name__}.hook").request_hook is hook
