"""Which URL a request fetches from: its own, or the one that it asks a service for; and how it may be shown."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request

from scrapy_rep import TargetUrlError
from scrapy_rep.crawl.runtime.targets import Targets

API = Targets({"api.example": "url"})
PLAIN = Targets()
KEY = "s3cret"


def test_a_request_fetches_from_its_own_url() -> None:
    request = Request("https://shop.example/p")
    assert PLAIN.of(request) is request.url
    assert API.of(request) is request.url
    assert API.via(request) is None
    assert API.name(request) == "<GET https://shop.example/p>"


def test_the_query_parameter_of_a_service_is_the_target() -> None:
    request = Request(
        f"https://API.example/v1?api_key={KEY}&url=https%3A%2F%2Fshop.example%2Fp%3Fa%3D1&render=true"
    )
    assert API.of(request) == "https://shop.example/p?a=1"
    assert API.via(request) == "api.example"
    assert API.name(request) == "<GET https://shop.example/p?a=1> via api.example"


def test_the_target_is_spelt_as_scrapy_spells_urls() -> None:
    target = "https://shop.example/caf%C3%A9%20au%20lait"
    request = Request("https://api.example/?url=https%3A//shop.example/caf%25C3%25A9%20au%20lait")
    assert API.of(request) == target == Request("https://shop.example/café au lait").url


def test_a_request_for_the_service_itself_is_judged_by_its_own_url_and_shown_without_its_key() -> None:
    request = Request(f"https://user:{KEY}@api.example/account?api_key={KEY}")
    assert API.of(request) is request.url
    assert API.via(request) is None
    assert API.name(request) == "<GET https://api.example/account>"


@pytest.mark.parametrize("query", [
    f"url={KEY}", "url=", "url=shop.example/p", "url=data:,x", "url=https://",
    "url=https%253A%252F%252Fshop.example", "url=https://a.example/&url=https://b.example/",
])  # fmt: skip
def test_a_target_that_robots_txt_cannot_be_asked_about_is_an_error_that_shows_no_key(query: str) -> None:
    request = Request(f"https://api.example/?api_key={KEY}&{query}")
    with pytest.raises(TargetUrlError, match="the query parameter 'url' of a request to api") as caught:
        API.of(request)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert API.name(request) == "<GET https://api.example/>"


def test_a_callable_finds_the_target_once_per_request() -> None:
    asked: list[str] = []

    def find(request: Request) -> str | None:
        asked.append(request.url)
        return (request.headers["Target"] or b"").decode() if "Target" in request.headers else None

    targets = Targets(find)
    request, own = (
        Request("https://api.example/", headers={"Target": "https://shop.example/p"}),
        Request("https://a.example"),
    )
    assert [targets.of(request) for _ in range(3)] == ["https://shop.example/p"] * 3
    assert targets.of(own) is targets.of(own) is own.url
    assert asked == [request.url, own.url]


@pytest.mark.parametrize("answer", ["shop.example", 7, ""])
def test_a_callable_has_to_return_a_url(answer: Any) -> None:
    targets = Targets(lambda _: answer)
    with pytest.raises(TargetUrlError, match="REP_TARGET_URL returned no absolute URL for a request to api"):
        targets.of(Request(f"https://api.example/?{KEY}"))


def test_an_error_of_a_callable_is_the_cause_of_ours() -> None:
    targets = Targets(lambda request: {}[request.method])
    with pytest.raises(TargetUrlError, match="REP_TARGET_URL raised KeyError for a request to api") as caught:
        targets.of(Request(f"https://api.example/?{KEY}"))
    assert isinstance(caught.value.__cause__, KeyError)


def test_any_url_of_a_service_is_shown_without_its_key() -> None:
    assert API.shown(f"https://api.example/?api_key={KEY}&url=https://shop.example/p") == "https://shop.example/p"
    assert API.shown(f"https://api.example/?api_key={KEY}&url=nonsense") == "https://api.example/"
    assert API.shown("https://shop.example/?q=1") == "https://shop.example/?q=1"
    assert API.shown("") == ""
