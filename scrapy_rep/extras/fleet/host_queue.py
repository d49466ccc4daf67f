"""`RedisHostQueue`: a queue for each site in Redis, for a fleet that crawls with scrapy-redis.

A queue of requests knows no site, so workers pop what may not start yet. Here each site has a queue, and one
sorted set holds the sites by the time of their next start, on the clock of Redis. One script takes the sites whose
turn it is, the best request of each, and the right to start it. That right is the permit: the set moves on as it
is handed out, so nobody asks again at the door.

A site is in one of three states. If nobody knows its delay, it is in ``new``, and one worker at a time is sent to
fetch its robots.txt. If its delay is known, it is in ``sites``, until it is due and has no requests. Else it is in
neither.

A request is queued, or claimed by a worker. A worker renews its lease while it lives. It deletes a claim when
Scrapy has handled the request, after what the callback yielded has been queued. Claims of a worker whose lease
ran out go back. So ``kill -9`` loses nothing, and what the worker had in hand may be fetched twice.

Keys begin with the key of scrapy-redis's queue and ``:hosts:``. They are ``format``, the version of all this;
``queue:SITE``, by priority and number; ``delay:SITE``, in microseconds, for an hour; ``sites`` and ``new``;
``workers``, by the end of their lease; ``claims:WORKER``; ``count``, of requests queued and claimed; ``number``,
of the last request; ``asleep``, if a worker waits for a push; and ``unreadable``, what could not be decoded.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import inf
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from uuid import uuid4

from scrapy import signals
from scrapy.utils.asyncio import call_later
from scrapy.utils.reactor import is_reactor_installed

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.crawl_delay import CrawlDelay
from scrapy_rep.crawl.pacing.slots import Slots, with_margin
from scrapy_rep.crawl.policy.policy import Judge
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.event_loop import Timer, start
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.extras.fleet.limiter import Hold, Permit
from scrapy_rep.extras.fleet.limiters import RedisRateLimiter
from scrapy_rep.extras.fleet.permit_queue import LEAD, microseconds
from scrapy_rep.extras.fleet.sharing import Sharing

try:
    from redis import RedisError
    from scrapy_redis.dupefilter import RFPDupeFilter
    from scrapy_redis.queue import Base
except ImportError:  # ``from scrapy_rep import *`` works without them; only scrapy-redis makes these classes
    RedisError, Base, RFPDupeFilter = OSError, object, object  # type: ignore[misc, assignment]

if TYPE_CHECKING:
    from scrapy import Request, Spider

    from scrapy_rep.crawl.pacing.slots import Site
    from scrapy_rep.extras.fleet.redis_connection import RedisConnection

logger = logging.getLogger(__name__)

FORMAT: Final = "1"
"""The version of what is kept in Redis: raise it when keys, values or scripts change their meaning."""

_AHEAD: Final = 250_000  # microseconds before its start at which a request is handed out, or half the delay
_DIGITS: Final = 15  # of the number in front of a stored request
_DELAY_LIFE: Final = 3_600_000  # milliseconds for which the delay of a site is believed
_BATCH: Final = 64  # requests that one call takes at most
_PROBES: Final = 16  # robots.txt files that are loaded at once, not counting slow ones
_SLOW: Final = 0.5  # seconds after which one is slow
_MOST_PROBES: Final = 512
_VALID: Final = 0.25  # seconds after its time for which a start may be used, or a quarter of the delay

# Seconds between two calls: when nothing can be done; while Redis is away; when starts come close; after a push.
_IDLE, _AWAY, _SPACING, _AFTER_PUSH = 5.0, 0.5, 0.1, 0.02
_ACK: Final = 0.2  # seconds after which Redis hears that a request has been handled
_LOOK: Final = 2.0  # seconds between two looks at the holds of others: these are in the set of sites already

_BEGIN: Final = """
local p, t = KEYS[1] .. ':hosts:', redis.call('TIME')
local now, sites, new = t[1] * 1000000 + t[2], p .. 'sites', p .. 'new'
local function wake() if redis.call('DEL', p .. 'asleep') == 1 then redis.call('PUBLISH', p .. 'wake', '') end end
local function show(site, at)  -- a site has requests
    local set = redis.call('EXISTS', p .. 'delay:' .. site) == 1 and sites or new
    if redis.call('ZADD', set, 'NX', at, site) == 1 then wake() end
