"""What is public: the names that `scrapy_rep` and its public rooms export, documented and typed."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import scrapy_rep
import scrapy_rep.census
import scrapy_rep.directives
import scrapy_rep.protocol
import scrapy_rep.testing

PUBLIC = {
    "scrapy_rep": """
        Addon AuditRequiredError CrawlDelay CrawlDelayContract Entry Explanation FetchError Finding
        ForbiddenByRobots InvalidSettingError ItemStamp LinkFilter RateLimiterMiddleware
        RecoverableFifoDiskQueue RecoverableLifoDiskQueue RedisRequiredError
        RepExtension RepMiddleware RepPriorityQueue RepRobotParser RepSettings RepSitemapSpider Robots
        RobotsAllowsContract RobotsDisallowsContract Severity SitemapFeed SitemapsContract Stamp Store
        TargetUrlError UnreachableError abort_forbidden explain link_filtered lint sitemaps_found stamp
    """,
    "scrapy_rep.census": """
        ALL COLUMNS LEVELS LONG NONE PART RESTRICTIONS Capture Row long rows site_of wide
    """,
    "scrapy_rep.directives": """
        Directive PageDirectives Source ai_answers page_directives
    """,
    "scrapy_rep.protocol": """
        DIALECTS ENGINE GOOGLE GOOGLE_EXACT MAX_SIZE SCHEMES Access CleanParam Dialect Extension Group Kind Origin
        Reason Record RequestRate RobotsTxt Rule Verdict access parse path_of product_token split_url
    """,
    "scrapy_rep.testing": """
        Answer Conformance Question RobotsSite SITUATIONS SiteRequest Situation ask assert_allowed
        assert_disallowed
    """,
}
MODULES = {
    "addon",
    "census",
    "contracts",
    "exceptions",
    "settings",
    "signals",
    "directives",
    "protocol",
    "testing",
}
"""These may be imported from as well; every other room says in its docstring that it is private."""

FROM_SCRAPY = {"from_crawler", "process_request", "get_processed_request", "get_processed_item"}
"""Methods that Scrapy calls and documents."""


def objects() -> Iterator[tuple[str, Any]]:
    for module in PUBLIC:
        for name in import_module(module).__all__:
            yield f"{module}.{name}", getattr(import_module(module), name)


CLASSES_AND_FUNCTIONS = {name: thing for name, thing in objects() if inspect.isclass(thing) or callable(thing)}
METHODS = {
    f"{name}.{attribute}": member
    for name, thing in CLASSES_AND_FUNCTIONS.items() if inspect.isclass(thing)
    for attribute, member in vars(thing).items()
    if not attribute.startswith("_") and attribute not in FROM_SCRAPY
    and (inspect.isfunction(member) or isinstance(member, (property, classmethod, staticmethod)))
}  # fmt: skip


@pytest.mark.parametrize("module", PUBLIC)
def test_ours_the_public_names_are_these(module: str) -> None:
    assert sorted(import_module(module).__all__) == sorted(PUBLIC[module].split())
    assert set(import_module(module).__all__) <= set(dir(import_module(module)))


def test_ours_every_other_room_says_that_it_is_private() -> None:
    others = {module.name for module in pkgutil.iter_modules(scrapy_rep.__path__)} - MODULES
    silent = {
        name for name in others if "private" not in (import_module(f"scrapy_rep.{name}").__doc__ or "").lower()
    }
    assert not silent


@pytest.mark.parametrize("name", CLASSES_AND_FUNCTIONS)
def test_ours_every_public_class_and_function_is_documented(name: str) -> None:
    assert inspect.getdoc(CLASSES_AND_FUNCTIONS[name])


@pytest.mark.parametrize("name", METHODS)
def test_ours_every_public_method_is_documented_and_says_what_it_returns(name: str) -> None:
    method = METHODS[name]
    function = getattr(method, "fget", None) or getattr(method, "__func__", method)
    assert inspect.getdoc(function), f"{name} has no docstring"
    assert "return" in function.__annotations__, f"{name} does not say what it returns"
