"""`RedisHostQueue`: a queue per site in Redis, for a fleet that crawls with scrapy-redis.

In a single queue of requests, workers pop requests that may not start yet. Here, each site has a queue, and a
sorted set holds the sites by the time of their next start, on the clock of Redis. One script takes the due sites,
the best request of each, and the right to start it. That right is the permit: handing it out advances the set, and
nobody asks again at the door.

A site is in one of three states. If its delay is unknown, it is in ``new``, and one worker at a time is sent to
fetch its robots.txt. If its delay is known, it is in ``sites`` until it is due and has no requests. Otherwise it
is in neither.

A request is queued, or claimed by a worker. Each poll renews the lease of its worker and deletes the claims of
requests that Scrapy has handled, after the output of their callbacks has been queued. Claims of a worker with an
expired lease return to the queue. ``kill -9`` therefore loses nothing, but some requests may be fetched twice.

Keys start with the key of scrapy-redis's queue and ``:hosts:``. They are ``format``, the version of this layout;
``queue:SITE``, by priority and number; ``delay:SITE``, in microseconds, for an hour; ``sites`` and ``new``;
``workers``, by the end of their lease; ``claims:WORKER``; ``count``, of requests queued and claimed; ``number``,
of the last request; ``asleep``, if a worker waits for a push; and ``unreadable``, requests that cannot be decoded.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.asyncio import call_later

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.crawl_delay import CrawlDelay
from scrapy_rep.crawl.pacing.prefetch import MAX_DOWNLOADS
from scrapy_rep.crawl.pacing.slots import Slots, with_margin
from scrapy_rep.crawl.policy.meta import choose_slot
from scrapy_rep.crawl.policy.policy import Judge
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.event_loop import Timer, in_thread, sleep, start
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.extras.fleet.limiter import LEAD, Permit, microseconds
from scrapy_rep.extras.fleet.limiters import RedisRateLimiter
from scrapy_rep.extras.fleet.sharing import Sharing
from scrapy_rep.extras.topics import ExtraTopic

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

FORMAT: Final = "1"  # of the data in Redis: raise it when keys, values or scripts change their meaning

_AHEAD: Final = 250_000  # microseconds by which a request is handed out before its start, or half the delay
_DIGITS: Final = 15  # digits of the number before a stored request
_LIFE, _LIFE_OF_BACKOFF = 3_600_000, 60_000  # milliseconds for which the delay of a site is trusted
_BATCH: Final = 64  # maximum requests per poll
_PROBES: Final = 16  # maximum sites per poll whose robots.txt to load
_VALID: Final = 0.25  # seconds for which a start may be used after its time, or a quarter of the delay
_LOOK: Final = 2.0  # seconds between two checks for holds of others, which the set of sites already reflects

# Seconds between two polls: with nothing to do; while Redis is away; when starts come close; after a push; until
# Redis learns that a request has been handled.
_IDLE, _AWAY, _SPACING, _AFTER_PUSH, _ACK = 5.0, 0.5, 0.1, 0.02, 0.2

_BEGIN: Final = """
local call, p, t = redis.call, KEYS[1] .. ':hosts:', redis.call('TIME')
local now, sites, new = t[1] * 1000000 + t[2], p .. 'sites', p .. 'new'
local function wake() if call('DEL', p .. 'asleep') == 1 then call('PUBLISH', p .. 'wake', '') end end
local function show(site)  -- it has requests
    local set = call('EXISTS', p .. 'delay:' .. site) == 1 and sites or new
    if call('ZADD', set, 'NX', now, site) == 1 then wake() end
