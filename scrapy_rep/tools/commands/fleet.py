"""Show the queue of hosts that the workers of a fleet share: sites, requests, workers, pages a second.

Reads the Redis of REDIS_URL, or of REP_REDIS_URL, and finds the queue by the spiders of the project; --key names
another. Looks twice, a second apart, and counts the pages in between. --watch refreshes every second on a
terminal and every five seconds elsewhere, until Ctrl-C, and waits for a queue that does not exist yet.
Exits with 0, or 2 if there is no queue, another version wrote it, or Redis does not answer.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import suppress
from shutil import get_terminal_size
from threading import Event
from typing import IO, TYPE_CHECKING, Any, Final

from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.extras.fleet.host_queue import FORMAT
from scrapy_rep.extras.fleet.redis_connection import address_of, connect
from scrapy_rep.protocol.display import abridged, duration, shown
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.answers import time_fact

from . import OK
from .inputs import InputError
from .parser import add_shared

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_pause: Final = Event().wait
_MOST: Final = 20  # sites, and in a table workers, that are listed
# KEYS: queue. All numbers are of one moment, and what they cost does not grow with the number of sites.
_LOOK: Final = f"""
local call, p, time = redis.call, KEYS[1] .. ':hosts:', redis.call('TIME')
local now, sites, new, claimed = time[1] * 1000000 + time[2], p .. 'sites', p .. 'new', 0
local later = string.format('(%.0f', now)
local function left(score) return score and (score - now) / 1000000 or cjson.null end
local function rows(found, row)
    local out = {{}}
    for i = 1, #found, 2 do out[#out + 1] = row(found[i], left(found[i + 1])) end
    return out
end
local workers = rows(call('ZRANGE', p .. 'workers', 0, -1, 'WITHSCORES'), function(worker, lease)
    local claims = call('HLEN', p .. 'claims:' .. worker)
    claimed = claimed + claims
    return {{worker = worker, claimed = claims, lease_left = lease}}
end)
local first = rows(call('ZRANGE', sites, 0, {_MOST - 1}, 'WITHSCORES'), function(site, start)
    local queued, delay = call('ZCARD', p .. 'queue:' .. site), call('GET', p .. 'delay:' .. site)
    return {{site = site, queued = queued, delay = (delay or 0) / 1000000, start_in = start}}
end)
local waiting, known, unknown = call('ZCOUNT', sites, later, '+inf'), call('ZCARD', sites), call('ZCARD', new)
local count = tonumber(call('GET', p .. 'count') or 0)
return cjson.encode({{
    at = now / 1000000, sites = known + unknown, ready = known - waiting, waiting = waiting, new = unknown,
    next_start_in = left(call('ZRANGEBYSCORE', sites, later, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]),
    last_start_in = waiting > 0 and left(call('ZRANGE', sites, -1, -1, 'WITHSCORES')[2]) or cjson.null,
    loading = call('ZCOUNT', new, later, '+inf'), queued = count - claimed, claimed = claimed,
    unreadable = call('LLEN', p .. 'unreadable'), handled = (call('GET', p .. 'number') or 0) - count,
    workers = workers, next_sites = first,
}})
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("--key", help="the key of the queue (default: the SCHEDULER_QUEUE_KEY of the spiders)")
    parser.add_argument("--watch", action="store_true", help="refresh until Ctrl-C")
    add_shared(parser, "--json")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    queue = _Queue(settings, arguments.key)
    if arguments.watch:
        with suppress(KeyboardInterrupt):
            _watch(queue, out, as_json=arguments.json)
        return OK
    queue.look()
    _pause(1.0)
    facts = queue.look()
    out.writelines(f"{line}\n" for line in ([json.dumps(facts)] if arguments.json else _table(facts)))
    return OK


