"""The settings with which a project's spiders crawl, for the commands that take ``--spider``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.spiderloader import get_spider_loader

from scrapy_rep.runtime.log import describe

from .inputs import InputError

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from scrapy import Spider
    from scrapy.settings import BaseSettings
    from scrapy.spiderloader import SpiderLoaderProtocol


def add_spider(parser: ArgumentParser, what: str) -> None:
    """Add ``--spider`` to *parser*; *what* it does."""
    parser.add_argument("--spider", metavar="NAME", help=what)


def with_spider(settings: BaseSettings, name: str | None) -> BaseSettings:
    """The *settings* as a crawl of the spider called *name* has them. Raises `InputError`."""
    if name is None:
        return settings
    try:
        return _settings_of(_loader(settings).load(name), settings)
    except KeyError:
        raise InputError(f"there is no spider called {name!r} in this project") from None


def with_each_spider(settings: BaseSettings) -> dict[str, BaseSettings]:
    """The *settings* with which each spider of the project crawls, by its name. Raises `InputError`."""
    loader = _loader(settings)
    return {name: _settings_of(loader.load(name), settings) for name in sorted(loader.list())}


def _loader(settings: BaseSettings) -> SpiderLoaderProtocol:
    try:
        return get_spider_loader(settings)
    except Exception as error:  # noqa: BLE001  # whatever a module of the project raises when it is imported
        raise InputError(f"the spiders of this project cannot be loaded: {describe(error)}") from None


def _settings_of(spider: type[Spider], settings: BaseSettings) -> BaseSettings:
    chosen: Any = settings.copy()
    spider.update_settings(chosen)
    if agent := getattr(spider, "user_agent", None):  # which Scrapy prefers to every setting
        chosen.set("USER_AGENT", agent, priority="cmdline")
    return chosen  # type: ignore[no-any-return]
