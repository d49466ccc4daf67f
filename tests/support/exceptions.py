"""Exceptions from robots.txt that have not expired on the day of the test."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any


def day(days: int = 30) -> str:
    """The day in *days*, by UTC."""
    return (datetime.now(timezone.utc).date() + timedelta(days=days)).isoformat()


def exception(url: str, **more: Any) -> dict[str, Any]:
    """An entry of ``REP_EXCEPTIONS`` for *url*."""
    return {"url": url, "reason": "ticket 47", "until": day(), **more}
