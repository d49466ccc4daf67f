"""Imports flow one way: a module imports modules of lower rank alone, so nobody imports the package root."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "scrapy_rep"
LAYERS = """protocol.display protocol.line
protocol.page protocol.origin protocol.dialect protocol.record protocol.access protocol.pattern
protocol.agent protocol.cache protocol.extensions protocol.rules protocol.verdict
protocol.text protocol.index
protocol.spelling
protocol.reading
protocol.scan
protocol.robotstxt
protocol.parser protocol.explanation
protocol.lint.finding protocol.lint.subject protocol.difference
protocol.lint.whole protocol.lint.lines protocol.lint.agents protocol.lint.paths
protocol.lint.rules protocol.lint.others
protocol.lint
protocol
survey.record survey.charts survey.style
survey.measure
survey survey.totals
survey.sections survey.distributions
survey.report survey.files
survey.writer
stores.base stores.memory stores.sqlite_file stores.lease stores.circuit_breaker
origin_log background body_limit settings signals threads scrapy_internals
stores.redis_client pause
stores.redis_entries
politeness sitemaps politeness.rate_limiter politeness.alarm politeness.stored_queue politeness.ready_slots
stores.sqlite_link stores.redis_link flight fetch_log identity robotparser robots_request
politeness.time_of_day politeness.download_slot politeness.slot_delays politeness.robots_source
stores.sqlite stores.redis robots fetch politeness.timing politeness.prefetch
politeness.sqlite_rate_limiter politeness.redis_rate_limiter politeness.turns
stores politeness.delay_report politeness.open_rate_limiter
renewal sitemaps.lines politeness.crawl_delay
report politeness.start_times politeness.rate_limiter_middleware
politeness.starts politeness.foreign_scheduler sitemaps.feed
extension politeness.slot_requests commands
contracts commands.terminal commands.fetching politeness.priority_queue
middleware commands.cache commands.subject
spiders
commands.lint_report commands.sources commands.sitemaps
commands.explain_text
commands.explain commands.survey commands.lint commands.diff
addon"""
RANKS = {f"scrapy_rep.{name}": rank for rank, row in enumerate(LAYERS.split("\n")) for name in row.split()}
RANKS["scrapy_rep"] = 99
MODULES = {".".join(file.relative_to(ROOT.parent).with_suffix("").parts): file for file in ROOT.rglob("*.py")}
MODULES = {name.removesuffix(".__init__"): file for name, file in sorted(MODULES.items())}


def imports(name: str) -> Iterator[str]:
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(MODULES[name].read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            home = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            members = (f"{home}.{alias.name}" for alias in node.names)
            yield from (member if member in MODULES else home for member in members)


@pytest.mark.parametrize("name", MODULES)
def test_ours_a_module_imports_lower_ranks_alone(name: str) -> None:
    ours = {module for module in imports(name) if module.startswith("scrapy_rep")}
    unknown = {name, *ours} - RANKS.keys()
    assert not unknown, f"give {unknown} a rank in LAYERS"
    upward = {module for module in ours if RANKS[module] >= RANKS[name]}
    assert not upward, f"an arrow from {name} to {upward} points up"


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("scrapy_rep.protocol")])
def test_ours_the_protocol_imports_the_standard_library_and_itself(name: str) -> None:
    roots = {module.partition(".")[0] for module in imports(name)}
    assert roots - sys.stdlib_module_names <= {"scrapy_rep"}, f"{name} imports what it must not: {roots}"
