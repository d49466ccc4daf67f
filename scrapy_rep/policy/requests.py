"""What the project says about single requests: whether robots.txt and its delays apply to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy_rep.protocol import Reason
from scrapy_rep.runtime.targets import SPLASH_MARK

from .stamp import META_KEY

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.runtime.targets import Targets

    from .policy import Policy

DONT_OBEY: Final = "dont_obey_robotstxt"
"""Scrapy's meta key for a request that robots.txt does not apply to, and the reason in its stamp."""

FETCH: Final = "rep_fetch"
"""Meta key: the robots.txt is fetched even if no rule is asked."""


def is_exempt(request: Request) -> bool:
    """Whether the project gave *request* ``dont_obey_robotstxt``.

    scrapy-splash gives that key to each request that it makes. The stamp of the one before, which it copies, says
    whether robots.txt was asked.
    """
    meta = request.meta
    if not meta.get(DONT_OBEY):
        return False
    if SPLASH_MARK not in meta:
        return True
    stamp = meta.get(META_KEY)
    return isinstance(stamp, dict) and stamp.get("reason") == DONT_OBEY


def has_no_delay(request: Request, policy: Policy, targets: Targets) -> bool:
    """Whether delays do not apply to *request*: it does not obey robots.txt, or an exception covers it."""
    return is_exempt(request) or Reason.CRAWL_DELAY in policy.delay_exceptions(targets.of(request))
