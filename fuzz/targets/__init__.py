"""The targets: functions of octets that raise where the package breaks a promise. They know no fuzzer.

Each covers readers of what comes from outside. What the owner of a project writes (settings, exceptions, the
configuration of the linter) is not among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from . import costs, crawl, documents, pages, rules, tools

Target = Callable[[bytes], None]
"""Raises for an input with which the package breaks a promise."""

TARGETS: Final[dict[str, Target]] = {
    "verdict": rules.verdict,
    "answers": rules.answers,
    "explain": rules.explain,
    "lint": tools.lint_,
    "diff": tools.diff,
    "bulk": tools.bulk,
    "survey": tools.survey,
    "web": tools.web,
    "urls": crawl.urls,
    "fetched": crawl.fetched,
    "sitemaps": crawl.sitemaps,
    "delays": crawl.delays,
    "entry": crawl.entry,
    "audit-log": crawl.audit_log,
    "page-headers": pages.page_headers,
    "page-html": pages.page_html,
    "ai-signals": pages.ai_signals,
    "site-files": pages.site_files,
    "sitemap-file": documents.sitemap_file,
    "license": documents.license_,
    "warc": documents.warc,
    "costs": costs.costs,
}
"""The targets by name; docs/fuzzing.md has a row for each."""
