"""A pytest plugin: a site with a robots.txt as a fixture.

It is no entry point: pytest would load it for everyone who has installed this package, and would rewrite the
assertions of all its modules. In a ``conftest.py``, ``pytest_plugins = ["scrapy_rep.testing.plugin"]`` loads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .site import RobotsSite


@pytest.fixture
def robots_site() -> Iterator[RobotsSite]:
    """A site on loopback, without a robots.txt until the test sets ``robots_site.robots``."""
    from .site import RobotsSite  # noqa: PLC0415  # loaded for those who use it

    with RobotsSite() as site:
        yield site
