"""The turns of the fleet at a download slot: who may start a request next, and when, by the clock of Redis.

Workers queue in Redis, each at most once per download slot, and take turns in the order in which they came.
A turn is given shortly before it is due, so that nobody holds one for long: a worker that is killed wastes
one at the most, and a delay that changes counts from the next turn on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrapy_rep.stores.redis_link import RedisLink

_MICRO: Final = 1_000_000
_LONGEST: Final = 1e9  # seconds

# All times are in microseconds.
#
# KEYS: a hash with the start of the last turn, and with when each worker is expected to ask again; a sorted
# set, the queue of workers by when they came.
# ARGV: worker; delay; how long ago it started its last request, or -1; the turn that it has missed, or -1;
# 1 when it wants another turn behind this one.
#
# Redis may have lost its data: then the worker knows of a start that is not here, and all wait a full delay.
# A worker that was late for its turn starts at once while nobody has the next one, else it comes first in
# the queue. One that does not ask again when it is expected is passed over, but keeps its place for a while.
_TAKE: Final = """
local LEAD, LONGEST, GRACE, FORGET = 20000, 5000000, 100000, 60000000
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local me, delay, since, missed = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local function remember(start)
  redis.call('HSET', KEYS[1], 'last', string.format('%.0f', start))
end

local last = tonumber(redis.call('HGET', KEYS[1], 'last') or nil)
local late = last ~= nil and last == missed
if last then last = math.min(last, now + LEAD) end -- or else the clock of Redis was put back
if since >= 0 and last then last = math.max(last, now - since) end
if since >= 0 and not last and since < delay + FORGET then
  last = now
  remember(last)
end

local function queue_up(at)
  if not redis.call('ZSCORE', KEYS[2], me) then redis.call('ZADD', KEYS[2], at, me) end
end

-- How many come before me, and when the first of them is passed over.
local function ahead()
  local count, passed_over = 0, nil
  local rank = redis.call('ZRANK', KEYS[2], me)
  if rank == 0 then return 0 end
  local workers = redis.call('ZRANGE', KEYS[2], 0, rank - 1)
  local expected = redis.call('HMGET', KEYS[1], unpack(workers))
  for i, worker in ipairs(workers) do
    local at = tonumber(expected[i] or 0)
    if at >= now then
      count = count + 1
      passed_over = math.min(at, passed_over or at)
    elseif at < now - FORGET then
      redis.call('ZREM', KEYS[2], worker)
      redis.call('HDEL', KEYS[1], worker)
    end
  end
  return count, passed_over
end

-- When I should ask again: a moment before my turn.
local function expect(last, count, passed_over)
  local wait = last + delay * (count + 1) - LEAD / 2 - now
  if passed_over then wait = math.max(wait, math.min(passed_over - now, LEAD / 2)) end
  wait = math.floor(math.min(math.max(wait, 1000), LONGEST))
  redis.call('HSET', KEYS[1], me, string.format('%.0f', now + wait + GRACE))
  return wait
end

if missed >= 0 then redis.call('ZADD', KEYS[2], missed, me) else queue_up(now) end
local count, passed_over = ahead()
local due = last and math.max(last + delay, now) or now
if late then due = now end
local granted, wait = 0, 0
if late or (count == 0 and due - now <= LEAD) then
  granted, last = 1, due
  remember(last)
  redis.call('ZREM', KEYS[2], me)
  redis.call('HDEL', KEYS[1], me)
  if ARGV[5] == '1' then
    queue_up(now)
    wait = expect(last, ahead())
  end
else
  wait = expect(last or now, count, passed_over)
end
local life = math.ceil((LONGEST + delay + FORGET) / 1000)
redis.call('PEXPIRE', KEYS[1], life)
redis.call('PEXPIRE', KEYS[2], life)
return {granted, wait, string.format('%.0f', due), due - now}
"""

# KEYS: the hash. ARGV: how long to remember. A request has just been made out of turn.
_MARK: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local last = math.max(tonumber(redis.call('HGET', KEYS[1], 'last') or 0), now)
redis.call('HSET', KEYS[1], 'last', string.format('%.0f', last))
redis.call('PEXPIRE', KEYS[1], math.max(ARGV[1] / 1000, redis.call('PTTL', KEYS[1])))
return 1
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """Start in ``starts_in`` seconds, or, when that is None, ask again in ``wait`` seconds.

    ``wait`` counts for the next turn when this one was given. ``number`` tells turns of a download slot apart.
    """

    starts_in: float | None
    wait: float
    number: int


class Turns:
    """Takes turns for one worker. Every call raises what `RedisLink.run` raises."""

    def __init__(self, link: RedisLink, worker: str) -> None:
        self._link = link
        self._worker = worker
        self._take, self._mark = link.script(_TAKE), link.script(_MARK)

    @property
    def is_settling(self) -> bool:
        """Whether others of the fleet may still go by clocks of their own."""
        return self._link.is_settling

    async def take(self, key: str, delay: float, *, since: float | None, missed: int | None, more: bool) -> Turn:
        """A turn of download slot *key*, whose turns are *delay* seconds apart, or when to ask again.

        *since* are the seconds since this worker's last start there; *missed* is the number of a turn that
        it was given and came too late for; with *more* it queues for the turn after this one at once.
        """
        arguments = [
            self._worker,
            _micro(delay),
            -1 if since is None else _micro(since),
            -1 if missed is None else missed,
            int(more),
        ]
        granted, wait, number, starts_in = await self._link.run(self._take, self._keys(key), arguments)
        return Turn(starts_in / _MICRO if granted else None, wait / _MICRO, int(number))

    async def mark(self, key: str, memory: float) -> None:
        """Let the next turn of *key* count from now on, if it is taken within *memory* seconds."""
        await self._link.run(self._mark, self._keys(key)[:1], [_micro(memory)])

    @staticmethod
    def _keys(key: str) -> list[str]:
        return [f"turns:{key}", f"queue:{key}"]


def _micro(seconds: float) -> int:
    """Microseconds, as many as Lua and the time limits of Redis can hold."""
    return round(min(seconds, _LONGEST) * _MICRO)
