"""The request for a robots.txt."""

from __future__ import annotations

from scrapy import Request

from scrapy_rep.crawl.robots.request import robots_request
from scrapy_rep.settings import RepSettings


def test_parameters_that_a_project_sets_for_its_pages_do_not_apply_to_robots_txt() -> None:
    meta = {"playwright": True, "zyte_api_automap": {"browserHtml": True}, "splash": {"args": {}}}
    cause = Request("https://shop.example/p", meta=meta)
    request = robots_request("https://shop.example/robots.txt", cause, RepSettings(), {}, 10.0)
    assert request.meta["zyte_api_default_params"] is False
    assert {"playwright", "zyte_api_automap", "splash"}.isdisjoint(request.meta)