end
"""
# KEYS[2]: fingerprints that were seen, if any. ARGV: site, minus priority, request, fingerprint.
_PUSH: Final = f"""{_BEGIN}
if KEYS[2] and redis.call('SADD', KEYS[2], ARGV[4]) == 0 then return 0 end
local number = string.format('%0{_DIGITS}.0f', redis.call('INCR', p .. 'number'))
redis.call('ZADD', p .. 'queue:' .. ARGV[1], ARGV[2], number .. ARGV[3])
redis.call('INCR', p .. 'count')
show(ARGV[1], now)
return 1
"""
# ARGV: worker, lease, requests wanted, requests for each site, sites wanted to load robots.txt for; then three
# lists, each with its length in front: requests handled, sites that can take none here, starts not used (site,
# time, delay). Redis allows the first command even without memory, and then the others, so none is half done.
_POLL: Final = f"""{_BEGIN}
local i = 5
local function list()
    local found = {{}}
    for j = 1, ARGV[i + 1] do found[j] = ARGV[i + 1 + j] end
    i = i + 1 + #found
    return found
end
local worker, lease, want, most, quota = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local handled, full, unused, claims = list(), list(), list(), p .. 'claims:' .. worker
local done = redis.call('HDEL', claims, '', unpack(handled))
if done > 0 and redis.call('DECRBY', p .. 'count', done) <= 0 then redis.call('PUBLISH', p .. 'wake', '') end
redis.call('ZADD', p .. 'workers', now + lease, worker)
for j = 1, #unused, 3 do  -- unless somebody has started one since
    local at = tonumber(redis.call('ZSCORE', sites, unused[j]) or 0)
    if at == unused[j + 1] + unused[j + 2] then redis.call('ZADD', sites, unused[j + 1], unused[j]) end
