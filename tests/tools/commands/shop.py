"""The spiders of a project, for the commands that take ``--spider``: ``SPIDER_MODULES`` names this module."""

from __future__ import annotations

from typing import Any

from scrapy import Spider

PROJECT: dict[str, Any] = {"SPIDER_MODULES": __name__, "ADDONS": '{"scrapy_rep.Addon": 300}'}


class Shop(Spider):
    """A test gives it the settings that it is about."""

    name = "shop"
    custom_settings: dict[str, Any] | None = {}


class Named(Spider):
    """Sends a User-Agent of its own, as Scrapy prefers it to every setting."""

    name = "named"
    user_agent = "NamedBot/1.0"
    custom_settings: dict[str, Any] | None = {"USER_AGENT": "unused"}
