"""The rate limiter of a fleet: permits by the clock of Redis, which all workers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scrapy_rep.pacing.limiter import (
    FORGET,
    GRACE,
    LEAD,
    LONGEST_HOLD,
    LONGEST_WAIT,
    Answer,
    Hold,
    Question,
    RateLimiter,
    RateLimiterAwayError,
)
from scrapy_rep.robots.stores.redis_connection import RedisAwayError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_rep.robots.stores.redis_connection import RedisConnection, Script

# All times are in microseconds.
#
# KEYS: a hash with the last start (last), the permit that is out (holder, number, due, lapse: when it expires) and
# the time at which each worker is expected to ask again; a sorted set, the queue of workers by time of arrival.
# ARGV: a `Question`.
#
# A worker that asks has no permit any more: it expired, or its grant got lost, or `since` tells when it was
# used. A worker that did not report may have started a request until its permit expired. When Redis has lost
# its data, a worker knows of a start that is not here: then all wait a full delay.
_ACQUIRE: Final = f"""
local LEAD, LONGEST, GRACE, FORGET, HOLD = {LEAD}, {LONGEST_WAIT}, {GRACE}, {FORGET}, {LONGEST_HOLD}
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local me, delay, since, missed = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local more, hold = ARGV[5] == '1', tonumber(ARGV[6])
local function text(number) return string.format('%.0f', number) end

local kept = redis.call('HMGET', KEYS[1], 'last', 'holder', 'number', 'due', 'lapse')
local last, holder, number = tonumber(kept[1] or nil), kept[2], tonumber(kept[3] or nil)
local due, lapse = tonumber(kept[4] or nil), tonumber(kept[5] or nil)
local mine = holder == me
local late = mine and number == missed
local told = mine and (late or since >= 0)
local knows = last or holder
if last then last = math.min(last, now) end -- unless the clock of Redis was put back
if holder and not told and (lapse < now or lapse > now + LEAD + HOLD) then
  last = math.max(last or 0, math.min(lapse, now))
  holder = false
end
if mine then holder = false end
if since >= 0 and knows then last = math.max(last or 0, now - since) end
if since >= 0 and not knows and since < delay + FORGET then last = now end

-- How many workers come before me, and when the first of them is passed over.
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

if missed >= 0 then redis.call('ZADD', KEYS[2], missed, me) else redis.call('ZADD', KEYS[2], 'NX', now, me) end
local count, passed_over = ahead()
local start = last and math.max(last + delay, now) or now
local before, soonest = last or now, 1000
local granted = not holder and (late or count == 0) and start - now <= LEAD
if granted then
  holder, number, due, lapse, before = me, now, start, start + hold, start
  redis.call('HSET', KEYS[1], 'holder', me, 'number', text(number), 'due', text(due), 'lapse', text(lapse))
  redis.call('ZADD', KEYS[2], now, me)
  count, passed_over = ahead()
elseif holder then
  before, soonest = due, LEAD / 2
else
  redis.call('HDEL', KEYS[1], 'holder', 'number', 'due', 'lapse')
end

local wait = 0 -- until I should ask again: shortly before my next permit
if more or not granted then
  wait = before + delay * (count + 1) - LEAD / 2 - now
  if passed_over then wait = math.max(wait, math.min(passed_over - now, LEAD / 2)) end
  wait = math.floor(math.min(math.max(wait, soonest), LONGEST))
  redis.call('HSET', KEYS[1], me, text(now + wait + GRACE))
else
  redis.call('ZREM', KEYS[2], me)
  redis.call('HDEL', KEYS[1], me)
end
if last then redis.call('HSET', KEYS[1], 'last', text(last)) end
local life = math.ceil((LONGEST + HOLD + delay + FORGET) / 1000)
redis.call('PEXPIRE', KEYS[1], life)
redis.call('PEXPIRE', KEYS[2], life)
if not granted then return {{wait, 0, 0, 0, 0}} end
return {{wait, text(number), math.ceil(due - now), math.floor(lapse - now), count}}
"""

# KEYS: as above. ARGV: worker; number of its permit, or -1; time since its last start, or -1 for none; time to
# remember that for, at least. A permit that was forgotten leaves nothing behind.
_REPORT: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ago, memory = tonumber(ARGV[3]), tonumber(ARGV[4])
if memory == 0 and redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local kept = redis.call('HMGET', KEYS[1], 'last', 'holder', 'number')
if ago >= 0 then
  redis.call('HSET', KEYS[1], 'last', string.format('%.0f', math.max(tonumber(kept[1] or 0), now - ago)))
end
if memory > 0 then redis.call('PEXPIRE', KEYS[1], math.max(memory / 1000, redis.call('PTTL', KEYS[1]))) end
if kept[2] ~= ARGV[1] or kept[3] ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], 'holder', 'number', 'due', 'lapse')
"""