end
local is_full, out, claimed, next_in, left = {{}}, {{}}, {{}}, -1, want
for _, site in ipairs(full) do is_full[site] = true end
local names, times, keys = {{}}, {{}}, {{}}
for j, value in ipairs(redis.call('ZRANGE', sites, 0, want + #full + 8, 'WITHSCORES')) do
    if j % 2 == 0 then times[#times + 1] = tonumber(value)
    else names[#names + 1], keys[#keys + 1] = value, p .. 'delay:' .. value end
end
local delays = #keys > 0 and redis.call('MGET', unpack(keys)) or {{}}
local each = math.max(1, math.min(most, math.floor(want / math.max(#names, 1))))
for j, site in ipairs(names) do
    local at, delay, queue = times[j], tonumber(delays[j]), p .. 'queue:' .. site
    local ready = at - math.min({_AHEAD}, (delay or 0) / 2)
    if ready > now then
        if next_in < 0 or ready - now < next_in then next_in = ready - now end
    elseif not delay then
        redis.call('ZREM', sites, site)
        if redis.call('EXISTS', queue) == 1 then redis.call('ZADD', new, 'NX', now, site) end
    elseif left > 0 and not is_full[site] then
        local got = redis.call('ZPOPMIN', queue, delay == 0 and math.min(each, left) or 1)
        local from = delay == 0 and now or math.max(at, now)
        for k = 1, #got, 2 do
            local id = string.sub(got[k], 1, {_DIGITS})
            for _, value in ipairs({{site, from - now, delay, from, got[k]}}) do out[#out + 1] = value end
            claimed[#claimed + 1] = id
            claimed[#claimed + 1] = site .. '\\0' .. got[k + 1] .. '\\0' .. got[k]
            left = left - 1
        end
        if #got > 0 and (delay > 0 or redis.call('EXISTS', queue) == 1) then
            redis.call('ZADD', sites, from + delay, site)
        elseif #got > 0 or at <= now then redis.call('ZREM', sites, site) end
    end
end
if #claimed > 0 then redis.call('HSET', claims, unpack(claimed)) end
local probes, more = {{}}, 0
for j, site in ipairs(redis.call('ZRANGEBYSCORE', new, '-inf', now, 'LIMIT', 0, quota + 1)) do
    local best = redis.call('ZRANGE', p .. 'queue:' .. site, 0, 0)[1]
    if j > quota then more = 1
    elseif not best then redis.call('ZREM', new, site)
    else
        redis.call('ZADD', new, now + lease, site)
        probes[#probes + 1], probes[#probes + 2] = site, best
    end
end
if left > 0 then redis.call('SET', p .. 'asleep', 1) end
return {{next_in, tonumber(redis.call('GET', p .. 'count') or 0), more, out, probes}}
"""
# ARGV: worker, its lease (0 if it leaves), requests that it gives back. Those of dead workers come back, too.
_RENEW: Final = f"""{_BEGIN}
local function back(worker, ids)
    local claims = p .. 'claims:' .. worker
    redis.call('HDEL', claims, '')  -- as in the other script
    for _, id in ipairs(ids or redis.call('HKEYS', claims)) do
        local claim = redis.call('HGET', claims, id)
        local site, priority, request = string.match(claim or '', '^(%Z+)%z(%Z+)%z(.*)$')
        if site then
            redis.call('HDEL', claims, id)
            redis.call('ZADD', p .. 'queue:' .. site, priority, request)
            show(site, now)
        end
    end
end
local ids, dead = {{}}, 0
for j = 3, #ARGV do ids[#ids + 1] = ARGV[j] end
back(ARGV[1], ids)
redis.call('ZADD', p .. 'workers', ARGV[2] == '0' and 0 or now + ARGV[2], ARGV[1])
for _, worker in ipairs(redis.call('ZRANGEBYSCORE', p .. 'workers', '-inf', now)) do
    dead = dead + redis.call('HLEN', p .. 'claims:' .. worker)
    back(worker)
    redis.call('ZREM', p .. 'workers', worker)
end
return dead
"""
# ARGV: site, its delay, microseconds to its next start, milliseconds for which the delay is believed.
_LEARN: Final = f"""{_BEGIN}
redis.call('SET', p .. 'delay:' .. ARGV[1], ARGV[2], 'PX', ARGV[4])
local was_new = redis.call('ZREM', new, ARGV[1])
if ARGV[3] ~= '0' or redis.call('EXISTS', p .. 'queue:' .. ARGV[1]) == 1 then
    redis.call('ZADD', sites, 'GT', now + ARGV[3], ARGV[1])
end
if was_new == 1 then wake() end
"""
# ARGV: site, time for which a start was handed out, microseconds by which it was late, delay.
_LATE: Final = _BEGIN + "redis.call('ZADD', sites, 'XX', 'GT', ARGV[2] + ARGV[3] + ARGV[4], ARGV[1])"
# ARGV: site, delay, microseconds since the last start here or -1, time of a start that was not used or 0.
# Returns the time of a start, or 0, and the microseconds until then, or until the next question.
_ACQUIRE: Final = f"""{_BEGIN}
local delay, at = tonumber(ARGV[2]), tonumber(redis.call('ZSCORE', sites, ARGV[1]) or 0)
local from, ahead = math.max(at, now), math.min({_AHEAD}, delay / 2)
if at == ARGV[4] + delay then from = math.max(now, tonumber(ARGV[4])) end
if tonumber(ARGV[3]) >= 0 then from = math.max(from, now - ARGV[3] + delay) end
if from - now > ahead then return {{0, from - now - ahead}} end
redis.call('ZADD', sites, from + delay, ARGV[1])
return {{from, from - now}}
"""
# ARGV: worker, number of a request that could not be read.
_SET_ASIDE: Final = f"""{_BEGIN}
local claim = redis.call('HGET', p .. 'claims:' .. ARGV[1], ARGV[2])
if claim then redis.call('RPUSH', p .. 'unreadable', claim) end
"""


class Turn(NamedTuple):
    """The right to start one request on *site* from *at* to *until* (monotonic seconds).

    *time* is the same as *at* by the clock of Redis, and *delay* lies between two starts, both in microseconds.
    The answer took its time, in which the process may have stood still: *at* is too late by that, never too early,
    and *earliest* is the same without it. How late a start is counts from there.
    """

    earliest: float
    at: float
    until: float
    site: str
    time: int
    delay: int

    @classmethod
    def of(cls, site: str, asked_at: float, starts_in: int, time: int, delay: int) -> Turn:
        """A turn that starts *starts_in* microseconds after an answer, which was *asked_at* for and came now."""
        earliest, at = asked_at + starts_in / 1e6, clock.monotonic() + starts_in / 1e6
        return cls(earliest, at, earliest + min(_VALID, delay / 4e6), site, time, delay)


class SiteTurns(RedisRateLimiter):
    """The limiter of a worker with a `RedisHostQueue`: the set of sites owns all starts.

    A request from the queue brings its turn along. Any other, such as a redirect, takes one from the same set.
    """

    def __init__(self, connection: RedisConnection, worker: str, queue: RedisHostQueue) -> None:
        super().__init__(connection, worker)
        self._queue = queue
        self._turns: dict[str, deque[Turn]] = {}  # by site, those that no request has used
        self._look_at = 0.0

    def add(self, turn: Turn) -> None:
        """Let the next request of its site use *turn*."""
        self._turns.setdefault(turn.site, deque()).append(turn)

    def take_back(self, turn: Turn) -> bool:
        """Let no request use *turn*; return whether none has."""
        turns = self._turns.get(turn.site, ())
        if turn not in turns:
            return False
        self._turns[turn.site].remove(turn)
        if not self._turns[turn.site]:
            del self._turns[turn.site]
        return True

    async def acquire(self, key: str, delay: float, *, since: float | None, missed: int, more: bool) -> Permit:  # noqa: ARG002
        unused = 0
        while key in self._turns:
            turn = self._turns[key][0]
            self.take_back(turn)
            if clock.monotonic() < turn.until:
                return Permit(turn.at, turn.earliest, turn.time, turn.until)
            unused = turn.time
        values = [key, microseconds(delay), microseconds(since), unused]
        asked_at = clock.monotonic()
        time, wait = await self._run(lambda *_: self._queue.acquire([self._queue.key], values))
        turn = Turn.of(key, asked_at, wait, time, microseconds(delay))
        return Permit(turn.at, turn.earliest, time, turn.until) if time else Permit(inf, turn.at, 0, 0.0)

    async def restart_delay(self, key: str, memory: float) -> None:  # noqa: ARG002
        self._queue.learn(key)

    async def hold(self, hold: Hold) -> int:
        self._queue.learn(hold.site)
        return await super().hold(hold)

    async def holds(self) -> list[Hold]:
        if clock.monotonic() < self._look_at:
            return []
        self._look_at = clock.monotonic() + _LOOK
        return await super().holds()


class _Claim(NamedTuple):
    number: bytes
    site: str
    turn: Turn | None


class RedisHostQueue(Base):  # type: ignore[misc]
    """A ``SCHEDULER_QUEUE_CLASS`` for scrapy-redis that hands out what may start, with a queue for each site.

    Needs ``REP_REDIS_URL``, and ``SCHEDULER_PERSIST = True``.
    """

    LEASE = 30.0
    """Seconds after which the requests of a worker that died go back. Not public."""

    def __init__(self, server: Any, spider: Spider, key: str, serializer: Any = None) -> None:
        super().__init__(server, spider, key, serializer)
        self._crawl = crawl = Crawl.of(spider.crawler)
        sharing = crawl.find(Sharing)
        if sharing is None or not crawl.settings.redis_url:
            raise InvalidSettingError("RedisHostQueue needs REP_REDIS_URL: set it to the URL of this Redis")
        sharing.limiter_of = self._limiter
        crawl.add(_Opened(self))
        self._check_format()
        scripts = (_PUSH, _POLL, _RENEW, _LEARN, _LATE, _ACQUIRE, _SET_ASIDE)
        (
            self._push,
            self._poll_script,
            self._renew_script,
            self._learn,
            self._late,
            self.acquire,
            self._set_aside,
        ) = (server.register_script(script) for script in scripts)
        self._worker = f"{os.getpid()}-{uuid4().hex}"
        self._slots, self._stats = crawl.part(Slots), crawl.stats
        self._turns: SiteTurns | None = None
        settings = crawl.crawler.settings
        self._places = settings.getint("CONCURRENT_REQUESTS") or _BATCH
        self._places_of_site = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") or self._places
        # What this worker has claimed and not handed out, by time.
        self._ahead: list[tuple[float, int, _Claim, bytes]] = []
        self._order = count()
        # What it has handed out and Scrapy has not handled; those of them that are with the downloader.
        self._claims: dict[Request, _Claim] = {}
        self._busy: set[Request] = set()
        self._at: Counter[str] = Counter()  # both kinds, by site, until they leave the downloader
        # What the next call tells Redis: requests handled, starts not used; pushes that failed come before it.
        self._handled_ids: list[bytes] = []
        self._unused: list[Any] = []
        self._unsent: list[tuple[list[str], list[Any]]] = []
        self._pushed: Request | None = None  # by the filter of duplicates
        self._probes: dict[str, float] = {}  # sites whose robots.txt this worker loads: since when
        self._told: dict[str, int] = {}  # the delay of sites as this worker told it
        self._count = 0  # requests queued and claimed by all workers, at the last call
        self._next_poll = self._last_poll = self._lease_ends = 0.0
        self._renewals = Timer()
        self._timer: Any = None
        self._wakes_at = inf
        self._is_running = self._is_away = False
        self._is_closed = Flag()
        crawl.events.started.subscribe(self._started)
        crawl.events.loaded.subscribe(self._loaded)
        crawl.events.ended.subscribe(self._ended)
        crawl.events.handled.subscribe(self._handled)
        crawl.engine.closing.add(self._give_back_all)
        crawl.crawler.signals.connect(self._close, signal=signals.spider_closed)

    def _check_format(self) -> None:
        name = f"{self.key}:hosts:format"
        self.server.set(name, FORMAT, nx=True)
        found = self.server.get(name)
        if found not in {FORMAT, FORMAT.encode()}:
            raise InvalidSettingError(
                f"the queue {self.key} in Redis has format {found!r}, and this scrapy_rep reads {FORMAT}:"
                " upgrade all workers together, after the queue is empty, or set another SCHEDULER_QUEUE_KEY"
            )

    def _limiter(self, connection: RedisConnection, worker: str) -> RedisRateLimiter:
        """The limiter that goes with this queue, for `Sharing`."""
        self._turns = SiteTurns(connection, worker, self)
        return self._turns

    # What scrapy-redis calls.

    def push(self, request: Request) -> None:
        if request is self._pushed:
            self._pushed = None
        else:
            self.push_unseen(request)

    def push_unseen(self, request: Request, *seen: str) -> bool:
        """Store *request*; return False if *seen*, a set in Redis and a fingerprint, shows that it was before."""
        site = self._crawl.targets.site(request)
        keys, values = [self.key, *seen[:1]], [site, -request.priority, self._encode_request(request), *seen[1:]]
        try:
            is_new = bool(self._push(keys, values))
        except RedisError as error:  # what its parent page yielded would be lost
            self._lose(error)
            self._unsent.append((keys, values))
            is_new = True
        if is_new and seen:
            self._pushed = request
        self._count += is_new
        self._poll_by(self._last_poll + _AFTER_PUSH)
        return is_new

    def pop(self, timeout: int = 0) -> Request | None:  # noqa: ARG002
        if not self._is_running:
            self._run()
        now = clock.monotonic()
        if not (self._ahead and self._ahead[0][0] <= now) and now >= self._next_poll:
            self._poll()
        while self._ahead and self._ahead[0][0] <= clock.monotonic():
            request = self._hand_out()
            if request is not None:
                return request
        self._wake_at(min(self._ahead[0][0] if self._ahead else inf, self._next_poll))
        return None

    def __len__(self) -> int:
        """How many requests are queued or claimed, by any worker: none of them closes while another may push."""
        here = len(self._ahead) + len(self._claims) + len(self._unsent)
        if not (here or self._count):
            with suppress(RedisError):
                self._count = int(self.server.get(f"{self.key}:hosts:count") or 0)
        return max(here, self._count, 0)

    def clear(self) -> None:
        for name in self.server.scan_iter(f"{self.key}:hosts:*", count=1_000):
            self.server.unlink(name)
        self._count = 0
        self._check_format()

    # What is handed out.

    def _run(self) -> None:
        self._is_running = True
        self._crawl.engine.tell_handled()
        self._crawl.downloader.tell_ends()
        self._renew()
        if is_reactor_installed():
            from twisted.internet import reactor  # noqa: PLC0415  # it is installed by now

            call = cast("Any", reactor).callFromThread
        else:
            call = asyncio.get_running_loop().call_soon_threadsafe
        Thread(target=self._listen, args=[call], daemon=True, name="RedisHostQueue").start()

    def _poll(self) -> None:
        """Tell Redis what has been handled, and take what may start soon."""
        now = clock.monotonic()
        if now >= self._lease_ends:  # this process stood still: others have what it claimed
            self._ahead.clear()
        want = max(min(self._places - len(self._busy) - len(self._ahead), _BATCH), 0)
        recent = sum(since > now - _SLOW for since in self._probes.values())
        quota = max(min(_PROBES - recent, _MOST_PROBES - len(self._probes)), 0)
        full = [site for site, number in self._at.items() if number >= self._places_of_site]
        handled, self._handled_ids, unused, self._unused = self._handled_ids, [], self._unused, []
        lists = [value for part in (handled, full, unused) for value in (len(part), *part)]
        most, lease = self._places_of_site, microseconds(self.LEASE)
        try:
            while self._unsent:
                self._push(*self._unsent[0])
                self._unsent.pop(0)
            asked_at = clock.monotonic()
            answer = self._poll_script([self.key], [self._worker, lease, want, most, quota, *lists])
        except RedisError as error:
            self._handled_ids, self._unused = handled + self._handled_ids, unused + self._unused
            self._lose(error)
            self._next_poll = clock.monotonic() + _AWAY
            return
        next_in, self._count, has_more, out, probes = answer
        self._is_away = False
        now = self._last_poll = clock.monotonic()
        self._lease_ends = now + self.LEASE
        for site, starts_in, delay, time, stored in zip(*[iter(out)] * 5, strict=True):
            turn = Turn.of(site.decode(), asked_at, starts_in, time, delay)
            claim = _Claim(stored[:_DIGITS], turn.site, turn if delay else None)
            heappush(self._ahead, (turn.at - LEAD / 1e6, next(self._order), claim, stored[_DIGITS:]))
            self._at[turn.site] += 1
        for site, stored in zip(*[iter(probes)] * 2, strict=True):
            self._probes[site.decode()] = now
            start(self._probe(site.decode(), stored[_DIGITS:]))
        wait = next_in / 1e6 if next_in >= 0 else _IDLE
        wait = min(max(wait, _SPACING), _SLOW if has_more else _IDLE)
        self._next_poll = now if want and len(out) >= 5 * want else now + wait

    def _hand_out(self) -> Request | None:
        """The next request; None for one that cannot be read, or whose site was asked to wait meanwhile."""
        _, _, claim, stored = heappop(self._ahead)
        site = self._slots.sites.get(claim.site)
        if site is not None and claim.turn is not None and site.held_for:
            self._leave(claim.site)
            self._renew_now(claim.number)
            return None
        try:
            request: Request = self._decode_request(stored)
        except Exception as error:  # noqa: BLE001  # a serializer raises what it likes, and the others must go on
            self._leave(claim.site)
            self._set_unreadable_aside(claim, error)
            return None
        self._claims[request] = claim
        self._busy.add(request)
        if claim.turn is not None and self._turns is not None:
            self._turns.add(claim.turn)
        return request

    def _set_unreadable_aside(self, claim: _Claim, error: Exception) -> None:
        self._stats.inc_value("rep/host_queue/unreadable_count")
        text = "A request for %s in the queue of hosts cannot be read (%s: %s). It is kept in %s:hosts:unreadable"
        logger.error(text, claim.site, type(error).__name__, error, self.key)
        with suppress(RedisError):
            self._set_aside([self.key], [self._worker, claim.number])
        self._handled_ids.append(claim.number)

    def _ended(self, request: Request) -> None:
        """*request* has left the downloader: there is room for another."""
        if request in self._busy:
            self._busy.remove(request)
            site = self._claims[request].site
            if self._at[site] >= self._places_of_site:
                self._next_poll = 0.0  # what was full is no longer
            self._leave(site)

    def _leave(self, site: str) -> None:
        self._at[site] -= 1
        if not self._at[site]:
            del self._at[site]

    def _handled(self, request: Request) -> None:
        """Scrapy has handled *request*, and what it yielded has been pushed."""
        self._ended(request)
        claim = self._claims.pop(request, None)
        if claim is None:
            return
        self._handled_ids.append(claim.number)
        by = _ACK
        if claim.turn is not None and self._turns is not None and self._turns.take_back(claim.turn):
            self._unused += [claim.turn.site, claim.turn.time, claim.turn.delay]  # as robots.txt forbade the page
            by = 0.0
        if self._delay(claim.site) != self._told.get(claim.site, self._delay(claim.site)):
            self.learn(claim.site)
        self._poll_by(clock.monotonic() + by)

    def _started(self, site: Site, permit: Permit) -> None:
        call_later(0, self._check_start, site, permit)  # when it has: the process may stand still before

    def _check_start(self, site: Site, permit: Permit) -> None:
        """Move the next start on if this one was so late that the next would be too close."""
        late, delay = clock.monotonic() - permit.ask_at, with_margin(site.floor)  # of a turn that is its earliest
        if permit.number > 0 and late > (delay - site.floor) / 2:
            self._stats.inc_value("rep/host_queue/late_count")
            self._tell(self._late, site.name, permit.number, microseconds(late), microseconds(delay))

    # What is known of sites.

    async def _probe(self, site: str, stored: bytes) -> None:
        """Load the robots.txt of *site* for the best of its requests, which stays in the queue."""
        try:
            request = self._decode_request(stored)
            judge, delays = self._crawl.find(Judge), self._crawl.crawler.get_extension(CrawlDelay)
            state = judge.state_to_ask(request) if judge is not None else None
            if state is not None and judge is not None:
                if not (state.is_known or judge.registry.refusal(state, request)):
                    await judge.flight(state, request).join()
                if delays is not None:
                    delays.prepare_known(request)
        except Exception as error:  # noqa: BLE001  # it fails again with the request, which the gate then reports
            logger.debug("The robots.txt of %s could not be loaded ahead: %s", site, error)
        finally:
            del self._probes[site]
        self.learn(site)
        self._poll_by(0.0)

    async def _loaded(self, robots: Any, result: Any, known: Any, cause: Request) -> None:  # noqa: ARG002
        site = self._crawl.targets.site(cause)
        if site in self._told and self._told[site] != self._delay(site):
            self.learn(site)

    def _delay(self, name: str) -> int:
        site = self._slots.sites.get(name)
        return microseconds(with_margin(site.floor)) if site is not None else 0

    def learn(self, name: str) -> None:
        """Tell all workers the delay of the site *name*, and when it may start next, as this one knows them."""
        site, delay = self._slots.sites.get(name), self._delay(name)
        wait = microseconds(site.start_in(clock.monotonic())) if site is not None and delay else 0
        if wait and site is not None:
            wait += delay - microseconds(site.floor)
        if len(self._told) >= self._crawl.settings.memory_entries:
            self._told.clear()
        self._told[name] = delay
        self._tell(self._learn, name, delay, wait, _DELAY_LIFE)

    # Redis, time, and the end.

    def _tell(self, script: Any, *values: Any) -> Any:
        try:
            return script([self.key], values)
        except RedisError as error:
            self._lose(error)
            return None

    def _lose(self, error: Exception) -> None:
        if not self._is_away:
            self._is_away = True
            self._stats.inc_value("rep/host_queue/away_count")
            logger.warning("The queue %s in Redis does not answer (%s): this worker tries again.", self.key, error)

    def _renew_now(self, *given_back: bytes) -> None:
        back = self._tell(self._renew_script, self._worker, microseconds(self.LEASE), *given_back)
        if back is not None:
            self._lease_ends = clock.monotonic() + self.LEASE
        if back:
            self._stats.inc_value("rep/host_queue/returned_count", back)
            logger.info("%d requests of workers that died are queued again.", back)

    def _renew(self) -> None:
        """Renew the lease, and look for workers that did not."""
        self._renew_now()
        self._renewals.call_after(self.LEASE / 3, self._renew)

    def _poll_by(self, due: float) -> None:
        self._next_poll = min(self._next_poll, due)
        self._wake_at(min(self._next_poll, self._wakes_at))

    def _wake_at(self, due: float) -> None:
        if not self._is_running or self._is_closed.is_set() or due == self._wakes_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._wakes_at = due
        self._timer = call_later(max(due - clock.monotonic(), 0.0), self._wake)

    def _wake(self) -> None:
        self._timer, self._wakes_at = None, inf
        self._crawl.engine.wake()

    def _listen(self, call: Callable[[Callable[[], None]], None]) -> None:
        """Run in a thread: *call* the event loop when another worker has pushed something for a site."""
        while not self._is_closed.is_set():
            with suppress(RedisError, OSError, RuntimeError):  # Redis is away, or the loop has ended
                listener = self.server.pubsub(ignore_subscribe_messages=True)
                listener.subscribe(f"{self.key}:hosts:wake")
                while not self._is_closed.is_set():
                    if listener.get_message(timeout=1.0) is not None:
                        call(self._heard)
            self._is_closed.wait(_AWAY)

    def _heard(self) -> None:
        self._poll_by(self._last_poll + _AFTER_PUSH)

    def _give_back_all(self) -> None:
        """The crawl closes: others may start what was not handed out."""
        self._crawl.engine.closing.remove(self._give_back_all)
        ahead, self._ahead = self._ahead, []
        self._renew_now(*(claim.number for _, _, claim, _ in ahead))

    def _close(self) -> None:
        self._is_closed.set()
        self._renewals.stop()
        if self._timer is not None:
            self._timer.cancel()
        values = [len(self._handled_ids), *self._handled_ids, 0, 0]
        self._tell(self._poll_script, self._worker, 0, 0, 0, 0, *values)
        self._tell(self._renew_script, self._worker, 0)


@dataclass(frozen=True, slots=True)
class _Opened:
    """The queue of a crawl, for its filter: `Crawl.find` goes by class, and a project may extend the queue."""

    queue: RedisHostQueue


class RedisHostDupeFilter(RFPDupeFilter):  # type: ignore[misc]
    """A ``DUPEFILTER_CLASS`` for scrapy-redis that notes a request as seen in the step that stores it.

    scrapy-redis's own notes it one call earlier: a worker that is killed in between loses the request.
    """

    queue: RedisHostQueue | None = None

    @classmethod
    def from_spider(cls, spider: Spider) -> RedisHostDupeFilter:
        """The filter of *spider*, beside its queue: scrapy-redis opens that first."""
        made: RedisHostDupeFilter = super().from_spider(spider)
        opened = Crawl.of(spider.crawler).find(_Opened)
        made.queue = opened.queue if opened is not None else None
        return made

    def request_seen(self, request: Request) -> bool:
        if self.queue is None:
            return bool(super().request_seen(request))
        return not self.queue.push_unseen(request, self.key, self.request_fingerprint(request))