class _Queue:
    """The queue called *key*, or that of a spider of the project, in the Redis that the *settings* name."""

    def __init__(self, settings: BaseSettings, key: str | None) -> None:
        own = settings.copy()
        own.set("REP_REDIS_URL", own.get("REDIS_URL") or own.get("REP_REDIS_URL"), "cmdline")
        if not own["REP_REDIS_URL"]:
            raise InputError("no setting names a Redis: start in the folder of the project, or set REP_REDIS_URL")
        self._client, self._errors = connect(RepSettings.from_settings(own))
        self._keys = [key] if key else _keys(settings)
        self._last = (0.0, 0)  # when, and how many requests had been handled

    def look(self) -> dict[str, Any]:
        """What the queue is like now. Raises `InputError`."""
        place = f"Redis at {address_of(self._client)}"
        try:
            formats: Any = self._client.mget([f"{key}:hosts:format" for key in self._keys])
            found = {key: value.decode() for key, value in zip(self._keys, formats, strict=True) if value}
            key = " or ".join(found or self._keys)
            if len(found) != 1:
                count = f"{len(found)} queues" if found else "no queue"
                raise InputError(f"{place} has {count} of hosts called {abridged(key, 80)}: name one by --key")
            if found[key] != FORMAT:
                raise InputError(f"{key} has format {found[key]}, not {FORMAT}: use the workers' scrapy_rep")
            answer: Any = self._client.eval(_LOOK, 1, key)
        except self._errors as error:
            raise InputError(f"{place} does not answer: {describe(error)}") from None
        facts = {"key": key, **json.loads(answer.decode(errors="replace"))}
        facts |= {name: facts[name] or [] for name in ("workers", "next_sites")}  # Lua tells no {} from []
        (before, handled), self._last = self._last, (facts["at"], facts["handled"])
        rate = (facts["handled"] - handled) / max(facts["at"] - before, 0.001)
        is_known = before and rate >= 0  # not at the first look, nor when Redis has lost its data
        return {**facts, "at": time_fact(facts["at"]), "pages_per_second": round(rate, 1) if is_known else None}


def _keys(settings: BaseSettings) -> list[str]:
    from .crawl_runner import with_each_spider  # noqa: PLC0415  # loads a whole crawl

    keys = {name: own.get("SCHEDULER_QUEUE_KEY") for name, own in with_each_spider(settings)}
    if not keys:
        raise InputError("there are no spiders here: name the queue, such as --key myspider:requests")
    return [*dict.fromkeys((key or "%(spider)s:requests") % {"spider": name} for name, key in keys.items())]


def _watch(queue: _Queue, out: IO[str], *, as_json: bool) -> None:
    """Show *queue* for ever: on a terminal a table in place, elsewhere a line for each look."""
    is_live, height = out.isatty() and not as_json, 0
    while True:
        try:
            facts = queue.look()
            line = json.dumps(facts) if as_json else "  ".join([facts["at"], *map(" ".join, _sums(facts))])
            lines = [*_table(facts)] if is_live else [line]
        except InputError as error:
            lines = [json.dumps({"error": str(error)}) if as_json else shown(str(error))]
        if is_live:  # a line that wraps, or leaves the screen, could not be overwritten
            columns, rows = get_terminal_size()
            lines = [f"{line[: columns - 1]}\033[K" for line in lines[: rows - 1]]
            out.write(f"\033[{height}F" if height else "")
        out.writelines(f"{line}\n" for line in lines)
        out.write("\033[J" if is_live else "")
        out.flush()
        height = len(lines)
        _pause(1.0 if is_live else 5.0)


def _table(facts: dict[str, Any]) -> Iterator[str]:
    yield from (f"{name:<10}{text}" for name, text in [("queue", shown(facts["key"])), *_sums(facts)])
    yield from ("", _row("worker", "claimed", "lease ends"))
    for row in facts["workers"][:_MOST]:
        yield _row(row["worker"], f"{row['claimed']:,}", _when(row["lease_left"]))
    yield from ("", _row("site", "queued", "next start", "every"))
    is_all = facts["sites"] <= _MOST  # then each keeps its place
    for row in sorted(facts["next_sites"], key=lambda row: row["site"] if is_all else ""):
        every = duration(round(row["delay"], 2)) if row["delay"] else "-"
        yield _row(row["site"], f"{row['queued']:,}", _when(row["start_in"]), every)


def _sums(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    until = " (next {}, last {})".format(*(_when(facts[f"{one}_start_in"] or 0) for one in ("next", "last")))
    sites = "{sites:,}: {ready:,} ready, {waiting:,} waiting{until}, {new:,} new, {loading:,} loading robots.txt"
    yield "sites", sites.format(**facts, until=until if facts["waiting"] else "")
    yield "requests", "{queued:,} queued, {claimed:,} claimed, {unreadable:,} unreadable".format(**facts)
    rate = facts["pages_per_second"]
    yield "pages", f"{facts['handled']:,} handled, {'…' if rate is None else format(rate, ',.1f')} a second"


def _row(name: str, *cells: str) -> str:
    return f"{abridged(shown(name), 38):<40}" + "".join(f"{cell:>14}" for cell in cells)


def _when(seconds: float) -> str:
    return f"in {duration(round(seconds, 1))}" if seconds >= 0.05 else "now"