_STREAM: Final = "holds"
_MOST_HOLDS: Final = 10_000  # in the stream
_LIFE: Final = 86_400  # seconds of a stream that gets no more: no hold is longer


class RedisRateLimiter(RateLimiter):
    """A `RateLimiter` for one worker of a fleet.

    With ``REP_REDIS_REQUIRED``, calls raise `RedisRequiredError` instead of `RateLimiterAwayError`.
    """

    def __init__(self, connection: RedisConnection, worker: str) -> None:
        """*worker* is a name that no other worker has."""
        super().__init__(worker)
        self._connection = connection
        self._scripts = connection.script(_ACQUIRE), connection.script(_REPORT)
        self._last_hold: str | bytes = "-"

    @property
    def is_settling(self) -> bool:
        """Whether other workers may still go by their own clocks."""
        return self._connection.is_settling

    async def _answer(self, key: str, question: Question) -> Answer:
        return Answer(*map(int, await self._run(self._scripts[0], key, *question)))

    async def _report(self, key: str, number: int, ago: int, memory: int) -> None:
        await self._run(self._scripts[1], key, self._worker, number, ago, memory)

    async def hold(self, hold: Hold) -> None:
        await self._run_on([_STREAM], self._write_stream, {"worker": self._worker, **hold._asdict()})

    async def holds(self) -> list[Hold]:
        (seconds, micros), items = await self._run_on([_STREAM], self._read_stream)
        later = [item for item in items if item[0] != self._last_hold]
        if later:
            self._last_hold = later[-1][0]
        holds = (_hold(name, fields, self._worker, seconds + micros / 1e6) for name, fields in later)
        return [hold for hold in holds if hold is not None and hold.seconds > 0]

    def _write_stream(self, keys: Sequence[str], arguments: Sequence[Any]) -> None:
        pipeline = self._connection.client.pipeline(transaction=False)
        pipeline.xadd(keys[0], arguments[0], maxlen=_MOST_HOLDS)
        pipeline.expire(keys[0], _LIFE)
        pipeline.execute(raise_on_error=False)

    def _read_stream(self, keys: Sequence[str], _: Sequence[Any]) -> Any:
        """The time of Redis, and the stream from the last item on that this worker has seen.

        A Redis that has or allows no streams is not away: it shares everything else.
        """
        pipeline = self._connection.client.pipeline(transaction=False)
        pipeline.time()
        pipeline.xrange(keys[0], min=self._last_hold)
        time, items = pipeline.execute(raise_on_error=False)
        return ((0, 0), []) if isinstance(time, Exception) or isinstance(items, Exception) else (time, items)

    async def _run(self, script: Script, key: str, *arguments: Any) -> Any:
        keys = [f"turns:{key}", f"queue:{key}"]  # other names would split a fleet while it is upgraded
        return await self._run_on(keys, script, *arguments)

    async def _run_on(self, keys: list[str], script: Script, *arguments: Any) -> Any:
        try:
            return await self._connection.run(script, keys, arguments)
        except RedisAwayError as error:
            raise RateLimiterAwayError(str(error)) from error

    def __repr__(self) -> str:
        return f"<RedisRateLimiter {self._connection!r}>"


def _hold(name: bytes, fields: dict[bytes, bytes], worker: str, now: float) -> Hold | None:
    """The item *name* of the stream at *now* by the clock of Redis; None for one of *worker*, or of nobody's."""
    try:
        if fields[b"worker"] == worker.encode():
            return None
        ago = now - int(name.partition(b"-")[0]) / 1e3
        left, delay, pace = (float(fields[field]) for field in (b"seconds", b"delay", b"pace"))
        return Hold(fields[b"key"].decode(), left - ago, delay, pace)
    except (KeyError, ValueError):
        return None
