"""The crawlers that the page offers, by purpose."""

from __future__ import annotations

from scrapy_rep.tools.crawlers import AI_CRAWLERS


def crawlers() -> dict[str, tuple[str, ...]]:
    """Return the product tokens of known crawlers by what they collect pages for."""
    return {
        "Search": (
            "Googlebot", "Googlebot-Image", "Bingbot", "DuckDuckBot", "YandexBot", "Baiduspider", "Applebot",
            "Slurp",
        ),
        "AI": AI_CRAWLERS,
        "Archive": ("archive.org_bot", "ia_archiver", "Arquivo-web-crawler", "heritrix"),
    }  # fmt: skip


PRESELECTED = ("*", "Googlebot", "Bingbot", "GPTBot", "ClaudeBot")
"""What an empty form asks about; ``*`` is every crawler that no group names."""
