"""For the tests that need no crawl: the reactor that Scrapy's default settings ask for."""

from __future__ import annotations

import asyncio

import pytest
from scrapy.utils.reactor import install_reactor


def pytest_configure(config: pytest.Config) -> None:
    # Before anything imports the default one; Scrapy 2.14 knows asyncio by it. Crawls have processes
    # of their own.
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    config.add_cleanup(asyncio.get_event_loop().close)
