"""Logs as a crawl writes them, and as anyone may write them."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

TIME = "2026-11-22T09:12:44Z"
LATER = "2026-11-22T09:40:02Z"
SHOP = "https://shop.example.com"
EXCEPTION = {"url": f"{SHOP}/api/*", "reason": "written permission of the shop", "until": "2027-03-31"}
UNUSED = {"url": "https://old.example/x", "reason": "a trial", "until": "2026-12-01", "for": ["rule"]}

START: dict[str, Any] = {
    "event": "start", "v": 1, "run": "r1", "time": TIME, "project": "stores", "spider": "shop",
    "scrapy_rep": "0.2.0", "scrapy": "2.19.0", "mode": "obey", "agents": ["ExampleBot"],
    "user_agent": "ExampleBot/2.1", "modes": {"b.example": "report"}, "exceptions": [EXCEPTION],
}  # fmt: skip


def decision(verdict: str, path: str = "/api/1", **fields: Any) -> dict[str, Any]:
    return {
        "event": "decision", "time": LATER, "url": f"{SHOP}{path}", "verdict": verdict, "reason": "rule",
        "rule": "Disallow: /api/", "origin": SHOP, "source": "fetched", "sha256": "ab" * 32, "exception": None,
        **fields,
    }  # fmt: skip


def sums(**counts: int) -> dict[str, Any]:
    rows = [{"origin": SHOP, "verdict": name, "rule": "", "count": count} for name, count in counts.items()]
    return {"event": "sums", "time": LATER, "counts": rows}


def end(**counts: int) -> dict[str, Any]:
    return {"event": "end", "time": LATER, "reason": "finished", "counts": counts, "unused": [UNUSED]}


ROBOTS = {"event": "robots", "time": TIME, "origin": SHOP, "access": "successful", "sha256": "ab" * 32}
EXCEPTED = decision("excepted", exception=EXCEPTION)
REPORTED = decision("reported", "/b", rule=None, reason="unreachable")
FORBIDDEN = decision("forbidden")
NOT_OBEYED = decision(
    "ignored", "/i", rule=None, reason="dont_obey_robotstxt", origin=None, source=None,
    exception={"url": None, "reason": "our own pictures", "until": None},
)  # fmt: skip
STALE = decision("allowed", "/s", source="stale")
BACKOFF = {
    "event": "backoff", "time": LATER, "slot": "shop.example.com", "url": f"{SHOP}/busy", "reason": "429",
    "why": "HTTP status 429", "seconds": 2.0, "asked": None,
}  # fmt: skip
COUNTS = {"allowed": 91, "excepted": 2, "reported": 1, "ignored": 1, "forbidden": 1, "off": 3}
RUN = [START, ROBOTS, EXCEPTED, EXCEPTED, REPORTED, FORBIDDEN, NOT_OBEYED, STALE, sums(**COUNTS), end(**COUNTS)]
"""One run, with each verdict."""


PAGE = {
    "event": "page", "time": LATER, "url": f"{SHOP}/old", "status": 200,
    "directives": ["noindex", "max-snippet=5"], "said": [],
}  # fmt: skip
AI: dict[str, Any] = {
    "event": "ai", "time": LATER, "url": f"{SHOP}/art", "status": 200, "reserved": True,
    "purposes": ["search", "ai-train"], "answers": {"search": "unknown", "ai-train": "no"}, "licenses": [],
    "statements": [
        {"category": "ai-train", "allows": True, "source": "header", "text": "train-ai=y"},
        {"category": "ai-train", "allows": False, "source": "robots.txt", "text": "ai-train=no"},
    ],
}  # fmt: skip


def dropped(count: int, what: str = "link", why: str = "Disallow: /api/") -> dict[str, Any]:
    row = {"what": what, "origin": SHOP, "why": why, "count": count}
    return {"event": "sums", "time": LATER, "counts": [], "dropped": [row]}


def chained(events: list[Any], prev: str = "0" * 64) -> list[bytes]:
    """*events* as lines, each with the hash of the one before; octets stay what they are."""
    lines = []
    for event in events:
        line = event if isinstance(event, bytes) else json.dumps({**event, "prev": prev}).encode()
        prev = sha256(line).hexdigest()
        lines.append(line)
    return lines


def write(path: Path, *events: Any, end: bytes = b"\n") -> Path:
    """Write *events* as an intact log; *end* goes behind the last line."""
    path.write_bytes(b"\n".join(chained(list(events))) + end)
    return path