end
"""
# KEYS[2]: seen fingerprints, if any. ARGV: site, negative priority, request, fingerprint.
_PUSH: Final = f"""{_BEGIN}
if KEYS[2] and call('SADD', KEYS[2], ARGV[4]) == 0 then return 0 end
local number = string.format('%0{_DIGITS}.0f', call('INCR', p .. 'number'))
call('ZADD', p .. 'queue:' .. ARGV[1], ARGV[2], number .. ARGV[3])
call('INCR', p .. 'count')
show(ARGV[1])
return 1
"""
# ARGV: the question of `RedisHostQueue._poll`. Even without memory, Redis allows the first command, and then all
# others: no call stops halfway.
_POLL: Final = f"""{_BEGIN}
local worker, lease, want, most, quota, full, handled, back = unpack(cjson.decode(ARGV[1]))
local claims, out, probes, next_in, returned = p .. 'claims:' .. worker, {{}}, {{}}, -1, 0
local function give_back(claims, id)
    local claim = call('HGET', claims, id)
    local site, priority, request = string.match(claim or '', '^(%Z*)%z(%Z+)%z(.*)$')
    if not site then return end
    call('HDEL', claims, id)
    call('ZADD', p .. 'queue:' .. site, priority, request)
    show(site)
end
local done = call('HDEL', claims, '', unpack(handled))
if done > 0 and call('DECRBY', p .. 'count', done) <= 0 then call('PUBLISH', p .. 'wake', '') end
for _, id in ipairs(back) do give_back(claims, id) end
call('ZADD', p .. 'workers', now + lease, worker)
for _, dead in ipairs(call('ZRANGEBYSCORE', p .. 'workers', '-inf', now)) do
    local ids = call('HKEYS', p .. 'claims:' .. dead)
    for _, id in ipairs(ids) do give_back(p .. 'claims:' .. dead, id) end
    returned = returned + #ids
    call('ZREM', p .. 'workers', dead)
