"""The rooms of the package, from the lowest to the highest."""

from __future__ import annotations

ROOMS = [
    "protocol", "directives", "decoders", "clock", "exceptions", "signals", "settings", "crawl", "crawl.runtime",
    "crawl.robots", "crawl.policy", "crawl.pacing", "crawl.sitemaps", "crawl.gate", "extras",
    "tools.files", "tools.processes", "tools.crawlers", "tools.profiles", "tools.lint", "census", "tools",
    "contracts", "testing", "addon",
]  # fmt: skip
"""Whatever lies in a room has its rank, a part of a room its own if it has one."""


def rank(module: str) -> int:
    """The place of the room of *module*, a dotted name: rooms call lower ones alone."""
    parts = module.split(".")[1:3]
    name = ".".join(parts)
    return ROOMS.index(name if name in ROOMS else parts[0])
