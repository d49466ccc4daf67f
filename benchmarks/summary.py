"""The blocks that show what several benchmarks found, for readers who want one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from . import backoff as of_backoff
from . import broad as of_broad
from . import gate as of_gate
from .crawl_cost import BUILT_IN, OURS, growth
from .figures import Block, table, time


def summary(gate: Any, backoff: Any, broad: Any, crawl_cost: Any) -> Iterator[str]:
    rows = (*of_a_gate(gate), of_a_limit(backoff), of_a_queue(broad), of_memory(crawl_cost))
    return table(["measured", "Scrapy", "scrapy_rep"], rows)


def of_a_gate(gate: Any) -> Iterator[tuple[str, ...]]:
    leaked, last = gate["leaked"], {name: times[-1] for name, times in gate["healthy"].items()}
    yield (
        f"{len(of_gate.PRIVATE)} disallowed URLs wait for one robots.txt: requested",
        *(str(leaked[name] or "none") for name in (of_gate.BUILT_IN, of_gate.OURS)),
    )
    alone = f"{time(last[of_gate.OURS])} ({time(last[of_gate.ALONE])} alone)"
    yield (
        f"a healthy origin next to {len(of_gate.HANGING)} whose robots.txt hangs is done after",
        time(last[of_gate.BUILT_IN]),
        alone,
    )


def of_a_limit(backoff: Any) -> tuple[str, ...]:
    pages = backoff["pages"]
    found = (backoff["limits"][name] for name in (of_backoff.PLAIN, of_backoff.OURS))
    return (
        f"{pages} pages of a site that serves {of_backoff.LIMIT} a second and answers 429 to more",
        *(f"{len(one['answers'])} requests, {pages - one['pages'] or 'no'} pages lost" for one in found),
    )


def of_a_queue(broad: Any) -> tuple[str, ...]:
    pop = broad["pop"]
    most = [*pop[of_broad.OURS]][-1]
    return f"{int(most):,} hosts wait: the next request takes", *(
        time(pop[name][most]) for name in (of_broad.OFF, of_broad.OURS)
    )


def of_memory(crawl_cost: Any) -> tuple[str, ...]:
    return "memory for one more origin's robots.txt", *(
        f"{max(growth(crawl_cost, name), 0):.1f} kB" for name in (BUILT_IN, OURS)
    )


def runs(results: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """When and where the benchmarks were measured last."""
    dates = sorted({one["date"] for one in results.values()})
    machines = " and ".join(sorted({one["machine"] for one in results.values()}))
    minutes = sum(one["minutes"] for one in results.values())
    when = " to ".join(dates[:: max(1, len(dates) - 1)])
    yield f"Measured {when} on {machines}, in {minutes:.0f} minutes."


BLOCKS: Final[Mapping[str, Block]] = {"summary": summary}