end
local found = call('ZRANGE', sites, 0, want + {_BATCH}, 'WITHSCORES')
for i = 1, #found, 2 do
    local site, at = found[i], tonumber(found[i + 1])
    if next_in >= 0 and at - {_AHEAD} >= now + next_in then break end  -- nor is any after it ready sooner
    local delay = tonumber(call('GET', p .. 'delay:' .. site))
    local queue, ready = p .. 'queue:' .. site, at - math.min({_AHEAD}, (delay or 0) / 2)
    if ready > now then
        next_in = next_in < 0 and ready - now or math.min(next_in, ready - now)
    elseif not delay then
        call('ZREM', sites, site)
        show(site)
    elseif want > 0 and not full[site] then
        local got = call('ZPOPMIN', queue, delay == 0 and math.min(most, want) or 1)
        local from = delay == 0 and now or math.max(at, now)
        for k = 1, #got, 2 do
            call('HSET', claims, string.sub(got[k], 1, {_DIGITS}), site .. '\\0' .. got[k + 1] .. '\\0' .. got[k])
            out[#out + 1] = {{site, from - now, delay, from, got[k]}}
            want = want - 1
        end
        if #got > 0 then call('ZADD', sites, from + delay, site)
        elseif at <= now then call('ZREM', sites, site) end
    end
end
for _, site in ipairs(call('ZRANGEBYSCORE', new, '-inf', now, 'LIMIT', 0, quota)) do
    local best = call('ZRANGE', p .. 'queue:' .. site, 0, 0)[1]
    probes[#probes + 1] = best and {{site, best}}
    if best then call('ZADD', new, now + lease, site) else call('ZREM', new, site) end
end
if want > 0 then call('SET', p .. 'asleep', 1) end
return {{next_in, tonumber(call('GET', p .. 'count') or 0), returned, out, probes}}
"""
# ARGV: the `RedisHostQueue.facts` of a site, an unused start or 0, and the microseconds within which a start is
# wanted, or -1. Returns the time of that start, or 0, and the microseconds until the next start.
_SITE: Final = f"""{_BEGIN}
local site, delay, at, taken = ARGV[1], tonumber(ARGV[2]), tonumber(call('ZSCORE', sites, ARGV[1]) or 0), 0
local was_new = call('ZREM', new, site)  -- first, as in the other script
call('SET', p .. 'delay:' .. site, ARGV[2], 'PX', ARGV[4])
if at == ARGV[5] + delay then at = tonumber(ARGV[5]) end  -- and nobody has started one since
local from = math.max(at, now + ARGV[3])
if from - now <= tonumber(ARGV[6]) then taken, at = from, from + delay else at = from end
if at > now or call('EXISTS', p .. 'queue:' .. site) == 1 then call('ZADD', sites, at, site) end
if was_new == 1 then wake() end
return {{taken, from - now}}
"""


def start_right(asked_at: float, starts_in: int, time: int, delay: int) -> Permit:
    """The right to start at *time* by the clock of Redis, *starts_in* microseconds after the answer (now).

    The process may have been suspended since; the start is then too late, never too early. Lateness counts from
    ``ask_at``, the earliest possible time of the start.
    """
    now, earliest = clock.monotonic(), asked_at + starts_in / 1e6
    valid = min(_VALID, delay / 4e6) if delay else _VALID  # there is no delay if a back-off has just ended
    return Permit(now + starts_in / 1e6, earliest, time, earliest + valid + min(now - asked_at, valid))


@dataclass(eq=False, slots=True)
class _Claim:
    """A request claimed by this worker, with the right to start it until that is used."""

    number: str
    site: str
    stored: bytes
    permit: Permit | None


class SiteTurns(RedisRateLimiter):
    """The limiter of a worker with a `RedisHostQueue`: the set of sites owns all starts.

    A request from the queue brings its start with it. Others, for example redirects, take one from the set.
    """

    def __init__(self, queue: RedisHostQueue, connection: RedisConnection, worker: str) -> None:
        super().__init__(connection, worker)
        self._queue = queue

    async def acquire(self, key: str, delay: float, *, since: float | None, missed: int, more: bool) -> Permit:  # noqa: ARG002
        unused, ahead = 0, min(_AHEAD, microseconds(delay) // 2)
        while (permit := self._queue.take_permit(key)) is not None:
            if clock.monotonic() < permit.expires_at:
                return permit
            unused = permit.number
        question = [*self._queue.facts(key), unused, ahead]
        asked_at = clock.monotonic()
        time, wait = await self._run(lambda *_: self._queue.site_script([self._queue.key], question))
        permit = start_right(asked_at, wait, time, microseconds(delay))
        return permit if time else Permit(inf, permit.ask_at - ahead / 1e6, 0, 0.0)

    async def restart_delay(self, key: str, memory: float) -> None:  # noqa: ARG002
        self._queue.learn(key)


class RedisHostQueue(Base):  # type: ignore[misc]
    """A ``SCHEDULER_QUEUE_CLASS`` for scrapy-redis with a queue per site; returns only requests that may start.

    Needs ``REP_REDIS_URL``, and ``SCHEDULER_PERSIST = True``.
    """

    LEASE = 30.0
    """Seconds after which the requests of a dead worker return to the queue. Not public."""

    def __init__(self, server: Any, spider: Spider, key: str, serializer: Any = None) -> None:
        super().__init__(server, spider, key, serializer)
        self._crawl = crawl = Crawl.of(spider.crawler)
        sharing = crawl.find(Sharing)
        if sharing is None or not crawl.settings.redis_url:
            raise InvalidSettingError("RedisHostQueue needs REP_REDIS_URL: set it to the URL of this Redis")
        if not crawl.crawler.settings.getbool("SCHEDULER_PERSIST"):
            raise InvalidSettingError("set SCHEDULER_PERSIST = True, or a worker that ends empties the queue")
        if server.connection_pool.connection_kwargs.get("decode_responses"):
            raise InvalidSettingError("RedisHostQueue stores bytes: remove decode_responses from REDIS_PARAMS")
        sharing.host_queue, sharing.look_every, sharing.redis_limiter = self, _LOOK, partial(SiteTurns, self)
        self._check_format()
        self._push, self._poll_script, self.site_script = map(server.register_script, (_PUSH, _POLL, _SITE))
        self._worker, self._lease = sharing.worker, microseconds(self.LEASE)
        self._slots, self._stats, settings = crawl.part(Slots), crawl.stats, crawl.crawler.settings
        self._places = settings.getint("CONCURRENT_REQUESTS") or _BATCH
        self._places_of_site = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") or self._places
        # Claims not yet handed out: a heap by the time to do so. Handed out immediately, a request would start too
        # early on a site whose back-off this worker does not know.
        self._ahead: list[tuple[float, str, _Claim]] = []
        self._claims: dict[Request, _Claim] = {}  # handed out, but not yet handled by Scrapy
        # For the next poll: requests handled, and requests given back. It first repeats failed calls.
        self._done: list[str] = []
        self._back: list[str] = []
        self._unsent: list[tuple[Any, ...]] = []
        self._pushed: Request | None = None  # already pushed by the duplicate filter
        self._probes: set[str] = set()  # sites whose robots.txt this worker is loading
        self._count = 0  # requests queued and claimed by all workers, at the last poll
        self._next_poll = self._last_poll = 0.0
        self._timer = Timer()
        crawl.events.opened.subscribe(self._opened)
        crawl.events.started.subscribe(lambda *start: call_later(0, self._check_start, *start))
        crawl.events.slowed.subscribe(lambda site, *_: self.learn(site))
        crawl.events.handled.subscribe(self._handled)
        crawl.events.closed.subscribe(self._close)

    def _check_format(self) -> None:
        name = f"{self.key}:hosts:format"
        self.server.set(name, FORMAT, nx=True)
        if (found := self.server.get(name)) != FORMAT.encode():
            raise InvalidSettingError(
                f"the queue {self.key} in Redis has format {found!r}, and this scrapy_rep reads {FORMAT}: upgrade"
                " all workers together, after the queue is empty, or set another SCHEDULER_QUEUE_KEY"
            )

    # The interface of scrapy-redis.

    def push(self, request: Request) -> None:
        if request is not self._pushed:
            self.push_unseen(request)
        self._pushed = None

    def push_unseen(self, request: Request, *seen: str) -> bool:
        """Store *request*; return False if *seen*, a set in Redis and a fingerprint, shows that it is not new."""
        site = self._crawl.targets.site(request)
        keys, values = [self.key, *seen[:1]], [site, -request.priority, self._encode_request(request), *seen[1:]]
        is_new: bool = self._send(self._push, keys, values) != 0
        if is_new:
            self._pushed = request if seen else None
            self._count += 1
            self._poll_by(self._last_poll + _AFTER_PUSH)
        return is_new

    def pop(self, timeout: int = 0) -> Request | None:  # noqa: ARG002
        now = clock.monotonic()
        if now >= self._next_poll and not (self._ahead and self._ahead[0][0] <= now):
            self._poll()
        while self._ahead and self._ahead[0][0] <= clock.monotonic():
            claim = heappop(self._ahead)[2]
            if self._slots.site(claim.site).held_for:  # the site has since asked to wait
                self._back.append(claim.number)
            elif (request := self._read(claim)) is not None:
                self._claims[request] = claim
                return request
        return None

    def __len__(self) -> int:
        """The requests queued or claimed by all workers: no worker closes while another may still push."""
        known = max(len(self._ahead) + len(self._claims) + len(self._unsent), self._count, 0)
        with suppress(RedisError):
            return known or int(self.server.get(f"{self.key}:hosts:count") or 0)
        return 0

    def clear(self) -> None:
        """Remove all requests. Delays and next starts of sites stay: no start comes sooner."""
        for name in self.server.scan_iter(f"{self.key}:hosts:*", count=1_000):
            if not name.removeprefix(f"{self.key}:hosts:".encode()).startswith((b"format", b"sites", b"delay:")):
                self.server.unlink(name)
        self._count = 0

    # Polls and claims.

    def _poll(self) -> None:
        """Report handled requests to Redis, and take requests that may start soon."""
        now, is_closing = clock.monotonic(), self._crawl.engine.is_closing
        if is_closing or now >= self._last_poll + self.LEASE:  # after a suspension, others have its claims
            self._back += [number for _, number, _ in self._ahead]
            self._ahead.clear()
        is_busy = self._crawl.download_slots.has
        here = Counter(claim.site for request, claim in self._claims.items() if is_busy(request))
        free = 0 if is_closing else self._places - sum(here.values()) - len(self._ahead)
        want, full = max(min(free, _BATCH), 0), {name: 1 for name, n in here.items() if n >= self._places_of_site}
        quota = min(_PROBES, MAX_DOWNLOADS - len(self._probes)) if want else 0
        ask = [self._worker, self._lease, want, self._places_of_site, quota, full, self._done, self._back]
        try:
            while self._unsent:
                call, *arguments = self._unsent[0]
                call(*arguments)
                del self._unsent[0]
            asked_at = clock.monotonic()
            next_in, self._count, returned, out, probes = self._poll_script([self.key], [json.dumps(ask)])
        except RedisError as error:
            text = "The queue %s in Redis does not answer (%s): this worker tries again"
            self._crawl.log.add(ExtraTopic.REDIS_AWAY, text, self.key, error)
            self._poll_at(clock.monotonic() + _AWAY)
            return
        self._done, self._back = [], []
        now = self._last_poll = clock.monotonic()
        if returned and self._lease:
            self._stats.inc_value("rep/host_queue/returned_count", returned)
        for name, starts_in, delay, time, stored in out:
            permit = start_right(asked_at, starts_in, time, delay)
            claim = _Claim(stored[:_DIGITS].decode(), name.decode(), stored[_DIGITS:], permit if delay else None)
            heappush(self._ahead, (permit.starts_at - LEAD / 1e6, claim.number, claim))
            self._wake_at(permit.starts_at - LEAD / 1e6)
        for name, stored in probes:
            self._probes.add(name.decode())
            start(self._probe(name.decode(), stored[_DIGITS:]))
        wait = _IDLE if next_in < 0 else min(max(next_in / 1e6, _SPACING), _IDLE)
        if full or not want or quota == len(probes) > 0:
            wait = _SPACING
        self._poll_at(now if 0 < want <= len(out) else now + wait)

    def _read(self, claim: _Claim) -> Request | None:
        """The request of *claim*; None for an unreadable request, which is set aside."""
        try:
            return self._decode_request(claim.stored)  # type: ignore[no-any-return]
        except Exception as error:  # noqa: BLE001  # serializers raise anything; other requests must go on
            kept = f"{self.key}:hosts:unreadable"
            self._stats.inc_value("rep/host_queue/unreadable_count")
            text = "A request for %s in the queue of hosts cannot be read (%s: %s): it is kept in %s"
            logger.error(text, claim.site, type(error).__name__, error, kept)
            self._send(self.server.rpush, kept, claim.stored)
            self._done.append(claim.number)
            return None

    def take_permit(self, site: str) -> Permit | None:
        """The right to start a request on *site* from any claim, or None."""
        for claim in self._claims.values():
            if claim.site == site and (permit := claim.permit) is not None:
                claim.permit = None
                return permit
        return None

    def _handled(self, request: Request) -> None:
        """Note that Scrapy has handled *request*, and that its output has been pushed."""
        claim = self._claims.pop(request, None)
        if claim is None:
            return
        self._done.append(claim.number)
        has_delay = self._slots.site(claim.site).floor  # without a delay, the site may have more requests now
        self._poll_by(clock.monotonic() + (_ACK if has_delay else _AFTER_PUSH))
        if claim.permit is not None:  # robots.txt disallowed the page, or a cache had it
            self.learn(claim.site, claim.permit.number)
            self._poll_by(0.0)

    def _check_start(self, site: Site, permit: Permit) -> None:
        """Postpone the next start if the current start was late, and the next would be too close."""
        late = clock.monotonic() - permit.ask_at
        if permit.number > 0 and late > 0.75 * (with_margin(site.floor) - site.floor):
            self._stats.inc_value("rep/host_queue/late_count")
            self.learn(site.name)

    # Delays of sites.

    async def _probe(self, site: str, stored: bytes) -> None:
        """Load the robots.txt of *site* for its best request, which stays in the queue."""
        try:
            request = self._decode_request(stored)
            choose_slot(request, self._crawl.download_slots, self._crawl.targets)
            judge, delays = self._crawl.find(Judge), self._crawl.crawler.get_extension(CrawlDelay)
            if judge is not None and judge.state_to_ask(request) is not None:
                await judge.wait_for(request)
                if delays is not None:
                    delays.prepare_known(request)
        except Exception as error:  # noqa: BLE001  # it fails again with the request, and the gate then reports it
            logger.debug("Could not preload robots.txt of %s: %s", site, error)
        finally:
            self._probes.discard(site)
        self.learn(site)
        self._poll_by(self._last_poll + _AFTER_PUSH)

    def facts(self, name: str) -> list[Any]:
        """The site *name*, its delay and time to the next start (microseconds), their lifetime (milliseconds)."""
        site = self._slots.site(name)
        wait, delay = site.start_in(clock.monotonic()), with_margin(site.floor)
        life = _LIFE if site.backoff is None else _LIFE_OF_BACKOFF
        return [name, microseconds(delay), microseconds(wait and wait + delay - site.floor), life]

    def learn(self, name: str, unused: int = 0) -> None:
        """Tell all workers this worker's facts about the site *name*, and an *unused* start there."""
        self._send(self.site_script, [self.key], [*self.facts(name), unused, -1])

    def _send(self, call: Any, *arguments: Any) -> Any:
        """Run *call* and return its result; None while Redis is away: the next poll repeats the call first."""
        try:
            return call(*arguments)
        except RedisError:
            self._unsent.append((call, *arguments))
            return None

    # Redis, time, and closing.

    def _opened(self) -> None:
        self._crawl.engine.tell_handled()
        self._crawl.engine.closing.add(self._poll)
        start(self._listen())

    async def _listen(self) -> None:
        """Poll after another worker's push, and before the lease ends: a full downloader does not poll."""
        listener = self.server.pubsub(ignore_subscribe_messages=True)
        while self._lease:
            with suppress(RedisError):
                await in_thread(listener.subscribe, f"{self.key}:hosts:wake")
                while self._lease:
                    if await in_thread(listener.get_message, True, self.LEASE / 3) is not None:
                        self._poll_by(self._last_poll + _AFTER_PUSH)
                    if self._lease and clock.monotonic() >= self._last_poll + self.LEASE / 3:
                        self._poll()
            await sleep(_AWAY if self._lease else 0)
        listener.close()

    def _poll_by(self, due: float) -> None:
        if due < self._next_poll:
            self._poll_at(due)

    def _poll_at(self, due: float) -> None:
        self._next_poll = due
        self._wake_at(due)

    def _wake_at(self, due: float) -> None:
        if self._lease:
            self._timer.call_after(due - clock.monotonic(), self._crawl.engine.wake)

    def _close(self) -> None:
        self._lease = 0  # returns all claims
        self._timer.stop()
        self._crawl.engine.closing.remove(self._poll)
        if self._probes:  # other workers may now load these robots.txt files
            self._send(self.server.zadd, f"{self.key}:hosts:new", dict.fromkeys(self._probes, 0), False, True)
        self._poll()
        with suppress(RedisError):
            self.server.publish(f"{self.key}:hosts:wake", "")  # wakes the others, and ends `_listen`


class RedisHostDupeFilter(RFPDupeFilter):  # type: ignore[misc]
    """A ``DUPEFILTER_CLASS`` for scrapy-redis that marks a request as seen in the step that stores it.

    scrapy-redis's filter marks it one call earlier, and a worker killed in between loses the request.
    """

    queue: RedisHostQueue | None = None

    @classmethod
    def from_spider(cls, spider: Spider) -> RedisHostDupeFilter:
        """The filter of *spider*, with its queue, which scrapy-redis opens first."""
        made: RedisHostDupeFilter = super().from_spider(spider)
        made.queue = Crawl.of(spider.crawler).part(Sharing).host_queue
        return made

    def request_seen(self, request: Request) -> bool:
        if self.queue is None:
            return bool(super().request_seen(request))
        return not self.queue.push_unseen(request, self.key, self.request_fingerprint(request))
